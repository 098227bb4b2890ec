"""The split of a change into shards, and its proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemod.bundle import proof
from codemod.bundle.make import Split, split
from codemod.bundle.shards import make_shards
from codemod.errors import SymfixError
from codemod.model.edits import Edit, apply_edits
from codemod.model.findings import Finding, Level, Mode
from codemod.model.groups import Group
from codemod.tree import git
from codemod.writing.changes import Change, Changes
from tests.codemod.fake import transforms
from tests.conftest import drawn


def mapper(function: Callable[[Any], int], items: Sequence[Any]) -> list[int]:
    return [function(item) for item in items]


def made(source: bytes, edits: Sequence[tuple[str, Edit]]) -> Split:
    """The split of one file's edits, each of the operator named beside it."""
    groups = tuple(
        Group((Finding("a.cc", e.start, e.end, 1, 1, Mode.LEAK, "r", Level.SAFE, name, (name,), "m", edits=(e,)),))
        for name, e in edits
    )
    chosen = tuple(sorted({edit for _, edit in edits}))
    new = apply_edits(source, chosen)
    files = (Change("a.cc", source, new, chosen),) if new != source else ()
    sources = {"a.cc": source}
    return split(make_shards(groups, sources=sources), Changes(files, groups, ()), sources, transforms(), mapper)


@st.composite
def changes(draw: st.DrawFn) -> tuple[bytes, list[tuple[str, Edit]]]:
    """A file of few different lines, so that many repeat, and edits of three operators anywhere in it."""
    source = draw(st.lists(st.sampled_from([b"a\n", b"bb\n", b"\n", b"c\r\n"]), max_size=14).map(b"".join))
    source += draw(st.sampled_from([b"", b"end"]))
    places = sorted(draw(st.sets(st.integers(0, len(source)), max_size=8)))
    edits = []
    for start, end in zip(places[::2], places[1::2], strict=False):
        new = draw(st.sampled_from([b"", b"a", b"x", b"a\n", b"y\ny\n"]))
        edits.append((draw(st.sampled_from(["foo", "bar", "baz"])), Edit("a.cc", start, end, source[start:end], new)))
    return source, edits


@given(changes())
@settings(max_examples=drawn(120))
def test_all_shards_together_are_the_whole_change(change: tuple[bytes, list[tuple[str, Edit]]]) -> None:
    source, edits = change
    result = made(source, edits)
    whole = apply_edits(source, [edit for _, edit in edits])
    held = {"a.cc": source}
    for contents in result.contents:
        held |= {path: new for path, new in contents.items() if new is not None}
    assert held["a.cc"] == whole
    for step in result.steps:  # each alone on what it is stacked on
        below = [base for base in result.steps if base.shard.name == step.parent]
        old, new = step.files.get("a.cc", (None, None))
        if old is not None and not below:
            own = [edit for name, edit in edits if name == step.shard.about]
            assert (old, new) == (source, apply_edits(source, own))


def test_a_shard_that_adds_a_syntax_error_by_itself_is_refused() -> None:
    source = b"a\n\n\n\nb\n"
    edits = [("foo", Edit("a.cc", 0, 1, b"a", b"{")), ("bar", Edit("a.cc", 5, 6, b"b", b"}"))]
    with pytest.raises(SymfixError, match=r"the shard (foo|bar) alone would add a syntax error to a\.cc"):
        made(source, edits)


def test_changes_that_git_cannot_tell_apart_are_stacked() -> None:
    """Two deletions among lines that repeat: merged side by side, git takes them for one."""
    source = b"x\n" * 5
    edits = [("bar", Edit("a.cc", 0, 2, b"x\n", b"")), ("foo", Edit("a.cc", 6, 8, b"x\n", b""))]
    result = made(source, edits)
    assert [(step.shard.name, step.parent) for step in result.steps] == [("bar", ""), ("foo", "bar")]
    assert result.contents[-1] == {"a.cc": b"x\n" * 3}


def test_git_is_asked_a_few_times_for_each_of_many_shards_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is reverted after all above it, which are the same ones every time."""
    merges = []

    def merge_file(current: Path, old: Path, new: Path) -> bytes | None:
        merges.append(current)
        return git.merge_file(current, old, new)

    monkeypatch.setattr(proof, "merge_file", merge_file)
    count = 16
    source = b"".join(b"%02d\n" % number for number in range(count)) + b"\n" * 9 + b"apart\n"
    names = [f"line{number:02}" for number in range(count)]
    edits = [(name, Edit("a.cc", 3 * n, 3 * n + 2, b"%02d" % n, b"new")) for n, name in enumerate(names)]
    last = len(source) - 6
    result = made(source, [*edits, ("zz_apart", Edit("a.cc", last, last + 5, b"apart", b"else"))])
    assert [step.parent for step in result.steps] == ["", *names[:-1], ""]
    assert len(merges) < 4 * count
