"""What lands in the same commit as a shard's own edits: the removal of outdated expected failures, and new tests."""

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
    """Edits of test files, files to delete, and the entries and tests that they concern.

    `removed` are the expected failures that go; `listed` those with symbolic sizes that stay, each with why.
    """

    edits: tuple[Edit, ...] = ()
    deleted: tuple[str, ...] = ()
    removed: tuple[ExpectedFailure, ...] = ()
    listed: tuple[tuple[ExpectedFailure, str], ...] = ()
    tests: tuple[str, ...] = ()
    """The ids of the regression tests added, where no expected failure is removed: that would show the same."""


def follow_ups(
    project: Project,
    transforms: Sequence[Transform],
    shards: Sequence[Shard],
    evidence: Mapping[str, Sequence[Evidence]],
) -> dict[str, FollowUp]:
    """What follows each shard, by its name; `evidence` has that of its operators by the same name.

    No two edits meet, and an entry that several shards outdate goes with the first of them. Only what evidence shows
    to be cured goes: without it everything is listed.
    """
    results = {shard.name: FollowUp() for shard in shards}
    for transform in transforms:
        if not isinstance(transform, KnowsTests):
            continue
        families = transform.expected_failures(project, [shard.operators for shard in shards])
        decided = [
            outdated(entries, _checks(evidence.get(shard.name, ())))
            for shard, entries in zip(shards, families, strict=True)
        ]
        removals = transform.remove(project, [gone for gone, _ in decided])
        for shard, (_, remaining), removal in zip(shards, decided, removals, strict=True):
            results[shard.name] = _joined(results[shard.name], removal, remaining)
        new_tests = [(shard.name, test) for shard in shards for test in _tests(shard, results[shard.name], evidence)]
        for (name, _), added in zip(
            new_tests, transform.add_tests(project, [test for _, test in new_tests]), strict=True
        ):
            if added is not None:
                follow_up = results[name]
                edits = tuple(sorted({*follow_up.edits, *added.edits}))
                results[name] = replace(follow_up, edits=edits, tests=(*follow_up.tests, added.id))
    return results


def _tests(shard: Shard, follow_up: FollowUp, evidence: Mapping[str, Sequence[Evidence]]) -> list[NewTest]:
    """The regression tests of a shard, each once; none where an expected failure shows the cure."""
    if follow_up.removed:
        return []
    tests = {
        entry.test: NewTest((entry.operator, *shard.operators), entry.test) for entry in evidence.get(shard.name, ())
    }
    return [test for text, test in tests.items() if text]


def checks_of(project: Project, transforms: Sequence[Transform], shards: Sequence[Shard]) -> dict[str, tuple[str, ...]]:
    """By shard name, the checks (see `codemod.model.xfails`) that decide on entries about its operators, sorted."""
    by_shard: dict[str, set[str]] = {shard.name: set() for shard in shards}
    for transform in transforms:
        if isinstance(transform, KnowsTests):
            families = transform.expected_failures(project, [shard.operators for shard in shards])
            for shard, entries in zip(shards, families, strict=True):
                by_shard[shard.name].update(
                    check for entry in entries if entry.kind == "xfail" for check in entry.checks
                )
    return {name: tuple(sorted(checks)) for name, checks in by_shard.items()}


def _checks(evidence: Sequence[Evidence]) -> dict[str, tuple[str, str]]:
    """How the checks ended that were run for operators which nothing made worse."""
    if any(entry.outcome == "worse" for entry in evidence):
        return {}
    ends_by_check: dict[str, tuple[str, str]] = {}
    for entry in evidence:  # of several versions: what fails in one, fails
        for check, ends in entry.checks.items():
            earlier = ends_by_check.get(check, ends)
            before, after = ("fails" if "fails" in pair else pair[0] for pair in zip(earlier, ends, strict=True))
            ends_by_check[check] = (before, after)
    return ends_by_check


def _joined(follow_up: FollowUp, removal: Removal, remaining: Sequence[tuple[ExpectedFailure, str]]) -> FollowUp:
    listed = [
        (entry, why)
        for entry, why in (*remaining, *removal.left)
        if entry.symbolic and entry.kind in ("xfail", "marker")
    ]
    return FollowUp(
        edits=tuple(sorted({*follow_up.edits, *removal.edits})),
        deleted=(*follow_up.deleted, *removal.deleted),
        removed=(*follow_up.removed, *removal.removed),
        listed=(*follow_up.listed, *listed),
    )
