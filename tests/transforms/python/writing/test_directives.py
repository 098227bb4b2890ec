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


ASSERTION = "    # above\n    assert x.shape[0] == w.rows, ({}\n        f'{{x.shape}}'{}\n    ){}\n    return x\n"


def test_a_directive_of_an_assertion_stands_behind_the_condition_or_the_message(rewrite: Any) -> None:
    opening = "    # above\n    torch._check_with(\n        AssertionError,\n        x.shape[0] == w.rows,"
    directive, plain = "  # type: ignore[attr-defined]", "\n        lambda: f'{x.shape}',"
    assert f"{opening}{directive}{plain}\n    )\n" in rewrite(HEAD + ASSERTION.format(directive, "", ""))
    assert f"{opening}{plain}{directive}\n    )\n" in rewrite(HEAD + ASSERTION.format("", directive, ""))
    assert f"{opening}{plain}{directive}\n    )\n" in rewrite(HEAD + ASSERTION.format("", "", directive))


def test_a_directive_of_an_assertion_stands_below_what_it_is_asked_behind(rewrite: Any) -> None:
    head = "def f(x: Tensor, w: Tensor | None):\n    assert w is None or (\n        w.numel() == x.shape[0]\n"
    message = "the weights have to be as many as the rows are, and not as few as {w.shape} " * 2
    after = rewrite(f"{head}    ), f'{message}'  # noqa: B950\n    return x\n")
    asked = "    if w is not None:\n        torch._check_with(\n            AssertionError,\n"
    condition = "            w.numel() == x.shape[0],\n"
    assert f"{asked}{condition}            lambda: f'{message}',  # noqa: B950\n        )\n" in after


def test_levels_are_those_of_the_file(rewrite: Any) -> None:
    source = (HEAD + ASSERTION.format("  # noqa: B9", "", "")).replace("    ", "\t")
    pieces = ("AssertionError,", "x.shape[0] == w.rows,  # noqa: B9", "lambda: f'{x.shape}',")
    lines = ["\ttorch._check_with(", *(f"\t\t{piece}" for piece in pieces), "\t)\n"]
    assert "\n".join(lines) in rewrite(source)
