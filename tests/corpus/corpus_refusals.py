"""Two runs of audit_unbacked.py side by side: what was cured, what broke, and the valid inputs that are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpus_patch import Check, added_checks
from corpus_torch import installed_torch

Run = Mapping[str, Any]
INDEFINITE = "no definite result"
"""Why sizes are left out that eager takes without a result of their own; in place of an error's message."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A valid input that a graph refuses: the sample, its change of sizes, how it ends, and the assertions it violates.

    `added` are the violated checks of the patch, `own` those of torch; each `expression (place)`.
    """

    entry: str
    sample: int
    sizes: str
    outcome: str
    added: tuple[str, ...]
    own: tuple[str, ...]

    @property
    def by_patch(self) -> bool:
        """Whether the patch refuses what torch by itself does not."""
        return bool(self.added) and not self.own


def check_at(place: str, checks: Sequence[Check]) -> Check | None:
    """The check on a line `torch/file.py:line`."""
    path, _, line = place.rpartition(":")
    return next((c for c in checks if c.path == path and c.first <= int(line) <= c.last), None)


def refusals(before: Run, after: Run, names: Sequence[str], checks: Sequence[Check]) -> list[Refusal]:
    """The inputs in other sizes that eager takes before and the graphs after do not, of these entries."""
    made: list[Refusal] = []
    for name in names:
        for index, sample in enumerate(after[name].get("samples", ())):
            old = before[name].get("samples", ())
            taken = old[index].get("taken") if index < len(old) else None
            for label in taken or ():
                if sample.get("eager", {}).get(label, INDEFINITE) != INDEFINITE:
                    message = sample["eager"][label]
                    made.append(Refusal(name, index, label, f"eager: {message}", (message,), ()))
            for label, end in sample.get("sizes", {}).items():
                if end["outcome"] == "equal" or (taken is not None and label not in taken):
                    continue
                sides: dict[bool, list[str]] = {True: [], False: []}
                for expression, place in end.get("violated", ()):
                    added = place != "unknown" and check_at(place, checks) is not None
                    sides[added].append(f"{expression} ({place})")
                outcome = f"{end['outcome']} {end.get('message', '')}".strip()
                made.append(Refusal(name, index, label, outcome, tuple(sides[True]), tuple(sides[False])))
    return made


def blame(result: dict[str, Any]) -> str:
    """The line of torch that PyTorch names for a failure, else the first line of its message."""
    return str(result.get("where") or result.get("message", "").splitlines()[:1])


def print_comparison(before: Run, after: Run, package: Path | None) -> int:
    """Print what changed between two runs, and the valid inputs that cured entries refuse; 1 where something broke."""
    common = sorted(before.keys() & after.keys())
    for label, results in (("before", before), ("after", after)):
        print(f"{label}: {dict(Counter(results[name]['outcome'] for name in common))}")
    failed = [n for n in common if before[n]["outcome"] not in ("pass", "skip")]
    unknown = [n for n in failed if before[n]["outcome"] == "data-dependent"]
    cured = [n for n in failed if after[n]["outcome"] == "pass"]
    broken = [
        n for n in common if before[n]["outcome"] in ("pass", "skip") and after[n]["outcome"] != before[n]["outcome"]
    ]
    wrong = [n for n in common if after[n]["outcome"] == "wrong" and before[n]["outcome"] != "wrong"]
    print(f"\ncured: {len(cured)} of {len(failed)} that fail ({len(set(cured) & set(unknown))} of the {len(unknown)}"
          " that fail for data-dependent sizes)")  # fmt: skip
    for name in cured:
        print(f"  {name}")
    for label, chosen in (("broken", broken), ("wrong values", wrong)):
        print(f"\n{label}: {len(chosen)}")
        for name in chosen:
            print(f"  {name}: {blame(after[name])}")
    left = [n for n in failed if n not in cured]
    print(f"\nleft: {len(left)}")
    for name in left:
        print(f"  {name}: {after[name]['outcome']}: {blame(after[name])}")
    if any("sizes" in sample for name in cured for sample in after[name].get("samples", ())):
        checks = added_checks(installed_torch(), package) if package else []
        _print_refusals(after, cured, refusals(before, after, cured, checks), bool(package))
    return 1 if broken or wrong else 0


def _print_refusals(after: Run, cured: Sequence[str], made: Sequence[Refusal], attributed: bool) -> None:
    ends = Counter(
        end["outcome"] for n in cured for s in after[n].get("samples", ()) for end in s.get("sizes", {}).values()
    )
    print(f"\ncured entries in other sizes that eager takes: {dict(ends.most_common())}")
    left_out = [m for n in cured for s in after[n].get("samples", ()) for m in s.get("eager", {}).values()]
    print(f"left out, as eager's own result is not definite: {left_out.count(INDEFINITE)}")
    if not attributed:
        print("pass --torch COPY to tell the checks of the patch from torch's own")
        return
    anew = [r for r in made if r.outcome.startswith("recompiled: equal")]
    refused = [r for r in made if r not in anew]
    for title, chosen, listed in (
        ("valid inputs refused by checks of the patch", [r for r in refused if r.by_patch], True),
        ("valid inputs compiled anew for a check of the patch", [r for r in anew if r.by_patch], True),
        ("valid inputs refused by assertions of torch's own", [r for r in refused if r.own], False),
        ("valid inputs refused though no assertion is violated", [r for r in refused if not r.own + r.added], True),
    ):
        print(f"\n{title}: {len(chosen)} in {len({r.entry for r in chosen})} entries")
        for reason, count in Counter(_reason(r) for r in chosen).most_common():
            print(f"  {count:3} {reason}")
        for r in chosen if listed else ():
            print(f"      {r.entry}, sample {r.sample}, {r.sizes}: {r.outcome} {'; '.join(r.added)}")


def _reason(refusal: Refusal) -> str:
    reasons = refusal.added if refusal.by_patch else refusal.own
    places = sorted({reason.rpartition(" (")[2].rstrip(")") for reason in reasons})
    return ", ".join(places) or refusal.outcome[:150]
