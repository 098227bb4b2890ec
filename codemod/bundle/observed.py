"""What running an operator before and after a change showed, in the words of a title, a sentence and a table.

Nothing is said that the evidence does not hold: what was cured, in how many of the cases, and what fails as before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from codemod.model.xfails import describe_check
from codemod.prove.evidence import BACKEND, Evidence, Verdict
from codemod.terminal import listed

Cure = Literal["", "throws", "wrong", "unbacked", "compilations", "guards", "tests"]
"""What was cured: it threw or gave wrong results; failed with unbacked sizes alone; was compiled more often; depended
on more guards; or tests show it and nothing else."""

_ORDER: tuple[Cure, ...] = ("throws", "wrong", "unbacked", "compilations", "guards", "tests")
"""What says most about a change comes first."""
_REASONS: dict[str, Cure] = {
    "with unbacked sizes: ": "unbacked", "compilations over the sizes: ": "compilations", "fewer guards": "guards",
}  # fmt: skip
"""How the reasons of `codemod.prove.verdict` begin where both sides pass."""
_PIECE = re.compile(r'\A"""[^"\n]* with symbolic sizes: ([a-z ]+)\."""')
_CALL = re.compile(r"^def (?:function|operator)\([^\n]*\n    return (torch\.(?!vmap\()[\w.]+)\(", re.M)
"""The function of torch that a script runs: a sample of one may end in many an operator."""
_SIZES = re.compile(r"^sizes = \((\d+(?:, \d+)*),?\)$", re.M)
_CASES = re.compile(r" \((\d+) of (\d+) cases\)$")
_MOST_GUARDS = 4
_STATUS = {"wrong": "gives a wrong result"}


def cure(evidence: Evidence) -> Cure:
    """What the change cures of one operator, "" for nothing."""
    before, after = evidence.before, evidence.after
    if evidence.outcome != "cured":
        return ""
    if before is not None and after is not None and before.status != "passes" == after.status:
        return "wrong" if before.status == "wrong" else "throws"
    return next((kind for start, kind in _REASONS.items() if evidence.reason.startswith(start)), "tests")


def cures(evidence: Iterable[Evidence]) -> bool:
    """Whether a change cures an operator, and makes none worse."""
    entries = list(evidence)
    return any(map(cure, entries)) and not any(entry.outcome == "worse" for entry in entries)


def main_cure(evidence: Iterable[Evidence]) -> Cure:
    """What says most of a change, of what it cures; "" where it cures nothing."""
    kinds = set(map(cure, evidence))
    return next((kind for kind in _ORDER if kind in kinds), "")


def title(evidence: Sequence[Evidence], otherwise: str) -> str:
    """What a title says of a change: the cure that says most, or `otherwise` where nothing is cured."""
    kind = main_cure(evidence)
    cured = [entry for entry in evidence if cure(entry) == kind]
    who = listed((entry.operator + piece(entry) for entry in cured), most=2)
    several = len(cured) > 1
    first = cured[0] if cured else None
    if kind == "compilations" and not several and first is not None and first.before and first.after:
        return f"{who} is compiled {times(first.after.frames)}{_over(first)}, not {times(first.before.frames)}"
    said: dict[Cure, tuple[str, str]] = {
        "": ("", ""),
        "throws": ("no longer throws with symbolic sizes", "no longer throw with symbolic sizes"),
        "wrong": ("is no longer wrong with symbolic sizes", "are no longer wrong with symbolic sizes"),
        "unbacked": ("passes with unbacked sizes", "pass with unbacked sizes"),
        "compilations": ("", "are compiled less often for different sizes"),
        "guards": ("has fewer guards on sizes", "have fewer guards on sizes"),
        "tests": ("passes tests that it failed", "pass tests that they failed"),
    }
    return f"{who} {said[kind][several]}" if kind else otherwise


def sentence(evidence: Evidence) -> str:
    """What was seen of one operator, in a sentence of Markdown."""
    who = f"`{evidence.operator}`{piece(evidence)}"
    kind, before, after = cure(evidence), evidence.before, evidence.after
    cases = _cases(evidence)
    if evidence.outcome == "not provable":
        return f"{who} was not run: {evidence.reason}."
    if evidence.outcome == "worse":
        return f"{who} is worse after this change: {evidence.reason}."
    if before is None or after is None:
        return f"{who} is {evidence.outcome}: {evidence.reason}."
    if kind in ("throws", "wrong"):
        compiled = f", compiled {times(after.frames)}{_over(evidence)}" if after.frames else ""
        if after.guards:
            compiled += f" with the guards {listed((f'`{guard}`' for guard in after.guards), most=_MOST_GUARDS)}"
        return f"{who} {_status(before)} with symbolic sizes before this change, and passes after it{compiled}{cases}."
    if kind == "unbacked":
        return f"{who} {_word(before.unbacked)} with unbacked sizes before this change, and passes after it{cases}."
    if kind == "compilations":
        counts = f"{times(before.frames)}{_over(evidence)} before this change, and {times(after.frames)} after it"
        return f"{who} is compiled {counts}{cases}."
    if kind == "guards":
        counts = f"{len(before.guards)} guards on sizes before this change, and on {len(after.guards)} after it"
        return f"What {who} is compiled to depends on {counts}{cases}."
    runs = f"{who} {_status(before)} before this change, and {_status(after)} after it"
    if kind == "tests":
        shown = evidence.cured_checks
        named = f"{describe_check(shown[0])}: fails before, passes after" if shown else evidence.reason
        return f"{runs}; what shows the cure is {named}."
    return f"{runs}: not cured." if after.status != "passes" else f"{runs}."


def cell(verdict: Verdict | None) -> str:
    """One side of one operator in a table: `passes, compiled 3 times; with unbacked sizes throws (mode 4)`."""
    if verdict is None:
        return "not run"
    mode = f" (mode {verdict.mode})" if verdict.mode else ""
    parts = [verdict.status + (mode if verdict.status != "passes" else "")]
    if verdict.status == "passes" and verdict.frames:
        parts[0] += f", compiled {times(verdict.frames)}"
    if verdict.fails_unbacked:
        parts.append(f"with unbacked sizes {verdict.unbacked}{mode if verdict.status == 'passes' else ''}")
    return "; ".join(parts)


def result(evidence: Evidence) -> str:
    """The outcome of one operator in a table, with the number of cases: `cured (1 of 3 cases)`."""
    if evidence.outcome == "unchanged":
        before, after = evidence.before, evidence.after
        if before is None or after is None or after.status == "passes":
            return "passed before"
        return "fails as before" if before.message == after.message else "still fails"
    match = _CASES.search(evidence.reason)
    return evidence.outcome + (match[0] if match else "")


def still_failing(evidence: Evidence) -> str:
    """What of one operator fails after the change too, in a sentence, "" for nothing."""
    after, name = evidence.after, f"`{evidence.operator}`{piece(evidence)}"
    if after is None or evidence.outcome == "worse":
        return ""
    if after.status != "passes":
        return f"{name} {_status(after)} with symbolic sizes after this change too"
    if after.fails_unbacked:
        return f"{name} {_word(after.unbacked)} with unbacked sizes after this change too"
    return ""


def piece(evidence: Evidence) -> str:
    """What was run, where that is not a call of the operator, and with what backend; "" for a call as all are made.

    ` (out)`, ` (run by torch.combinations)`, ` (with inductor)`.
    """
    match = _PIECE.search(evidence.repro)
    parts = [match[1]] if match and match[1] != "forward" else []
    call = _CALL.search(evidence.repro)
    if call:
        name, operator = call[1].rpartition(".")[2], evidence.operator.partition("::")[2] or evidence.operator
        called = name if name != "default" else call[1].split(".")[-2]
        parts += [f"run by {call[1]}"] if called not in operator and operator.strip("_") not in called else []
    parts += [f"with {evidence.backend}"] if evidence.backend != BACKEND else []
    return f" ({', '.join(parts)})" if parts else ""


def sizes_of(script: str) -> tuple[int, ...]:
    """The sizes that a script runs with, none where it does not say so in a line."""
    match = _SIZES.search(script)
    return tuple(map(int, match[1].split(", "))) if match else ()


def times(count: int) -> str:
    """`once`, `3 times`."""
    return "once" if count == 1 else f"{count} times"


def _over(evidence: Evidence) -> str:
    sizes = sizes_of(evidence.repro)
    return f" over the sizes {', '.join(map(str, sizes))}" if sizes else " over all sizes"


def _cases(evidence: Evidence) -> str:
    match = _CASES.search(evidence.reason)
    if not match:
        return ""
    every = match[1] == match[2]
    return f" (all {match[2]} cases)" if every else f" ({match[1]} of {match[2]} cases, the others as before)"


def _status(verdict: Verdict) -> str:
    return _word(verdict.status)


def _word(status: str) -> str:
    return _STATUS.get(status, status)
