from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from codemod.bundle.shards import Shard
from codemod.model.decisions import Choice, decide
from codemod.model.edits import Edit
from codemod.model.findings import Level, Step
from codemod.model.groups import Group
from codemod.prove.evidence import Evidence, Verdict
from codemod.review.items import Item, make_items
from codemod.review.terminal.view import View
from codemod.tree.sources import Sources
from tests.codemod.model.test_groups import finding

LINE = b"  auto rows = wide.size(0); // caf\xe9 \x1b[2J end\n"
PROVED = Evidence(
    "add", "cured", "key", before=Verdict("throws", 1, "Cannot call size()"),
    after=Verdict("passes", guards=("s0 > 2",), frames=1, unbacked="throws"), versions={"torch": "2.13.0"},
)  # fmt: skip


def item(tmp_path: Path, **changes: object) -> Item:
    (tmp_path / "a.cc").write_bytes(LINE * 3)
    start = LINE.index(b"size")
    found = dataclasses.replace(
        finding(start, start + 4, level=Level.REVIEW), edits=(Edit("a.cc", start, start + 4, b"size", b"sym_size"),),
        function="at::native::add", message="`wide.size` → `sym_size`", id="i", **changes,  # type: ignore[arg-type]
    )  # fmt: skip
    return Item(Group((found,)), Shard("add", ("aten::add",), (Group((found,)),)), 1)


def shown(tmp_path: Path, change: Item, width: int = 100, **more: object) -> list[str]:
    view = View(Sources(tmp_path), {"r": "What r does."})
    details = {"decision": None, "evidence": (), "bases": (), **more}
    return [line.plain.rstrip() for line in view.lines(change, width=width, **details)]  # type: ignore[arg-type]


def test_a_change_is_shown_with_its_reasons(tmp_path: Path) -> None:
    reach = (Step("y/native_functions.yaml", 7, "add is Composite"), Step("a.cc", 0, "add calls f"))
    change = item(
        tmp_path, reach=reach, reason="a person decides", flow=(Step("a.cc", 1, "shown"), Step("b.cc", 9, "far"))
    )
    lines = shown(tmp_path, change)
    assert lines[:4] == [
        "at::native::add",
        "a.cc:1",
        "a symbol arrives  add is Composite  y/native_functions.yaml:7",
        "                  add calls f  a.cc",
    ]
    assert lines[5:8] == [
        "    1 -   auto rows = wide.size(0); // caf\\xe9 \\x1b[2J end",
        "    1 +   auto rows = wide.sym_size(0); // caf\\xe9 \\x1b[2J end",
        "    2     auto rows = wide.size(0); // caf\\xe9 \\x1b[2J end",
    ]
    assert lines[9:] == [
        "",
        "  r  review  What r does.",
        "    1  `wide.size` → `sym_size`",
        "      a person decides",
        "      flows by b.cc:9  far",
    ]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal_and_none_is_lost(tmp_path: Path, width: int) -> None:
    change = item(tmp_path, reason="many words " * 20, reach=(Step("a" * 50, 1, "long " * 30),))
    lines = shown(tmp_path, change, width, evidence=(PROVED,), bases=(("helper-" + "x" * 70, "undecided"),))
    assert max(map(len, lines)) <= width
    text = "".join("".join(lines).replace("↪", "").split())
    assert text.count("manywords") == 20
    assert "autorows=wide.sym_size(0);//caf\\xe9" in text


def test_evidence_is_told_before_and_after(tmp_path: Path) -> None:
    lines = shown(tmp_path, item(tmp_path), evidence=(PROVED,))
    assert lines[-5:] == [
        "  evidence  cured  add",
        "    before  throws",
        "            Cannot call size()",
        "    after   passes, compiled 1 time, 1 guard on sizes, unbacked: throws",
        "            torch 2.13.0",
    ]


def test_what_was_seen_stands_above_the_diff(tmp_path: Path) -> None:
    others = tuple(dataclasses.replace(PROVED, operator=name, outcome="not provable", before=None) for name in "abc")
    lines = shown(tmp_path, item(tmp_path), evidence=(PROVED, *others))
    assert lines[2:6] == [
        "seen              cured  add  throws → passes",
        "seen              not provable  a",
        "seen              not provable  b",
        "                  and 1 other operator, below",
    ]
    assert not any(line.startswith("seen") for line in shown(tmp_path, item(tmp_path)))


def test_an_edit_is_shown_in_place_of_the_proposal(tmp_path: Path) -> None:
    change = item(tmp_path)
    old = change.group.edits[0]
    mine = decide(change.group, Choice.EDIT, {"a.cc": "0" * 64}, [dataclasses.replace(old, new=b"my_size")])
    lines = shown(tmp_path, change, decision=mine)
    assert any("wide.my_size" in line for line in lines)
    assert not any("wide.sym_size" in line for line in lines)


def test_what_waits_for_a_change_or_shares_an_edit_with_it_is_told(tmp_path: Path) -> None:
    change = item(tmp_path)
    twin = Group((dataclasses.replace(change.group.findings[0], id="j", line=5),))
    overlap = "its edits overlap those for a.cc:1; apply those, then run symfix again"
    waiting = dataclasses.replace(finding(0, 1), refusal="overlap", reason=overlap, line=3, edits=())
    items = make_items([Shard("add", (), (change.group, twin))], [*change.group.findings, waiting])
    notes = [line for line in shown(tmp_path, items[0]) if line.startswith("  · ")]
    assert notes == [
        "  · 1 finding overlaps this change and will be offered once it is written, or ignored by a comment",
        "  · makes an edit that the change at a.cc:5 makes too: either writes it",
    ]
    assert not items[1].waiting


def test_a_helper_names_whom_it_serves(tmp_path: Path) -> None:
    change = item(tmp_path)
    many = tuple(f"aten::op{number:02}.out" for number in range(14))
    helper = dataclasses.replace(change, shard=dataclasses.replace(change.shard, kind="helper", operators=many))
    assert any(line.startswith("serves            op00, op01, ") for line in shown(tmp_path, helper))
    assert any(line.endswith("op11 and 2 more") for line in shown(tmp_path, helper, 200))
