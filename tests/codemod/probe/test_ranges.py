"""Ranges of expressions: they hold all that the expressions come to."""

from __future__ import annotations

import ast
import itertools

from hypothesis import given
from hypothesis import strategies as st

from codemod.probe.ranges import ANY, Range, difference, multiplied_out, question, settles

SYMBOLS = ("u0", "u1")
NUMBERS = st.integers(0, 9)


def _expressions() -> st.SearchStrategy[str]:
    leaves = st.sampled_from(SYMBOLS) | st.integers(-9, 9).map(lambda n: f"({n})")
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*"]), inner),
            st.builds("({} // {})".format, inner, st.integers(1, 9)),
            st.builds("{}({}, {})".format, st.sampled_from(["Max", "Min"]), inner, inner),
            st.builds("Mod({}, {})".format, inner, st.integers(1, 9)),
            st.builds("(-{})".format, inner),
        ),
        max_leaves=6,
    )


NAMES = {"Max": max, "Min": min, "Mod": lambda a, b: a % b, "Eq": lambda a, b: a == b, "Ne": lambda a, b: a != b}


@given(
    _expressions(), _expressions(), st.sampled_from(["<", "<=", ">", ">=", "Eq", "Ne"]), NUMBERS, NUMBERS, NUMBERS,
)  # fmt: skip
def test_what_is_settled_has_one_answer(left: str, right: str, operator: str, low: int, more: int, other: int) -> None:
    text = f"{operator}({left}, {right})" if operator.isalpha() else f"{left} {operator} {right}"
    asked = question(text, SYMBOLS)
    assert asked is not None
    ranges = {"u0": Range(low, low + more), "u1": Range(other, other + 3)}
    drawn = itertools.product(range(low, low + more + 1), range(other, other + 4))
    answers = {bool(eval(text, dict(NAMES), dict(zip(SYMBOLS, numbers, strict=True)))) for numbers in drawn}
    assert len(answers) == 1 or not settles(asked, ranges)
    assert settles(asked, {"u0": Range(5, 5), "u1": Range(7, 7)}) or "Mod" in text or "//" in text


@given(_expressions(), _expressions(), NUMBERS, NUMBERS)
def test_what_is_multiplied_out_is_the_same_question(left: str, right: str, first: int, second: int) -> None:
    asked = question(f"{left} < {right}", SYMBOLS)
    assert asked is not None
    out = multiplied_out(asked)
    if out is not None:
        values = {**NAMES, "u0": first, "u1": second}
        assert eval(ast.unparse(out), dict(values)) == eval(ast.unparse(asked), dict(values))
        products = [node for node in ast.walk(out) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)]
        factors = [factor for node in products for factor in (node.left, node.right)]
        assert not any(isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Add, ast.Sub)) for n in factors)


def test_a_product_of_many_sums_is_not_multiplied_out() -> None:
    asked = question("*".join(["(u0 + 1)"] * 7) + " < 1", SYMBOLS)
    assert asked is not None
    assert multiplied_out(asked) is None


def test_what_is_open_above_is_settled_where_it_can_be() -> None:
    asked = question("Eq(u0*((u1//5) - 1), 1)", SYMBOLS)
    assert asked is not None
    assert settles(asked, {"u0": Range(2), "u1": Range(10)})
    assert not settles(asked, {"u0": Range(1), "u1": Range(10)})
    assert not settles(asked, dict.fromkeys(SYMBOLS, ANY))


def test_two_sizes_lie_as_far_apart_as_their_numbers_do() -> None:
    for text, apart in (("u0 + 4 < u1", 4), ("Eq(u0, u1)", 0), ("u0*u1 < 4", None), ("u0//(u1 - 1) < 1", None)):
        asked = question(text, SYMBOLS)
        assert isinstance(asked, ast.expr)
        assert difference(asked, SYMBOLS) == apart, text


def test_what_is_not_known_is_no_question() -> None:
    for text in ("u0", "u0 < 1.5", "u0 < u9", "f(u0, 2) < 1", "u0 < 1 < u1", "u0 in (1, 2)", "Eq(u0)", "u0**2 < 1"):
        assert question(text, SYMBOLS) is None, text
