from __future__ import annotations

import pytest

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.suppress import UNUSED, nearly_suppressed, suppress, suppressions
from codemod.model.transform import Rule

RULES = [Rule("size", Mode.LEAK, Level.SAFE, "Doc.")]


def finding(line: int, rule: str = "size", group: str = "") -> Finding:
    edits = (Edit("a.cc", line, line + 1, b"x", b"y"),)
    return Finding("a.cc", line, line + 1, line, 1, Mode.LEAK, rule, Level.SAFE, "f", (), "m", edits=edits, group=group)


def run(source: bytes, *findings: Finding) -> tuple[list[tuple[str, int, str]], int]:
    kept, count = suppress(findings, {"a.cc": suppressions("a.cc", source)}, RULES)
    return [(f.rule, f.line, f.refusal) for f in kept], count


@pytest.mark.parametrize(
    "source",
    [
        b"x; // symfix: ignore[size] because\n",
        b"x; //symfix:ignore[size]\r\n",
        b"x  # symfix: ignore[other, size] because",
        b"x; // symfix: ignore[size,other]",
    ],
)
def test_a_comment_on_the_same_line_suppresses(source: bytes) -> None:
    kept, count = run(source, finding(1))
    assert count == 1
    assert ("size", 1, "") not in kept


def test_a_comment_alone_speaks_of_the_next_line() -> None:
    assert run(b"\n  // symfix: ignore[size] why\nx;\n", finding(3)) == ([], 1)
    kept, count = run(b"\n  // symfix: ignore[size] why\nx;\n", finding(2))
    assert count == 0
    assert kept == [("size", 2, ""), (UNUSED, 2, "")]


@pytest.mark.parametrize(
    "source", [b"x; // symfix: ignore[other]", b"x; // symfix: ignore", b"x; // ignore[size]", b"x; y; // symfix: size"]
)
def test_other_comments_suppress_nothing(source: bytes) -> None:
    kept, count = run(source, finding(1))
    assert count == 0
    assert ("size", 1, "") in kept


@pytest.mark.parametrize(
    "comment",
    [
        b"# symfix: ignore",
        b"// symfix: ignore [size]",
        b"#symfix:ignore size",
        b"// symfix: ignore(size)",
        b"# Symfix: ignore[size] because",
        b"# symfix : ignore[size]",
        b"# symfix ignore[size]",
        b"/* symfix: ignore[size] */",
    ],
)
def test_what_is_nearly_a_comment_is_remarked_and_suppresses_nothing(comment: bytes) -> None:
    source = b"\nx; " + comment + b"\ny; // symfix: ignore[size]\n"
    assert run(source, finding(2), finding(3)) == ([("size", 2, "")], 1)
    said = 'a.cc:2: suppresses nothing; the form is "symfix: ignore[RULE] reason"'
    assert nearly_suppressed({"a.cc": suppressions("a.cc", source)}) == said
    assert nearly_suppressed({"a.cc": suppressions("a.cc", source * 2)}) == said.replace(":2:", ":2 and 1 more:")


@pytest.mark.parametrize("comment", [b"# symfix: ignore[size]", b"# symfix ignores this", b"# by symfix: see there"])
def test_of_other_comments_nothing_is_remarked(comment: bytes) -> None:
    assert nearly_suppressed({"a.cc": suppressions("a.cc", comment)}) == ""


def test_an_unused_comment_is_reported_and_an_unknown_rule_named() -> None:
    found, _ = suppress([], {"a.cc": suppressions("a.cc", b"\n\xffx; // symfix: ignore[size, sise] y\n")}, RULES)
    assert [(f.rule, f.line, f.column, f.level) for f in found] == [(UNUSED, 2, 5, Level.MANUAL)] * 2
    assert sorted(f.reason for f in found) == ["size finds nothing on line 2", "there is no rule named 'sise'"]


def test_what_shares_a_group_with_the_suppressed_is_left_alone() -> None:
    kept, count = run(b"x // symfix: ignore[size] z\nx\nx\n", finding(1, group="g"), finding(2, group="g"), finding(3))
    assert count == 1
    assert kept == [("size", 2, "suppressed"), ("size", 3, "")]
