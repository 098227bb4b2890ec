"""For known values a rewritten function evaluates the same operands, in the same order and as often, and raises alike.

The conditions hold what a short circuit keeps from being evaluated: attributes of what may be None, sizes of dimensions
that may not be there, calls that are counted, assignments, and variables that may have no value yet.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, example, given, settings

from tests.conftest import drawn
from tests.transforms.python.eager_torch import Sized, run_function

OPERANDS = (
    "x.size(0) == n",
    "x.size(1) == n",
    "x.shape[2] != 1",
    "x.shape[-1] == y.shape[-1]",
    "y is None",
    "y is not None",
    "y.shape[0] == n",
    "y.size(0) % x.size(0) == 0",
    "x.dim() == 2",
    "len(x.shape) > 2",
    "count('a') == x.size(0)",
    "count('b')",
    "(m := count('c')) == x.size(0)",
    "all(x.size(d) == n for d in range(count('d')))",
    "any(s == n for s in x.shape)",
    "1 < x.size(0) < x.size(1)",
    "x.shape == y.shape",
    "x.numel() != 0",
    "n in (x.size(0), x.size(1))",
    "m == x.size(0)",
    "sizes[1] == x.size(0)",
)
BEFORE = (
    "m = 2",
    "if n:\n        m = 2",
    "for m in x.shape:\n        pass",
    "if y is not None:\n        m = n\n    else:\n        m = 1",
)
FORMS = (
    "if {0}:\n        raise ValueError(f'no {{x.shape}}')",
    "if {0}:\n        raise ValueError",
    "if {0}:\n        n = 7\n    elif {1}:\n        raise IndexError('second')",
    "if {0}:\n        n = 9\n    else:\n        raise TypeError('otherwise')",
    "assert {0}, f'no {{n}}'",
    "torch._check({0}, lambda: f'no {{n}}')",
    "torch._check_value({0}, lambda: 'no')",
    "if {0}:\n        return 'early'",
    "n = n + 1 if {0} else n",
    "if {0}:\n        n += 1",
    "same = {0}\n    if not same:\n        raise ValueError('differs')",
)


@functools.cache  # made once, not for each that is drawn
def conditions() -> st.SearchStrategy[str]:
    return st.recursive(
        st.sampled_from(OPERANDS),
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(("and", "or")), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
            inner.map(lambda operand: f"(not {operand})"),
        ),
        max_leaves=4,
    )


MIXED = """\
def f(x: Tensor, y: Optional[Tensor], n: int):
    same = {}
    if not same:
        raise ValueError('differs')
    return n
"""
"""A truth that may be a number, which no check takes."""
PLAIN_LAST = """\
def f(x: Tensor, y: Optional[Tensor], n: int):
    flag = x.dim() == 2
    if x.size(1) != n and flag:
        raise ValueError('differs')
    return n
"""
"""What is asked first raises where the plain truth behind it would have said no."""


UNBOUND = """\
def f(x: Tensor, y: Optional[Tensor], n: int):
    if n:
        m = n
    torch._check(x.numel() != 0 or m == x.numel(), lambda: 'no')
    return n
"""
"""A variable that has no value where what stands before it decides."""


@st.composite
def functions(draw: Any) -> str:
    body = []
    for _ in range(draw(st.integers(1, 3))):
        form = draw(st.sampled_from(FORMS))
        body.append(form.format(draw(conditions()), draw(conditions())))
    if draw(st.booleans()):
        body.insert(0, draw(st.sampled_from(("a, b = x.shape", "if x.dim() != 2:\n        raise ValueError('rank')"))))
    body.insert(0, draw(st.sampled_from(BEFORE)))
    body.insert(1, "sizes = [n, 2]" + draw(st.sampled_from(("", "\n    n += sizes[1]\n    sizes.pop()"))))
    lines = "".join(f"    {statement}\n" for statement in body)
    return f"def f(x: Tensor, y: Optional[Tensor], n: int):\n{lines}    return n\n"


def run(source: str) -> list[Any]:
    """For each input: the result, or the exception's type and text, and the calls that were counted."""
    results: list[Any] = []
    shapes = [(), (0,), (2,), (1, 2), (2, 2), (2, 3, 1)]
    for x, y, n in itertools.product(shapes, [None, *shapes[1:5]], (0, 2)):
        calls: list[str] = []

        def count(name: str, calls: list[str] = calls) -> int:
            calls.append(name)
            return len(calls)

        function = run_function(source, count=count, Optional=dict[Any, Any])
        try:
            result: Any = function(Sized(*x), None if y is None else Sized(*y), n)
        except Exception as error:
            result = (type(error), str(error))
        results.append((x, y, n, result, calls))
    return results


@settings(max_examples=drawn(200), deadline=None, suppress_health_check=list(HealthCheck))
@given(functions(), st.booleans(), st.booleans())
@example(source=MIXED.format("(count('b') or x.size(0) == n)"), inlined=False, eager=False)
@example(source=MIXED.format("count('b') if n else x.size(0) == n"), inlined=False, eager=True)
@example(source=PLAIN_LAST, inlined=False, eager=True)
@example(source=UNBOUND, inlined=False, eager=False)
@example(
    source=UNBOUND.replace("if n:\n        m = n", "m, sizes = 1, [n]\n    n = sizes[0]\n    sizes.pop()").replace(
        "m == x", "sizes[0] == x"
    ),
    inlined=False,
    eager=False,
)
@example(
    source=UNBOUND.replace("if n:\n        m = n", "m = n if n else None").replace("m == x", "m < x"),
    inlined=False,
    eager=False,
)
@example(
    source=UNBOUND.replace("if n:\n        m = n", "x = x if n else None").replace(
        "x.numel() != 0 or m ==", "n == 0 or"
    ),
    inlined=False,
    eager=False,
)
def test_known_values_are_evaluated_as_before(rewrite: Any, source: str, inlined: bool, eager: bool) -> None:
    rewritten = rewrite(source, inlined=inlined, eager=eager)
    before, after = run(source), run(rewritten)
    for expected, got in zip(before, after, strict=True):
        if expected[3] == (ValueError, "") or expected[3] == (RuntimeError, ""):
            expected, got = (*expected[:3], expected[3][0], expected[4]), (*got[:3], got[3][0], got[4])
        assert got == expected, rewritten
