"""What lands in the same commit as a shard's own edits: expected failures that its cure outdates, and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from codemod.bundle.shards import Shard
from codemod.model.edits import Edit
from codemod.model.transform import Project, Transform
from codemod.model.xfails import ExpectedFailure, KnowsTests, NewTest, Removal, outdated
from codemod.prove.evidence import Evidence


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Edits of test files, files to delete, and what to say of them.

    `removed` are the expected failures that go; `listed` those with symbolic sizes that stay, each with why.
    """

    edits: tuple[Edit, ...] = ()
    deleted: tuple[str, ...] = ()
    removed: tuple[ExpectedFailure, ...] = ()
    listed: tuple[tuple[ExpectedFailure, str], ...] = ()
    tests: tuple[str, ...] = ()
    """The ids of the regression tests that are added, where no expected failure goes: it would show the same."""


def follow_ups(
    project: Project,
    transforms: Sequence[Transform],
    shards: Sequence[Shard],
    evidence: Mapping[str, Sequence[Evidence]],
) -> dict[str, FollowUp]:
    """What follows each shard, by its name; `evidence` gives by the same name what is known of its operators.

    No two edits meet, and an entry that several shards outdate goes with the first of them. Only what evidence shows
    to be cured goes: without it everything is listed.
    """
    results = {shard.name: FollowUp() for shard in shards}
    for transform in transforms:
        if not isinstance(transform, KnowsTests):
            continue
        found = transform.expected_failures(project, [shard.operators for shard in shards])
        decided = [
            outdated(entries, _checks(evidence.get(shard.name, ())))
            for shard, entries in zip(shards, found, strict=True)
        ]
        removals = transform.remove(project, [gone for gone, _ in decided])
        for shard, (_, kept), removal in zip(shards, decided, removals, strict=True):
            results[shard.name] = _joined(results[shard.name], removal, kept)
        wanted = [(shard.name, one) for shard in shards for one in _tests(shard, results[shard.name], evidence)]
        for (name, _), added in zip(wanted, transform.add_tests(project, [one for _, one in wanted]), strict=True):
            if added is not None:
                known = results[name]
                edits = tuple(sorted({*known.edits, *added.edits}))
                results[name] = replace(known, edits=edits, tests=(*known.tests, added.id))
    return results


def _tests(shard: Shard, follow_up: FollowUp, evidence: Mapping[str, Sequence[Evidence]]) -> list[NewTest]:
    """The regression tests of a shard, each once; none where an expected failure shows the cure."""
    if follow_up.removed:
        return []
    found = {one.test: NewTest((one.operator, *shard.operators), one.test) for one in evidence.get(shard.name, ())}
    return [test for text, test in found.items() if text]


def checks_of(project: Project, transforms: Sequence[Transform], shards: Sequence[Shard]) -> dict[str, tuple[str, ...]]:
    """By shard name, the checks (see `codemod.model.xfails`) that decide on entries about its operators, sorted."""
    found: dict[str, set[str]] = {shard.name: set() for shard in shards}
    for transform in transforms:
        if isinstance(transform, KnowsTests):
            families = transform.expected_failures(project, [shard.operators for shard in shards])
            for shard, entries in zip(shards, families, strict=True):
                found[shard.name].update(check for one in entries if one.kind == "xfail" for check in one.checks)
    return {name: tuple(sorted(checks)) for name, checks in found.items()}


def _checks(evidence: Sequence[Evidence]) -> dict[str, tuple[str, str]]:
    """How the checks ended that were run for operators which nothing made worse."""
    if any(one.outcome == "worse" for one in evidence):
        return {}
    found: dict[str, tuple[str, str]] = {}
    for one in evidence:  # of several versions: what fails in one, fails
        for check, ends in one.checks.items():
            known = found.get(check, ends)
            before, after = ("fails" if "fails" in pair else pair[0] for pair in zip(known, ends, strict=True))
            found[check] = (before, after)
    return found


def _joined(known: FollowUp, removal: Removal, kept: Sequence[tuple[ExpectedFailure, str]]) -> FollowUp:
    listed = [
        (entry, why) for entry, why in (*kept, *removal.left) if entry.symbolic and entry.kind in ("xfail", "marker")
    ]
    return FollowUp(
        edits=tuple(sorted({*known.edits, *removal.edits})),
        deleted=(*known.deleted, *removal.deleted),
        removed=(*known.removed, *removal.removed),
        listed=(*known.listed, *listed),
    )
