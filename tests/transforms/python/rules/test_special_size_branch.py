"""Where 0 says that there is nothing, and where it says that two sizes agree."""

from __future__ import annotations

from typing import Any

import pytest


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
    ],
)
@pytest.mark.parametrize("form", ["if {0} == 0:", "n = {0}\n    if n == 0:", "m = {0}\n    n = 2 * m\n    if n == 0:"])
def test_a_difference_of_0_is_no_shortcut_for_what_is_empty(look: Any, form: str, number: str, empty: bool) -> None:
    source = f"def f(x: Tensor, k: int):\n    {form.format(number)}\n        return x\n    return x + 1\n"
    (finding,) = look(source)
    assert bool(finding.edits) == empty


def test_what_is_subtracted_later_counts(look: Any) -> None:
    lines = "    n = x.size(0)\n    n -= 1\n    if n == 0:\n        return x\n    return x + 1\n"
    (finding,) = look(f"def f(x: Tensor):\n{lines}")
    assert not finding.edits
