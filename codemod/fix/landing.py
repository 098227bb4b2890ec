"""Which shards of an operator land: those that are proved to cure it, and what these stand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from codemod.bundle.shards import Shard
from codemod.model.findings import Finding, Level
from codemod.model.groups import Group
from codemod.model.needs import ancestry
from codemod.prove.evidence import Evidence
from codemod.reporting.dashboard import THROWING
from codemod.reporting.report import plural, refusal_counts
from codemod.terminal import listed, one_line

State = Literal[
    "cured", "left alone", "blocked", "not cured", "not reproduced", "worse", "not provable", "nothing found"
]


@dataclass(frozen=True, slots=True)
class Landing:
    """What becomes of one operator. `shown` is the evidence that decides.

    `shards` are those that land, the last of which cures the operator.
    """

    name: str
    state: State
    shards: tuple[str, ...] = ()
    shown: tuple[Evidence, ...] = ()
    because: str = ""
    """Where nothing lands: what stops it, and what a person would do."""
    findings: tuple[Finding, ...] = ()


def land(
    name: str,
    findings: Sequence[Finding],
    groups: Sequence[Group],
    shards: Mapping[str, Shard],
    evidence: Mapping[str, Sequence[Evidence]],
) -> Landing:
    """What becomes of the operator `name`, whose changes are `groups`; `shards` and their `evidence` are of all.

    A shard lands where one of its operators is cured and none is worse, with all that it stands on, none of which may
    be worse.
    """
    wanted = {group.id for group in groups}
    own = [shard for shard in shards.values() if any(group.id in wanted for group in shard.groups)]
    if not own:
        state: State = "left alone" if findings else "nothing found"
        return Landing(name, state, because=_left_alone(findings), findings=tuple(findings))
    bases = {shard.name: shard.bases for shard in shards.values()}
    worse = {shard for shard, entries in evidence.items() if any(entry.outcome == "worse" for entry in entries)}
    landing: dict[str, None] = {}
    for shard in own:
        needed = ancestry(shard.name, bases)
        if any(entry.outcome == "cured" for entry in evidence.get(shard.name, ())) and worse.isdisjoint(needed):
            landing.update(dict.fromkeys(needed))
    entries = tuple(entry for shard in own for entry in evidence.get(shard.name, ()))
    if landing:
        return Landing(name, "cured", tuple(landing), entries, findings=tuple(findings))
    state, because = _not_cured(entries)
    waiting = _waiting(findings) - sum(1 for group in groups for f in group.findings if f.level is Level.REVIEW)
    because += f"; {plural(waiting, 'site')} more with --level review" if waiting > 0 else ""
    return Landing(name, state, (), entries, because, tuple(findings))


def _not_cured(entries: Sequence[Evidence]) -> tuple[State, str]:
    worse = next((entry for entry in entries if entry.outcome == "worse"), None)
    if worse is not None:
        return "worse", f"{worse.operator}: {one_line(worse.reason)}; change it by hand, in symfix review"
    ran = [entry for entry in entries if entry.outcome == "unchanged"]
    if not ran:
        reason = next((entry.reason for entry in entries if entry.reason), "no way is known to run it")
        return "not provable", f"{one_line(reason)}; a script of yours may run it: --repro FILE"
    failing = next((entry for entry in ran if not entry.passed_before), None)
    if failing is None:
        inputs = listed(dict.fromkeys(entry.inputs for entry in ran if entry.inputs))
        seen = f" (inputs: {inputs})" if inputs else ""
        return "not reproduced", f"it passes without the change{seen}; a script that fails: --repro FILE"
    after = failing.after.message.splitlines()[:1] if failing.after is not None else []
    return "not cured", f"still fails with the change: {one_line(''.join(after) or failing.reason)}"


def _left_alone(findings: Sequence[Finding]) -> str:
    """Why nothing is offered: the changes that wait for `--level review`, else the most frequent refusal.

    A refusal of what throws goes before those of what may be well as it is.
    """
    waiting = _waiting(findings)
    if waiting:
        return f"{plural(waiting, 'site')} can be changed, for review: --level review"
    throwing = refusal_counts(finding for finding in findings if finding.mode in THROWING)
    refusals = refusal_counts(findings)
    if not refusals:
        return "nothing is found that asks for concrete sizes; if it fails, look where its traceback points"
    code, count, first = (throwing or refusals)[0]
    more = f", and {plural(len(refusals) - 1, 'other reason')}" if len(refusals) > 1 else ""
    why = f"{one_line(first.reason or first.message)} ({first.path}:{first.line})"
    return f"{code}, {plural(count, 'site')}: {why}{more}"


def _waiting(findings: Sequence[Finding]) -> int:
    return sum(1 for finding in findings if finding.edits and finding.level is Level.REVIEW)
