"""Decisions made at random on the whole of PyTorch 2.6.0: what is accepted is what would be written."""

from __future__ import annotations

import random

import pytest
from corpus_trees import find_tree, symfix

from codemod.model.decisions import Choice, Decision, decide, followed, standing
from codemod.model.findings import Level
from codemod.model.groups import make_groups
from codemod.model.plan import Plan
from codemod.model.transform import load_transforms
from codemod.tree.checkout import find_checkout
from codemod.writing.changes import make_changes

TREE = find_tree("pytorch-2.6.0")


@pytest.mark.skipif(TREE is None, reason="no PyTorch tree (see CONTRIBUTING.md)")
def test_what_is_accepted_is_what_is_written() -> None:
    assert TREE is not None
    plan = Plan.from_json(symfix(["scan", "--format", "json"], TREE).stdout)
    groups = [group for group in make_groups(plan.findings) if group.edits and group.level <= Level.REVIEW]
    assert len({group.id for group in groups}) == len(groups) > 100
    chance = random.Random(7)
    for share in (0.1, 0.6):
        accepted = [group for group in groups if chance.random() < share]
        chosen = {group.id for group in accepted}
        made: list[Decision] = [
            decide(group, Choice.ACCEPT if group.id in chosen else Choice.REJECT, plan.files) for group in groups
        ]
        held = standing(groups, plan.files, made)
        written = make_changes(
            find_checkout(TREE).listing(), plan, [group for group, _ in followed(groups, held)], load_transforms(),
            lambda function, items: list(map(function, items)),
        )  # fmt: skip
        assert not written.refused
        places: dict[str, set[tuple[int, int, bytes]]] = {}
        for group in accepted:
            for edit in group.edits:
                places.setdefault(edit.path, set()).add((edit.start, edit.end, edit.new))
        assert [change.path for change in written.files] == sorted(places)
        for change in written.files:
            new, at = b"", 0
            for start, end, text in sorted(places[change.path]):
                new += change.old[at:start] + text
                at = end
            assert change.new == new + change.old[at:], change.path
