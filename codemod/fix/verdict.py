"""Whether a program is better off with a change, from its runs without it, with it, and with nothing compiled."""

from __future__ import annotations

from dataclasses import dataclass

from codemod.fix.trial import Trial, same_text, same_values


@dataclass(frozen=True, slots=True)
class Verdict:
    """`better`, and why, or why not. `values` says what the results were compared with."""

    better: bool
    reason: str
    values: str = ""


def wrong_values(trial: Trial, eager: Trial) -> bool:
    """Whether a run that ended well has other results than the one in which nothing is compiled."""
    return not trial.status and not eager.status and not _agrees(trial, eager)


def compare(before: Trial, after: Trial, eager: Trial) -> Verdict:
    """Whether `after` is better than `before`: it ends well, is as eager's, and is not compiled more often.

    Nothing is better whose results cannot be compared with a run that is right.
    """
    if after.status:
        return Verdict(False, f"with the change it {after.end}")
    right = eager if not eager.status else before
    if right.status:
        return Verdict(False, f"its results cannot be compared: without torch.compile it {eager.end} too")
    whose = "eager's" if right is eager else "those without the change"
    if not same_values(after.returned, right.returned):
        return Verdict(False, f"what compiled functions return is not {whose}")
    steady = before.status != 0 or same_text(before.printed, right.printed)
    if not same_text(after.printed, right.printed) and (steady or not after.returned):
        return Verdict(False, f"what it prints is not {whose}")
    if not after.returned and not after.printed.strip():
        return Verdict(False, "it prints nothing and calls nothing that is compiled, so nothing can be compared")
    lost = _compiled(before) - _compiled(after) - after.captured  # in the graph of a caller, where none breaks any more
    if lost and not before.status:
        return Verdict(False, f"{sorted(lost)[0]} is no longer compiled")
    now, earlier = _cost(after, right), _cost(before, right)
    if now >= earlier:
        return Verdict(False, "it is not better: " + ends(before, after, right))
    calls = f"{len(after.returned)} returned values" if len(after.returned) != 1 else "1 returned value"
    printed = "all that is printed" if same_text(after.printed, right.printed) else ""
    what = " and ".join(filter(None, (calls if after.returned else "", printed)))
    return Verdict(True, ends(before, after, right), f"{what} as {whose}")


def ends(before: Trial, after: Trial, right: Trial) -> str:
    """What differs between two runs, in words; the results of the run `right` are right."""
    parts = [f"{before.end} → {after.end}"] if before.status or after.status else []
    if not before.status and not _agrees(before, right):
        parts.append("wrong results → " + ("right ones" if _agrees(after, right) else "wrong ones"))
    if before.errors or after.errors:
        parts.append(f"failures to compile {before.errors} → {after.errors}")
    if before.breaks or after.breaks:
        parts.append(f"graph breaks {before.breaks} → {after.breaks}")
    if not parts or before.compilations or after.compilations:  # torch.export compiles no frame
        parts.append(f"frames compiled {before.compilations} → {after.compilations}")
    return "; ".join(parts)


def _cost(trial: Trial, right: Trial) -> tuple[bool, bool, int, int, int]:
    return trial.status != 0, not _agrees(trial, right), trial.errors, trial.breaks, trial.compilations


def _agrees(trial: Trial, right: Trial) -> bool:
    """Whether the results are the same; where functions are compiled, what they return decides."""
    if right.returned:
        return same_values(trial.returned, right.returned)
    return same_text(trial.printed, right.printed)


def _compiled(trial: Trial) -> set[str]:
    """The functions that were compiled, without the pieces that Dynamo makes of them."""
    functions = trial.report.compilations
    return {f.function for f in functions if not f.function.startswith("torch_dynamo_resume_in")}
