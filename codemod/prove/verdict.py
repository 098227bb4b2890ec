"""From what the runs before and after a change showed to a verdict: pure functions, without torch.

A run is a list of cases, as `codemod.runner` writes them: JSON objects with `name`, `piece`, `script`, and the
fields of its `Result`. The two runs are compared case by case; both executed the same scripts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from codemod.prove.evidence import Outcome, Status, Verdict, describe_opcheck

Case = Mapping[str, Any]

MODES = (
    (4, r"guard_int|Could not (?:extract specialized integer|convert .* to (?:a concrete )?int)|when unpacking SymInt"),
    (1, r"Cannot call \w+\(\)|SymIntArrayRef expected to contain only concrete|symbolic sizes/strides"),
    (4, r"Expected a value of type '(?:List\[)?int"),
    (3, r"TensorIterator does not support symbolic|unsupported operator|no (?:fake|meta|abstract) impl"),
    (3, r"Could not run '[^']+' with arguments from the 'Meta' backend|data_ptr|[Aa]ccess\w* (?:the )?data pointer"),
    (3, r"data is not allocated yet"),
    (2, r"GuardOnDataDependent|guard on data-dependent|PendingUnbackedSymbolNotFound|UnbackedSymNode"),
    (2, r"with unbacked symints"),
)  # fmt: skip
"""Which failure mode an error's text indicates, the first that matches. Sources: c10/core/TensorImpl.cpp and
SymIntArrayRef.h (1), torch/csrc/utils/python_arg_parser.h and c10/core/SymInt.cpp (4), ATen/TensorIterator.cpp and
torch/_subclasses/fake_tensor.py (3), torch/fx/experimental/symbolic_shapes.py and torch/_inductor/sizevars.py (2)."""
TOLERANCE = {"torch.float16": 1e-2, "torch.bfloat16": 3e-2, "torch.float64": 1e-7, "torch.complex128": 1e-7}
DIFFERS = "differs"
"""How the end of a test begins that saw a fake and its kernel differ (codemod/runner/fakes.py)."""
GRAVITY: tuple[Status, ...] = ("passes", "throws", "wrong", "hangs", "crashes")
"""From best to worst."""


@dataclass(frozen=True, slots=True)
class Step:
    """How one case came out. `unbacked` says that this is about the run with unbacked sizes."""

    outcome: Literal["cured", "unchanged", "worse"]
    reason: str
    unbacked: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """The comparison of two runs of an operator; `case` is the name of the case that decides it."""

    outcome: Outcome
    reason: str
    before: Verdict | None = None
    after: Verdict | None = None
    repro: str = ""
    case: str = ""


def failure_mode(text: str) -> int:
    """The failure mode (1 to 4) that an error's text indicates, 0 for none."""
    return next((mode for mode, pattern in MODES if re.search(pattern, text)), 0)


def verdict(case: Case, unbacked: bool = False) -> Verdict:
    """The verdict of one run of one case; with `unbacked` the message is that of the run with unbacked sizes."""
    message = str(case.get("unbacked_message" if unbacked else "message", ""))
    return Verdict(
        status=case["status"],
        mode=failure_mode(message),
        message=message,
        guards=tuple(case.get("guards", ())),
        frames=int(case.get("frames", 0)),
        unbacked=str(case.get("unbacked", "")),
    )


def ended(document: Mapping[str, Any] | None, status: Status, message: str) -> dict[str, Any]:
    """What a run wrote before it was killed, with `status` as the result of the case that ran.

    `running` still names that case, or the call that was tried as one and is none yet.
    """
    whole: dict[str, Any] = dict(document or {"operators": {}, "running": None})
    running = whole.get("running")
    if running and running["script"]:
        entry = whole["operators"].get(running["operator"], {"reason": "", "cases": []})
        case = {key: running[key] for key in ("name", "piece", "script")} | {"status": status, "message": message}
        more = {running["operator"]: {**entry, "cases": [*entry["cases"], case]}}
        whole["operators"] = {**whole["operators"], **more}
    return whole


def joined(wanted: Sequence[str], reports: Sequence[Mapping[str, Any]], failure: str) -> dict[str, Any]:
    """One report of the operators `wanted` from several runs: the cases of all, each by its first result.

    `failure` is why a run ended early.
    """
    operators: dict[str, Any] = {operator: {"reason": "", "cases": []} for operator in wanted}
    for report in reports:
        for operator, result in report.get("operators", {}).items():
            entry = operators.setdefault(operator, {"reason": "", "cases": []})
            names = {case["name"] for case in entry["cases"]}
            entry["cases"] += (case for case in result["cases"] if case["name"] not in names)
            entry["reason"] = result["reason"] or entry["reason"]
            entry["opcheck"] = result.get("opcheck")
    for entry in operators.values():
        entry["reason"] = entry["reason"] or failure
    return {"operators": operators}


def headline(cases: Sequence[Case]) -> Case | None:
    """The case to show of one run: the simplest of those that fail, else of all; None where there is none."""
    failing = [case for case in cases if case["status"] != "passes"]
    free = [case for case in cases if case.get("unbacked") not in ("passes", "", None)]
    return min(failing or free or cases, key=_length, default=None)


def judge(before: Sequence[Case], after: Sequence[Case], reason: str = "") -> Judgement:
    """The judgement of an operator from its cases before and after; `reason` says why there are none."""
    after_by_name = {case["name"]: case for case in after}
    pairs = [(case, after_by_name[case["name"]]) for case in before if case["name"] in after_by_name]
    pairs = [(old, new) for old, new in pairs if not (old.get("eager") and new.get("eager"))]
    if not pairs:
        return Judgement("not provable", reason or "no inputs that eager accepts")
    steps = [(compare(old, new), old, new) for old, new in pairs]
    for outcome in ("worse", "cured"):
        decisive = [step for step in steps if step[0].outcome == outcome]
        if decisive:
            # A case that threw shows more than one that only compiled too often.
            step, old, new = min(
                decisive, key=lambda item: (item[0].unbacked, item[1]["status"] == "passes", _length(item[1]))
            )
            count = f" ({len(decisive)} of {len(steps)} cases)" if len(steps) > 1 else ""
            freed = "" if step.unbacked or outcome == "worse" else _freed(steps)
            return _judged(step, step.reason + count + freed, old, new)
    failing = [step for step in steps if step[1]["status"] != "passes" and failure_mode(str(step[1].get("message")))]
    passing = [step for step in steps if step[1]["status"] == "passes"]
    step, old, new = min(failing or passing or steps, key=lambda item: _length(item[1]))
    reason = step.reason if failing or not passing else f"passed before{_free([case for _, _, case in steps])}"
    return _judged(step, reason, old, new)


def weighed(judgement: Judgement, opcheck: Mapping[str, tuple[str, str]]) -> Judgement:
    """`judgement` with what `torch.library.opcheck` says beside the runs: how its tests end before and after."""
    broken = [name for name, (old, new) in opcheck.items() if old == "passes" != new]
    differing = [new for old, new in opcheck.values() if new.startswith(DIFFERS) and not old.startswith(DIFFERS)]
    if differing and judgement.outcome != "worse":
        return replace(judgement, outcome="worse", reason=f"its fake {differing[0]}")
    mended = [name for name, (old, new) in opcheck.items() if new == "passes" != old]
    if broken and judgement.outcome != "worse":
        text = " ".join(opcheck[broken[0]][1].split())[:200]
        return replace(judgement, outcome="worse", reason=f"{describe_opcheck(broken[0])}: passes → fails: {text}")
    if mended and judgement.outcome == "unchanged":
        return replace(judgement, outcome="cured", reason=f"{describe_opcheck(mended[0])}: fails → passes")
    return judgement


def _free(cases: Sequence[Case]) -> str:
    """How many cases after the change throw with unbacked sizes, and at what the shortest of them stops."""
    stopped = [case for case in cases if case.get("unbacked") == "throws"]
    if not stopped:
        return ""
    text = _text({"message": min(stopped, key=_length).get("unbacked_message", "")})
    count = f"{len(stopped)} of {len(cases)} cases throw with unbacked sizes, before and after"
    return f"; {count}: {text}" if text else f"; {count}"


def _freed(steps: Sequence[tuple[Step, Case, Case]]) -> str:
    """How many cases pass with unbacked sizes that did not; what is told of the others may hide it."""
    ends = [(old.get("unbacked"), new.get("unbacked")) for _, old, new in steps]
    count = sum(new == "passes" and old in ("throws", "wrong") for old, new in ends)
    return f"; with unbacked sizes {count} of {len(steps)} cases pass that did not" if count else ""


def _judged(step: Step, reason: str, old: Case, new: Case) -> Judgement:
    sides = verdict(old, step.unbacked), verdict(new, step.unbacked)
    return Judgement(step.outcome, reason, *sides, str(old.get("script", "")), str(old["name"]))


def _length(case: Case) -> int:
    return len(str(case.get("script", "")))


def compare(before: Case, after: Case) -> Step:
    """How one case came out, and why, in a few words."""
    old_status, new_status = before["status"], after["status"]
    if GRAVITY.index(new_status) > GRAVITY.index(old_status):
        return Step("worse", f"{_status(before)} → {_status(after)}: {_text(after)}")
    if new_status != "passes":
        return Step("unchanged", f"{_status(before)} → {_status(after)}: {_text(after)}")
    changed = different(before.get("result", ()), after.get("result", ()), bool(before.get("random")))
    if changed and not before.get("eager") and old_status in ("passes", "throws", "wrong"):
        return Step("worse", f"eager's result changed: {changed}")
    if after.get("unbacked") == "wrong" != before.get("unbacked"):
        return Step("worse", f"wrong with unbacked sizes: {after.get('unbacked_message', '')}", True)
    if old_status in ("crashes", "hangs"):
        # Concrete sizes throw; what ends a process or never ends has another cause, the machine's load among them.
        return Step("unchanged", f"{_status(before)} → passes: no failure that a shape causes")
    if old_status != "passes":
        guards = f", with the guards {', '.join(after['guards'])}" if after.get("guards") else ""
        return Step("cured", f"{_status(before)} → passes{guards}")
    return _both_pass(before, after)


def _both_pass(before: Case, after: Case) -> Step:
    guards = set(before.get("guards", ())), set(after.get("guards", ()))
    frames = int(before.get("frames", 0)), int(after.get("frames", 0))
    free = str(before.get("unbacked", "")), str(after.get("unbacked", ""))
    if frames[1] > frames[0]:
        return Step("worse", f"compilations over the sizes: {frames[0]} → {frames[1]}")
    # A size that is no longer fixed, for each its own compilation, may leave conditions in the one for all.
    freed = free[0] in ("throws", "wrong") and free[1] == "passes"
    added, removed = guards[1] - guards[0], guards[0] - guards[1]
    unfixed = (freed and any(map(_fixes, removed))) or _only_of_fixed(added, removed)
    if len(guards[1]) > len(guards[0]) and frames[1] == frames[0] and not unfixed:
        return Step("worse", f"adds the guard {', '.join(sorted(added))}")
    if free[0] == "passes" != free[1]:
        message = after.get("unbacked_message", "")
        return Step("worse", f"with unbacked sizes: passes → {free[1] or 'not run'}: {message}", True)
    if freed:
        mode = failure_mode(str(before.get("unbacked_message", "")))
        return Step("cured", f"with unbacked sizes: {free[0]}{f' (mode {mode})' if mode else ''} → passes", True)
    if frames[1] < frames[0]:
        return Step("cured", f"compilations over the sizes: {frames[0]} → {frames[1]}")
    return Step("cured", "fewer guards on sizes") if guards[1] < guards[0] else Step("unchanged", "passed before")


def _fixes(guard: str) -> bool:
    """Whether a guard holds for one number alone: `Eq(s77, 4)`, not `Eq(Mod(s77, 4), 0)`."""
    return re.fullmatch(r"Eq\((?!.*Mod\().*, -?\d+\)", guard) is not None


def _only_of_fixed(added: Collection[str], removed: Collection[str]) -> bool:
    """Whether the guards that are new speak of sizes alone that were numbers: then the graph serves what it did."""
    fixed = {match[1] for guard in removed if (match := re.fullmatch(r"Eq\((s\d+), -?\d+\)", guard))}
    return all(fixed.issuperset(re.findall(r"\b[a-z]+\d+\b", guard)) for guard in added)


def _status(case: Case) -> str:
    mode = failure_mode(str(case.get("message", "")))
    return f"{case['status']} (mode {mode})" if mode else str(case["status"])


def _text(case: Case) -> str:
    return " ".join(str(case.get("message", "")).split())[:200]


def different(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], random: bool) -> str:
    """How eager's results differ between the two runs, "" where they agree; of `random` ones only the shapes count."""
    if len(before) != len(after):
        return f"{len(after)} results, {len(before)} before"
    for old, new in zip(before, after, strict=True):
        if old.get("shape") != new.get("shape") or old.get("dtype") != new.get("dtype"):
            return f"{new.get('dtype')} {new.get('shape')}, {old.get('dtype')} {old.get('shape')} before"
        tolerance = TOLERANCE.get(str(old.get("dtype")), 2e-4)
        for ours, theirs in zip(old.get("values", ()), new.get("values", ()), strict=False):
            same = (math.isnan(ours) and math.isnan(theirs)) or ours == theirs
            if not random and not same and not math.isclose(ours, theirs, rel_tol=tolerance, abs_tol=tolerance):
                return f"{theirs}, {ours} before"
    return ""
