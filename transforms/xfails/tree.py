"""The registries of a whole tree: the entries about some operators, and their removal."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from codemod.model.edits import Edit
from codemod.model.transform import Project
from codemod.model.xfails import ExpectedFailure, Removal
from transforms.python.reading.public_names import MODULES
from transforms.xfails.checks import NAMES_A_TEST, SYMBOLIC, checks_of, devices_of, symbolic
from transforms.xfails.facts import Entry, FileRegistries, Test
from transforms.xfails.names import functionals, is_about, normal, opinfo_names, subjects
from transforms.xfails.read import extract
from transforms.xfails.remove import Cut, NotRemovable, removal

FOLDERS = ("test", "tests", "functorch/test", "torch/testing", "testing")
# One empty file for each `Class.test` that fails, or is skipped, under PYTORCH_TEST_WITH_DYNAMO and _INDUCTOR.
MARKERS = ("dynamo_expected_failures", "dynamo_skips", "inductor_expected_failures", "inductor_skips")


def expected_failures(project: Project, families: Sequence[Sequence[str]]) -> list[list[ExpectedFailure]]:
    """For each of `families` the entries of the tree about its operators, in the order of their places."""
    listed = set(project.files((".py",)))
    functions_by_path = project.facts(functionals, [path for path in MODULES if path in listed])
    places = [(path, entry) for path, file in registries(project).items() for entry in file.entries]
    by_operator: dict[str, list[tuple[str, Entry]]] = {}
    by_test: list[tuple[str, Entry]] = []
    for path, entry in places:
        if entry.names == "operator":
            by_operator.setdefault(normal(entry.name), []).append((path, entry))
        else:
            by_test.append((path, entry))
    files = markers(project)
    by_subject: dict[str, set[int]] = {}
    for index, marker in enumerate(files):
        for subject in subjects(marker.name):
            by_subject.setdefault(subject, set()).add(index)
    results = []
    for operators in families:
        names = opinfo_names(operators, functions_by_path)
        chosen = [place for name in names for place in by_operator.get(name, ())]
        chosen += (place for place in by_test if _mentions(place[1], names))
        chosen.sort(key=lambda place: (place[0], place[1].start))
        about = set().union(*(by_subject.get(name, ()) for name in names))
        results.append([*(_expected(path, entry) for path, entry in chosen), *(files[i] for i in sorted(about))])
    return results


def registries(project: Project) -> Mapping[str, FileRegistries]:
    """The files of the tree that hold a registry, with the tests that read one from another file."""
    facts = project.facts(extract, project.files((".py",), FOLDERS))
    foreign: dict[str, list[Test]] = {}
    for file in facts.values():
        for name, test in file.foreign:
            foreign.setdefault(name, []).append(test)

    def resolved(entry: Entry) -> Entry:
        read = foreign.get(entry.registry, ())
        return replace(entry, tests=tuple(dict.fromkeys(read))) if read and not entry.tests else entry

    return {
        path: replace(file, entries=tuple(map(resolved, file.entries))) for path, file in facts.items() if file.entries
    }


def markers(project: Project) -> list[ExpectedFailure]:
    """The marker files of the tree, sorted."""
    failures = []
    for folder in MARKERS:
        try:
            names = sorted(os.listdir(project.root / "test" / folder))
        except OSError:
            continue
        kind: Literal["skip", "marker"] = "skip" if folder.endswith("skips") else "marker"
        for name in names:
            if not name.startswith("."):
                path, is_symbolic = f"test/{folder}/{name}", SYMBOLIC.search(name) is not None
                failures.append(
                    ExpectedFailure(path, 0, 0, 1, folder, kind, name, why=NAMES_A_TEST, symbolic=is_symbolic)
                )
    return failures


def remove(project: Project, groups: Sequence[Sequence[ExpectedFailure]]) -> list[Removal]:
    """For each of `groups` the removal that is right alone and beside the others'.

    Edits of two groups never meet; entries that only together would empty a set are kept by the later group.
    """
    taken: dict[str, set[int]] = {}
    cuts: dict[str, set[Cut]] = {}
    spans: set[tuple[str, int, int]] = set()
    results = []
    for group in groups:
        by_path: dict[str, list[ExpectedFailure]] = {}
        remaining: list[tuple[ExpectedFailure, str]] = []
        for entry in group:
            if (entry.path, entry.start, entry.end) in spans:
                remaining.append((entry, "another shard takes it out"))
            else:
                by_path.setdefault(entry.path, []).append(entry)
        edits: list[Edit] = []
        removed: list[ExpectedFailure] = []
        for path, entries in sorted(by_path.items()):
            other_cuts = cuts.setdefault(path, set())
            if entries[0].end:
                source = project.read(path)
                lines = taken.setdefault(path, set())
                mine, entries, refused = _removal(path, source, entries, other_cuts, lines)
                remaining += refused
                edits += mine
                lines.update(line for edit in mine for line in _lines(source, edit))
            removed += entries
            other_cuts.update(map(_cut, entries))
            spans.update((path, entry.start, entry.end) for entry in entries)
        deleted = tuple(entry.path for entry in removed if not entry.end)
        results.append(Removal(tuple(sorted(edits)), deleted, tuple(removed), tuple(remaining)))
    return results


def _removal(
    path: str, source: bytes, entries: list[ExpectedFailure], other_cuts: set[Cut], taken: set[int]
) -> tuple[list[Edit], list[ExpectedFailure], list[tuple[ExpectedFailure, str]]]:
    """The edits for one file, the entries that they take out, and the others with why they stay.

    Halves that can be taken out with all before them are taken out together: the file is gone through a few times for
    each entry that stays.
    """
    removed: list[ExpectedFailure] = []
    edits: list[Edit] = []
    refused: list[tuple[ExpectedFailure, str]] = []
    pending = [entries]
    while pending:
        part = pending.pop()
        try:
            edits = removal(path, source, [_cut(entry) for entry in (*removed, *part)], other_cuts, taken)
            removed += part
        except NotRemovable as error:
            if len(part) == 1:
                refused.append((part[0], str(error)))
            else:
                middle = len(part) // 2
                pending += (part[middle:], part[:middle])
    return edits, removed, refused


def _cut(entry: ExpectedFailure) -> Cut:
    return Cut(entry.start, entry.end, frozenset(entry.narrow))


def _lines(source: bytes, edit: Edit) -> range:
    first = source.count(b"\n", 0, edit.start) + 1
    return range(first, first + max(1, edit.old.count(b"\n")))


def _mentions(entry: Entry, names: frozenset[str]) -> bool:
    if entry.names == "test":
        return is_about(entry.name, names)
    module = entry.name.rpartition(".")[2].lower()
    return module in {name.replace("_", "") for name in names}


def _expected(path: str, entry: Entry) -> ExpectedFailure:
    checks, why = checks_of(entry)
    tests = tuple(f"{test.owner}.{test.name}" if test.owner else test.name for test in entry.tests)
    return ExpectedFailure(
        path, entry.start, entry.end, entry.line, entry.registry, entry.kind, entry.name, entry.variant,
        devices_of(entry), entry.dtypes, entry.reason, tests, checks, why, symbolic=symbolic(path, entry),
    )  # fmt: skip
