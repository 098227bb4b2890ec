"""The document behind the page: which shards and paths it shows."""

from __future__ import annotations

import dataclasses

import pytest

from codemod.bundle.shards import make_shards
from codemod.model.edits import Edit
from codemod.model.groups import Group, make_groups
from codemod.model.plan import Plan
from codemod.review.page.data import build, merged, shown_paths
from tests.codemod.review.page.test_page import SOURCES, example


def test_what_is_left_alone_stands_with_the_shard_of_its_name_and_is_no_base() -> None:
    groups = make_groups(example().findings)
    (changed,), (left,) = make_shards(groups[:1]), make_shards(groups[1:])
    other = dataclasses.replace(left, name="g", bases=("f",))
    assert merged([changed], [other, left]) == [
        dataclasses.replace(changed, groups=tuple(groups)),
        dataclasses.replace(other, bases=()),
    ]


def test_paths_shown_are_those_edited_found_and_flowed_to() -> None:
    plan = example()
    assert shown_paths(make_groups(plan.findings)) == ["a.cc", "b.cc"]
    empty = build(Plan((), {}), [], {}, {}, title="t", rules=[], ran={})
    assert (empty["shards"], empty["lines"]) == ([], [])


def test_a_group_of_many_findings_is_asked_for_its_edits_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    first = example().findings[0]
    (shard,) = make_shards([Group(tuple(dataclasses.replace(first, column=column) for column in range(1, 61)))])
    asked = []

    def edits(group: Group) -> tuple[Edit, ...]:
        asked.append(group)
        return first.edits

    monkeypatch.setattr(Group, "edits", property(edits))
    assert shown_paths(shard.groups) == ["a.cc"]
    build(example(), [shard], SOURCES, {}, title="t", rules=[], ran={})
    assert 0 < len(asked) < 10
