"""Whether both ways of a branch agree, and what tells."""

from __future__ import annotations

import ast
import re

import pytest

from transforms.python.shapes.outcomes import Agreement, Branch, agreement
from transforms.python.shapes.sizes import named
from transforms.python.shapes.values import Number, Tensor, Value


def agreed(body: str, general: bool = False, which: int = 0) -> Agreement:
    """How the ways of the first branch agree in a function of Tensors x and y and a number k."""
    text = "def f(x, y, k):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    branches = [node for node in ast.walk(function) if isinstance(node, (ast.If, ast.IfExp))]
    parameters: dict[str, Value] = {"x": Tensor("x"), "y": Tensor("y"), "k": Number(named("k"))}
    branch = branches[which]

    def guess(test: ast.expr) -> tuple[bool, bool | None]:
        text = ast.unparse(test)
        asks = re.search(r"\b(?:size|numel|shape|n|m)\b", text) is not None
        return asks, {"n == 0": False, "m == 0": False, "n > 0": True, "n != m": True}.get(text)

    return agreement(function, parameters, Branch(branch, general, guess))


HEAD = "n, m = x.shape\n"


@pytest.mark.parametrize(
    ("test", "special", "rest", "same"),
    [
        ("n == 0", "return x.new_zeros(0, m)", "return x.clone()", True),
        ("n == 0", "return x.new_zeros(n, m)", "return x.clone()", True),
        ("n == 0", "return x.new_zeros(m, n)", "return x.clone()", False),
        ("n == 0", "return x.new_zeros(1, m)", "return x.clone()", False),
        ("n == 0", "return x.sum(1)", "return x.mean(1)", True),
        ("n == 0", "return x.sum(1)", "return x.mean(1, keepdim=True)", False),
        ("n == 0", "return x.new_zeros(m)", "return x.sum(0)", True),
        ("n == 0", "return x.t()", "return x.reshape(m, n)", True),
        ("n == 0", "return x", "return torch.cat([x, x.new_zeros(k, m)])", False),
        ("n == 0", "return x", "return torch.cat([x, x])", True),
        ("n == 0", "return x", "return torch.stack([x, x])", False),
        ("n == 0", "x = F.pad(x, (0, 0, 0, k))", "return x * 2", False),
        ("n == 0", "x = F.pad(x, (0, 0, 0, n))", "return x * 2", True),
        ("n == 0", "n = 1", "return x.new_zeros(n, m)", False),
        ("n == 0", "n = 1", "return x.new_zeros(max(n, 1), m)", True),
        ("n == 0", "pass", "return x.view(-1, n)", True),
        ("n == 0", "return x", "return x.view(-1, n)", False),
        ("n == 0", "return x", "return x[0]", False),
        ("n == 0", "raise ValueError", "return x[0]", None),
        ("n == 0", "return x, None", "return x, y", False),
        ("n == 0", "return x, y", "return x.neg(), y.neg()", True),
        ("n == 0", "return n", "return 2 * n", True),
        ("n == 0", "return n + 1", "return 2 * n", False),
        ("n == 0 or m == 0", "return x.new_zeros(n)", "return x.sum(1)", True),
        ("n == 0 or m == 0", "return x.new_zeros(0)", "return x.sum(1)", False),
        ("n == 0 and m == 0", "return x.new_zeros(0)", "return x.sum(1)", True),
        ("n * m == 0", "return x.new_zeros(0)", "return x.sum(1)", False),
        ("x.numel() == 0", "return x.new_zeros(n, 1)", "return x.sum(1, keepdim=True)", True),
        ("not x.numel()", "return x.new_zeros(m, n)", "return x.clone()", False),
        ("any(s == 0 for s in x.shape)", "return x.new_zeros(n, m)", "return x.clone()", True),
        ("any(s == 0 for s in x.shape)", "return x.new_zeros(n, 0)", "return x.clone()", False),
        ("n in (0, 1)", "return x.new_zeros(n)", "return x.sum(1)", True),
        ("n in (0, 1)", "return x.new_zeros(0)", "return x.sum(1)", False),
        ("n < 2", "return x.new_zeros(n)", "return x.sum(1)", True),
        ("n <= 1", "return x.new_zeros(1)", "return x.sum(1)", False),
        ("2 > n", "return x.new_zeros(n)", "return x.sum(1)", True),
        ("n == m", "return x.t()", "return x.clone()", True),
        ("n == 1", "return x.new_zeros(m)", "return x.sum(0)", True),
        ("n == 1", "return x.new_zeros(n, m)", "return x.sum(0)", False),
        ("n - 1 == 0", "return x.new_zeros(n, m)", "return x.sum(0)", False),
        ("n // k == 0", "return x.new_zeros(1, m)", "return x.clone()", False),
        ("n // k == 0", "return x.new_zeros(0, m)", "return x.new_zeros(n // k, m)", True),
        ("0 < n == m", "return x.t()", "return x.clone()", True),
        ("y.shape == (n, m)", "return y", "return x.clone()", True),
        ("k and n == 0", "return x.new_zeros(1, m)", "return x.clone()", False),
        ("n == 0", "return x", "s = list(x.shape)\ns[0] = k\nreturn x.new_zeros(s)", False),
        ("n == 0", "return x", "s = list(x.shape)\ns[0] *= k\nreturn x.new_zeros(s)", True),
        ("n == 0", "return x", "s = list(x.shape)\ns[1] *= k\nreturn x.new_zeros(s)", False),
        ("n == 0", "return x", "s = list(x.shape)\nfor i in g():\n    s[i] = k\nreturn x.new_zeros(s)", None),
        ("n == 0", "return x", "s = [n]\ns.append(m)\nreturn x.new_zeros(s)", True),
        ("n == 0", "return x", "s = [n]\ns.extend(g())\nreturn x.new_zeros(s)", None),
        ("n == 0", "return x", "return x[:, :0]", False),
        ("n == 0", "return x", "return x[:n]", True),
        ("n == 0", "return g(x)", "return x.clone()", None),
        ("n == 0", "return g(x)", "return g(x)", True),
        ("n == 0", "return y", "return x", False),
        ("g(n) == 0", "return x.new_zeros(1, m)", "return x.clone()", None),
        ("n == 0", "return x", "for i in range(k):\n    x = x[0]\nreturn x", None),
        ("n == 0", "return x", "if k > 1:\n    return x.neg()\nreturn x.exp()", True),
        ("n == 0", "return x", "if k > 1:\n    return x.sum()\nreturn x.exp()", None),
        ("n == 0", "return x", "if k > 1:\n    return x.sum()\nreturn x.sum(0)", False),
        ("n == 0", "return x", "if n > 0:\n    return x.sum()\nreturn x.exp()", False),
        ("n == 0", "return x", "if m == 0:\n    return x.sum()\nreturn x.exp()", True),
        ("n == 0", "x = x.neg()", "if n == 0:\n    return x.sum()\nreturn x.exp()", False),
        ("min(n, m) == 0", "return x.new_zeros(n)", "return x.new_zeros(min(n, m))", False),
        ("min(n, m) == 0", "return x.new_zeros(0)", "return x.new_zeros(n * m)", True),
        ("n == 0", "return x.new_zeros(n, k)", "assert k == m\nreturn x.clone()", False),
        ("n == 0", "return x.new_zeros(n, k)", "assert not expect_true(k != m)\nreturn x.clone()", False),
        ("n == 0", "return x.new_zeros(n, k)", "if k != m:\n    raise ValueError\nreturn x.clone()", False),
        ("n == 0", "return x.new_zeros(n, k)", "torch._check(k == m, g)\nreturn x.clone()", False),
        ("n == 0", "return x.new_zeros(n, k)", "torch._check(sym_eq(k, m))\nreturn x.clone()", False),
        ("n == 0", "return x", "torch._check(sym_or(n == 0, k == m))\nreturn x.clone()", True),
        ("n == 0", "return x", "torch._check(sym_and(n == 0, k == m))\nreturn x.clone()", False),
        ("n == 0", "return x", "torch._check(torch.sym_not(n > 0))\nreturn x.clone()", True),
        ("n == 0", "return x", "torch._check(flag)\nreturn x.clone()", None),
    ],
)
def test_the_ways_agree(test: str, special: str, rest: str, same: bool | None) -> None:
    assert agreed(f"{HEAD}if {test}:\n    {special}\n{rest}").same is same
    negated = f"{HEAD}if not ({test}):\n    pass\nelse:\n    {special}\n{rest}"
    assert agreed(negated, general=True).same is same


@pytest.mark.parametrize(
    ("body", "same"),
    [
        ("if x.numel() == 0:\n    return x.sum(1)\nreturn x.clone()", False),
        ("if x.numel() == 0:\n    return x.clone()\nreturn x @ y", False),
        ("if x.size(0) == 0:\n    return x.new_zeros(k)\nreturn x @ y.size(1)", None),
        ("if x.size(0) == 0:\n    return x.new_zeros(x.size(0))\nreturn x.repeat(2, 1)[:, : x.size(1)]", False),
        ("if x.size(0) == 0:\n    return x.clone()\nreturn torch.stack([x, x])", False),
        ("if y.numel() == 0:\n    return x.clone()\nreturn x + y", False),
        ("if x.size(0) == 0:\n    return x.new_zeros(x.size(0), x.size(-1))\nreturn x.exp()", None),
        ("if x.size(-1) == 0:\n    return x.new_zeros(x.size(0), x.size(-1))\nreturn x.exp()", None),
        ("if x.size(0) == 0:\n    return x.new_zeros(x.size(-1), x.size(0))\nreturn x[:, :1]", False),
        ("if x.size(0) == 0:\n    return x.new_zeros(x.size(-1))\nreturn x[: x.size(0)].exp()", False),
        ("if x.shape[0] == 0:\n    return x.new_zeros(x.shape[0])\nreturn x.exp()", None),
        # Of tensors with more dimensions another one is padded.
        ("if x.size(0) == 0:\n    x = F.pad(x, (0, 0, 0, 3))\nreturn x.new_zeros(x.size(0), x.size(-1))", False),
        ("if x.numel() == 0:\n    return x.new_empty(x.shape)\nreturn x.clone()", True),
        ("if x.numel() == 0:\n    return x\nreturn x.reshape(x.size(0), x.size(1))", None),
        ("if x.numel() == 0:\n    return x\nif x.dim() < 2:\n    raise\nreturn x.view(x.size(0), x.size(1))", False),
        ("if y.numel() == 0:\n    return x.new_zeros(x.size(0), x.size(1))\nreturn x.t().clone()", False),
        (
            "if x.numel() == 0:\n    return x\nr = x.dim()\nif r < 2:\n    raise\nreturn x.view(x.size(0), x.size(1))",
            False,
        ),
        ("if x.numel() == 0:\n    return x\nif dim < 2:\n    raise\nreturn x.view(x.size(0), x.size(1))", None),
        ("n, m = x.shape\nk = n if n == 1 else m\nreturn x.new_zeros(k)", False),
        ("n, m = x.shape\nk = n if n == m else m\nreturn x.new_zeros(k)", True),
    ],
)
def test_ranks_that_are_not_seen_are_tried(body: str, same: bool | None) -> None:
    assert agreed(body).same is same


def test_a_case_that_a_check_refuses_hides_no_other() -> None:
    body = f"{HEAD}if n != m:\n    torch._check(m > 0)\nif n > 0 and m > 0:\n    return y.clone()\nreturn x.sum(1)"
    assert agreed(body, general=True, which=1).same is False


def test_what_is_empty_has_no_values() -> None:
    assert agreed(f"{HEAD}if n == 0:\n    return x.new_ones(n, m)\nreturn x.exp()") == Agreement(True, True)
    assert agreed(f"{HEAD}if n == 0:\n    return x.new_ones(m)\nreturn x.sum(0)") == Agreement(True, False)
    assert agreed(f"{HEAD}if n == 0:\n    return x.new_ones(m)\nreturn x.new_empty(m)") == Agreement(True, True)


def test_more_paths_than_are_followed_tell_nothing() -> None:
    many = "\n".join(f"if g({i}):\n    x = x + {i}" for i in range(20))
    assert agreed(f"{HEAD}if n == 0:\n    return x\n{many}\nreturn x").same is None
    assert agreed(f"{HEAD}if n == 0:\n    return x\nx = {'-' * 400}x\nreturn x").same in (True, None)


@pytest.mark.parametrize(
    ("special", "rest", "same"),
    [
        ("2 * y", "out + 2 * y.expand_as(out)", False),
        ("2 * y", "y.expand(out.shape) - out", False),
        ("y", "y.expand(x.shape[0])", False),
        ("2 * out", "out + y.expand_as(out)", True),
        ("y.expand_as(out)", "out + y.expand_as(out)", True),
        ("torch.zeros_like(y)", "torch.empty_like(y.expand(unseen))", False),
        ("torch.zeros_like(y)", "y.expand(unseen).sum(0)", None),
        ("y.expand(unseen)", "y.expand(unseen).neg()", True),
        ("y.expand(unseen)", "y.expand(other)", None),
        ("x.new_zeros(k)", "x.new_zeros(k).expand(unseen)", False),
        ("x.new_zeros(k)", "x.new_zeros(2).expand(unseen)", None),
    ],
)
def test_what_is_expanded_may_have_one_element(special: str, rest: str, same: bool | None) -> None:
    body = f"out = torch.mv(x, x.sum(0))\nif out.numel() == 0:\n    return {special}\nreturn {rest}"
    assert agreed(body).same is same
