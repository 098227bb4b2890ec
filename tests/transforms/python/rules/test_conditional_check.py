"""A branch that only checks: for known numbers, NaN among them, the same checks fail before and after."""

from __future__ import annotations

import functools
import operator
import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

STEPS = """\
def f(start: Number, end: Number, step: Number):
    step = torch.sym_int(step)
    if step > 0:
        torch._check(end >= start, lambda: f"up {end}")
    elif step < 0:
        torch._check(end <= start, lambda: "down")
    else:
        torch._check_value(step == 0, lambda: "no number")
"""
CHECKS = """\
    torch._check(sym_or(torch.sym_not(step > 0), end >= start), lambda: f"up {end}")
    torch._check(sym_or(torch.sym_not(step < 0), end <= start), lambda: "down")
    torch._check_value(sym_or(step > 0, step < 0, step == 0), lambda: "no number")
"""


def test_a_number_that_may_be_nan_is_negated_as_a_whole(rewrite: Any) -> None:
    assert CHECKS in rewrite(STEPS)


def test_what_is_not_unequal_is_equal(rewrite: Any) -> None:
    head = "from math import prod\n\ndef f(x: Tensor, y: Tensor):\n    a, b = x.shape[2:], y.shape[2:]\n"
    after = rewrite(f"{head}    if a != b:\n        assert prod(a) == prod(b), 'sizes'\n    return x\n")
    assert "sym_or(sym_eq(a, b), prod(a) == prod(b))" in after


NUMBERS = st.sampled_from([-1, 0, 1, 2, 0.5, float("nan"), float("inf")])


@given(NUMBERS, NUMBERS, NUMBERS)
def test_known_numbers_are_checked_as_before(start: float, end: float, step: float) -> None:
    after = STEPS[: STEPS.index("    if")] + CHECKS
    assert outcome(after, start, end, step) == outcome(STEPS, start, end, step)


def outcome(source: str, *numbers: float) -> tuple[type, str] | None:
    """The exception and message with which a function ends, over a torch that only has what it calls."""

    def check(kind: type[Exception], condition: bool, message: Any) -> None:
        if not condition:
            raise kind(message())

    torch = types.SimpleNamespace(
        _check=functools.partial(check, RuntimeError),
        _check_value=functools.partial(check, ValueError),
        sym_not=operator.not_,
        sym_int=lambda number: number,
    )
    scope: dict[str, Any] = {"torch": torch, "sym_or": lambda *truths: functools.reduce(operator.or_, truths)}
    exec(f"from __future__ import annotations\n{source}", scope)
    try:
        scope["f"](*numbers)
    except (RuntimeError, ValueError) as error:
        return type(error), str(error)
    return None


@pytest.mark.parametrize(
    "branch",
    [
        "    if n > 2:\n        torch._check(n < 9)\n        n = 2\n",
        "    if n > 2:\n        torch._check(n < 9)\n    elif n > 1:\n        pass\n",
        "    if n > 2:\n        # small\n        torch._check(n < 9)\n",
        "    if n > 2:\n        torch._check(load(n) < 9)\n",
        "    if n > 2:\n        torch._check(y.size(3) > n)\n",
        "    if n > 2:\n        if x.ndim == 2:\n            torch._check(n < 9)\n",
        "    if n > 2: torch._check(m())\n",
        "    while n > 2:\n        torch._check(n < 9)\n",
    ],
)
def test_what_is_left(look: Any, branch: str) -> None:
    source = f"def f(x: Tensor, y: Tensor):\n    n = x.size(0)\n{branch}    return n\n"
    assert [finding.rule for finding in look(source) if finding.edits] == []


def test_what_eager_runs_too_is_left(look: Any) -> None:
    source = "def f(x: Tensor):\n    n = x.size(0)\n    if n > 2:\n        torch._check(n < 9)\n    return n\n"
    assert "conditional-check" in {finding.rule for finding in look(source)}
    assert "conditional-check" not in {finding.rule for finding in look(source, eager=True)}


@pytest.mark.parametrize(("message", "left"), [("lambda: 'few'", False), ("lambda: f'{n}'", True)])
def test_dynamo_is_given_no_message_that_holds_values(look: Any, message: str, left: bool) -> None:
    source = (
        f"def f(x: Tensor):\n    n = x.size(0)\n    if n > 2:\n        torch._check(n < 9, {message})\n    return n\n"
    )
    (finding,) = [finding for finding in look(source, inlined=True) if finding.rule == "conditional-check"]
    assert bool(finding.edits) is not left
