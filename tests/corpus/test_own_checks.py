"""Whether a check is the author's own: as it raised before, and not where it refuses more, or says another thing."""

from __future__ import annotations

import types
from typing import Any

import pytest
from corpus_own_checks import Own, around, compared, replaced
from corpus_patch import checks_in

BEFORE = """\
def f(x, k):
    n = x.size(0)
    if n != k:
        raise ValueError(f"got {n}")
    return n
"""


def check(condition: bool, message: Any = lambda: "", kind: type[Exception] = ValueError) -> None:
    """As much of `torch._check_value` as is asked for."""
    if not condition:
        raise kind(message())


def seen(before: str, after: str) -> Own | None:
    """What is seen of the only check of `after`."""
    (written,) = checks_in(after, "f.py")
    pairs = replaced(before, after, [written])
    scope = {"torch": types.SimpleNamespace(_check_value=check), "guessed": bool}
    return compared(*pairs[written], around(after, written.first), scope) if pairs else None


def with_check(condition: str, message: str = 'f"got {n}"') -> str:
    return f"def f(x, k):\n    n = x.size(0)\n    torch._check_value({condition}, lambda: {message})\n    return n\n"


def test_the_same_condition_is_the_authors_own() -> None:
    own = seen(BEFORE, with_check("n == k"))
    assert own is not None
    assert own.same


@pytest.mark.parametrize("condition", ["n == k + 1", "n > k", "n == k and n != 2", "False"])
def test_a_check_that_refuses_more_is_not(condition: str) -> None:
    own = seen(BEFORE, with_check(condition))
    assert own is not None
    assert not own.same


def test_a_check_that_never_refuses_was_not_seen() -> None:
    own = seen(BEFORE, with_check("n == n"))
    assert own == Own(0, "")
    assert not own.same


def test_another_message_is_another_check() -> None:
    assert seen(BEFORE, with_check("n == k", "'no'")) is None


def test_branches_that_hold_one_of_them_back_count() -> None:
    held = BEFORE.replace("    if n != k:\n        raise", "    if x.size(1):\n        if n != k:\n            raise")
    before, after = seen(held, with_check("n == k")), seen(held, with_check("x.size(1) == 0 or n == k"))
    assert before is not None
    assert after is not None
    assert not before.same
    assert after.same


def test_a_variable_that_holds_one_back_is_looked_behind() -> None:
    held = BEFORE.replace("    if n != k:\n        raise", "    if some:\n        if n != k:\n            raise")
    lines = "    some = guessed(x.size(1) != 0)\n    n = x.size(0)\n"
    before, after = (t.replace("    n = x.size(0)\n", lines) for t in (held, with_check("x.size(1) == 0 or n == k")))
    own = seen(before, after)
    assert own is not None
    assert own.same


def test_a_name_of_nobody_gives_no_answer() -> None:
    assert seen(BEFORE.replace("k:", "unknown:"), with_check("n == unknown")) is None
