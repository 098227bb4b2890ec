"""What is a number on every path, what may be none or a fraction, and what is written for each."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest

from tests.transforms.python.reach.following import followed
from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import own_nodes

HEAD = (
    "def f(x: Tensor, y: Tensor, mode: str, rows: int | None, k: int, flag: bool, scale: float, scales: list[float]):\n"
)
RAISE = "    if not n:\n        raise ValueError('n')\n    return x\n"


@pytest.mark.parametrize(
    "n",
    [
        "n = rows\n    if flag:\n        n = x.size(0)",
        "n = x.size(0) if flag else rows",
        "n = x.size(0) if flag else mode",
        "n = mode or x.size(0)",
        "rows = x.size(0) if flag else rows\n    n = rows",
        "a, b, n = *x.shape, mode",
        "a, n, b = mode, scales, *x.shape",
        "*a, n = x.size(0), mode",
        "a, b, n = [x.size(0), x.size(1), mode]",
        "n = [x.size(0), mode][-1]",
        "a = list(x.shape)\n    a.append(mode)\n    n = a[-1]",
        "a = list(x.shape)\n    a.insert(0, mode)\n    n = a[0]",
        "a = list(x.shape)\n    a[0] = mode\n    n = a[0]",
        "n = (tuple(x.shape) + (mode,))[-1]",
        "a, b, n = x.shape + (mode,)",
        "n = None\n    if flag:\n        n = x.size(0) == 2",
        "n = mode\n    if flag:\n        n = x.size(0) == 2",
    ],
)
def test_the_truth_of_what_may_be_no_number_is_left(rewrite: Any, n: str) -> None:
    source = f"{HEAD}    {n}\n{RAISE}"
    assert rewrite(source) == source


@pytest.mark.parametrize(
    "n",
    [
        "n = k\n    if flag:\n        n = x.size(0)",
        "n = 0\n    if flag:\n        n = x.size(0)",
        "n = x.size(0) if flag else len(scales)",
        "n = x.dim()\n    if flag:\n        n = x.size(0)",
        "rows = x.size(0)\n    n = rows",
        "a, n, b = *x.shape, mode",
        "a, n, *b = mode, x.size(1), scales",
        "a = list(x.shape)\n    a.append(k)\n    n = a[-1]",
        "n = (tuple(x.shape) + (k, 1))[-1]",
        "n = False\n    if flag:\n        n = x.size(0) == 2",
        "n = flag and x.size(0) == 2",
    ],
)
def test_the_truth_of_a_number_is_checked(rewrite: Any, n: str) -> None:
    assert "torch._check_value(n" in rewrite(f"{HEAD}    {n}\n{RAISE}")


@pytest.mark.parametrize(
    "condition",
    [
        "np.prod(x.shape) != y.numel()",
        "x.size(0) > np.prod(k)",
        "x.numel() != np.sqrt(k)",
        "x.numel() > np.sum(x.shape)",
    ],
)
def test_a_number_of_numpy_is_compared_to_no_bool(rewrite: Any, condition: str) -> None:
    source = f"{HEAD}    if {condition}:\n        raise ValueError('n')\n    return x\n"
    assert rewrite(source) == source
    assert "torch._check" in rewrite(re.sub(r"np\.\w+\([\w.]+\)", r"int(\g<0>)", source))


@pytest.mark.parametrize("other", ["None", "np.prod(k)", "scale", "rows"])
def test_a_shape_is_compared_with_integers_alone(rewrite: Any, other: str) -> None:
    source = f"{HEAD}    torch._check(x.shape == (k, {{}}))\n    return x\n"
    assert rewrite(source.format(other)) == source.format(other)
    assert "sym_eq" in rewrite(source.format("k"))


@pytest.mark.parametrize(
    "extremum",
    ["min(x.size(0), scale)", "max(1.0, x.size(0))", "max(x.size(0), x.size(1) * 0.5)", "min(math.inf, x.size(0))",
     "int(max(1, x.size(0) * scale))", "min(x.size(0), float(mode))", "max(x.size(0), abs(scale))",
     "max(x.size(0), max(1, scale))", "max(x.size(0), np.ceil(scale))", "max(x.size(0), math.pow(2, scale))",
     "max(x.size(0), round(scale, 1))", "max(x.size(0), y.mean().item())", "max(x.size(0), sum([0.5, k]))",
     "max(x.size(0), [1, 0.5][k])", "max(x.size(0), 2 ** -k)", "max(x.size(0), y.numel() ** -k)",
     "max(x.size(0), config.ratio)", "max(x.size(0), ratios['a'])", "max(x.size(0), torch.finfo(x.dtype).max)",
     "max(x.size(0), half(k))", "max(x.size(0), x.size(1) * config.ratio)",
     "max([s * config.ratio for s in x.shape][:2])"],
)  # fmt: skip
def test_an_extremum_makes_no_float_of_an_int(rewrite: Any, extremum: str) -> None:
    source = f"{HEAD}    return x.new_full((2,), {extremum})\n"
    assert rewrite(source) == source


@pytest.mark.parametrize(
    "number",
    ["abs(k)", "max(1, k)", "math.ceil(scale)", "round(scale)", "int(scale)", "k << 1", "2**3", "y.dim()",
     "len(scales)", "(1, 2)[k]", "-k", "k if flag else 1", "x.size(1) ** 2", "int(config.ratio)"],
)  # fmt: skip
def test_an_extremum_takes_what_is_an_int_whatever_it_is_made_of(rewrite: Any, number: str) -> None:
    source = f"{HEAD}    return x.new_full((2,), max(x.size(0), {number}))\n"
    assert "torch.sym_max(x.size(0), " in rewrite(source)


@pytest.mark.parametrize(
    "annotation",
    ["list[int]", "tuple[int, ...]", "Sequence[int]", "List[int]", "Optional[List[int]]", "list[int] | None"],
)
def test_a_sequence_of_ints_holds_ints(rewrite: Any, annotation: str) -> None:
    source = f"def f(x: Tensor, sizes: {annotation}):\n    return x.new_full((2,), max(x.size(0), sizes[0]))\n"
    assert "torch.sym_max(x.size(0), sizes[0])" in rewrite(source)
    assert "sym_max" not in rewrite(source.replace("int", "float"))
    other = source.replace("    return", "    sizes = half(sizes)\n    return")
    assert rewrite(other) == other


def test_what_need_not_be_given_is_an_int_once_it_is_chosen(rewrite: Any) -> None:
    source = (
        f"{HEAD}    n = rows if rows is not None else k\n    torch._check(x.shape == (n,), lambda: 'n')\n    return x\n"
    )
    assert "sym_eq(x.shape, (n,))" in rewrite(source)
    assert "sym_eq" not in rewrite(source.replace("rows if rows is not None else k", "rows"))


@pytest.mark.parametrize("first", ["1", "0.5"])
def test_what_is_a_float_on_one_path_is_no_int(rewrite: Any, first: str) -> None:
    other = "0.5" if first == "1" else "1"
    source = (
        f"{HEAD}    n = {first}\n    if flag:\n        n = {other}\n    return x.new_full((2,), max(x.size(0), n))\n"
    )
    assert rewrite(source) == source
    assert "sym_max" in rewrite(source.replace("0.5", "3"))


@pytest.mark.parametrize("number", ["range(k)", "(1, k)", "enumerate(scales)"])
def test_a_loop_over_ints_gives_ints(rewrite: Any, number: str) -> None:
    target = "n, _" if "enumerate" in number else "n"
    source = f"{HEAD}    return [x.new_full((2,), max(x.size(0), n)) for {target} in {number}]\n"
    assert "torch.sym_max(x.size(0), n)" in rewrite(source)


@pytest.mark.parametrize("default", ["math.inf", "0.5", "float('inf')"])
def test_a_default_says_what_a_parameter_may_be(rewrite: Any, default: str) -> None:
    source = f"def f(x: Tensor, limit={default}):\n    return x.new_empty(min(x.shape[0], limit))\n"
    assert rewrite(source) == source
    assert "torch.sym_min" in rewrite(source.replace(default, "8"))


def test_the_least_of_a_loop_that_begins_without_limit_is_left(rewrite: Any) -> None:
    source = f"{HEAD}    best = float('inf')\n    for s in x.shape:\n        best = min(best, s)\n    return best\n"
    assert rewrite(source) == source
    assert "best = torch.sym_min(best, s)" in rewrite(source.replace("float('inf')", "k"))


@pytest.mark.parametrize("n", ["x.size(0) * scale", "x.size(0) * self.ratio", "x.size(0) / 2", "x.size(0) + 0.5"])
def test_what_may_be_a_fraction_is_not_rounded_up_as_a_whole_number(rewrite: Any, n: str) -> None:
    source = f"{HEAD}    n = {n}\n    return n // 8 + 1 if n % 8 != 0 else n // 8\n"
    assert rewrite(source) == source
    assert "(n + 7) // 8" in rewrite(source.replace(n, "x.size(0) * k"))


@pytest.mark.parametrize("m", ["y.size(0) * scale", "y.size(0) * self.ratio"])
def test_a_quotient_is_guarded_for_whole_numbers_alone(rewrite: Any, m: str) -> None:
    source = f"{HEAD}    m = {m}\n    return (x.size(0) - 1.0) / (m - 1.0) if m > 1 else 0\n"
    assert rewrite(source) == source
    assert "sym_max" in rewrite(source.replace(m, "y.size(0) * 2"))


@pytest.mark.parametrize(
    ("begin", "condition"),
    [("n = x.size(0)", "rows and n > k"), ("n = x.size(0)", "n > np.prod(k)"), ("n = rows and x.size(0)", "n > 1"),
     ("n = None\n    if flag:\n        n = x.size(0)", "n is not None and n > 1")],
)  # fmt: skip
def test_an_update_is_chosen_by_a_bool_and_of_a_number(rewrite: Any, begin: str, condition: str) -> None:
    source = f"{HEAD}    {begin}\n    if {condition}:\n        n -= 1\n    return n\n"
    assert rewrite(source) == source
    assert "torch.sym_ite(flag and n > k, n - 1, n)" in rewrite(
        source.replace(begin, "n = x.size(0)").replace(condition, "flag and n > k")
    )


@pytest.mark.parametrize(
    "condition", ["1 < rows_of(x) < y.size(0)", "(m := x.size(0)) in (2, 3)", "1 < (m := x.size(0)) < 4"]
)
def test_what_acts_is_evaluated_once(rewrite: Any, condition: str) -> None:
    source = f"def rows_of(x: Tensor):\n    return x.size(0)\n\n\n{HEAD}    torch._check({condition})\n    return x\n"
    assert source in (rewrite(source), rewrite(source).replace("sym_and(", ""))


@pytest.mark.parametrize(
    ("parameter", "given", "number"),
    [("n", "mode", False), ("n", "None", False), ("n", "rows", False), ("n", "k", True), ("n", "2", True),
     ("n='all'", "k", False), ("n=None", "k", False), ("n=3", "k", True), ("n: int", "mode", True)],
)  # fmt: skip
def test_what_a_helper_is_given_elsewhere_counts(parameter: str, given: str, number: bool) -> None:
    lines = HEAD.replace("def f", "@register_fake('a::f')\ndef f")
    call = f"    return helper(x, x.size(0)), helper(x, {given})\n\n\ndef helper(x: Tensor, {parameter}):\n{RAISE}"
    _, functions = followed({"ops.py": f"from torch.library import register_fake\n\n\n{lines}{call}"})
    (helper,) = (reached for definition, reached in functions.items() if definition.function.name == "helper")
    function = ast.parse(f"def helper(x: Tensor, {parameter}):\n{RAISE}").body[0]
    assert isinstance(function, ast.FunctionDef)
    values = Interpreter(function, own_nodes(function), helper.parameters, {})
    assert values.value(ast.Name("n", ast.Load(), lineno=2)).optional is not number


@pytest.mark.parametrize(("given", "whole"), [("k", True), ("2", True), ("0.5", False), ("scale", False)])
def test_a_helper_that_is_given_a_float_elsewhere_has_no_int(given: str, whole: bool) -> None:
    lines = HEAD.replace("def f", "@register_fake('a::f')\ndef f")
    call = f"    return helper(x, x.size(0)), helper(x, {given})\n\n\ndef helper(x: Tensor, n):\n{RAISE}"
    _, functions = followed({"ops.py": f"from torch.library import register_fake\n\n\n{lines}{call}"})
    (helper,) = (reached for definition, reached in functions.items() if definition.function.name == "helper")
    assert helper.parameters["n"].integral is whole


FLAG = "flag: bool = None"
GIVEN = "    flag = flag if flag is not None else x.size(1) == n\n"


@pytest.mark.parametrize(
    ("parameter", "before", "sure"),
    [
        ("flag: bool", "", True),
        ("flag: bool = False", "", True),
        (FLAG, "", False),
        ("flag: Optional[bool] = None", "", False),
        ("flag: bool | None", "", False),
        (FLAG, GIVEN.replace("flag =", "given ="), True),
        (FLAG, GIVEN.replace("flag =", "given =").replace("not None", "None"), False),
        ("flag: bool | None", "    given = x.size(1) == n if flag is None else flag\n", True),
        ("flag: bool | int | None", GIVEN.replace("flag =", "given ="), False),
        ("flag: bool | None", "    flag = g(x)\n" + GIVEN.replace("flag =", "given ="), False),
        (FLAG, "    given = flag if n > 2 else x.size(1) == n\n", False),
        ("flag: bool", "    given = None\n    if flag:\n        given = True\n", False),
    ],
)
def test_what_may_be_none_is_no_bool_until_it_is_given(look: Any, parameter: str, before: str, sure: bool) -> None:
    """`sym_or(m == n, None)` is an error where `m == n or None` was none."""
    asked = "given" if before else "flag"
    source = (
        f"def f(x: Tensor, n: int, {parameter}):\n{before}    torch._check(x.size(0) == n or {asked})\n    return x\n"
    )
    (found,) = [finding for finding in look(source) if finding.rule == "check-condition"]
    assert bool(found.edits) == sure
    assert sure or found.reason.startswith(f"{asked} may be no bool")
