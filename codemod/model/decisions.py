"""Decisions: what a reviewer chose for each change of a plan, by its id, and the JSON document that holds them.

Where they are kept between runs is `codemod.planning.decision_store`'s.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codemod.borders.documents import Shape, load_document
from codemod.borders.quoting import json_text
from codemod.errors import SymfixError
from codemod.model.edits import EDIT, Edit, edit_from_json, edit_to_json, sorted_edits
from codemod.model.groups import Group

FORMAT = "symfix-decisions"
VERSION = 1

HASHES: Shape = {Path: re.compile("([0-9a-f]{64})?")}
"""The sha256 of files, "" for one that is absent."""
DECISION: Shape = {
    "id": str, "choice": frozenset(["accept", "reject", "edit"]), "files": HASHES, "title?": str, "edits?": [EDIT],
}  # fmt: skip
"""What `decision_from_json` takes."""
Drafts = Callable[[Mapping[str, Any]], Sequence[Edit] | None]
"""The edits that the `draft` of a decision comes to, a text as `codemod.review.editing.Draft` writes; None for none."""


class Choice(enum.Enum):
    """What can be said about a change; values are as documents spell them."""

    ACCEPT = "accept"
    REJECT = "reject"
    EDIT = "edit"
    """Accepted, with the reviewer's edits in place of its own."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice about the change `id`, made when each of `files` had the sha256 it maps to."""

    id: str
    choice: Choice
    files: dict[str, str]
    edits: tuple[Edit, ...] = ()
    """With `Choice.EDIT`: all edits of the change from now on."""
    title: str = ""
    """What it is about, for people."""


def decide(group: Group, choice: Choice, hashes: Mapping[str, str], edits: Iterable[Edit] = ()) -> Decision:
    """The decision on `group`; `hashes` are those of its plan, `edits` the reviewer's own."""
    first = group.findings[0]
    title = f"{first.path}:{first.line} {first.function}".strip()
    files = {path: hashes[path] for path in _files(group) if path in hashes}
    return Decision(group.id, choice, files, tuple(sorted_edits(edits)), title)


def standing(groups: Iterable[Group], hashes: Mapping[str, str], decisions: Iterable[Decision]) -> list[Decision]:
    """For each of `groups` that one of `decisions` (the oldest first) which holds for it, where there is one.

    That is the latest made on files with these `hashes`. Failing that, a rejection that is the latest of all still
    holds, for the id says that what was rejected is unchanged; an acceptance does not, for what it rests on is not.
    """
    latest: dict[str, Decision] = {}
    exact: dict[str, Decision] = {}
    by_id = {group.id: group for group in groups if group.id}
    for decision in decisions:
        group = by_id.get(decision.id)
        if group is None:
            continue
        latest[decision.id] = decision
        edited = {edit.path for edit in decision.edits}
        if (
            _files(group) <= decision.files.keys()
            and edited <= decision.files.keys()
            and all(hashes.get(path) == sha for path, sha in decision.files.items())
        ):
            exact[decision.id] = decision
    rejected = {key: decision for key, decision in latest.items() if decision.choice is Choice.REJECT}
    holding = {**rejected, **exact}
    return [holding[key] for key in by_id if key in holding]


def followed(groups: Iterable[Group], decisions: Iterable[Decision]) -> list[tuple[Group, Choice | None]]:
    """`groups` with what was decided on each, less the rejected; an edited one has the reviewer's edits."""
    by_id = {decision.id: decision for decision in decisions}
    result: list[tuple[Group, Choice | None]] = []
    for group in groups:
        decision = by_id.get(group.id) if group.id else None
        if decision is None:
            result.append((group, None))
        elif decision.choice is not Choice.REJECT:
            edited = with_edits(group, decision.edits) if decision.choice is Choice.EDIT else group
            result.append((edited, decision.choice))
    return result


def with_edits(group: Group, edits: Sequence[Edit]) -> Group:
    """`group` with `edits`, all of them its first finding's, in place of its own."""
    first, *rest = group.findings
    bare = (dataclasses.replace(finding, edits=()) for finding in rest)
    return Group((dataclasses.replace(first, edits=tuple(edits)), *bare))


def summary(counts: Mapping[Choice | None, int]) -> str:
    """How many changes are decided in each way, in one line; None counts those that are not."""
    total = sum(counts.values())
    return (
        f"symfix: of {total:,} change{'' if total == 1 else 's'} {counts[Choice.ACCEPT]} accepted,"
        f" {counts[Choice.EDIT]} edited, {counts[Choice.REJECT]} rejected, {counts[None]} to decide"
    )


def to_json(decisions: Iterable[Decision]) -> str:
    """The document that holds `decisions`, ASCII only."""
    entries = [decision_to_json(decision) for decision in decisions]
    return json_text({"format": FORMAT, "version": VERSION, "decisions": entries}, indent=1) + "\n"


def from_json(text: str | bytes, name: str, drafts: Drafts | None = None) -> list[Decision]:
    """The decisions of a document; with `drafts`, edits may be given as texts, and what comes to none is left out.

    Raises SymfixError, calling it `name`, where it holds none that can be read.
    """
    remedy = "make it with: symfix review --export FILE"
    shape = {"decisions": [{**DECISION, "draft?": str} if drafts else DECISION]}
    document = load_document(text, name, "file of decisions", (FORMAT, VERSION), shape, remedy)
    try:
        entries = [_with_edits(entry, drafts) for entry in document["decisions"]]
        return [decision_from_json(entry) for entry in entries if entry is not None]
    except ValueError as error:
        raise SymfixError(f"{name}: damaged ({error}); {remedy}") from error


def _with_edits(entry: dict[str, Any], drafts: Drafts | None) -> dict[str, Any] | None:
    """`entry` with the edits of its draft, None where that comes to none."""
    if drafts is None or "draft" not in entry:
        return entry
    if "edits" in entry:
        raise ValueError(f"{entry['id']!a} has both edits and a draft")
    edits = drafts(entry)
    if edits is None:
        return None
    return {**{key: value for key, value in entry.items() if key != "draft"}, "edits": [*map(edit_to_json, edits)]}


def decision_to_json(decision: Decision) -> dict[str, Any]:
    """One decision, as plans and files of decisions hold it."""
    entry: dict[str, Any] = {"id": decision.id, "choice": decision.choice.value}
    if decision.title:
        entry["title"] = decision.title
    entry["files"] = dict(sorted(decision.files.items()))
    if decision.choice is Choice.EDIT:
        entry["edits"] = [edit_to_json(edit) for edit in decision.edits]
    return entry


def decision_from_json(entry: Mapping[str, Any]) -> Decision:
    """The inverse of `decision_to_json`: `entry` is of the shape `DECISION`.

    Raises ValueError where there are edits without the choice to edit, or the other way round, or one does not fit.
    """
    if ("edits" in entry) != (entry["choice"] == Choice.EDIT.value):
        raise ValueError(f"edits belong to the choice to edit, which {entry['id']!a} is not, or lacks them")
    return Decision(
        id=entry["id"],
        choice=Choice(entry["choice"]),
        files=entry["files"],
        edits=tuple(sorted(edit_from_json(edit) for edit in entry.get("edits", ()))),
        title=entry.get("title", ""),
    )


def _files(group: Group) -> set[str]:
    """The files a decision on `group` rests on: those it edits and those of its findings."""
    return {finding.path for finding in group.findings} | set(group.paths)
