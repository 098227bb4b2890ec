"""A comment in what a rule replaces is there afterwards, wherever an author may write one."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from typing import Any

import pytest

from transforms.python.rules import load_rules

HEAD = "def f(x: Tensor, w: Any):\n"
EXAMPLES = [
    pytest.param(example.before, id=f"{place_rule.rule.name}-{index}")
    for place_rule in load_rules()
    for index, example in enumerate(place_rule.rule.examples)
    if example.after is not None
]


def gaps(source: str) -> Iterator[tuple[int, int, str]]:
    """The rows, from 0, and columns where a comment may stand, with what has to follow it there."""
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0)
        if depth and token.type not in (tokenize.NL, tokenize.COMMENT):
            yield token.end[0] - 1, token.end[1], "\n        "
        elif token.type == tokenize.NEWLINE:
            yield token.start[0] - 1, token.start[1], ""


@pytest.mark.parametrize("before", EXAMPLES)
def test_no_comment_is_lost(rewrite: Any, before: str) -> None:
    lines = before.splitlines(keepends=True)
    for index, (row, column, following) in enumerate(list(gaps(before))[::3]):
        comment = ("# why", "# noqa: B9")[index % 2]
        changed = f"{lines[row][:column]}  {comment}{following}{lines[row][column:]}"
        source = "".join((*lines[:row], changed, *lines[row + 1 :]))
        after = rewrite(source)
        compile(after, "after", "exec")
        assert comment in after, source


def test_comments_stand_above_in_their_order(rewrite: Any) -> None:
    after = rewrite(
        f"{HEAD}    assert (\n        x.shape[0] == 2  # two\n        # as it has to be\n    ), (\n"
        "        # said\n        'two'\n    )  # always\n    return x\n"
    )
    check = "torch._check_with(AssertionError, x.shape[0] == 2, lambda: 'two')  # always\n"
    assert f"    # two\n    # as it has to be\n    # said\n    {check}" in after


def test_a_directive_stands_behind_the_statement_that_lost_its_place(rewrite: Any) -> None:
    source = f"{HEAD}    m, n = x.shape\n    return min(  # noqa: B9\n        m, n\n    ){{}}\n"
    assert "    return torch.sym_min(m, n)  # noqa: B9\n" in rewrite(source.format(""))
    assert "    return torch.sym_min(m, n)  # noqa: B9  # the less\n" in rewrite(source.format("  # the less"))


def test_a_comment_above_a_statement_with_another_before_it(rewrite: Any) -> None:
    after = rewrite(f"{HEAD}    m, n = x.shape; k = min(  # the less\n        m, n)\n    return k\n")
    assert "    # the less\n    m, n = x.shape; k = torch.sym_min(m, n)\n" in after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if n >= m:  # room\n        # of one\n        n -= 1", "n = torch.sym_ite(n >= m, n - 1, n)"),
        ("if n % 8:  # room\n        # of one\n        n += 8 - n % 8", "n = n + (8 - n % 8) % 8"),
    ],
)
def test_comments_are_no_reason_to_leave_a_branch(rewrite: Any, before: str, after: str) -> None:
    source = f"def f(x: Tensor):\n    n, m = x.shape\n    {before}\n    return n\n"
    assert f"    # room\n    # of one\n    {after}\n" in rewrite(source)
