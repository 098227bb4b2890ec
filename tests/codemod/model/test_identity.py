from __future__ import annotations

import dataclasses

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.groups import make_groups
from codemod.model.identity import change_ids, with_ids


def finding(source: bytes, word: bytes, group: str = "", new: bytes = b"new", nth: int = 0) -> Finding:
    """A finding that renames the `nth` `word` of `source`, the file a.cc."""
    start = -1
    for _ in range(nth + 1):
        start = source.index(word, start + 1)
    line = source.count(b"\n", 0, start) + 1
    edits = (Edit("a.cc", start, start + len(word), word, new),) if new else ()
    level = Level.SAFE if new else Level.MANUAL
    return Finding("a.cc", start, start + len(word), line, 1, Mode.DIRECT_THROW, "r", level, "f", (), "m",
                   edits=edits, group=group)  # fmt: skip


def ids(source: bytes, *findings: Finding) -> list[str]:
    return change_ids(make_groups(findings), lambda path: source)


SOURCE = b"one x = size();\ntwo\n"


def test_a_change_keeps_its_id_wherever_it_moves() -> None:
    moved = b"before\n\n  one x = size();  \r\nTWO\n"
    assert ids(SOURCE, finding(SOURCE, b"size")) == ids(moved, finding(moved, b"size"))


def test_another_line_another_rewrite_or_another_rule_is_another_change() -> None:
    original = ids(SOURCE, finding(SOURCE, b"size"))
    other_line = SOURCE.replace(b"x =", b"y =")
    assert ids(other_line, finding(other_line, b"size")) != original
    assert ids(SOURCE, finding(SOURCE, b"size", new=b"newer")) != original
    assert ids(SOURCE, dataclasses.replace(finding(SOURCE, b"size"), rule="q")) != original
    assert ids(SOURCE, dataclasses.replace(finding(SOURCE, b"size"), function="g")) != original


def test_a_function_is_known_however_many_of_its_name_there_are() -> None:
    change = finding(SOURCE, b"size")
    first, second = (dataclasses.replace(change, function=name) for name in ("f#1.inner", "f#12.inner"))
    assert ids(SOURCE, first) == ids(SOURCE, second) == ids(SOURCE, dataclasses.replace(change, function="f.inner"))


def test_twins_are_told_apart() -> None:
    source = b"size\nsize\nsize\n"
    first, second, third = ids(source, *(finding(source, b"size", nth=nth) for nth in range(3)))
    digest = first.removesuffix("-1of3")
    assert [first, second, third] == [f"{digest}-{place}of3" for place in (1, 2, 3)]


def test_a_group_has_one_id_and_what_edits_nothing_has_none() -> None:
    source = b"size numel loop\n"
    grouped = [finding(source, b"size", "g"), finding(source, b"numel", "g")]
    named = with_ids([finding(source, b"loop", new=b""), *grouped], lambda path: source)
    assert [f.start for f in named] == [0, 5, 11]
    assert named[0].id == named[1].id != ""
    assert named[2].id == ""
