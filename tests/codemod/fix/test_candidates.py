"""What may help at the lines that torch named."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from codemod.fix.candidates import candidates_for, left_at, places_of
from codemod.fix.trees import Copy, Tree
from codemod.fix.trial import Call, Trial
from codemod.model.edits import Edit, apply_edits
from codemod.model.findings import Finding, Level, Mode
from codemod.model.groups import Group, make_groups
from codemod.model.transform import TracedLine
from codemod.probe.answers import Answer, Report
from codemod.probe.declaring import Declaration
from codemod.probe.script import Program
from codemod.probe.trace import Frame

HELPER = "import torch\n\n\ndef needed(a, b):\n    if a != b:\n        raise ValueError\n"
PICK = "def pick(a):\n    try:\n        call(a)\n    except {kind}:\n        return a\n"


class Nothing:
    """Trees without findings but those that are given, whose oldest torch lacks what `lacks` says."""

    def __init__(self, lacks: str = "", findings: Sequence[Finding] = ()) -> None:
        self._lacks = lacks
        self._findings = findings

    def groups(self, tree: Tree, path: str, traced: frozenset[TracedLine] = frozenset()) -> Sequence[Group]:
        """Those of the findings of a file."""
        return make_groups(finding for finding in self._findings if finding.path == path)

    def lacking(self, tree: Tree, path: str, line: int, text: str) -> str:
        """The same of every check."""
        return self._lacks if "torch._check(" in text else ""


def test_lines_that_torch_traced_on_the_way_may_catch_what_is_raised(tmp_path: Path) -> None:
    """Their names lead nowhere: a module is called by no name of its `forward`."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    asked = Frame(str(tmp_path / "a" / "helper.py"), 5, "needed")
    led = Frame(str(tmp_path / "b" / "pick.py"), 3, "pick")
    Path(asked.path).write_text(HELPER)
    error = Answer("error", "Could not guard", "your code", asked, None, "f", stack=(led, asked))
    trial = Trial(1, "", "", (), (), Report("", (), (error,)))
    copy = Copy(Program((sys.executable, "case.py"), tmp_path))
    for kind, offered in (("KeyError", 1), ("ValueError", 0)):
        Path(led.path).write_text(PICK.format(kind=kind))
        found = list(candidates_for(trial, False, copy, (), Nothing(), Level.REVIEW))
        assert len(found) == offered


@pytest.mark.parametrize("path", ["<string>", "/tmp/ipykernel_7/11.py"])
def test_code_of_no_file_is_said_to_be_that(path: str) -> None:
    line = Frame(path, 2, "f", "if x.shape[0] > 8:")
    trial = Trial(0, "", "", (), (), Report("", (), (Answer("break", "", "", line, None, "f"),)))
    (reason,) = left_at(line, trial, Program((sys.executable,)), Nothing(), Level.REVIEW)
    assert "code of no file" in reason


def test_only_lines_about_a_dimension_that_may_not_be_dynamic_are_named() -> None:
    """Those of exports that ended well are on the same trace."""
    about, other, called = (Frame("/m.py", line, "f") for line in (8, 12, 21))
    violated = "Constraints violated (c): The values of c = y.size(0) and b = x.size(0)"
    answers = (
        Answer("guard", "x.size(1) == y.size(1)", "", other, None, ""),
        Answer("guard", "x.size(0) == y.size(0)", "", about, None, ""),
        Answer("error", violated, "", called, None, ""),
    )
    assert places_of(Trial(1, "", "", (), (), Report("", (), answers))) == [called, about]
    assert places_of(Trial(1, "", "", (), (), Report("", (), answers[:2]))) == [other, about]


def test_the_end_of_a_path_is_no_file_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch names its own nn/modules/linear.py."""
    (tmp_path / "helper.py").write_text(HELPER)
    monkeypatch.chdir(tmp_path)
    frame = Frame("helper.py", 5, "needed")
    trial = Trial(1, "", "", (), (), Report("", (), (Answer("error", "", "unknown", frame, None, "f"),)))
    copy = Copy(Program((sys.executable, "case.py"), tmp_path))
    assert not list(candidates_for(trial, False, copy, (), Nothing(), Level.REVIEW))
    assert trial.files == frozenset()


def test_the_registration_of_an_operator_without_a_fake_is_named(tmp_path: Path) -> None:
    """Which lies in another file than the line that calls it."""
    (tmp_path / "case.py").write_text("from ops import clip\n\nclip(x)\n")
    (tmp_path / "ops.py").write_text("@custom_op('shop::clip', mutates_args=())\ndef clip(x): ...\n")
    frame = Frame(str(tmp_path / "case.py"), 3, "f", "clip(x)")
    lacks = Answer("fake", "shop::clip: torch finds no fake of it", "your code", frame, None, "f")
    trial = Trial(1, "", "", (), (), Report("", (), (lacks,)))
    program = Program((sys.executable, "case.py"), tmp_path)
    plain = Finding("ops.py", 0, 10, 1, 1, Mode.TENSOR_ITERATOR, "missing-fake", Level.MANUAL, "clip", ("shop::clip",),
                    "", "register a fake", "no-fake")  # fmt: skip
    other = replace(plain, operators=("shop::crop",), reason="another")
    sources = Nothing(findings=[plain, other])
    reasons = left_at(frame, trial, program, sources, Level.REVIEW)
    assert reasons == ["missing-fake at ops.py:1: register a fake"]
    edit = Edit("ops.py", 0, 0, b"", b"# a fake\n")
    offered = Nothing(findings=[replace(plain, edits=(edit,), level=Level.REVIEW, group="a")])
    (candidate,) = candidates_for(trial, False, Copy(program), (), offered, Level.REVIEW)
    assert (candidate.edits, candidate.frame.line) == ((edit,), 1)


CALL = "import torch\n\n\ndef f(q):\n    return [0] * q.shape[1]\n\n\ncompiled = f\ncompiled(q)\n"


@pytest.mark.parametrize("violated", ["q.size(0)", "q.size(1)"])
def test_a_size_that_the_program_declares_dynamic_gets_no_mark(tmp_path: Path, violated: str) -> None:
    """Its line that makes the size a constant is named."""
    (tmp_path / "case.py").write_text(CALL)
    path = str(tmp_path / "case.py")
    asked = Frame(path, 5, "f", "return [0] * q.shape[1]")
    answers = (
        Answer("error", f"Constraints violated ({violated})", "", None, None, "f (case.py:4)"),
        Answer("specialized", "q.size(1) == 16", "your code", asked, None, "f (case.py:4)"),
    )
    calls = (Call((path, 4, "f"), path, 9, 0, (9, 11)),)
    trial = Trial(1, "", "", (), calls, Report("", (), answers))
    program = Program((sys.executable, "case.py"), tmp_path)
    found = list(candidates_for(trial, False, Copy(program), (), Nothing(), Level.REVIEW))
    reasons = left_at(asked, trial, program, Nothing(), Level.REVIEW)
    if violated == "q.size(1)":
        assert (found, reasons) == ([], ["a mark: the program itself declares q.size(1) dynamic"])
    else:
        assert ([candidate.frame for candidate in found], reasons) == ([asked], [])


def test_what_a_decorator_wraps_is_marked_where_it_is_called_by_name(tmp_path: Path) -> None:
    path = tmp_path / "case.py"
    path.write_text("import torch\n\n\ndef f(q):\n    return q\n\n\nq = torch.ones(2, 2)\nf(q=q)\n")
    calls = (Call((str(path), 4, "f"), str(path), 9, 0, (9, 6)),)
    again = Answer("recompiled", "kwargs['q'].size(1) == 3", "", None, None, "wrapper (decorated.py:7)")
    trial = Trial(0, "", "", (), calls, Report("", (), (again,)))
    program = Program((sys.executable, "case.py"), tmp_path)
    (candidate,) = candidates_for(trial, False, Copy(program), (), Nothing(), Level.REVIEW)
    assert candidate.what.startswith("torch._dynamo.decorators.mark_unbacked(q, 1)")
    assert candidate.edits[0].new.decode().startswith("torch._dynamo.decorators.mark_unbacked(q, 1)\n")


@pytest.mark.parametrize(
    ("marks", "new"),
    [
        ("mark_unbacked(q, 0)\nmark_unbacked(q, 1)", 'q, 0, shape_id="q.size(0)")\nmark_unbacked(q, 1, shape_id='),
        ("for i in (0, 1):\n    mark_unbacked(q, i)", ""),
    ],
)
@pytest.mark.parametrize("compiled", ["f (case.py:4)", "wrapper (decorated.py:7)"])
def test_the_programs_own_marks_declare_sizes_equal(tmp_path: Path, marks: str, new: str, compiled: str) -> None:
    """The compiled function may be what a decorator put around it. What no mark can say is told in words."""
    source = CALL.replace("compiled(q)", f"{marks}\ncompiled(q)")
    (tmp_path / "case.py").write_text(source)
    path, line = str(tmp_path / "case.py"), source.count("\n")
    asked = Frame(path, 5, "f", "return [0] * q.shape[1]")
    equal = Declaration("shape_id", ("q.size(0)", "q.size(1)"))
    answer = Answer("error", "q.size(0) == q.size(1)", "", asked, None, compiled, declared=(equal,))
    trial = Trial(1, "", "", (), (Call((path, 4, "f"), path, line, 0, (line, 11)),), Report("", (), (answer,)))
    program = Program((sys.executable, "case.py"), tmp_path)
    found = list(candidates_for(trial, False, Copy(program), (), Nothing(), Level.REVIEW))
    texts = [apply_edits(source.encode(), candidate.edits).decode() for candidate in found]
    assert [new in text for text in texts] == ([True] if new else [])
    (reason,) = left_at(asked, trial, program, Nothing(), Level.REVIEW) or [""]
    assert reason.endswith("" if new else "; which calls mark them is not to be seen")
    assert bool(reason) is not bool(new)


def test_what_the_oldest_torch_lacks_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "helper.py"
    path.write_text(HELPER)
    frame = Frame(str(path), 5, "needed")
    trial = Trial(1, "", "", (), (), Report("", (), (Answer("error", "", "", frame, None, "f"),)))
    program = Program((sys.executable, "case.py"), tmp_path)
    assert list(candidates_for(trial, False, Copy(program), (), Nothing(), Level.REVIEW))
    old = Nothing("it is new")
    assert not list(candidates_for(trial, False, Copy(program), (), old, Level.REVIEW))
    assert left_at(frame, trial, program, old, Level.REVIEW) == ["torch._check: it is new"]


def test_what_breaks_a_graph_for_data_gets_the_setting_that_keeps_it(tmp_path: Path) -> None:
    program = tmp_path / "case.py"
    program.write_text("import torch\n\nprint(f(x))\n")
    call = Call((str(program), 1, "f"), str(program), 3, 6, (3, 10))
    line = Frame(str(program), 3, "f")
    broken = [
        Answer("break", graph_text, "your code", line, None, "f")
        for graph_text in ("a number is read from a tensor's data", "a shape depends on data: aten.nonzero.default",
                           "a branch on a size or a number that is not known")
    ]  # fmt: skip
    trial = Trial(0, "", "", (), (call,), Report("", (), tuple(broken)))
    copy = Copy(Program((sys.executable, "case.py"), tmp_path))
    found = list(candidates_for(trial, False, copy, (), Nothing(), Level.REVIEW))
    assert [candidate.what for candidate in found] == [
        "torch._dynamo.config.capture_scalar_outputs = True",
        "torch._dynamo.config.capture_dynamic_output_shape_ops = True",
    ]
    assert not list(candidates_for(trial, False, copy, found, Nothing(), Level.SAFE))


class Older(Nothing):
    """Trees whose oldest torch has no setting of Dynamo."""

    def lacking(self, tree: Tree, path: str, line: int, text: str) -> str:
        return "torch 1.13 has no torch._dynamo.config" if "torch._dynamo.config" in text else ""


def test_a_setting_that_the_oldest_torch_lacks_is_not_written(tmp_path: Path) -> None:
    program = tmp_path / "case.py"
    program.write_text("import torch\n\nprint(f(x))\n")
    call = Call((str(program), 1, "f"), str(program), 3, 6, (3, 10))
    line = Frame(str(program), 3, "f")
    answer = Answer("break", "a number is read from a tensor's data", "your code", line, None, "f")
    trial = Trial(0, "", "", (), (call,), Report("", (), (answer,)))
    run = Program((sys.executable, "case.py"), tmp_path)
    assert not list(candidates_for(trial, False, Copy(run), (), Older(), Level.REVIEW))
    (reason,) = left_at(line, trial, run, Older(), Level.REVIEW)
    assert reason == "torch._dynamo.config.capture_scalar_outputs = True: torch 1.13 has no torch._dynamo.config"
