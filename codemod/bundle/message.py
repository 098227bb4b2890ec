"""The commit message of a shard."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from codemod.bundle.description import Description
from codemod.model.findings import Mode
from codemod.model.xfails import told_check
from codemod.prove.evidence import Evidence, Verdict
from codemod.reporting.report import plural

_COLUMNS = 72
_MOST = 8

_WHY = {
    Mode.DIRECT_THROW: ("asks", "ask", "a tensor for concrete sizes, which throws where they are symbols"),
    Mode.PYTHON_BRANCH: ("branches", "branch", "on a size, which guards on a symbol, and throws where it is unbacked"),
    Mode.TENSOR_ITERATOR: ("builds", "build", "a TensorIterator, which does not take symbolic sizes"),
    Mode.LEAK: ("turns", "turn", "a symbolic size into an int64_t, which guards on its value"),
}
"""What code does in each mode, as one function and as several."""


def commit_message(shard: Description) -> str:
    """Subject, why, what changed, what was left, evidence, and the trailers that name the shard and its plan."""
    blocks = [shard.title, *map(_filled, why(shard)), _changed(shard)]
    if shard.left:
        blocks.append(_left(shard))
    blocks.append(_evidence(shard.evidence))
    removed = shard.follow_up.removed
    if removed:
        lines = [_filled(f"- {one.title} in {one.registry} ({one.path})", "  ") for one in removed]
        blocks.append("\n".join(["Expected failures that no longer fail, removed:", *lines]))
    if shard.follow_up.tests:
        blocks.append("\n".join(["Tests added:", *(f"- {test}" for test in shard.follow_up.tests)]))
    if shard.bases:
        blocks.append(_filled(f"Needs {_listed(shard.bases, most=len(shard.bases))}."))
    blocks.append(f"Symfix-Shard: {shard.name}\nSymfix-Plan: {shard.digest}")
    return "\n\n".join(blocks) + "\n"


def outcome_line(evidence: Evidence) -> str:
    """`cross_entropy_loss: cured: throws (mode 1) before, passes after (torch 2.6.0)`."""
    runs = [
        f"{_verdict(verdict)} {when}"
        for verdict, when in ((evidence.before, "before"), (evidence.after, "after"))
        if verdict is not None
    ]
    both_pass = evidence.passed_before and evidence.after is not None and evidence.after.status == "passes"
    told = evidence.reason if evidence.outcome == "cured" and both_pass else ", ".join(runs) or evidence.reason
    torch = f" (torch {evidence.versions['torch']})" if "torch" in evidence.versions else ""
    outcome = "passed before" if evidence.passed_before and evidence.outcome == "unchanged" else evidence.outcome
    return f"{evidence.operator}: {outcome}" + (f": {told}" if told else "") + torch


def why(shard: Description) -> list[str]:
    """Sentences that say what the code does now that symbolic sizes cannot bear, and who runs it."""
    who = _listed([f"`{name}`" for name in shard.functions], most=4) or f"`{shard.about}`"
    several = len(shard.functions) > 1
    reasons = [f"{_WHY[mode][several]} {_WHY[mode][2]}" for mode in shard.modes]
    lines = [f"{who} {_listed(reasons, most=len(reasons))}."]
    if shard.kind == "helper" and shard.operators:
        lines.append(f"Run by {_listed(shard.operators, most=6)}.")
    return lines


def _verdict(verdict: Verdict) -> str:
    return verdict.status + (f" (mode {verdict.mode})" if verdict.mode else "")


def _changed(shard: Description) -> str:
    rules = [f"- {rule}: {plural(count, 'site')}" for rule, count in shard.rules]
    return "\n".join(["Changed, by rule:", *rules])


def _left(shard: Description) -> str:
    lines = [
        _filled(f"- {left.refusal}: {plural(left.count, 'site')}; {left.reason} ({left.path}:{left.line})", "  ")
        for left in shard.left[:_MOST]
    ]
    if len(shard.left) > _MOST:
        lines.append(f"- {plural(len(shard.left) - _MOST, 'other reason')}")
    return "\n".join(["Left as it is:", *lines])


def _evidence(found: Iterable[Evidence]) -> str:
    known = list(found)
    lines = [_filled(f"- {outcome_line(one)}", "  ") for one in known]
    checks = [check for one in known for check in one.cured_checks]
    lines += [_filled(f"- {told_check(check)}: fails before, passes after", "  ") for check in checks]
    compiled = sorted({path for one in known for path in one.compiled})
    if compiled:
        lines.append(_filled(f"- type-checked before and after: {_listed(compiled, most=4)}", "  "))
    return "\n".join(["Evidence:", *lines]) if lines else "Evidence: none; symfix prove has not run on this change."


def _listed(names: Iterable[str], most: int) -> str:
    """`a`, `a and b`, `a, b and 3 more`."""
    shown = list(names)
    if len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(text, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
