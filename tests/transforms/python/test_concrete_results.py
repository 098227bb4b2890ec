"""For generated functions over sizes: the rewritten function equals the original on every concrete input."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from codemod.model.findings import Level
from tests.conftest import drawn
from tests.transforms.python.eager_torch import Sized, boolean, run_function

ATOMS = ("a", "b", "c", "x.size(1)", "y.shape[0]", "x.numel()", "y.numel()", "n")
CONSTANTS = ("0", "1", "2", "3")
SHAPES = ("x.shape", "y.shape", "x.shape[:-1]", "y.size()", "(a, b)", "[c, n]")
PLAIN = ("flag", "x.ndim == 2", "k > 1", "not flag")
ERRORS = ("RuntimeError", "ValueError", "IndexError", "TypeError", "NotImplementedError", "AssertionError")


@st.composite
def amounts(draw: Any) -> str:
    """An int that may hold a size."""
    kind = draw(st.integers(0, 5))
    if kind < 3:
        return str(draw(st.sampled_from(ATOMS)))
    left, right = draw(st.sampled_from(ATOMS)), draw(st.sampled_from(ATOMS + CONSTANTS))
    if kind == 3:
        return f"{draw(st.sampled_from(('min', 'max')))}({left}, {right})"
    return f"({left} {draw(st.sampled_from('+-*'))} {right})"


@st.composite
def comparisons(draw: Any) -> str:
    kind = draw(st.integers(0, 7))
    operators = st.sampled_from(("==", "!=", "<", "<=", ">", ">="))
    if kind == 0:
        return (
            f"{draw(st.sampled_from(SHAPES[:4]))} {draw(st.sampled_from(('==', '!=')))} {draw(st.sampled_from(SHAPES))}"
        )
    if kind == 1:
        return f"{draw(amounts())} {draw(st.sampled_from(('in', 'not in')))} ({draw(st.sampled_from(CONSTANTS))}, a)"
    if kind == 2:
        return (
            f"{draw(st.sampled_from(CONSTANTS))} {draw(operators)} {draw(st.sampled_from(ATOMS))} {draw(operators)} b"
        )
    if kind == 3:
        return (
            f"{draw(st.sampled_from(('all', 'any')))}(s {draw(operators)} 1 for s in {draw(st.sampled_from(SHAPES))})"
        )
    if kind == 4:
        return str(draw(st.sampled_from(PLAIN)))
    return f"{draw(amounts())} {draw(operators)} {draw(st.sampled_from(ATOMS + CONSTANTS))}"


@functools.cache  # made once, not for each that is drawn
def conditions() -> st.SearchStrategy[str]:
    return st.recursive(
        comparisons(),
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(("and", "or")), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
            inner.map(lambda condition: f"(not {condition})"),
        ),
        max_leaves=4,
    )


@st.composite
def statements(draw: Any, depth: int = 0) -> list[str]:
    kind = draw(st.integers(0, 8 if depth < 2 else 6))
    test = draw(conditions())
    if kind == 0:
        error = draw(st.sampled_from(ERRORS))
        return [f"if {test}:", f"    raise {error}(f'no {{a}}')"]
    if kind == 1:
        return [f"if {test}:", f"    return ('early', {draw(amounts())})"]
    if kind == 2:
        return [f"if {test}:", f"    n {draw(st.sampled_from('+-'))}= 1"]
    if kind == 3:
        return [f"n = {draw(amounts())} if {test} else {draw(amounts())}"]
    if kind == 4:
        return [f"flag = {test}"]
    if kind == 5:
        return [f"torch._check({test}, lambda: f'check {{a}}')"]
    if kind == 6:
        return [f"n = {draw(amounts())}"]
    body = [
        f"    {line}" for block in draw(st.lists(statements(depth=depth + 1), min_size=1, max_size=2)) for line in block
    ]
    if kind == 7:
        return [f"if {test}:", *body]
    other = [f"    {line}" for line in draw(statements(depth=depth + 1))]
    return [f"if {test}:", *body, f"elif {draw(conditions())}:", *other, "else:", "    n = 7"]


@st.composite
def functions(draw: Any) -> str:
    body = [line for block in draw(st.lists(statements(), min_size=1, max_size=4)) for line in block]
    lines = ["a, b = x.shape", "c = y.size(0)", "n = x.size(-1)", *body, "return (n, flag)"]
    return "def f(x: Tensor, y: Tensor, k: int, flag: bool):\n" + "".join(f"    {line}\n" for line in lines)


def run(source: str) -> list[Any]:
    """What the function does for every pair of small inputs: its result, or its exception's type and text."""
    function = run_function(source)
    results: list[Any] = []
    for p, q, r in itertools.product((0, 1, 2, 3), (0, 1, 2), (0, 1, 3)):
        for y in (Sized(r), Sized(p, q)):
            try:
                results.append((p, q, r, function(Sized(p, q), y, 2, q > 0)))
            except Exception as error:
                results.append((p, q, r, type(error), str(error)))
    return results


@settings(max_examples=drawn(150), deadline=None, suppress_health_check=list(HealthCheck))
@given(functions(), st.booleans(), st.booleans(), st.booleans())
def test_every_concrete_input_gives_the_same_result(
    rewrite: Any, source: Any, inlined: Any, scripted: Any, eager: Any
) -> None:
    rewritten = rewrite(source, inlined=inlined, scripted=scripted, eager=eager)
    assert run(rewritten) == run(source), rewritten


@settings(max_examples=drawn(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(functions(), st.booleans())
def test_a_second_run_changes_nothing(rewrite: Any, source: Any, scripted: Any) -> None:
    once = rewrite(source, scripted=scripted)
    assert rewrite(once, scripted=scripted) == once


@settings(max_examples=drawn(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(functions())
def test_safe_edits_alone_give_the_same_result(rewrite: Any, source: Any) -> None:
    assert run(rewrite(source, level=Level.SAFE)) == run(source)


def test_the_property_can_fail() -> None:
    source = "def f(x: Tensor, y: Tensor, k: int, flag: bool):\n    return x.numel() == 0\n"
    assert run(source) != run(source.replace("==", "!="))
    with pytest.raises(AssertionError):
        boolean(1)
