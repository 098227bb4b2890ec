"""The commit message of a shard."""

from __future__ import annotations

from collections.abc import Iterable

from codemod.borders import quoting
from codemod.bundle.description import Description
from codemod.model.findings import Mode
from codemod.model.xfails import describe_check
from codemod.prove.evidence import Evidence, Verdict
from codemod.reporting.report import plural
from codemod.terminal import listed

_MOST = 8

_WHY = {
    Mode.DIRECT_THROW: ("asks", "ask", "a tensor for concrete sizes where they may be symbols"),
    Mode.PYTHON_BRANCH: ("branches", "branch", "on a size that may be a symbol"),
    Mode.TENSOR_ITERATOR: ("needs", "need", "memory, which a symbolic tensor has not, and the operator has no fake"),
    Mode.LEAK: ("turns", "turn", "a size that may be a symbol into an int64_t"),
}
"""What code does in each mode, as one function and as several; what comes of it, evidence alone says."""


def commit_message(shard: Description) -> str:
    """Subject, why, what changed and who changed it, what was left, evidence, and trailers: the shard and its plan."""
    blocks = [*([text] for text in why(shard)), _changed(shard)]
    if shard.edited:
        blocks.append([f"Edited by hand: {listed(shard.edited, most=_MOST)}."])
    if shard.left:
        blocks.append(_left(shard))
    blocks.append(_evidence(shard.evidence))
    removed = shard.follow_up.removed
    if removed:
        lines = [f"- {failure.title} in {failure.registry} ({failure.path})" for failure in removed]
        blocks.append(["Expected failures that no longer fail, removed:", *lines])
    if shard.follow_up.tests:
        blocks.append(["Tests added:", *(f"- {test}" for test in shard.follow_up.tests)])
    if shard.bases:
        blocks.append([f"Needs {listed(shard.bases, most=len(shard.bases))}."])
    return quoting.commit_message(shard.title, blocks, {"Symfix-Shard": shard.name, "Symfix-Plan": shard.digest})


def outcome_line(evidence: Evidence) -> str:
    """`cross_entropy_loss: cured: throws (mode 1) before, passes after (torch 2.6.0)`."""
    runs = [
        f"{_verdict(verdict)} {when}"
        for verdict, when in ((evidence.before, "before"), (evidence.after, "after"))
        if verdict is not None
    ]
    both_pass = evidence.passed_before and evidence.after is not None and evidence.after.status == "passes"
    summary = evidence.reason if evidence.outcome == "cured" and both_pass else ", ".join(runs) or evidence.reason
    torch = f" (torch {evidence.versions['torch']})" if "torch" in evidence.versions else ""
    outcome = "passed before" if evidence.passed_before and evidence.outcome == "unchanged" else evidence.outcome
    return f"{evidence.operator}: {outcome}" + (f": {summary}" if summary else "") + torch


def why(shard: Description) -> list[str]:
    """Sentences that say what the code does now that is not for symbolic sizes, and who runs it."""
    functions = list(dict.fromkeys(_named(name, shard.about) for name in shard.functions))
    who = listed(functions, most=4) or f"`{shard.about}`"
    several = len(functions) > 1
    reasons = [f"{_WHY[mode][several]} {_WHY[mode][2]}" for mode in shard.modes]
    lines = [f"{who} {listed(reasons, most=len(reasons))}."]
    if shard.kind == "helper" and shard.operators:
        lines.append(f"Run by {listed(shard.operators, most=6)}.")
    return lines


def _named(function: str, about: str) -> str:
    """A function as its author knows it: `_`, of which a file may have many, is told by what it is registered for."""
    name = function.partition("#")[0]
    return f"`{name}`" if name.rpartition(".")[2].strip("_") else f"a function that `{about}` registers"


def _verdict(verdict: Verdict) -> str:
    return verdict.status + (f" (mode {verdict.mode})" if verdict.mode else "")


def _changed(shard: Description) -> list[str]:
    return ["Changed, by rule:", *(f"- {rule}: {plural(count, 'site')}" for rule, count in shard.rules)]


def _left(shard: Description) -> list[str]:
    lines = [
        f"- {left.refusal}: {plural(left.count, 'site')}; {left.reason} ({left.path}:{left.line})"
        for left in shard.left[:_MOST]
    ]
    if len(shard.left) > _MOST:
        lines.append(f"- {plural(len(shard.left) - _MOST, 'other reason')}")
    return ["Left as it is:", *lines]


def _evidence(evidence: Iterable[Evidence]) -> list[str]:
    entries = list(evidence)
    lines = [f"- {outcome_line(entry)}" for entry in entries]
    checks = [check for entry in entries for check in entry.cured_checks]
    lines += [f"- {describe_check(check)}: fails before, passes after" for check in checks]
    compiled = sorted({path for entry in entries for path in entry.compiled})
    if compiled:
        lines.append(f"- type-checked before and after: {listed(compiled, most=4)}")
    return ["Evidence:", *lines] if lines else ["Evidence: none; symfix prove has not run on this change."]
