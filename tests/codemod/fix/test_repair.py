"""Which change leads on to the next, and which of them are kept."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codemod.fix import repair
from codemod.fix.candidate import Candidate, contents_of
from codemod.fix.candidates import next_failure
from codemod.fix.lines import Lines
from codemod.fix.trees import Copy, Tree, patched
from codemod.fix.trial import Trial
from codemod.model.edits import Edit
from codemod.model.findings import Level
from codemod.probe.answers import Answer, Compilation, Report
from codemod.probe.refused import ADVICE
from codemod.probe.script import OUT_OF_TIME, Processes, Program
from codemod.probe.trace import Frame
from tests.codemod.fix.test_candidates import Nothing

SHAPE, UNKNOWN = "a shape depends on data: aten.nonzero.default", "a branch on a size or a number that is not known"


def trial(*broken: tuple[str, Frame]) -> Trial:
    answers = [Answer("break", text, "your code", place, None, "f") for text, place in broken]
    guard = Answer("guard", "x.size(0) > 3", "your code", None, None, "f")
    return Trial(0, "", "", (), (), Report("", (), (*answers, guard)))


def test_a_change_leads_on_where_another_line_breaks_the_graph_in_the_place_of_its_own(tmp_path: Path) -> None:
    """The run with the change is one from a copy, whose lines are others."""
    source = "import torch\n\nchosen = embeddings[mask]\nif chosen.shape[0] != n:\n    raise ValueError\n"
    (tmp_path / "case.py").write_text(source)
    program = Program((sys.executable, "case.py"), tmp_path)
    chosen = Frame(str(tmp_path / "case.py"), 3, "forward")
    edit = Edit("case.py", 13, 13, b"", b"\nsetting = True\n")
    setting = Candidate("a setting", Tree(tmp_path), (edit,), chosen, f"break: {SHAPE}")
    with patched(program, contents_of([setting])) as copy:
        (folder,) = copy.folders.values()
        same, branch = (replace(chosen, path=str(folder / "case.py"), line=line) for line in (5, 6))
        made = [setting]
        assert _next(setting, trial((UNKNOWN, branch)), copy, made) == (UNKNOWN, 4)
        assert _next(setting, trial((SHAPE, branch)), copy, made) == (SHAPE, 4)
        assert _next(setting, trial((SHAPE, same), (UNKNOWN, branch)), copy, made) is None
        assert _next(setting, trial(), copy, made) is None
        again, other = (Answer("recompiled", text, "your code", branch, None, "f") for text in ("a == b", "a == 4"))
        duck = replace(setting, why="recompiled: a == b")
        made_anew = Answer("guard", "a != 4", "your code", branch, None, "f", advice=ADVICE)
        after = Trial(1, "", "", (), (), Report("", (), (made_anew, replace(made_anew, advice=""))))
        assert _next(setting, after, copy, made) == ("a != 4", 4)
        for answers, expected in (((other,), ("a == 4", 4)), ((replace(again, place=None), other), None)):
            after = Trial(0, "", "", (), (), Report("", (), answers))
            assert (_next(duck, after, copy, made), _next(setting, after, copy, made)) == (expected, None)
    assert _next(setting, trial((UNKNOWN, chosen)), Copy(program), ()) == (UNKNOWN, 3)


def _next(candidate: Candidate, after: Trial, copy: Copy, made: Sequence[Candidate]) -> tuple[str, int] | None:
    found = next_failure(candidate, after, Lines(copy, contents_of(made)))
    return None if found is None else (found[0].text, found[1].line if found[1] is not None else 0)


@pytest.mark.parametrize(
    ("second", "needs", "made"),
    [
        (Edit("case.py", 0, 0, b"", b"# b\n"), b"b", "b"),
        (Edit("case.py", 0, 0, b"", b"# b\n"), b"ab", "ab"),
        (Edit("case.py", 7, 8, b"x", b"x  # b"), b"b", "b"),  # takes the place of the first one
        (Edit("case.py", 7, 8, b"x", b"x  # b"), b"ab", ""),
    ],
)
def test_of_a_chain_that_is_kept_which_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: Edit, needs: bytes, made: str
) -> None:
    """Without any change the program stops for one thing, with the first for another, and with all it takes at none."""
    (tmp_path / "case.py").write_bytes(b"import x\n")
    tree, place = Tree(tmp_path), Frame("case.py", 1, "f")
    first = Candidate("a", tree, (Edit("case.py", 7, 8, b"x", b"x  # a"),), place, "error: 1")
    last = Candidate("b", tree, (second,), place, "error: 2")

    def run_trial(program: Program, eager: bool = False, seconds: float | None = None) -> Trial:
        held = (program.folder.resolve() / "case.py").read_bytes()
        if eager or all(b"# %c" % each in held for each in needs):
            return Trial(0, "", "1\n", ({"returned": 1},), (), Report("", (), ()),
                         Processes(loaded=frozenset({str(program.folder)})))  # fmt: skip
        error = Answer("error", "2" if b"# a" in held else "1", "your code", place, None, "f")
        return Trial(1, error.text, "", (), (), Report("", (), (error,)))

    def candidates(shown: Trial, *_: object) -> list[Candidate]:
        return [first] if shown.error == "1" else [last]

    monkeypatch.setattr(repair, "run_trial", run_trial)
    monkeypatch.setattr(repair, "candidates_for", candidates)
    monkeypatch.setattr(Copy, "missed", lambda *_: "")
    steps: list[str] = []
    program = Program((sys.executable, "case.py"), tmp_path)
    tried = repair.Repair(program, Nothing(), Level.REVIEW, lambda label, text: steps.append(text))
    tried.run()
    assert "".join(candidate.what for candidate in tried.made) == made
    assert ("without this it is as good: a" in steps) is (made == "b" and second.start == 0)


@pytest.mark.parametrize(("status", "takes"), [(1, True), (0, False), (OUT_OF_TIME, False)])
def test_a_shortcut_is_left_where_the_program_takes_it_in_eager(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, takes: bool
) -> None:
    """Else nothing compares what the other path gives for these sizes, however much better the program is with it."""
    (tmp_path / "case.py").write_bytes(b"import x\n")
    edit, taken = (Edit("case.py", 8, 8, b"", text) for text in (b"  # edited", b"  # fails"))
    place = Frame("case.py", 1, "f")
    shortcut = Candidate("a", Tree(tmp_path), (edit,), place, "recompiled: x.size(0) == 4", (taken,))

    def run_trial(program: Program, eager: bool = False, seconds: float | None = None) -> Trial:
        held = (program.folder.resolve() / "case.py").read_bytes()
        if eager and b"# fails" in held:
            return Trial(status, "AssertionError" if status else "", "2\n", (), (), Report("", (), ()))
        again = (Compilation("f", "case.py", 1, 1 if b"# edited" in held or eager else 2),)
        return Trial(0, "", "1\n", ({"returned": 1},), (), Report("", again, ()),
                     Processes(loaded=frozenset({str(program.folder)})))  # fmt: skip

    monkeypatch.setattr(repair, "run_trial", run_trial)
    monkeypatch.setattr(repair, "candidates_for", lambda *_: [shortcut])
    monkeypatch.setattr(Copy, "missed", lambda *_: "")
    tried = repair.Repair(Program((sys.executable, "case.py"), tmp_path), Nothing(), Level.REVIEW, lambda *_: None)
    tried.run()
    assert tried.made == ([shortcut] if takes else [])
    reasons = [reason for reason in tried.refused.values() if "takes the shortcut" in reason]
    assert bool(reasons) is not takes
