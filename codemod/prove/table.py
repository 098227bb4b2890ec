"""What `symfix prove` prints: a line for each operator as it ends, the totals, and the same as JSON."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from codemod.borders.quoting import json_text
from codemod.prove.evidence import BACKEND, Evidence, Outcome, Verdict
from codemod.prove.orchestrate import Proved
from codemod.terminal import one_line, shorten, style, visible, width

VERSION = 1

_COLOURS = {"cured": "green", "unchanged": "dim", "worse": "red", "not provable": "yellow"}
_OUTCOMES: tuple[Outcome, ...] = ("cured", "unchanged", "worse", "not provable")
_NAME, _OUTCOME, _SHOWN = 34, 12, 23
# What a reason begins with where it only repeats the two verdicts.
_STATUSES = re.compile(r"^\w+(?: \(mode \d\))? → \w+(?: \(mode \d\))?: ")


def line(evidence: Evidence, reused: bool) -> str:
    """One operator: its outcome, what it did before and after, and the reason; on a terminal not wider than that.

    Why something is worse or not provable is never cut: it is what there is to act on.
    """
    shown = (
        f"{verdict_text(evidence.before)} → {verdict_text(evidence.after)}"
        if evidence.before and evidence.after
        else ""
    )
    seconds = "known" if reused else f"{evidence.seconds:.0f} s"
    head = f"{shorten(visible(evidence.operator), _NAME):{_NAME}}  "
    rest = f"  {shown:{_SHOWN}}  {seconds:>6}  "
    says_all = evidence.outcome == "cured" and not evidence.passed_before
    reason = "" if says_all else one_line(_STATUSES.sub("", evidence.reason))
    reason = "; ".join(filter(None, (reason, *_beside(evidence))))
    if sys.stdout.isatty() and evidence.outcome not in ("worse", "not provable"):
        reason = shorten(reason, max(20, width() - len(head) - _OUTCOME - len(rest)))
    return f"{head}{style(f'{evidence.outcome:{_OUTCOME}}', _COLOURS[evidence.outcome])}{rest}{reason}".rstrip()


def _beside(evidence: Evidence) -> Iterator[str]:
    """What compiled it, unless what does by default; the inputs, unless PyTorch's own; what opcheck said."""
    if evidence.backend != BACKEND and evidence.before is not None:
        yield f"compiled with {evidence.backend}"
    if evidence.inputs and evidence.inputs != "PyTorch's samples":
        yield f"inputs of {evidence.inputs}"
    if evidence.opcheck:
        ends = [[name for name, sides in evidence.opcheck.items() if sides[i] != "passes"] for i in (0, 1)]
        before, after = ("fails" if failing else "passes" for failing in ends)
        named = f" ({', '.join(ends[1] or ends[0])})" if ends[0] or ends[1] else ""
        yield f"opcheck {before if before == after else f'{before} → {after}'}{named}"


def verdict_text(verdict: Verdict) -> str:
    """A verdict in a word, with the failure mode where there is one: "throws (1)"."""
    return f"{verdict.status} ({verdict.mode})" if verdict.mode and verdict.status != "passes" else verdict.status


def totals(evidence: Sequence[Evidence], versions: str) -> str:
    """How many operators have each outcome, and over which torch; and what was run with a network."""
    counts = Counter(entry.outcome for entry in evidence)
    passed = sum(entry.outcome == "unchanged" and entry.passed_before for entry in evidence)
    parts = []
    for outcome in _OUTCOMES:
        if counts[outcome]:
            more = f" ({passed} passed before)" if outcome == "unchanged" and passed else ""
            parts.append(f"{counts[outcome]} {outcome}{more}")
    number = f"{len(evidence)} operator{'' if len(evidence) == 1 else 's'}"
    total = f"{number} over torch {versions}: {', '.join(parts) or 'nothing to prove'}"
    reachable = sum(entry.network == "open" for entry in evidence)
    if reachable:
        total += f"\nwhat was run for {reachable} of them had the network: where that was, the system cuts none off"
    return total


def document(proved: Iterable[Proved], target: dict[str, str]) -> str:
    """Everything that was found, as JSON; see prove.schema.json."""
    operators = [
        {"shard": entry.shard, "known": entry.reused, "passed_before": evidence.passed_before, **asdict(evidence)}
        for entry in proved
        for evidence in entry.evidence
    ]
    counts = Counter(entry["outcome"] for entry in operators)
    whole = {
        "version": VERSION,
        "target": target,
        "totals": {name: counts[name] for name in _OUTCOMES},
        "operators": operators,
    }
    return json_text(whole, indent=1, exact=False)
