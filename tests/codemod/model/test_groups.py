from __future__ import annotations

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.groups import OVERLAP, make_groups, refuse_overlaps
from codemod.planning.naming import base_name, matches_operator
from codemod.planning.selection import Selection


def finding(
    start: int,
    end: int,
    group: str = "",
    level: Level = Level.SAFE,
    path: str = "a.cc",
    new: bytes = b"new",
    op: str = "",
) -> Finding:
    edits = (Edit(path, start, end, b"o" * (end - start), new),) if level < Level.MANUAL else ()
    operators = (op,) if op else ()
    return Finding(path, start, end, 1, 1, Mode.DIRECT_THROW, "r", level, "f", operators, "m", edits=edits, group=group)


def refused(findings: list[Finding]) -> list[int]:
    return [found.start for found in refuse_overlaps(findings) if found.refusal == OVERLAP]


def test_edits_that_only_touch_stand_together() -> None:
    assert refused([finding(0, 2), finding(2, 4), finding(4, 4)]) == []


def test_the_same_edit_in_two_groups_is_no_overlap() -> None:
    assert refused([finding(0, 2, "g"), finding(0, 2, "h")]) == []


def test_the_earlier_place_wins_whatever_the_order() -> None:
    findings = [finding(1, 3), finding(0, 2)]
    assert refused(findings) == refused(findings[::-1]) == [1]


def test_the_lower_level_wins_over_the_earlier_place() -> None:
    assert refused([finding(0, 2, level=Level.REVIEW), finding(1, 3)]) == [0]


def test_a_group_falls_as_a_whole_and_frees_its_places() -> None:
    findings = [finding(0, 2), finding(1, 3, "g"), finding(10, 12, "g", path="b.cc"), finding(11, 13, path="b.cc")]
    result = refuse_overlaps(findings)
    assert [(f.path, f.start, f.refusal) for f in result] == [
        ("a.cc", 0, ""),
        ("a.cc", 1, OVERLAP),
        ("b.cc", 10, OVERLAP),
        ("b.cc", 11, ""),
    ]
    assert all(f.level is Level.MANUAL and not f.edits and not f.group for f in result if f.refusal)
    assert "a.cc:1" in result[1].reason


def test_two_insertions_at_one_place_overlap() -> None:
    assert refused([finding(3, 3, new=b"a"), finding(3, 3, new=b"b")]) == [3]


def test_a_group_at_odds_with_itself_is_refused() -> None:
    result = refuse_overlaps([finding(0, 2, "g"), finding(1, 3, "g")])
    assert [f.refusal for f in result] == [OVERLAP, OVERLAP]
    assert "itself" not in result[0].reason
    assert "own edits" in result[0].reason


def test_a_level_lets_a_group_through_only_as_a_whole() -> None:
    findings = [finding(0, 1, "g"), finding(2, 3, "g", Level.REVIEW), finding(4, 5)]
    assert [g.findings[0].start for g in Selection(level=Level.SAFE).groups(findings)] == [4]
    assert [g.findings[0].start for g in Selection(level=Level.REVIEW).groups(findings)] == [0, 4]


def test_a_filter_that_meets_one_finding_selects_its_group() -> None:
    findings = [finding(0, 1, "g", op="aten::add.Tensor"), finding(2, 3, "g"), finding(4, 5)]
    assert [len(g.findings) for g in Selection(ops=("add",)).groups(findings)] == [2]
    assert make_groups(findings)[0].paths == ("a.cc",)


def test_operators_are_matched_by_any_of_their_names() -> None:
    name = "aten::add.Tensor"
    for glob in ("add", "add.Tensor", "aten::add", "aten::add.Tensor", "a*", "aten::*", "*.Tensor"):
        assert matches_operator(glob, name), glob
    for glob in ("ad", "Tensor", "add.Scalar", "torchvision::add", "ADD"):
        assert not matches_operator(glob, name), glob
    assert base_name(name) == "add"
    assert base_name("torchvision::nms") == "torchvision::nms"
