"""Where 0 says that there is nothing, and where it says that two sizes agree."""

from __future__ import annotations

from typing import Any

import pytest

from transforms.python.flow.values import A_SIZE
from transforms.python.jobs import FileJob, Job
from transforms.python.rewrite import findings


@pytest.mark.parametrize(
    ("number", "empty"),
    [
        ("x.size(0)", True),
        ("x.size(-1)", True),
        ("(x.size(0) + k - 1) // k", True),
        ("x.size(0) * 2 + x.size(1)", True),
        ("x.size(0) - 1", False),
        ("x.size(0) - x.size(1)", False),
        ("x.size(0) % k", False),
        ("-x.size(0) % k", False),
        ("(x.size(0) - k) // k", False),
        ("(x.size(0) + k - 1) // x.size(1)", False),
        ("(x.size(0) + k - 2) // k", False),
        ("int(2 * x.size(0))", True),
        ("math.ceil(x.size(0) / k)", True),
        ("int(x.size(0) / k)", False),
        ("int(x.size(0) * 0.5)", False),
        ("math.floor(x.size(0) / 2)", False),
        ("math.ceil((x.size(0) - k) / 2)", False),
        ("x.size(0) >> 1", False),
        ("k - x.size(0)", False),
        ("-x.size(0) + k", False),
        ("x.size(0) + k", False),
        ("x.size(0) & 1", False),
        ("x.size(0) ^ k", False),
        ("x.stride(0)", False),
        ("abs(x.size(0) - k)", False),
        ("max(x.size(0) - k, 0)", False),
        ("max(x.size(0), x.size(1))", True),
        ("-(-x.size(0) // k)", True),
        ("(x.size(0) + 3) // 4", True),
        ("(x.size(0) + 3) // 5", False),
        ("k * len(x) * 2", True),
        ("math.prod(x.shape[1:])", True),
        ("sum([x.size(0), x.size(1) - 1])", False),
        ("(len(x) if k else x.numel())", True),
    ],
)
@pytest.mark.parametrize("form", ["if {0} == 0:", "n = {0}\n    if n == 0:", "m = {0}\n    n = 2 * m\n    if n == 0:"])
def test_a_difference_of_0_is_no_shortcut_for_what_is_empty(look: Any, form: str, number: str, empty: bool) -> None:
    source = f"def f(x: Tensor, k: int):\n    {form.format(number)}\n        return x\n    return x + 1\n"
    branches = [finding for finding in look(source) if finding.rule.endswith("size-branch")]
    assert [bool(finding.edits) for finding in branches] == [empty]


@pytest.mark.parametrize("number", ["x.size(0) - k", "k - x.size(0)", "x.size(0) + k", "(x.size(0) - 1) // k"])
@pytest.mark.parametrize("asked", ["n > 0", "n <= 0", "n >= 1", "n < 1", "0 < n", "n > 1", "not n > 0"])
def test_the_order_of_what_may_be_below_0_is_that_of_two_sizes(look: Any, number: str, asked: str) -> None:
    source = f"def f(x: Tensor, k: int):\n    n = {number}\n    if {asked}:\n        x = x.contiguous()\n    return x\n"
    (finding,) = look(source)
    assert (finding.rule, finding.edits) == ("undecided-branch", ())


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ("n = x.size(0)", True),
        ("n = size", True),
        ("n = s[0]", True),
        ("n = s[0] if k else -1", True),
        ("n = list(reversed(s[1:]))[k]", True),
        ("t = list(s)\n    t[0] = -1\n    n = t[k]", True),
        ("for n, m in zip(s, x.shape): pass", True),
        ("for i, n in enumerate(s): pass", True),
        ("if not k: shape = (shape,)\n    n = shape[k]", True),
        ("for n in x.shape: pass\n    for n in (x.size(0) - 1,): pass", False),
        ("n = x.size(0) - y.size(0)", False),
        ("n = s[0] - 1", False),
        ("n = m", False),
        ("n = int(x.sum().item())", False),
        ("t = list(s)\n    t[0] = s[0] - x.size(0)\n    n = t[k]", False),
        ("t = list(s)\n    t.append(x.size(0) - 2)\n    n = t[k]", False),
    ],
)
def test_a_number_below_0_stands_for_no_size_alone(look: Any, given: str, size: bool) -> None:
    head = "def f(x: Tensor, y: Tensor, k: int, s: list[SymInt], size: SymInt, m: SymInt, shape: ShapeType):\n"
    found = look(f"{head}    {given}\n    if n == -1:\n        y = y[1:]\n    return x + y\n")
    assert [bool(finding.edits) for finding in found if finding.rule.endswith("size-branch")] == [size]


def test_what_a_variable_is_given_below_says_nothing(look: Any) -> None:
    loop = (
        "    for n in x.shape:\n        if n == -1:\n            x = x.neg()\n{}    n = x.size(0) - 1\n    return n\n"
    )
    (after,) = look("def f(x: Tensor):\n" + loop.format(""))
    (within,) = look("def f(x: Tensor):\n" + loop.format("        n = x.size(0) - 2\n"))
    assert after.edits
    assert not within.edits


def test_what_a_helper_gives_may_be_a_remainder() -> None:
    source = b"def f(x: Tensor):\n    if rest(x) == 0:\n        return x\n    return x.neg()\n"
    job = Job({}, {"rest": A_SIZE}, (), ())
    (finding,) = findings(FileJob("torch/_refs/a.py", "torch/_refs/a.py", {"f": job}, frozenset()), source)
    assert not finding.edits


def test_what_is_subtracted_later_counts(look: Any) -> None:
    lines = "    n = x.size(0)\n    n -= 1\n    if n == 0:\n        return x\n    return x + 1\n"
    (finding,) = look(f"def f(x: Tensor):\n{lines}")
    assert not finding.edits


@pytest.mark.parametrize(
    "branch",
    [
        "if y.numel() > 0:\n        x = x + y",
        "if y.numel() != 0:\n        x = x * y.view(1, -1)",
        "if y.size(0):\n        x.add_(y)",
        "if y.numel() > 0:\n        z = x.clone()\n        x = z + y",
        "if y.numel() == 0:\n        y = x.new_zeros(4)",
        "if y.numel() == 0:\n        z = x\n    else:\n        x = x + y",
        "if y.numel() > 0:\n        torch._check(y.dtype == x.dtype)\n        y = y.clone()",
        "if y.numel() > 0:\n        validate(x)",
        "if y.numel() == 0:\n        return x\n    x = x + y",
        "if y.numel() == 0:\n        x = x.clone()\n    else:\n        return x.sum(1)",
        "if y.numel() == 0:\n        pass\n    else:\n        return x.sum(1)",
    ],
)
def test_an_empty_tensor_that_stands_for_none_is_not_used(look: Any, branch: str) -> None:
    findings = look(f"def f(x: Tensor, y: Tensor):\n    {branch}\n    return x + y\n")
    assert findings
    assert not any(finding.edits for finding in findings)


@pytest.mark.parametrize(
    "branch",
    [
        "if y.numel() > 0:\n        y = y.conj()",
        "if y.numel() != 0:\n        y.neg_()",
        "n = 0\n    if y.numel() > 0:\n        n += y.numel()",
        "s = x.stride()\n    if y.numel() == 0:\n        s = y.stride()",
        "if y.numel() == 0:\n        z = y.clone()\n    else:\n        z = y + 1",
        "if y.numel() > 0:\n        validate(y, y.ndim)",
    ],
)
def test_what_is_the_same_without_elements_is(look: Any, branch: str) -> None:
    (finding,) = look(f"def f(x: Tensor, y: Tensor):\n    {branch}\n    return x + y\n")
    assert finding.edits


@pytest.mark.parametrize("special", ["x.zero_()", "x.zero_()\n        return x", "y.zero_()", "fill(x)"])
def test_what_is_changed_for_an_empty_tensor_alone_is_part_of_values(look: Any, special: str) -> None:
    body = f"def f(x: Tensor, y: Tensor):\n    if y.numel() == 0:\n        {special}\n    return x.repeat(2, 1)\n"
    (computed,) = look(f"@register_decomposition(aten.f)\n{body}")
    assert bool(computed.edits) == (special == "y.zero_()")


@pytest.mark.parametrize(
    ("value", "same"),
    [
        ("x.expand(y.shape)", True), ("x.contiguous().view(y.shape)", True), ("torch.reshape(x, y.shape)", True),
        ("x * y.expand(x.shape)", False), ("y.expand(x.shape)", False), ("(x + 1).expand(y.shape)", False),
    ],
)  # fmt: skip
def test_only_what_is_made_of_a_tensor_alone_is_that_tensor(look: Any, value: str, same: bool) -> None:
    source = f"def f(x: Tensor, y: Tensor):\n    if x.shape != y.shape:\n        x = {value}\n    return x + y\n"
    (finding,) = look(source)
    assert bool(finding.edits) == same


@pytest.mark.parametrize(("test", "related"), [("n != 1", False), ("n > 1", False), ("n != y.size(0)", True)])
def test_a_tensor_has_the_size_that_its_own_is_compared_with(look: Any, test: str, related: bool) -> None:
    source = f"    n = x.size(0)\n    if {test}:\n        y = y.expand(n)\n    return x.sum(1) + y\n"
    for rank in ("    assert y.dim() == 1\n", ""):
        (finding,) = look(f"def f(x: Tensor, y: Tensor):\n{rank}{source}")
        assert bool(finding.edits) == (related and bool(rank))


@pytest.mark.parametrize(
    ("branch", "reason"),
    [
        ("continue", "the branch skips what follows in a turn of a loop: take it away if"),
        ("break", "the branch ends a loop, or a turn of one within it, so neither path may be picked"),
    ],
)
def test_a_branch_in_a_loop_is_left_for_what_it_does_there(look: Any, branch: str, reason: str) -> None:
    body = f"        if x.numel() == 0:\n            {branch}\n        y = y.index_add(0, x, x)\n"
    (finding,) = look(f"@torch.compile\ndef f(xs, y):\n    for x in xs:\n{body}    return y\n")
    assert finding.reason.startswith(reason)


def test_a_check_that_eager_runs_too_is_no_guard(look: Any) -> None:
    branch = "    if x.size(0) != y.size(0):\n        raise ValueError('differ')\n"
    source = f"def f(x: Tensor, y: Tensor):\n{branch}    return x\n"
    (traced,) = look(source, eager=True, inlined=True, home=None)
    assert traced.reason.startswith("eager may run this function too, and the tree has no place for a check that costs")
    assert "torch._check, _check_value" in traced.reason
    assert "is_compiling" not in traced.reason


@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("y = y - 1", True),
        ("y *= 2", True),
        ("y += x", True),
        ("y.zero_()", True),
        ("y.unsqueeze_(0)", False),
        ("y.t_()", False),
        ("y.data = x.sum(0)", False),
        ("torch.sum(x, 0, out=y)", False),
        ("def step():\n        nonlocal y\n        y = y.sum(0)\n    step()", False),
        ("with torch.no_grad():\n        y = y.neg()", False),
        ("match x:\n        case y:\n            pass", False),
    ],
)
def test_what_changes_a_tensor_below_is_seen(look: Any, path: str, same: bool) -> None:
    source = "def f(x: Tensor):\n    y = x.clone()\n    if x.size(0) == 0:\n        return y\n"
    found = look(f"{source}    {path}\n    return y.clone()\n", inlined=True, home=None)
    assert [bool(finding.edits) for finding in found if finding.rule == "special-size-branch"] == [same]


@pytest.mark.parametrize(
    ("scaled", "served"),
    [
        ("* max(x.size(0), 1)", True),
        ("/ max(x.size(0), 1)", True),
        ("* max(1, x.size(0), n)", True),
        ("/ max(x.size(0), 0)", False),
        ("/ max(x.size(0), n)", False),
        ("* min(x.size(0), 1)", False),
        ("* max(x, y)", False),
        ("* max(x.size(0), y)", False),
        ("* max(*x)", False),
        ("* max(x)", False),
        ("* x.max()", False),
        ("* torch.max(x)", False),
    ],
)
@pytest.mark.parametrize("how", [{"inlined": True, "home": None}, {}])
def test_the_greater_of_two_sizes_needs_no_elements(look: Any, how: Any, scaled: str, served: bool) -> None:
    source = "def f(x: Tensor, y: Tensor, n: int):\n    if x.numel() == 0:\n        return x.sum() * 0.0\n"
    found = look(f"{source}    return x.sum() * 0.5 {scaled}\n", **how)
    branches = [finding for finding in found if finding.rule == "special-size-branch"]
    assert [bool(finding.edits) for finding in branches] == [served]


def test_what_divides_by_the_greater_of_two_sizes_is_offered_as_it_is(rewrite: Any) -> None:
    source = "def f(x: Tensor):\n    count = max(x.size(0), 1)\n    if x.numel() == 0:\n        return x.sum() * 0.0\n"
    path = "    return x.sum() * 0.5 / count\n"
    assert rewrite(source + path).endswith(path)
    assert "guard_or_false(x.numel() == 0)" in rewrite(source + path)
    chosen = source.replace("x: Tensor", "x: Tensor, count: int, k: bool").replace(
        "    count", "    if k:\n        count"
    )
    assert "guard_or_false" not in rewrite(chosen + path)
    assert rewrite("def max(a, b):\n    return a\n\n\n" + source + path).count("guard_or_false") == 0


@pytest.mark.parametrize(
    ("test", "rule"),
    [
        ("x.size(0) > 8", "undecided-branch"),
        ("x.size(0) == y.size(0)", "size-branch"),
        ("x.size(0) == 1", "special-size-branch"),
        ("x.ndim == 2 and x.size(0) > 8", "undecided-branch"),
    ],
)
def test_a_truth_that_is_kept_is_named_for_what_it_compares(look: Any, test: str, rule: str) -> None:
    source = f"def f(x: Tensor, y: Tensor):\n    kept = {test}\n    if not kept:\n        x = x.mT\n    return x\n"
    assert [finding.rule for finding in look(source, inlined=True)] == [rule]
