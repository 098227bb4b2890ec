"""What may be evaluated although an earlier operand might have passed it by."""

from __future__ import annotations

import ast

import pytest

from transforms.python.writing.evaluation import evaluated_before
from transforms.python.writing.present import present_tensors
from transforms.python.writing.ranks import only_arithmetic


def may_move(body: str, operand: str) -> bool:
    """Whether `operand` may be evaluated at the statement `place` of a function."""
    source = f"def f(x: Tensor, y: Optional[Tensor], n: int, d: int, xs: list[Tensor]):\n{body}"
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    place = next(n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == "place")
    evaluated = evaluated_before(function, place, frozenset({"product"}))
    return evaluated.may_move(ast.parse(operand, mode="eval").body, present_tensors(function))


@pytest.mark.parametrize(
    "operand",
    ["n == 1", "not n", "x.numel() == n", "x.dim() == 2", "x.shape == (n, 1)", "x.size()[:1]", "len(x.shape)", "n % 2",
     "product(x.size())", "all(s > 0 for s in x.shape)", "n is None", "x.ndim == 2 and x.size(1) == n",
     "x.ndim != 2 or x.size(1) == n", "y is not None and y.ndim == 1 and y.size(0) == n"],
)  # fmt: skip
def test_what_can_neither_raise_nor_act_may_move(operand: str) -> None:
    assert may_move("    place\n", operand)


@pytest.mark.parametrize(
    "operand",
    ["x.size(0)", "x.shape[1] == n", "x.size(d)", "y.shape", "y.numel()", "g(x)", "x.sum()", "(m := n)", "n % d",
     "xs[0]", "all(g(s) for s in x.shape)", "x[0]", "n << 2", "x.shape[d]", "x.size(1) == n and x.ndim == 2",
     "x.ndim == 2 or x.size(1) == n", "y is not None and y.size(0) == n", "self.grad.numel()", "self.bias.shape"],
)  # fmt: skip
def test_what_may_raise_or_act_may_not(operand: str) -> None:
    assert not may_move("    place\n", operand)


@pytest.mark.parametrize(
    ("body", "operand"),
    [
        ("    a = x.size(1)\n    place\n", "x.size(0)"),
        ("    a, b = x.shape\n    place\n", "x.shape[-2]"),
        ("    a, *b = x.shape\n    place\n", "x.size(0)"),
        ("    s = x.shape\n    assert x.dim() == 2\n    place\n", "s[1]"),
        ("    if x.ndim != 3:\n        raise ValueError\n    place\n", "x.shape[2]"),
        ("    torch._check(x.dim() in (3, 4))\n    place\n", "x.size(2)"),
        ("    for i in range(x.dim()):\n        place\n", "x.size(i)"),
        ("    rank = x.ndim\n    for i in range(1, rank):\n        place\n", "x.stride(i)"),
        ("    s = x.shape\n    for i in range(len(s)):\n        place\n", "s[i]"),
        ("    if not (x.dim() >= 2 and n):\n        return\n    place\n", "x.size(1)"),
        ("    if y is not None:\n        place\n", "y.shape"),
        ("    x = x.expand((n, d))\n    place\n", "x.size(1)"),
        ("    a = n % d\n    place\n", "n % d == 0"),
        ("    if self.bias is not None:\n        place\n", "self.bias.shape"),
        ("    a = self.grad.shape\n    place\n", "self.grad.numel()"),
        ("    if n:\n        a = x.size(2)\n        place\n", "x.size(2)"),
    ],
)
def test_what_was_evaluated_before_may_move(body: str, operand: str) -> None:
    assert may_move(body, operand)


@pytest.mark.parametrize(
    ("body", "operand"),
    [
        ("    if n:\n        a = x.size(1)\n    place\n", "x.size(1)"),
        ("    a = n and x.size(1)\n    place\n", "x.size(1)"),
        ("    a = x.size(1)\n    x = x[0]\n    place\n", "x.size(1)"),
        ("    a = x.size(1)\n    for _ in xs:\n        place\n        x = x[0]\n", "x.size(1)"),
        ("    a = lambda: x.size(1)\n    place\n", "x.size(1)"),
        ("    a = g(x)\n    place\n", "g(x)"),
        ("    if x.dim() == 2:\n        n = 1\n    place\n", "x.size(1)"),
        ("    if y is not None:\n        n = 1\n    place\n", "y.shape"),
        ("    if x.ndim == 2:\n        raise ValueError\n    place\n", "x.shape[1]"),
        ("    for i in range(n):\n        place\n", "x.size(i)"),
        ("    for i in range(y.dim()):\n        place\n", "x.size(i)"),
        ("    for i in range(-9, x.dim()):\n        place\n", "x.size(i)"),
        ("    for i in range(len(x)):\n        place\n", "x.size(i)"),
        ("    for i in range(len(xs)):\n        place\n", "xs[i]"),
        ("    for i in range(x.dim()):\n        i += 1\n        place\n", "x.size(i)"),
        ("    for i in range(x.dim()):\n        place\n        x = x[0]\n", "x.size(i)"),
        ("    for i in range(x.dim()):\n        pass\n    place\n", "x.size(i)"),
        ("    rank = x.ndim\n    x = x[0]\n    for i in range(rank):\n        place\n", "x.size(i)"),
        ("    rank = x.ndim\n    rank = n\n    for i in range(rank):\n        place\n", "x.size(i)"),
    ],
)
def test_what_some_runs_have_not_evaluated_may_not(body: str, operand: str) -> None:
    assert not may_move(body, operand)


BOUND = [
    "a = n",
    "a, b = x.shape",
    "(a := n)",
    "a: int = n",
    "for a in xs:\n        place\n    for b in xs:\n        pass",
    "with g() as a:\n        pass\n    place",
    "with g():\n        a = n",
    "if n:\n        a = 1\n    else:\n        a = 2",
    "if n:\n        a = 1\n    elif d:\n        return\n    else:\n        a = 2",
    "if n:\n        return\n    else:\n        a = 1",
    "try:\n        a = g()\n    except ValueError:\n        a = 1",
    "try:\n        a = g()\n    except ValueError:\n        raise",
    "try:\n        g()\n    finally:\n        a = 1",
    "from b import a",
    "def a():\n        return 1",
    "b = a + 1\n    if n:\n        a = 2",
    "b = [a for a in xs]",
]
UNBOUND = [
    "if n:\n        a = 1",
    "for a in xs:\n        pass",
    "for b in xs:\n        a = b",
    "while n:\n        a = 1",
    "try:\n        a = g()\n    except ValueError:\n        pass",
    "try:\n        g()\n    except ValueError:\n        a = 1",
    "if n:\n        a = 1\n    else:\n        b = 2",
    "if n:\n        return\n    elif d:\n        a = 1",
    "a = 1\n    del a",
    "b = n and (a := 1)",
    "a: int",
    "b = [a for a in xs]\n    if n:\n        a = 1",
]


@pytest.mark.parametrize("body", BOUND)
def test_a_variable_that_surely_has_a_value_may_be_asked(body: str) -> None:
    assert may_move(f"    {body}\n" + "    place\n" * ("place" not in body), "a == 1")


@pytest.mark.parametrize("body", UNBOUND)
def test_a_variable_that_may_have_none_may_not(body: str) -> None:
    assert not may_move(f"    {body}\n    place\n", "a == 1")


@pytest.mark.parametrize(
    "body",
    [
        "a = xs[2]\n    xs.pop()\n    place",
        "a = xs[2]\n    b = xs.pop()\n    place",
        "a = xs[2]\n    del xs[0]\n    place",
        "a = xs[2]\n    xs[1:] = []\n    place",
        "a = xs[2]\n    if n:\n        xs.clear()\n    place",
        "a = xs[2]\n    for _ in x.shape:\n        place\n        xs.remove(a)",
    ],
)
def test_an_element_may_be_gone_again(body: str) -> None:
    assert not may_move(f"    {body}\n", "xs[2] is a")
    assert may_move("    a = xs[2]\n    xs.append(a)\n    place\n", "xs[2] is a")


@pytest.mark.parametrize(
    ("body", "operand", "may"),
    [
        ("place", "3 in (1, n)", True),
        ("place", "n not in x.shape", True),
        ("place", "n in x.size()", True),
        ("place", "n in xs", True),
        ("place", "n in y", False),
        ("place", "n in self.dims", False),
        ("a = self.dims.count(1)\n    place", "n in self.dims", True),
        ("if y is not None:\n        place", "n in y", True),
        ("m = [1, 2]\n    place", "n in m", True),
        ("m = None\n    if n:\n        m = [1, 2]\n    place", "n in m", False),
        ("place", "n is None or n in (1, 2)", True),
    ],
)
def test_what_may_be_none_is_not_searched(body: str, operand: str, may: bool) -> None:
    assert may_move(f"    {body}\n", operand) == may


@pytest.mark.parametrize("call", ["x.squeeze_()", "x.resize_((n,))", "g(x.squeeze_(0))"])
def test_a_dimension_may_be_gone_again(call: str) -> None:
    assert not may_move(f"    a = x.shape[1]\n    {call}\n    place\n", "x.shape[1] == n")
    assert may_move("    a = x.shape[1]\n    x.add_(1)\n    place\n", "x.shape[1] == n")


CHANGED = [
    "z = x\n    a = x.shape[1]\n    z.squeeze_()",
    "a = x.shape[1]\n    for z in (x, y):\n        z.squeeze_()",
    "z = x.contiguous()\n    a = x.shape[1]\n    z.squeeze_()",
    "a = x.shape[1]\n    x.t_().squeeze_(0)",
    "a = x.shape[1]\n    torch.sum(y, 0, out=x)",
    "a = x.shape[1]\n    if n:\n        x.data = y",
    "a = x.shape[1]\n    if (x := y) is not None:\n        place",
    "a = x.shape[1]\n    try:\n        x = y\n    except ValueError:\n        pass\n    else:\n        place",
    "a = x.shape[1]\n    try:\n        x = y\n        g()\n    except ValueError:\n        place",
    "a = x.shape[1]\n    try:\n        x = y\n    finally:\n        place",
    "a = x.shape[1]\n    with g() as x:\n        place",
    "a = x.shape[1]\n    match y:\n        case [x, 1]:\n            place",
    "a = x.shape[1]\n    match y:\n        case [x, 1]:\n            pass",
    "a = x.shape[1]\n    try:\n        g()\n    except ValueError as x:\n        place",
    "a = x.shape[1]\n    def change():\n        nonlocal x\n        x = y\n    change()",
    "def change():\n        nonlocal x\n        x = y\n    a = x.shape[1]\n    change()",
]


@pytest.mark.parametrize("body", CHANGED)
def test_what_was_evaluated_of_another_tensor_may_not(body: str) -> None:
    assert not may_move(f"    {body}\n" + "    place\n" * ("place" not in body), "x.shape[1] == n")


@pytest.mark.parametrize(
    "body",
    [
        "z = x.detach()\n    a = x.shape[1]\n    z.squeeze_()",
        "a = x.shape[1]\n    try:\n        y = g()\n    except ValueError:\n        place",
        "try:\n        a = x.shape[1]\n    except ValueError:\n        pass\n    else:\n        place",
        "a = x.shape[1]\n    with g() as y:\n        place",
    ],
)
def test_what_was_evaluated_of_the_same_tensor_may(body: str) -> None:
    assert may_move(f"    {body}\n" + "    place\n" * ("place" not in body), "x.shape[1] == n")


@pytest.mark.parametrize(
    "body",
    [
        "zs = xs\n    a = xs[2].shape[1]\n    zs[2] = y",
        "zs = [xs, n]\n    a = xs[2].shape[1]\n    zs[0].pop()",
        "a = xs[2].shape[1]\n    xs.reverse()",
        "a = xs[2].shape[1]\n    xs.insert(0, y)",
    ],
)
def test_another_element_may_stand_at_an_index(body: str) -> None:
    assert not may_move(f"    {body}\n    place\n", "xs[2].shape[1] == n")


def test_an_attribute_may_be_another_tensor() -> None:
    body = "    a = self.w.shape[1]\n    if n:\n        self.w = y\n    place\n"
    assert not may_move(body, "self.w.shape[1] == n")
    assert may_move(body.replace("w = y", "v = y"), "self.w.shape[1] == n")
    assert not may_move("    b = self\n    a = self.w.shape[1]\n    b.w = y\n    place\n", "self.w.shape[1] == n")


def test_a_number_to_which_dimensions_are_added_counts_none() -> None:
    body = "    m = n\n    m += x.dim()\n    for i in range(m):\n        place\n"
    assert not may_move(body, "x.size(i) == n")


@pytest.mark.parametrize(
    "body",
    [
        "a = n\n    for _ in xs:\n        place\n        a = 1\n        del a",
        "a = n\n    if n:\n        del a",
        "a = n\n    try:\n        g()\n    except ValueError as a:\n        pass",
        "try:\n        g()\n    except ValueError as a:\n        pass",
        "match n:\n        case [a]:\n            pass",
    ],
)
def test_a_variable_that_may_be_deleted_may_not(body: str) -> None:
    assert not may_move(f"    {body}\n" + "    place\n" * ("place" not in body), "a == 1")


@pytest.mark.parametrize("body", ["match n:\n        case [a]:\n            place", "with g() as a:\n        place"])
def test_a_variable_that_a_block_begins_with_may(body: str) -> None:
    assert may_move(f"    {body}\n", "a == 1")


@pytest.mark.parametrize(
    ("body", "operand"),
    [
        ("x = x if n else None", "x.dim() == 2"),
        ("x = g(x)", "x.dim() == 2"),
        ("if n:\n        x, b = None, 1", "x.numel() == 1"),
        ("if n:\n        x = x.tolist()", "x.numel() == 1"),
        ("x = n and x", "x.shape == (1,)"),
        ("for x in xs:\n        pass", "x.dim()"),
        ("n = n if d else None", "n < d"),
        ("n = n if d else None", "n + 1 == d"),
        ("m = None\n    if n:\n        m = 3", "m < d"),
        ("k = None\n    m = k", "1 < m"),
        ("m = {}.get(n)", "m < d"),
        ("s = x.shape\n    if n:\n        s = None", "len(s) == 2"),
        ("s = x.shape\n    if n:\n        s = None", "s == x.shape"),
        ("m = 1\n    for _ in xs:\n        g(m)\n        m = None", "m < d"),
    ],
)
def test_what_may_be_none_by_what_is_assigned_may_not(body: str, operand: str) -> None:
    assert not may_move(f"    {body}\n    place\n", operand)


@pytest.mark.parametrize(
    ("body", "operand"),
    [
        ("x = x.expand(n)", "x.dim() == 2"),
        ("x = x[0] + 1", "x.dim() == 2"),
        ("x = x.T\n    x += 1", "x.dim() == 2"),
        ("x = F.pad(x, (1,)) if n else x", "x.dim() == 2"),
        ("s = None\n    s = x.shape", "len(s) == 2"),
        ("n = n or 3", "n < d"),
        ("n = n if d else None", "n is None"),
        ("n = None\n    if d:\n        n = 1\n    assert n is not None", "n < d"),
    ],
)
def test_what_is_assigned_and_is_never_none_may(body: str, operand: str) -> None:
    assert may_move(f"    {body}\n    place\n", operand)


@pytest.mark.parametrize(
    ("source", "only"),
    [
        ("def f(v):\n    '''Doc.'''\n    r = 1\n    for e in v:\n        r *= e\n    return r\n", True),
        ("def f(a, b):\n    return a / b\n", False),
        ("def f(a):\n    return g(a)\n", False),
        ("@cache\ndef f(a):\n    return a\n", False),
    ],
)
def test_functions_that_only_compute(source: str, only: bool) -> None:
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    assert only_arithmetic(function) == only
