from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemod.model.edits import Edit, EditConflict, apply_edits, by_path


def edit(start: int, old: bytes, new: bytes) -> Edit:
    return Edit("a.cc", start, start + len(old), old, new)


@pytest.mark.parametrize(
    "edits",
    [
        [edit(0, b"ab", b"x"), edit(1, b"b", b"y")],
        [edit(2, b"", b"x"), edit(2, b"", b"y")],
        [edit(0, b"zz", b"x")],
        [edit(5, b"f", b"x")],
    ],
    ids=["overlap", "two insertions at one place", "other bytes", "past the end"],
)
def test_conflicts_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(EditConflict):
        apply_edits(b"abcde", edits)


def test_identical_edits_count_once() -> None:
    assert apply_edits(b"abc", [edit(1, b"b", b"xx"), edit(1, b"b", b"xx")]) == b"axxc"


def test_insertions_beside_a_replacement_keep_their_places() -> None:
    assert apply_edits(b"abc", [edit(1, b"b", b"B"), edit(1, b"", b"<"), edit(2, b"", b">")]) == b"a<B>c"


@given(st.lists(st.tuples(st.binary(max_size=8), st.binary(max_size=4), st.binary(max_size=4))), st.binary(max_size=8))
def test_bytes_outside_edits_never_change(parts: list[tuple[bytes, bytes, bytes]], tail: bytes) -> None:
    source, expected, edits = b"", b"", []
    for kept, old, new in parts:
        kept += b"|"  # keeps neighbours apart
        source += kept
        expected += kept + new
        edits.append(edit(len(source), old, new))
        source += old
    assert apply_edits(source + tail, reversed(edits)) == expected + tail


def test_edits_by_path_are_sorted_and_each_counts_once() -> None:
    first, second = edit(1, b"b", b"x"), edit(3, b"d", b"y")
    other = Edit("B.cc", 0, 1, b"a", b"z")
    assert list(by_path([second, first, other, second]).items()) == [("B.cc", (other,)), ("a.cc", (first, second))]


def test_an_edit_survives_pickling() -> None:
    original = edit(3, b"\xff", b"x")
    assert pickle.loads(pickle.dumps(original)) == original
