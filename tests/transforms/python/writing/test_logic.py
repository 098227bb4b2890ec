"""Conditions: the same truth without a coercion, its negation, and what is taken to hold where sizes are unknown."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import own_nodes
from transforms.python.writing.logic import Conditions, Undecided
from transforms.python.writing.nodes import code, parse_expression

FUNCTION = """
def f(
    x: Tensor, y: Tensor, flag: bool, k: int, lengths, steps: list[int], total: Optional[SymInt], n: SymInt = None,
    *, m: SymInt, width: "SymInt | None"
) -> Any:
    a, b = x.shape
    c = y.numel()
    listed = [a, b]
    longest = lengths[0] if flag else a
    step = steps[0] if flag else a
    found = None
    if flag:
        found = x.numel()
"""


@pytest.fixture
def conditions() -> Conditions:
    function = ast.parse(FUNCTION).body[0]
    assert isinstance(function, ast.FunctionDef)
    return Conditions(Interpreter(function, own_nodes(function), {}, {}), lambda name: name)


@pytest.mark.parametrize(
    ("condition", "symbolic"),
    [
        ("x.ndim == 2", "x.ndim == 2"),
        ("a == 0", "a == 0"),
        ("flag and a == b", "flag and a == b"),
        ("a == b and c == 1", "sym_and(a == b, c == 1)"),
        ("flag and a == b and c == 1", "flag and sym_and(a == b, c == 1)"),
        ("a == b or c == 1", "sym_or(a == b, c == 1)"),
        ("not a", "a == 0"),
        ("not a == b", "a != b"),
        ("not (a == b and c)", "sym_or(a != b, c == 0)"),
        ("0 < a < b", "sym_and(0 < a, a < b)"),
        ("x.shape == y.shape", "sym_eq(x.shape, y.shape)"),
        ("x.shape != (a, b)", "torch.sym_not(sym_eq(x.shape, (a, b)))"),
        ("a in (1, b)", "sym_or(a == 1, a == b)"),
        ("a not in (1,)", "torch.sym_not(a == 1)"),
        ("a in {1, b}", "sym_or(a == 1, a == b)"),
        ("all(s > 0 for s in x.shape)", "sym_and(True, *(s > 0 for s in x.shape))"),
        ("builtins.all(s > 0 for s in x.shape)", "sym_and(True, *(s > 0 for s in x.shape))"),
        ("any(s == a for s in y.shape)", "sym_or(False, *(s == a for s in y.shape))"),
    ],
)
def test_symbolic(conditions: Any, condition: Any, symbolic: Any) -> None:
    assert code(conditions.symbolic(parse_expression(condition))) == symbolic


def test_what_is_unpacked_into_a_membership_is_not_seen(conditions: Any) -> None:
    with pytest.raises(Undecided, match="compares with every element"):
        conditions.symbolic(parse_expression("a in (1, *b)"))


@pytest.mark.parametrize(
    ("condition", "negated"),
    [
        ("a == b", "a != b"),
        ("a < b", "a >= b"),
        ("c", "c == 0"),
        ("flag and a == b", "not flag or a != b"),
        ("a == b or c > 1", "sym_and(a != b, c <= 1)"),
        ("a / 2 < b / 3", "torch.sym_not(a / 2 < b / 3)"),
    ],
)
def test_negated(conditions: Any, condition: Any, negated: Any) -> None:
    assert code(conditions.negated(parse_expression(condition))) == negated


@pytest.mark.parametrize(
    ("condition", "guarded"),
    [
        ("a == 0", "guard_or_false(a == 0)"),
        ("a != 1", "guard_or_true(a != 1)"),
        ("a > 0", "guard_or_true(a > 0)"),
        ("a <= 1", "guard_or_false(a <= 1)"),
        ("1 > a", "guard_or_false(1 > a)"),
        ("c", "guard_or_true(c != 0)"),
        ("not c", "not guard_or_true(c != 0)"),
        ("flag and a == b", "flag and guard_or_false(a == b)"),
        ("x.shape != y.shape", "not guard_or_false(sym_eq(x.shape, y.shape))"),
        ("all(s > 0 for s in x.shape)", "all(guard_or_true(s > 0) for s in x.shape)"),
    ],
)
def test_guarded_by_what_is_general(conditions: Any, condition: Any, guarded: Any) -> None:
    assert code(conditions.guarded(parse_expression(condition))) == guarded


@pytest.mark.parametrize(
    ("condition", "default", "guarded"),
    [
        ("a < b", False, "guard_or_false(a < b)"),
        ("not a < b", False, "not guard_or_true(a < b)"),
        ("x.shape != y.shape", False, "not guard_or_true(sym_eq(x.shape, y.shape))"),
        ("0 < a < b", True, "(guard_or_true(0 < a) and guard_or_true(a < b))"),
    ],
)
def test_guarded_by_a_default(conditions: Any, condition: Any, default: Any, guarded: Any) -> None:
    assert code(conditions.guarded(parse_expression(condition), default)) == guarded


@pytest.mark.parametrize("condition", ["a < b", "a > 5", "c >= 3"])
def test_an_order_of_sizes_is_no_special_case(conditions: Any, condition: Any) -> None:
    with pytest.raises(Undecided, match="general"):
        conditions.guarded(parse_expression(condition))


@pytest.mark.parametrize(
    "condition", ["longest > b", "b == longest", "0 < longest < b", "longest - 1 > b", "not longest > b"]
)
def test_what_a_parameter_of_no_type_holds_may_be_a_tensor(conditions: Any, condition: Any) -> None:
    # lengths may be a Tensor: then this is a Tensor of bool, and guard_or_false, expect_true and _check refuse that
    for written in (conditions.symbolic, conditions.negated, conditions.expected, conditions.refused):
        with pytest.raises(Undecided, match="may be a Tensor"):
            written(parse_expression(condition))


@pytest.mark.parametrize("name", ["total", "n", "width", "found"])
@pytest.mark.parametrize("condition", ["{}", "not {}", "{} and a == b", "not {} or b"])
def test_what_may_be_none_is_not_compared_with_0(conditions: Any, name: str, condition: str) -> None:
    for written in (conditions.symbolic, conditions.negated, conditions.expected, conditions.refused):
        with pytest.raises(Undecided, match=f"{name} may be None"):
            written(parse_expression(condition.format(name)))


def test_what_may_be_none_is_compared_as_it_was(conditions: Any) -> None:
    assert code(conditions.guarded(parse_expression("total == 0"))) == "guard_or_false(total == 0)"
    assert code(conditions.symbolic(parse_expression("not m"))) == "m == 0"


def test_what_a_list_of_ints_holds_is_none(conditions: Any) -> None:
    assert code(conditions.symbolic(parse_expression("step > b"))) == "step > b"


def test_a_list_is_never_equal_to_a_tuple(conditions: Any) -> None:
    assert not conditions.asks(parse_expression("x.shape == listed"))
    with pytest.raises(Undecided, match="may be no shape"):
        conditions.symbolic(parse_expression("x.shape == unknown"))


def test_comments_and_line_breaks_stay(conditions: Any) -> None:
    condition = "(\n    a == b  # first\n    and c == 1\n)"
    assert code(conditions.guarded(parse_expression(condition))) == (
        "(\n    guard_or_false(a == b)  # first\n    and guard_or_false(c == 1)\n)"
    )
    assert "# first" in code(conditions.symbolic(parse_expression(condition)))


@pytest.mark.parametrize(
    ("condition", "brief"),
    [
        ("any(x.size(dim) != (\n    c\n) for dim in dims)", "x.size(dim) != ( c ) may raise"),
        (f"a > 1 and {' + '.join(['y.size(0)'] * 30)} > 1", f"{'y.size(0) + ' * 5}…"[:60]),
    ],
)
def test_a_reason_says_what_it_is_about_on_one_short_line(conditions: Conditions, condition: str, brief: str) -> None:
    conditions._movable = lambda moved: False
    with pytest.raises(Undecided) as refused:
        conditions.symbolic(parse_expression(condition))
    said = str(refused.value)
    assert said.startswith(brief)
    assert said.endswith("may raise or act where what is before it decides: ask each by itself")
    assert len(said) < 140
