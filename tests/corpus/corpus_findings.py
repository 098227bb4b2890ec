"""What differs between the findings of two recordings of a tree, decision by decision."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Any

from corpus_recording import TreeRecording, named_paths

Finding = dict[str, Any]
"""A finding as `scan --format json` writes it."""

PLACE = ("line", "column", "start", "end")
FIELDS = ("level", "rule", "edits", "refusal", "reason", "operators", "message", "place", "mode", "function", "reach",
          "flow", "group", "id")  # fmt: skip
"""What may differ between two findings about one place, the most telling first; `place` stands for those of PLACE."""

# What two findings have to share to be the same decision: tried in this order, on what is left.
_SAME: tuple[Callable[[Finding], Hashable], ...] = (
    lambda finding: (finding["path"], finding["start"], finding["end"], finding["rule"], finding["message"]),
    lambda finding: (finding["path"], finding["start"], finding["end"], finding["rule"]),
    lambda finding: (finding["path"], finding["start"], finding["end"]),
    lambda finding: (finding["path"], finding["start"]),
    lambda finding: (finding["path"], finding["line"], finding["rule"]),
)


@dataclass(frozen=True)
class Decision:
    """A decision that differs between two recordings; `before` is None where it appeared, `after` where it vanished.

    Where the source of the two differs, the positions in `before` are those that the same lines have in `after`.
    """

    before: Finding | None
    after: Finding | None
    fields: tuple[str, ...] = ()
    """What differs, as FIELDS orders it, of a decision that is in both."""

    @property
    def kind(self) -> str:
        """`appeared`, `vanished`, or the most telling field that differs."""
        if self.before is None:
            return "appeared"
        return "vanished" if self.after is None else self.fields[0]

    @property
    def finding(self) -> Finding:
        """The finding of AFTER, of BEFORE where there is none."""
        finding = self.before if self.after is None else self.after
        assert finding is not None
        return finding

    @property
    def rule(self) -> str:
        """The rule that decided, in BEFORE where it is in both."""
        return str((self.before or self.finding)["rule"])


@dataclass(frozen=True)
class Differences:
    """The decisions that differ, by place; what was not compared; and the files of the tree that differ."""

    decisions: list[Decision]
    one_sided: tuple[str, ...]
    """The fields that only one of the two recordings has, which are not compared."""
    sources: tuple[str, ...]
    """The files, of those that findings name, that are not the same in both trees."""

    def kinds(self) -> dict[str, list[Decision]]:
        """The decisions by kind: what appeared, what vanished, then by field."""
        order = ("appeared", "vanished", *FIELDS)
        kinds: dict[str, list[Decision]] = {}
        for decision in self.decisions:
            kinds.setdefault(decision.kind, []).append(decision)
        return dict(sorted(kinds.items(), key=lambda entry: (*order, entry[0]).index(entry[0])))

    def by_rule(self) -> dict[str, Counter[str]]:
        """For each rule how many of its decisions appeared, vanished or changed, and in how many each field differs."""
        rules: dict[str, Counter[str]] = {}
        for decision in self.decisions:
            counts = rules.setdefault(decision.rule, Counter())
            counts.update(("changed", *decision.fields) if decision.fields else (decision.kind,))
        return dict(sorted(rules.items()))


def compare_findings(before: TreeRecording, after: TreeRecording) -> Differences:
    """What differs between the findings of two recordings."""
    shifts = _shifts(before, after)
    one_sided = _keys(before.findings) ^ _keys(after.findings) if before.findings and after.findings else set()
    ignored = one_sided | ({"group"} if shifts else set())  # a group's name counts lines
    moved = [(finding, _moved(finding, shifts)) for finding in before.findings]
    pairs, vanished, appeared = _matched([there for _, there in moved if there is not None], after.findings, ignored)
    vanished += [finding for finding, there in moved if there is None]
    decisions = [Decision(old, new, _differing(old, new, ignored)) for old, new in pairs]
    decisions += [Decision(old, None) for old in vanished]
    decisions += [Decision(None, new) for new in appeared]
    decisions.sort(key=lambda decision: (decision.finding["path"], decision.finding["start"], decision.kind))
    return Differences(decisions, tuple(sorted(one_sided)), tuple(sorted(shifts)))


def _keys(findings: Sequence[Finding]) -> set[str]:
    return {key for finding in findings for key in finding}


def _differing(before: Finding, after: Finding, ignored: set[str]) -> tuple[str, ...]:
    keys = {key for key in {*before, *after} - ignored if before.get(key) != after.get(key)}
    names = {"place" if key in PLACE else key for key in keys}
    return tuple(name for name in FIELDS if name in names) + tuple(sorted(names.difference(FIELDS)))


def _matched(
    before: Sequence[Finding], after: Sequence[Finding], ignored: set[str]
) -> tuple[list[tuple[Finding, Finding]], list[Finding], list[Finding]]:
    """The pairs that are one decision but differ, and what is left of either side; equal findings are in none."""

    def whole(finding: Finding) -> Hashable:
        return json.dumps({key: value for key, value in finding.items() if key not in ignored}, sort_keys=True)

    _, old, new = _paired(before, after, whole)
    pairs: list[tuple[Finding, Finding]] = []
    for same in _SAME:
        more, old, new = _paired(old, new, same)
        pairs += more
    return pairs, old, new


def _paired(
    before: Sequence[Finding], after: Sequence[Finding], key: Callable[[Finding], Hashable]
) -> tuple[list[tuple[Finding, Finding]], list[Finding], list[Finding]]:
    """Those of one key side by side, in their order, and what is left of either side."""
    waiting: dict[Hashable, list[Finding]] = {}
    for finding in before:
        waiting.setdefault(key(finding), []).append(finding)
    pairs, appeared = [], []
    for finding in after:
        alike = waiting.get(key(finding))
        if alike:
            pairs.append((alike.pop(0), finding))
        else:
            appeared.append(finding)
    return pairs, [finding for alike in waiting.values() for finding in alike], appeared


class _Shift:
    """Where the lines of one version of a file are in another."""

    def __init__(self, before: bytes, after: bytes) -> None:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
        self._starts = _starts(old)
        new_starts = _starts(new)
        self._lines: dict[int, tuple[int, int]] = {}  # from 0: the line in the other version, and its first byte
        for block in SequenceMatcher(None, old, new).get_matching_blocks():
            for step in range(block.size):
                self._lines[block.a + step] = block.b + step, new_starts[block.b + step]
        self._lines[len(old)] = len(new), new_starts[-1]  # the end of the file

    def line(self, line: int) -> int:
        """The number of a line there. Raises KeyError where the other version has no such line."""
        return self._lines[line - 1][0] + 1

    def offset(self, offset: int) -> int:
        """The place of a byte there. Raises KeyError where the other version has no such line."""
        index = bisect_right(self._starts, offset) - 1
        return self._lines[index][1] + offset - self._starts[index]


def _starts(lines: Sequence[bytes]) -> list[int]:
    """The offset of each line's first byte, and that of the end."""
    return [0, *accumulate(map(len, lines))]


def _shifts(before: TreeRecording, after: TreeRecording) -> dict[str, _Shift]:
    """For each file that findings name and both trees have, but with other bytes, where its lines have gone."""
    if before.meta["tree"] == after.meta["tree"]:
        return {}
    paths = named_paths([*before.findings, *after.findings])
    contents = {path: (before.source(path), after.source(path)) for path in paths}
    return {path: _Shift(old, new) for path, (old, new) in contents.items() if old and new and old != new}


def _moved(finding: Finding, shifts: Mapping[str, _Shift]) -> Finding | None:
    """`finding` with its positions and those of its edits as in the other version; None where its lines are not there.

    The lines of its reach and flow are left as they are where they are not there.
    """
    moved = dict(finding)
    shift = shifts.get(finding["path"])
    try:
        if shift is not None:
            moved |= {"line": shift.line(finding["line"])}
            moved |= {key: shift.offset(finding[key]) for key in ("start", "end")}
        moved["edits"] = [
            {**edit, **{key: shifts[edit["path"]].offset(edit[key]) for key in ("start", "end")}}
            if edit["path"] in shifts
            else edit
            for edit in finding["edits"]
        ]
    except KeyError:
        return None
    for key in ("reach", "flow"):
        moved[key] = [_moved_step(step, shifts) for step in finding[key]]
    return moved


def _moved_step(step: dict[str, Any], shifts: Mapping[str, _Shift]) -> dict[str, Any]:
    try:
        return {**step, "line": shifts[step["path"]].line(step["line"])} if step["path"] in shifts else step
    except KeyError:
        return step
