"""From a program that fails, compiles too often or is wrong to the changes that a second run shows to cure it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from codemod.fix.candidate import Candidate, conflict_free, contents_of
from codemod.fix.candidates import Sources, candidates_for, next_failure
from codemod.fix.lines import Lines
from codemod.fix.trees import Copy, patched
from codemod.fix.trial import Trial, run_trial, same_text
from codemod.fix.verdict import Verdict, compare, wrong_values
from codemod.model.findings import Level
from codemod.probe.answers import Answer
from codemod.probe.report import short_path
from codemod.probe.script import OUT_OF_TIME, Program
from codemod.probe.trace import Frame

_MOST_TRIALS = 16
_DEEPEST = 5
"""How many changes are tried together where each leads on to the next failure."""
_SLACK = 60.0


@dataclass(slots=True)
class Repair:
    """The state of one program. `tell` hears each step as it comes, a label and a text."""

    program: Program
    sources: Sources
    level: Level
    tell: Callable[[str, str], None]
    failures_only: bool = False
    """Whether only what makes the program fail is asked for, and not what has it compiled too often."""
    made: list[Candidate] = field(default_factory=list)
    verdict: Verdict | None = None
    refused: dict[tuple[Candidate, ...], str] = field(default_factory=dict)
    """What was tried and was not better, with the reason."""
    missed: dict[tuple[Candidate, ...], str] = field(default_factory=dict)
    """Those of `refused` that the program did not run."""
    _limit: float = 0.0
    _end: str = ""
    """How the program ends as it is."""
    _copied: str | None = None
    """Why it does not run from a copy; None as long as nobody asked."""
    _takes: dict[Candidate, bool] = field(default_factory=dict)
    """Whether it takes the path that a change leaves, of those that were asked about."""

    def run(self) -> tuple[Trial, Trial, Trial]:
        """Run the program before, without torch.compile, and with what cures it: the three runs.

        `made` then has the changes, and `verdict` says what they do; the last run is the first where nothing cures it.
        """
        started = time.monotonic()
        before = run_trial(self.program)
        self.program = replace(self.program, processes=before.processes)
        seconds = time.monotonic() - started
        self._end = before.end
        self._limit = 3 * seconds + _SLACK
        self.tell("run", f"as it is it {before.end}, in {seconds:,.0f} s; each change that is tried takes as long")
        if not (before.report.answers or before.returned or before.compilations):
            return before, before, before  # nothing is compiled
        eager = run_trial(self.program, eager=True, seconds=self._limit)
        self.tell("run", f"without torch.compile it {eager.end}")
        latest, copy = before, Copy(self.program)
        while self.asks(latest, eager) and len(self.refused) < _MOST_TRIALS:
            better = self._step(latest, latest, copy, eager, [])
            if better is None:
                break
            added, latest, copy = better
            self.made += added
            self.verdict = compare(before, latest, eager)
        return before, eager, latest

    def asks(self, trial: Trial, eager: Trial) -> bool:
        """Whether a run shows anything that a change may cure."""
        often = trial.breaks > 0 or any(compilation.count > 1 for compilation in trial.report.compilations)
        return self.ails(trial, eager) or (often and not self.failures_only)

    def ails(self, trial: Trial, eager: Trial) -> bool:
        """Whether a run fails, or is wrong: more than that something is compiled again."""
        return bool(trial.status or trial.errors) or (not self.failures_only and wrong_values(trial, eager))

    def _step(
        self, latest: Trial, shown: Trial, copy: Copy, eager: Trial, held: list[Candidate]
    ) -> tuple[list[Candidate], Trial, Copy] | None:
        """The first change, or chain of changes, with which the program is better than in `latest`.

        The changes `held` led to the failure that `shown`, a run from `copy`, has.
        """
        so_far = [*self.made, *held]
        for candidate in candidates_for(shown, wrong_values(shown, eager), copy, so_far, self.sources, self.level):
            chain = (*(each for each in held if conflict_free([each, candidate])), candidate)  # the rest it replaces
            together = [*self.made, *chain]
            if candidate in so_far or chain in self.refused or not conflict_free(together):
                continue
            if len(self.refused) >= _MOST_TRIALS:
                return None
            contents = contents_of(together)
            with patched(self.program, contents) as place:
                after = run_trial(place.program, seconds=self._limit)
            missed = place.missed(after.files) if after.status >= 0 and after.status != OUT_OF_TIME else ""
            reason = f"the program runs no copy of {missed}, so it is not tried" if missed else ""
            if reason or (after.status and (reason := self._fails_copied(together, after))):
                self.missed[chain] = self.refused[chain] = reason
                self.tell("left", f"{candidate.what}: {self.missed[chain]}")
                continue
            verdict = compare(latest, after, eager)
            if verdict.better and (unseen := self._unseen(chain, eager)):
                verdict = Verdict(False, unseen)
            moved = None if verdict.better else next_failure(candidate, after, Lines(place, contents))
            reason = f"{verdict.reason}{_then(*moved, failed=bool(after.status)) if moved is not None else ''}"
            self.tell("try", f"{candidate.what}: {reason}")
            if verdict.better:
                return self._needed(latest, after, place, eager, list(chain))
            self.refused[chain] = reason
            if (after.status or moved is not None) and len(chain) < _DEEPEST:
                further = self._step(latest, after, place, eager, list(chain))
                if further is not None:
                    return further
        return None

    def _unseen(self, chain: Sequence[Candidate], eager: Trial) -> str:
        """Why the program is not seen to take what changes leave; "" where it does, as it fails then in eager too."""
        leaving = [candidate for candidate in chain if candidate.taken]
        for candidate in (each for each in leaving if each not in self._takes):
            with patched(self.program, contents_of([replace(candidate, edits=candidate.taken)])) as place:
                failing = run_trial(place.program, eager=True, seconds=self._limit)
            self._takes[candidate] = failing.status not in (eager.status, OUT_OF_TIME)
        if all(self._takes[candidate] for candidate in leaving):
            return ""
        return "better, but nothing shows that the program takes the shortcut, to compare the other path with"

    def _needed(
        self, latest: Trial, after: Trial, place: Copy, eager: Trial, chain: list[Candidate]
    ) -> tuple[list[Candidate], Trial, Copy]:
        """Of a chain that makes the program better, as `after` shows, what it takes: the last may do without others."""
        for candidate in chain[:-1]:
            rest = [each for each in chain if each is not candidate]
            with patched(self.program, contents_of([*self.made, *rest])) as without:
                trial = run_trial(without.program, seconds=self._limit)
            if compare(latest, trial, eager).better and not compare(trial, after, eager).better:
                self.tell("try", f"without this it is as good: {candidate.what}")
                chain, after, place = rest, trial, without
        return chain, after, place

    def _fails_copied(self, together: Sequence[Candidate], after: Trial) -> str:
        """Why the failure of `after` may be the copy's, as a copy without a change fails otherwise than the program."""
        if self._copied is None and not same_text(after.end, self._end):
            contents = contents_of(together)
            plain = {tree: {path: (tree.root / path).read_bytes() for path in own} for tree, own in contents.items()}
            with patched(self.program, plain) as place:
                end = run_trial(place.program, seconds=self._limit).end
            self._copied = "" if same_text(end, self._end) else f"from a copy, without the change, it {end}"
        return self._copied or ""


def _then(answer: Answer, place: Frame | None, failed: bool) -> str:
    """What stops a run in the place of what a change is against; of one that `failed` its end says all but the line."""
    where = f"{short_path(place.path)}:{place.line}" if place is not None else ""
    if failed:
        return f", at {where}" if where else ""
    return f"; then {where}: {answer.text}" if where else f"; then {answer.text}"
