"""What was decided is what is written, and nothing else; decisions outlive what they should, and no more."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemod.errors import SymfixError
from codemod.model.decisions import Choice, Decision, decide, followed, from_json, standing, to_json
from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.groups import Group, make_groups
from codemod.model.identity import with_ids
from codemod.model.paths import Listing
from codemod.model.plan import Plan
from codemod.planning.carry import carried
from codemod.writing.changes import Changes, make_changes
from tests.codemod.fake import transforms

SCHEMAS = files("codemod").joinpath("model")
SITE = re.compile(rb"\bsize\b")

# Each `size` is a change of its own; equal lines hold twins.
trees = st.lists(st.sampled_from([b"size\n", b"x size; size\n", b"size size size\n", b"\n"]), max_size=5).map(b"".join)
choices = st.lists(st.sampled_from([None, *Choice]), min_size=15, max_size=15)


def analysed(source: bytes) -> Plan:
    """The plan that renames every `size` of the file a.cc."""
    found = [
        Finding("a.cc", *site.span(), 1, 1, Mode.DIRECT_THROW, "r", Level.SAFE, "f", (), "m",
                edits=(Edit("a.cc", *site.span(), b"size", b"sym_size"),))
        for site in SITE.finditer(source)
    ]  # fmt: skip
    return Plan(tuple(with_ids(found, lambda path: source)), {"a.cc": hashlib.sha256(source).hexdigest()})


def decided(plan: Plan, chosen: list[Choice | None]) -> list[Decision]:
    """A decision on each group whose place in `chosen` says one; an edit writes `mine`."""
    made = []
    for group, choice in zip(make_groups(plan.findings), chosen, strict=False):
        if choice is not None:
            old = group.edits[0]
            edits = (Edit(old.path, old.start, old.end, old.old, b"mine"),) if choice is Choice.EDIT else ()
            made.append(decide(group, choice, plan.files, edits))
    return made


def written(source: bytes, plan: Plan, groups: list[Group]) -> Changes:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.cc").write_bytes(source)
        listing = Listing(Path(folder), {"a.cc"})
        return make_changes(listing, plan, groups, transforms(), lambda function, items: list(map(function, items)))


def rewritten(source: bytes, words: list[bytes]) -> bytes:
    """`source` with each site replaced by the next of `words`."""
    left = iter(words)
    return SITE.sub(lambda site: next(left), source)


@given(trees, choices)
def test_what_is_accepted_is_what_is_written(source: bytes, chosen: list[Choice | None]) -> None:
    plan = analysed(source)
    groups = make_groups(plan.findings)
    accepted = [group for group, choice in followed(groups, decided(plan, chosen)) if choice]
    changes = written(source, plan, accepted)
    words = {Choice.ACCEPT: b"sym_size", Choice.EDIT: b"mine"}
    expected = rewritten(source, [words.get(choice, b"size") if choice else b"size" for choice in chosen])
    assert (changes.files[0].new if changes.files else source) == expected


@given(trees, choices, st.lists(st.booleans(), min_size=15, max_size=15))
def test_decisions_stay_with_what_a_write_leaves_behind(
    source: bytes, chosen: list[Choice | None], asked: list[bool]
) -> None:
    plan = analysed(source)
    groups = make_groups(plan.findings)
    made = decided(plan, chosen)
    parts = [group for group, ask in zip(groups, asked, strict=False) if ask]
    changes = written(source, plan, [group for group, choice in followed(parts, made) if choice])
    if not changes.files:
        return
    kept = carried(made, groups, changes.groups, changes.files, lambda path: source)
    after = analysed(changes.files[0].new)
    now = {decision.id: decision for decision in standing(make_groups(after.findings), after.files, [*made, *kept])}
    taken = (Choice.ACCEPT, Choice.EDIT)
    behind = [choice for _, choice, ask in zip(groups, chosen, asked, strict=False) if not (ask and choice in taken)]
    found = [now[group.id].choice if group.id in now else None for group in make_groups(after.findings)]
    assert found == behind
    final = written(
        changes.files[0].new, after, [group for group, _ in followed(make_groups(after.findings), now.values())]
    )
    words = {Choice.REJECT: b"size", Choice.EDIT: b"mine"}
    expected = rewritten(changes.files[0].new, [words.get(c, b"sym_size") if c else b"sym_size" for c in behind])
    assert (final.files[0].new if final.files else changes.files[0].new) == expected


def test_a_changed_file_asks_again_except_for_what_was_rejected() -> None:
    plan = analysed(b"one size\ntwo size\nthree size\n")
    made = decided(plan, [Choice.ACCEPT, Choice.REJECT, Choice.EDIT])
    after = analysed(b"new line\none size\ntwo size\nthree size\n")
    held = standing(make_groups(after.findings), after.files, made)
    assert [(decision.choice, decision.title) for decision in held] == [(Choice.REJECT, "a.cc:1 f")]
    changed = analysed(b"one size\ntwo  size\nthree size\n")
    assert standing(make_groups(changed.findings), changed.files, made) == []
    # Back on the old revision, everything holds again.
    assert standing(make_groups(plan.findings), plan.files, made) == made


def test_the_latest_decision_holds_and_a_stale_acceptance_hides_an_older_rejection() -> None:
    plan = analysed(b"size\n")
    rejected, accepted = decided(plan, [Choice.REJECT])[0], decided(plan, [Choice.ACCEPT])[0]
    groups = make_groups(plan.findings)
    assert standing(groups, plan.files, [rejected, accepted]) == [accepted]
    assert standing(groups, plan.files, [accepted, rejected]) == [rejected]
    elsewhere = {"a.cc": "0" * 64}
    assert standing(groups, elsewhere, [rejected, accepted]) == []
    assert standing(groups, elsewhere, [accepted, rejected]) == [rejected]


def test_an_acceptance_must_name_the_files_it_rests_on() -> None:
    plan = analysed(b"size\n")
    bare = Decision(plan.findings[0].id, Choice.ACCEPT, {})
    away = Decision(plan.findings[0].id, Choice.EDIT, dict(plan.files), (Edit("../b.cc", 0, 0, b"", b"x"),))
    for decision in (bare, away):
        assert standing(make_groups(plan.findings), plan.files, [decision]) == []


@given(trees, choices)
def test_a_document_comes_back_and_keeps_to_the_schema(source: bytes, chosen: list[Choice | None]) -> None:
    made = decided(analysed(source), chosen)
    text = to_json(made)
    assert from_json(text, "d.json") == made
    jsonschema.validate(json.loads(text), json.loads(SCHEMAS.joinpath("decisions.schema.json").read_text()))


def test_the_two_schemas_say_the_same_of_a_decision() -> None:
    plan, decisions = (
        json.loads(SCHEMAS.joinpath(f"{name}.schema.json").read_text()) for name in ("plan", "decisions")
    )
    del decisions["$defs"]["drafted"]  # edits alone come into a plan
    assert {name: plan["$defs"][name] for name in decisions["$defs"]} == decisions["$defs"]


def _document(entry: str) -> str:
    return '{"format": "symfix-decisions", "version": 1, "decisions": [' + entry + "]}"


BACKWARDS = '{"path": "a", "start": 5, "end": 2, "old": "", "new": ""}'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not JSON"),
        ("[]", "not a file of decisions"),
        ('{"format": "symfix-plan", "version": 1}', "not a file of decisions"),
        ('{"format": "symfix-decisions", "version": 9}', "version 9"),
        (_document('{"id": "a", "choice": "maybe", "files": {}}'), "damaged"),
        (_document('{"id": "a", "choice": "edit", "files": {}, "edits": [' + BACKWARDS + "]}"), "damaged"),
    ],
)
def test_what_holds_no_decisions_is_refused_by_name(text: str, says: str) -> None:
    with pytest.raises(SymfixError, match=says) as caught:
        from_json(text, "d.json")
    assert str(caught.value).startswith("d.json: ")
