"""Calls of torch._assert, which asks as `assert` does, and which Dynamo does not defer."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "def f(x: Tensor, n: int):\n"
CHECK = "torch._assert(x.size(0) == n, f'{n} rows')"


def test_it_becomes_the_check_that_raises_the_same(rewrite: Any) -> None:
    checked = "torch._check_with(AssertionError, x.size(0) == n, lambda: f'{n} rows')"
    assert rewrite(f"{HEAD}    {CHECK}\n    return x\n") == f"{HEAD}    {checked}\n    return x\n"


@pytest.mark.parametrize(
    ("body", "runs"),
    [
        (f"    {CHECK}\n", {"inlined": True}),
        (f"    {CHECK}\n", {"eager": True}),
        (f"    g({CHECK})\n", {}),
        ("    torch._assert(x.size(0) == n, message='rows')\n", {}),
        ("    _assert(x.size(0) == n, 'rows')\n", {}),
    ],
)
def test_elsewhere_it_is_named_and_stops_the_call(look: Any, body: str, runs: Any) -> None:
    source = f"{HEAD}    if x.size(1) != n:\n        raise ValueError('n')\n{body}    return x\n"
    found = look(source, **runs)
    assert ("assert-check", False) in [(finding.rule, bool(finding.edits)) for finding in found]
    assert not any(finding.edits for finding in found)


@pytest.mark.parametrize(
    "call", ["torch._assert(x.dim() == n, '')", "torch._assert(n, '')", "self._assert(x.size(0), '')"]
)
def test_what_asks_for_no_size_is_left(look: Any, call: str) -> None:
    assert not look(f"{HEAD}    {call}\n    return x\n")


def test_what_is_caught_decides(look: Any) -> None:
    source = f"{HEAD}    try:\n        {CHECK}\n    except AssertionError:\n        return -x\n    return x\n"
    assert [(finding.rule, bool(finding.edits)) for finding in look(source)] == [("assert-check", False)]


@pytest.mark.parametrize(
    ("asserted", "refusal", "said"),
    [
        ("x.size(0) == n, 'rows'", "traced-assert", "into a check by itself"),
        ("x.dim() == 2 and x.size(0) == n", "traced-assert", "into a check by itself"),
        ("x.size(0) == n, f'{n} rows'", "asked-assert", "if its message is a constant"),
        ("x.size(0) == n and x.size(1) == n, f'{n} rows'", "asked-assert", "one assert for each"),
        ("not x.size(0) % 2, f'{n} rows'", "asked-assert", "the opposite comparison"),
        ("x.size(0) in {2, 4}, f'{n} rows'", "asked-assert", "that it looks up"),
        ("x.size(0) in range(n)", "asked-assert", "that it looks up"),
        ("x.size(0) in n", "asked-assert", "if that is a set"),
    ],
)
def test_what_dynamo_makes_of_an_assertion(look: Any, asserted: str, refusal: str, said: str) -> None:
    (found,) = look(f"{HEAD}    assert {asserted}\n    return x\n", inlined=True)
    assert (found.rule, found.refusal, said in found.reason) == ("assert-check", refusal, True)


@pytest.mark.parametrize(
    ("asserted", "written"),
    [
        (
            "assert w is None or (w.dim() == 1 and w.size(0) == 3), f'{w.shape}'",
            "if w is not None:\n        torch._check_with(\n            AssertionError, w.dim() == 1 and",
        ),
        (
            "assert w is None or b is None or w.size(0) == 3, f'{w.shape[0]} and {b.shape}'",
            "if w is not None and b is not None:\n        torch._check_with(\n            AssertionError, w.size(0)",
        ),
        (
            "if w is not None and w.size(0) != 3:  # rows\n        raise ValueError(f'got {w.shape}')",
            "# rows\n    if w is not None:\n        torch._check_value(w.size(0) == 3, lambda: f'got {w.shape}')",
        ),
        ("assert w is None or w.size(0) == 3, f'got {w}'", "w is None or w.size(0) == 3, lambda: f'got {w}'"),
        ("assert w is None or w.size(0) == 3, f'{w.shape}'; n = 1", "w is None or w.size(0) == 3, lambda: "),
        ("assert w.size(0) == 3 or w is None, f'{w.shape}'", "sym_or(w.size(0) == 3, w is None), lambda: "),
    ],
)  # fmt: skip
def test_a_message_that_asks_something_of_what_may_be_none_stands_behind_an_if(
    rewrite: Any, asserted: str, written: str
) -> None:
    after = rewrite(f"def f(x: Tensor, w: Tensor | None, b: Tensor | None):\n    {asserted}\n    return x\n")
    assert written in after
