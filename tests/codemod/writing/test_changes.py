"""What groups change, file by file."""

from __future__ import annotations

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.groups import Group
from codemod.writing.changes import Change, _culprits, changes_in


def group(*edits: Edit) -> Group:
    return Group(
        (Finding("a.cpp", 0, 1, 1, 1, Mode.DIRECT_THROW, "r", Level.SAFE, "f", ("foo",), "m", edits=tuple(edits)),)
    )


def test_an_edit_of_two_groups_counts_once_and_a_file_that_stays_as_it_was_is_left_out() -> None:
    shared, own = Edit("b.h", 0, 1, b"x", b"y"), Edit("a.cpp", 2, 3, b"c", b"C")
    same = Edit("c.h", 0, 1, b"q", b"q")
    sources = {"a.cpp": b"abc", "b.h": b"x", "c.h": b"q"}
    assert changes_in([group(shared), group(own, shared, same)], sources) == (
        Change("a.cpp", b"abc", b"abC", (own,)),
        Change("b.h", b"x", b"y", (shared,)),
    )


def test_one_group_that_breaks_a_file_is_found_in_a_few_readings() -> None:
    groups = [group(Edit("a.cpp", at, at + 1, b"x", b"}" if at == 300 else b"y")) for at in range(512)]
    read = 0

    def count(item: tuple[str, bytes]) -> int:
        nonlocal read
        read += 1
        return item[1].count(b"}")

    assert _culprits("a.cpp", b"x" * 512, groups, 0, count) == [groups[300]]
    assert read < 30
