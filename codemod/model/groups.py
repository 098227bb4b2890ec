"""Groups of findings: what is applied together or not at all, and which groups overlap. A shard is made of groups."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codemod.model.edits import Edit, sorted_edits
from codemod.model.findings import Finding, Level
from codemod.model.suppress import refuse

OVERLAP = "overlap"


@dataclass(frozen=True, slots=True)
class Group:
    """Findings that are applied together; a finding without a group is one alone."""

    findings: tuple[Finding, ...]

    @property
    def level(self) -> Level:
        """The highest level of any finding in it."""
        return max(finding.level for finding in self.findings)

    @property
    def id(self) -> str:
        """The name of its change (see `codemod.model.identity`); "" where it edits nothing, or before analysis."""
        return self.findings[0].id

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits of all its findings, sorted, each once."""
        return tuple(sorted_edits(edit for finding in self.findings for edit in finding.edits))

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it edits, sorted."""
        return tuple(sorted({edit.path for finding in self.findings for edit in finding.edits}))


def order(finding: Finding) -> tuple[str, int, int, str, str]:
    """The sort key of findings: by place, then by rule."""
    return finding.path, finding.start, finding.end, finding.rule, finding.message


def make_groups(findings: Iterable[Finding]) -> list[Group]:
    """The groups of `findings`, each sorted by place, themselves ordered by the place of their first finding."""
    alone: list[Group] = []
    together: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=order):
        if finding.group:
            together.setdefault(finding.group, []).append(finding)
        else:
            alone.append(Group((finding,)))
    groups = alone + [Group(tuple(members)) for members in together.values()]
    return sorted(groups, key=lambda group: order(group.findings[0]))


def refuse_overlaps(findings: Sequence[Finding]) -> list[Finding]:
    """`findings`, with those of a group turned into refusals where its edits meet another group's.

    The lower level wins, then the earlier place. An edit that two groups share to the byte is no overlap.
    """
    taken = _Taken()
    result: list[Finding] = []
    for group in sorted(make_groups(findings), key=lambda group: group.level):
        obstacle = taken.add(group)
        if obstacle is None:
            result += group.findings
            continue
        reason = (
            "two of its own edits overlap, which is an error in the rule"
            if obstacle in group.findings
            else _overlap_reason(obstacle)
        )
        result += (refuse(finding, OVERLAP, reason) if finding.edits else finding for finding in group.findings)
    return sorted(result, key=order)


def overlapping(group: Group, findings: Iterable[Finding]) -> list[Finding]:
    """Those of `findings` that `refuse_overlaps` refused for the sake of `group`."""
    reasons = {_overlap_reason(finding) for finding in group.findings}
    return [finding for finding in findings if finding.refusal == OVERLAP and finding.reason in reasons]


def _overlap_reason(finding: Finding) -> str:
    return f"its edits overlap those for {finding.path}:{finding.line}; apply those, then run symfix again"


class _Taken:
    """The edits accepted so far; no two of them overlap."""

    def __init__(self) -> None:
        self._edits: dict[str, list[Edit]] = {}
        self._owners: dict[Edit, Finding] = {}

    def add(self, group: Group) -> Finding | None:
        """Accept all edits of `group` and return None, or none and the finding whose edit stands in the way."""
        added: list[Edit] = []
        for finding in group.findings:
            for edit in finding.edits:
                if edit in self._owners:
                    continue
                held = self._edits.setdefault(edit.path, [])
                place = bisect.bisect(held, edit)
                met = next((near for near in held[max(0, place - 1) : place + 1] if meet(near, edit)), None)
                if met is not None:
                    owner = self._owners[met]
                    for mine in added:
                        accepted = self._edits[mine.path]
                        del accepted[bisect.bisect_left(accepted, mine)]
                        del self._owners[mine]
                    return owner
                held.insert(place, edit)
                self._owners[edit] = finding
                added.append(edit)
        return None


def meet(first: Edit, second: Edit) -> bool:
    """Whether two edits of one file overlap, or insert at one place what is no paragraph; touching is no overlap."""
    if first.start == first.end == second.start == second.end:
        return not (first.paragraph and second.paragraph)
    return first.start < second.end and second.start < first.end
