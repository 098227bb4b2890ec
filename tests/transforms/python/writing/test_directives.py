"""What tells checkers to pass over a line stays with what is on it when a branch becomes a check."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "def f(x: Tensor, w: Any):\n"
ON_TEST = "    if x.shape[0] != w.rows:{}\n        raise RuntimeError(f'{{x.shape}}'){}\n    return x\n"


@pytest.mark.parametrize(
    "directive",
    ["# type: ignore[attr-defined]", "# noqa: B9", "# noqa", "# pyrefly: ignore [bad]", "# pylint: disable=no-member"],
)
def test_a_directive_stands_behind_the_condition_or_the_message(rewrite: Any, directive: str) -> None:
    condition = rewrite(HEAD + ON_TEST.format(f"  {directive}", ""))
    assert f"        x.shape[0] == w.rows,  {directive}\n        lambda: f'{{x.shape}}',\n    )\n" in condition
    message = rewrite(HEAD + ON_TEST.format("", f"  {directive}"))
    assert f"        x.shape[0] == w.rows,\n        lambda: f'{{x.shape}}',  {directive}\n    )\n" in message


def test_other_comments_stand_above(rewrite: Any) -> None:
    after = rewrite(HEAD + ON_TEST.format("  # type of rows", "  # no # type: ignore"))
    assert "    # type of rows\n    # no # type: ignore\n    torch._check(x.shape[0] == w.rows, lambda: " in after


def test_a_directive_on_a_line_of_a_message_stays_on_that_line(rewrite: Any) -> None:
    lines = ("raise RuntimeError(", "    f'{x.shape} '", "    f'of {w.names}'  # type: ignore[attr]", ")")
    raised = "\n        ".join(lines)
    after = rewrite(f"{HEAD}    if x.shape[0] != w.rows:\n        {raised}\n    return x\n")
    assert "            f'of {w.names}'  # type: ignore[attr]\n" in after
    assert after.count("# type: ignore") == 1


def test_a_text_that_looks_like_a_comment_is_none(rewrite: Any) -> None:
    after = rewrite(HEAD + ON_TEST.replace("f'{{x.shape}}'", "'# noqa'").format("", ""))
    assert "    torch._check(x.shape[0] == w.rows, lambda: '# noqa')\n" in after
