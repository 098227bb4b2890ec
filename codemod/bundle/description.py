"""The description of a shard: the facts that its commit message and its pull request state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from codemod.borders.quoting import message_line
from codemod.bundle import observed
from codemod.bundle.follow_up import FollowUp
from codemod.bundle.shards import Shard
from codemod.digest import digest
from codemod.model.decisions import Choice
from codemod.model.findings import Finding, Mode
from codemod.model.plan import Plan
from codemod.planning.naming import base_name, family
from codemod.prove.evidence import Evidence
from codemod.terminal import one_line


@dataclass(frozen=True, slots=True)
class Left:
    """Sites of one refusal that stay as they are: how many, and the first with its reason."""

    refusal: str
    count: int
    path: str
    line: int
    function: str
    reason: str


@dataclass(frozen=True, slots=True)
class Description:
    """The facts about one shard. `digest` identifies its edits and those below it."""

    name: str
    title: str
    about: str
    kind: str
    operators: tuple[str, ...]
    functions: tuple[str, ...]
    paths: tuple[str, ...]
    modes: tuple[Mode, ...]
    rules: tuple[tuple[str, int], ...]
    """Each rule with how many sites it changes, most first."""
    left: tuple[Left, ...]
    evidence: tuple[Evidence, ...]
    bases: tuple[str, ...]
    digest: str
    follow_up: FollowUp = field(default_factory=FollowUp)
    """The expected failures that its evidence takes out, and those that stay."""
    edited: tuple[str, ...] = ()
    """The functions, else files, whose change a reviewer wrote anew."""

    @property
    def not_run(self) -> tuple[str, ...]:
        """Its operators of which there is no evidence, where there is some of others."""
        seen = {base_name(entry.operator) for entry in self.evidence}
        return tuple(sorted({base_name(name) for name in self.operators} - seen)) if seen else ()

    @property
    def worse(self) -> str:
        """Why the shard should not land: the first operator that is worse with it, by its evidence; "" for none."""
        return next((entry.reason or entry.operator for entry in self.evidence if entry.outcome == "worse"), "")


def describe(
    shard: Shard, plan: Plan, evidence: Sequence[Evidence] = (), follow_up: FollowUp | None = None
) -> Description:
    """The description of `shard`, a part of `plan`."""
    changed = [finding for group in shard.groups for finding in group.findings if finding.edits]
    counts = Counter(finding.rule for finding in changed)
    return Description(
        name=shard.name,
        title=_title(shard, evidence),
        about=shard.about,
        kind=shard.kind,
        operators=shard.operators,
        functions=tuple(sorted({finding.function for finding in changed if finding.function})),
        paths=shard.paths,
        modes=tuple(sorted({finding.mode for finding in changed})),
        rules=tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        left=_left(shard, plan.findings),
        evidence=tuple(evidence),
        bases=shard.bases,
        digest=_digest(shard),
        follow_up=follow_up or FollowUp(),
        edited=_edited(shard, plan),
    )


def _title(shard: Shard, evidence: Sequence[Evidence]) -> str:
    part = shard.name.removeprefix(shard.about)
    number = f", part {part[1:]}" if shard.kind == "operator" and part[1:].isdigit() else ""
    modes = {finding.mode for group in shard.groups for finding in group.findings if finding.edits}
    done = "Add a fake of" if modes == {Mode.TENSOR_ITERATOR} else "Use symbolic sizes in"
    said = observed.title(evidence, f"{done} {shard.about.strip() or shard.name}")
    return message_line(f"[dynamic shapes] {said}{number}")


def _edited(shard: Shard, plan: Plan) -> tuple[str, ...]:
    """What a reviewer wrote anew: the functions of its groups, else their files."""
    anew = {decision.id for decision in plan.decisions if decision.choice is Choice.EDIT}
    findings = (finding for group in shard.groups if group.id in anew for finding in group.findings)
    return tuple(sorted({finding.function or finding.path for finding in findings}))


def _left(shard: Shard, findings: Iterable[Finding]) -> tuple[Left, ...]:
    """What stays concrete in the functions of `shard`, and elsewhere in code that its operator alone runs."""
    functions = {(finding.path, finding.function) for group in shard.groups for finding in group.findings}
    own = {shard.about} if shard.kind == "operator" else {""}
    first: dict[str, Finding] = {}
    counts: Counter[str] = Counter()
    for finding in findings:
        if finding.refusal and (
            (finding.path, finding.function) in functions or {family(name) for name in finding.operators} == own
        ):
            counts[finding.refusal] += 1
            first.setdefault(finding.refusal, finding)
    return tuple(
        Left(code, count, example.path, example.line, example.function, one_line(example.reason or example.message))
        for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        for example in (first[code],)
    )


def _digest(shard: Shard) -> str:
    edits = (part for edit in shard.edits for part in (edit.path, str(edit.start), edit.old, edit.new))
    return digest(" ".join((shard.name, *shard.bases)), *edits)[:16]
