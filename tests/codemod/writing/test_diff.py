from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemod.model.edits import Edit, apply_edits
from codemod.writing.diff import unified_diff
from tests.conftest import drawn

# Few kinds of lines, so that equal neighbours, where hunks are ambiguous, come up often.
LINES = st.lists(st.sampled_from([b"a", b"b", b"", b"\tx ", b"\xe9\xff", b"caf\xc3\xa9", b"cr\r"]), max_size=40)
SOURCES = st.builds(lambda lines, end: b"\n".join(lines) + end, LINES, st.sampled_from([b"", b"\n", b"\r\n"]))


@st.composite
def sources_with_edits(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    source = draw(SOURCES)
    cuts = sorted(draw(st.lists(st.integers(0, len(source)), max_size=8, unique=True)))
    edits = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=False):
        if draw(st.booleans()):
            end = start
        new = draw(st.sampled_from([b"", b"z", b"z\n", b"\n", b"y\r\nz", b"\xe9"]))
        edits.append(Edit("a b.cc", start, end, source[start:end], new))
    return source, edits


def git_apply(path: str, source: bytes, patch: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source)
        subprocess.run(["git", "apply", "-"], cwd=folder, input=patch, check=True, capture_output=True)
        return target.read_bytes()


@settings(max_examples=drawn(150), deadline=None)
@given(sources_with_edits())
def test_git_apply_makes_of_the_diff_what_the_edits_make(case: tuple[bytes, list[Edit]]) -> None:
    source, edits = case
    expected = apply_edits(source, edits)
    patch = unified_diff("a b.cc", source, edits)
    if expected == source:
        assert patch == b""
    else:
        assert git_apply("a b.cc", source, patch) == expected


def test_edits_that_undo_each_other_give_no_diff() -> None:
    edits = [Edit("a.cc", 0, 1, b"\n", b""), Edit("a.cc", 2, 2, b"", b"\n")]
    assert unified_diff("a.cc", b"\n\na", edits) == b""


@pytest.mark.parametrize(
    "path", ['quo"te.cc', "back\\slash.cc", "tab\there.cc", "new\nline.cc", "ü/é.cc", "lat\udce9.cc"]
)
def test_odd_file_names_are_accepted_by_git(path: str) -> None:
    patch = unified_diff(path, b"a\n", [Edit(path, 0, 1, b"a", b"b")])
    assert git_apply(path, b"a\n", patch) == b"b\n"


def test_it_reads_as_git_writes_it() -> None:
    source = b"".join(b"%d\r\n" % number for number in range(1, 12)) + b"last"
    edits = [
        Edit("d/f.cc", 0, 1, b"1", b"one"),
        Edit("d/f.cc", len(source) - 4, len(source), b"last", b"end"),
    ]
    assert unified_diff("d/f.cc", source, edits) == (
        b"diff --git a/d/f.cc b/d/f.cc\n--- a/d/f.cc\n+++ b/d/f.cc\n"
        b"@@ -1,4 +1,4 @@\n-1\r\n+one\r\n 2\r\n 3\r\n 4\r\n"
        b"@@ -9,4 +9,4 @@\n 9\r\n 10\r\n 11\r\n"
        b"-last\n\\ No newline at end of file\n+end\n\\ No newline at end of file\n"
    )


def test_the_order_of_edits_does_not_matter() -> None:
    source = b"a\nb\nc\n"
    edits = [Edit("f", 0, 1, b"a", b"A"), Edit("f", 4, 5, b"c", b"C")]
    assert unified_diff("f", source, edits) == unified_diff("f", source, edits[::-1])
