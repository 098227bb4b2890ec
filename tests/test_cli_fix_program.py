"""`symfix fix -- PROGRAM`: from a program that fails to its change, with runs that are told beforehand."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from codemod.fix import repair
from codemod.fix.candidate import Candidate
from codemod.fix.trees import Tree
from codemod.fix.trial import Trial
from codemod.fix.verdict import Verdict
from codemod.model.edits import Edit
from codemod.probe.answers import Answer, Compilation, Report
from codemod.probe.script import Processes, Program
from codemod.probe.trace import Frame
from tests.codemod.fake import FakeTransform
from tests.conftest import MakeTree, Symfix

CASE = b"import torch\n\n\ndef f(a, b):\n    if a != b:\n        raise ValueError(f'{a}')\n    return a\n"
COMMAND = ("--", sys.executable, "case.py")


class Runs:
    """What runs come to, in the place of runs: the file `path` fails until it holds what cures it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cure = b"torch._check("
        self.eager_status = 0
        self.ran = 0
        self.reached = True
        self.path = "case.py"
        monkeypatch.setattr(repair, "run_trial", self.run_trial)

    def files(self, program: Program) -> frozenset[str]:
        """The file that a program runs."""
        return frozenset({str(program.folder.resolve() / self.path)})

    def run_trial(self, program: Program, eager: bool = False, seconds: float | None = None) -> Trial:
        """As `codemod.fix.trial.run_trial`."""
        self.ran += 1
        path = program.folder.resolve() / self.path
        cured = self.cure in path.read_bytes()
        if eager or cured:
            status = self.eager_status if eager else 0
            loaded = Processes(loaded=self.files(program)) if self.reached else Processes()
            return Trial(status, "", "1\n", ({"returned": {"number": 1}},), (), Report("", (), ()), loaded)
        line = Frame(str(path), 5, "f", "if a != b:")
        error = Answer("error", "Could not guard on data-dependent expression Ne(u0, 2)", "your code", line, None, "f")
        report = Report("", (Compilation("f", str(path), 4, 1),), (error,))
        return Trial(1, error.text, "", (), (), report)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(monkeypatch)


@pytest.fixture
def tree(make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = make_tree({"case.py": CASE})
    monkeypatch.chdir(root)
    return root


def test_what_a_second_run_shows_to_cure_is_written(tree: Path, symfix: Symfix, runs: Runs) -> None:
    outcome = symfix("fix", "--yes", *COMMAND, cwd=tree)
    out = outcome.out.decode()
    assert outcome.code == 0, out
    assert runs.ran == 3
    assert "case.py:5 in f: if a != b: error: Could not guard" in " ".join(out.split())
    assert "+        torch._check(a == b)" in out
    assert "→ ends well" in out
    assert b"        torch._check(a == b)\n    elif a != b:\n" in (tree / "case.py").read_bytes()


def test_nothing_is_written_without_a_terminal_or_yes(tree: Path, symfix: Symfix, runs: Runs) -> None:
    outcome = symfix("fix", *COMMAND, cwd=tree)
    assert outcome.code == 1
    assert "+        torch._check(a == b)" in outcome.out.decode()
    assert symfix("fix", "--yes", "--until", "prove", *COMMAND, cwd=tree).code == 1
    assert (tree / "case.py").read_bytes() == CASE


def test_a_change_that_the_program_does_not_run_is_not_judged(tree: Path, symfix: Symfix, runs: Runs) -> None:
    runs.reached = False
    outcome = symfix("fix", "--yes", *COMMAND, cwd=tree)
    assert outcome.code == 1
    out = " ".join(outcome.out.decode().split())
    assert "case.py, so it is not tried" in out
    assert "no change is offered: the program does not run from a copy" in out


def test_a_program_that_fails_in_any_copy_is_not_judged(
    tree: Path, symfix: Symfix, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = runs.run_trial

    def failing(program: Program, eager: bool = False, seconds: float | None = None) -> Trial:
        trial = first(program, eager, seconds)
        copied = program.folder.resolve() != tree.resolve()
        ran = Processes(loaded=runs.files(program))
        return replace(trial, status=1, error="OSError: a link", processes=ran) if copied else trial

    monkeypatch.setattr(repair, "run_trial", failing)
    outcome = symfix("fix", "--yes", *COMMAND, cwd=tree)
    assert (outcome.code, runs.ran) == (1, 4)
    out = " ".join(outcome.out.decode().split())
    assert "left from a copy, without the change, it fails: OSError: a link" in out
    assert "no change is offered: the program does not run from a copy" in out


def test_what_torch_suggests_for_dynamic_shapes_is_passed_on(
    tree: Path, symfix: Symfix, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What findings say of the lines on the way has nothing to do with it."""
    monkeypatch.setattr("codemod.fix.candidates.left_at", lambda *_: ["eager runs this function too"])
    tree.joinpath("case.py").write_bytes(b"import torch\n\n\n\nf(a)\n")
    monkeypatch.setattr(
        repair, "run_trial", lambda *_, **named: replace(runs.run_trial(*_, **named), suggested=("c = b", "d = 4"))
    )
    out = " ".join(symfix("fix", *COMMAND, cwd=tree).out.decode().split())
    assert "stopped no change is offered: torch suggests another dynamic_shapes" in out
    assert "next change dynamic_shapes as torch suggests: c = b; d = 4" in out
    assert "left" not in out


@pytest.mark.parametrize("eager_status", [0, 1])
def test_nothing_is_offered_that_no_run_shows_to_be_better(
    tree: Path, symfix: Symfix, runs: Runs, eager_status: int
) -> None:
    runs.cure, runs.eager_status = (b"never" if not eager_status else runs.cure), eager_status
    outcome = symfix("fix", "--yes", *COMMAND, cwd=tree)
    assert outcome.code == 1
    assert "no change is offered: 1 tried" in outcome.out.decode()
    assert "torch._check(a" not in outcome.out.decode()
    assert (tree / "case.py").read_bytes() == CASE


def ended(status: int = 0, number: int = 1, frames: int = 1) -> Trial:
    compilations = (Compilation("f", "case.py", 4, 1),) * frames
    return Trial(status, "Error: no" if status else "", "", ({"returned": {"number": number}},) * frames, (),
                 Report("", compilations, ()))  # fmt: skip


@pytest.mark.parametrize(
    ("before", "eager", "code", "says"),
    [
        (ended(), ended(), 0, "nothing is compiled twice, and its results are eager's"),
        (ended(), ended(number=2), 1, "ends well; its results are not eager's; frames compiled 1"),
        (ended(), ended(status=1), 0, "its results are not compared: without torch.compile it fails: Error: no"),
        (ended(frames=0), None, 0, "it ends well, and symfix sees nothing that it compiles"),
    ],
)
def test_what_ends_well_is_compared_with_eager(
    tree: Path, symfix: Symfix, monkeypatch: pytest.MonkeyPatch, before: Trial, eager: Trial, code: int, says: str
) -> None:
    """Also where the trace answers nothing: a function may ask whether it is compiled."""
    trials = iter([before, eager])
    monkeypatch.setattr(repair, "run_trial", lambda *_, **__: next(trials))
    outcome = symfix("fix", *COMMAND, cwd=tree)
    assert (outcome.code, says in " ".join(outcome.out.decode().split())) == (code, True)


def test_what_was_tried_and_where_that_stops_is_said(
    tree: Path, symfix: Symfix, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_trial(program: Program, eager: bool = False, seconds: float | None = None) -> Trial:
        trial = runs.run_trial(program, eager, seconds)
        if eager or trial.status:
            return trial
        line = Frame(str(program.folder.resolve() / "case.py"), 9, "f", "return a")
        error = Answer("error", "Could not extract u0", "your code", line, None, "f")
        return replace(trial, status=1, error=error.text, report=Report("", (), (error,)))

    monkeypatch.setattr(repair, "run_trial", run_trial)
    out = " ".join(symfix("fix", "--yes", *COMMAND, cwd=tree).out.decode().split())
    assert "tried torch._check where it is compiled, in place of what only raises or asserts (case.py:5 in f:" in out
    assert "with the change it fails: Could not extract u0, at case.py:7 stopped" in out


def test_a_file_that_is_not_committed_is_left(tree: Path, symfix: Symfix, runs: Runs) -> None:
    (tree / "case.py").write_bytes(CASE + b"# mine\n")
    outcome = symfix("fix", "--yes", *COMMAND, cwd=tree)
    assert outcome.code == 2
    assert "case.py: not committed" in outcome.err
    assert symfix("fix", "--yes", "--allow-dirty", *COMMAND, cwd=tree).code == 0
    assert (tree / "case.py").read_bytes().endswith(b"# mine\n")


def test_an_error_names_the_program_that_it_is_of(tree: Path, symfix: Symfix, runs: Runs, with_torch: Path) -> None:
    text = tree.parent / "error.txt"
    error = "torch.UserError: Could not guard on data-dependent expression Ne(u0, 2)\n"
    text.write_text(f'  File "{tree}/case.py", line 9, in <module>\n    f(x)\n{error}')
    outcome = symfix("fix", "--from-error", str(text), cwd=tree)
    assert outcome.code == 2
    assert "the program is not run" in outcome.err
    assert symfix("fix", "--yes", "--from-error", str(text), cwd=tree).code == 0
    text.write_text(error)
    assert "does not say which program" in symfix("fix", "--yes", "--from-error", str(text), cwd=tree).err
    text.write_text("nothing of the kind")
    assert "says nothing about shapes" in symfix("fix", "--yes", "--from-error", str(text), cwd=tree).err


def test_operators_and_a_program_are_two_things(tree: Path, symfix: Symfix) -> None:
    outcome = symfix("fix", "foo", *COMMAND, cwd=tree)
    assert outcome.code == 2
    assert "not both" in outcome.err


@pytest.mark.parametrize("options", [("--since", "HEAD"), ("--timeout", "3"), ("--install",)])
def test_options_that_are_for_operators_are_refused(
    tree: Path, symfix: Symfix, runs: Runs, options: tuple[str, ...]
) -> None:
    outcome = symfix("fix", *options, *COMMAND, cwd=tree)
    assert (outcome.code, runs.ran) == (2, 0)
    assert f"{options[0]} is for operators" in outcome.err


@pytest.mark.parametrize("options", [("--rule", "loop"), ("--mode", "3"), ("--rule", "size", "--mode", "1")])
def test_rules_and_modes_choose_among_findings(
    make_tree: MakeTree, symfix: Symfix, runs: Runs, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr(FakeTransform, "suffixes", (".py",))
    root = make_tree({"case.py": CASE.replace(b"a != b", b"a != size")})
    monkeypatch.chdir(root)
    runs.cure = b"sym_size"
    assert symfix("fix", "--yes", *options, *COMMAND, cwd=root).code == int("size" not in options)


def test_where_torch_alone_shows_the_way_findings_are_tried(
    make_tree: MakeTree, symfix: Symfix, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeTransform, "suffixes", (".py",))
    root = make_tree({"case.py": CASE.replace(b"a != b:", b"a != size:  # root:traced"), "other.py": b"size  # @a\n"})
    monkeypatch.chdir(root)
    runs.cure = b"sym_size"
    assert symfix("fix", "--yes", *COMMAND, cwd=root).code == 0
    assert b"a != sym_size" in (root / "case.py").read_bytes()


def test_a_rule_that_there_is_not_is_said_before_anything_runs(tree: Path, symfix: Symfix, runs: Runs) -> None:
    outcome = symfix("fix", "--rule", "lop", *COMMAND, cwd=tree)
    assert (outcome.code, runs.ran) == (2, 0)
    assert "lop: there is no such rule" in outcome.err


def test_a_tree_under_no_version_control_is_left(make_tree: MakeTree, symfix: Symfix, runs: Runs) -> None:
    root = make_tree({"case.py": CASE}, vcs=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        assert "not a git checkout" in symfix("fix", "--yes", *COMMAND, cwd=root).err
        assert (root / "case.py").read_bytes() == CASE
        assert symfix("fix", "--yes", "--allow-no-vcs", *COMMAND, cwd=root).code == 0


def test_a_module_beside_its_program_is_changed_without_git_too(
    make_tree: MakeTree, symfix: Symfix, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeTransform, "suffixes", (".py",))
    source = CASE.replace(b"a != b:", b"a != size:  # @a")
    root = make_tree({"case.py": b"import models.net\n", "models/net.py": source}, vcs=False)
    monkeypatch.chdir(root)
    runs.cure, runs.path = b"sym_size", "models/net.py"
    outcome = symfix("fix", "--yes", "--allow-no-vcs", *COMMAND, cwd=root)
    assert outcome.code == 0, outcome.out.decode()
    assert "+++ b/models/net.py" in outcome.out.decode()
    assert b"a != sym_size" in (root / "models/net.py").read_bytes()


def test_checks_are_for_review(tree: Path, symfix: Symfix, runs: Runs) -> None:
    outcome = symfix("fix", "--yes", "--level", "safe", *COMMAND, cwd=tree)
    assert outcome.code == 1
    assert "no rule has one here" in outcome.out.decode()
    assert (tree / "case.py").read_bytes() == CASE


@pytest.mark.parametrize(
    ("word", "says"),
    [("loop", "loop: it bounds a loop"), ("numel", "size: its change is for --level review")],
)
def test_why_a_finding_at_the_line_offers_nothing_is_said(
    make_tree: MakeTree, symfix: Symfix, runs: Runs, monkeypatch: pytest.MonkeyPatch, word: str, says: str
) -> None:
    monkeypatch.setattr(FakeTransform, "suffixes", (".py",))
    root = make_tree({"case.py": CASE.replace(b"a != b", f"a != {word}".encode())})
    monkeypatch.chdir(root)
    outcome = symfix("fix", "--yes", "--level", "safe", *COMMAND, cwd=root)
    assert outcome.code == 1
    assert f"left {says}" in " ".join(outcome.out.decode().split())


def test_no_check_takes_the_place_of_what_a_caller_may_catch(tree: Path, symfix: Symfix, runs: Runs) -> None:
    catching = b"def g(a):\n    try:\n        return f(a, 1)\n    except ValueError:\n        return a\n"
    (tree / "lib.py").write_bytes(b"from case import f\n" + catching)
    outcome = symfix("fix", "--yes", *COMMAND, cwd=tree)
    assert outcome.code == 1
    assert "left torch._check: lib.py:3 may catch what the branch raises" in " ".join(outcome.out.decode().split())


def test_a_file_that_changes_while_the_program_runs_is_said(
    tree: Path, symfix: Symfix, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = runs.run_trial

    def changing(program: Program, eager: bool = False, seconds: float | None = None) -> Trial:
        trial = first(program, eager, seconds)
        if runs.ran == 3:
            (tree / "case.py").write_bytes(b"# new\n" + CASE)
        return trial

    monkeypatch.setattr(repair, "run_trial", changing)
    outcome = symfix("fix", "--yes", *COMMAND, cwd=tree)
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].startswith("symfix: case.py: bytes ")
    assert outcome.err.endswith("changed while the program ran; give the same command again\n")
    assert (tree / "case.py").read_bytes() == b"# new\n" + CASE


def test_where_one_tree_cannot_be_written_none_is(
    tree: Path, make_tree: MakeTree, symfix: Symfix, monkeypatch: pytest.MonkeyPatch
) -> None:
    dirty = make_tree({"lib.py": CASE}, "library")
    (dirty / "lib.py").write_bytes(b"# mine\n" + CASE)

    def run(self: repair.Repair) -> tuple[Trial, Trial, Trial]:
        for root, path in ((tree, "case.py"), (dirty, "lib.py")):
            edit = Edit(path, 0, 0, b"", b"import os\n")
            self.made.append(Candidate("an import", Tree(root), (edit,), Frame(str(root / path), 1, "f"), ""))
        self.verdict = Verdict(True, "ends well", "")
        return ended(), ended(), ended()

    monkeypatch.setattr(repair.Repair, "run", run)
    outcome = symfix("fix", "--yes", *COMMAND, cwd=tree)
    assert (outcome.code, outcome.err.splitlines()[-1]) == (
        2, "symfix: lib.py: not committed; commit or stash first, or give --allow-dirty",
    )  # fmt: skip
    assert (tree / "case.py").read_bytes() == CASE
