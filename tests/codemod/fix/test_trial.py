"""Runs of a program: how they end, and what is recorded of them. Nothing here imports torch."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.fix.trial import run_trial
from codemod.probe.script import Program
from codemod.runner.recording import WATCHED

STAND_IN = """
class OptimizeContext:
    def __call__(self, function):
        def compiled(*arguments):
            return function(*arguments) + 1
        return compiled
"""
CASE = """
import torch._dynamo.eval_frame as frames

def f(x):
    return x * 2

print(frames.OptimizeContext()(f)(3))
print(frames.OptimizeContext()(len)('ab'))
"""


def make(folder: Path, case: str = CASE) -> Program:
    package = folder / "torch" / "_dynamo"
    package.mkdir(parents=True)
    (folder / "torch" / "__init__.py").write_text("class Tensor: pass\ndef manual_seed(seed): pass\n")
    (package / "__init__.py").touch()
    (package / "eval_frame.py").write_text(STAND_IN)
    (folder / "case.py").write_text(case)
    return Program((sys.executable, "case.py"), folder)


def test_what_compiled_functions_return_and_who_called_them_is_kept(tmp_path: Path) -> None:
    program = make(tmp_path)
    trial = run_trial(program)
    assert (trial.status, trial.printed.split()) == (0, ["7", "3"])
    assert trial.returned == ({"returned": {"number": 7.0}}, {"returned": {"number": 3.0}})
    (call,) = trial.calls  # of what has no code of Python, no line is known
    assert (Path(call.path).name, call.line, call.function[1:]) == ("case.py", 7, (4, "f"))
    assert call.column in (-1, len("print("))


def test_without_compiling_the_functions_themselves_are_called(tmp_path: Path) -> None:
    trial = run_trial(make(tmp_path), eager=True)
    assert trial.printed.split()[0] == "6"
    assert trial.returned[0] == {"returned": {"number": 6.0}}


def test_files_that_modules_are_made_of_are_told(tmp_path: Path) -> None:
    program = make(tmp_path)
    watched = {str(tmp_path / name) for name in ("case.py", "torch/__init__.py")}
    environment = {WATCHED: os.pathsep.join((*watched, str(tmp_path / "other.py")))}
    trial = run_trial(Program(program.command, tmp_path, environment))
    assert trial.processes.loaded == watched
    assert watched <= trial.files
    for ending in ("", "raise ValueError\n"):
        plain = make(tmp_path / f"plain{len(ending)}", ending)
        environment = {WATCHED: str(plain.folder / "case.py")}
        assert len(run_trial(Program(plain.command, plain.folder, environment)).processes.loaded) == 1
    assert str(tmp_path) in trial.processes.imports
    assert trial.processes.scripts == {str(tmp_path / "case.py")}
    shell = run_trial(Program(("sh", "-c", f"{sys.executable} case.py; {sys.executable} -c ''"), tmp_path))
    assert shell.processes.scripts == {str(tmp_path / "case.py")}
    killed = make(tmp_path / "killed", CASE + "import os; os._exit(0)\n")
    environment = {WATCHED: str(tmp_path / "killed" / "case.py")}
    assert len(run_trial(Program(killed.command, killed.folder, environment)).processes.loaded) == 1


TRACES = """
import os
with open(os.path.join(os.environ["TORCH_TRACE"], "t.log"), "w") as file:
    file.write(f'V1122 06:59:39.722000 {os.getpid()} torch/file.py:1] {{"artifact": {{}}}}\\n')
"""


@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_a_program_that_keeps_the_hook_out_is_not_judged(tmp_path: Path, option: str) -> None:
    program = make(tmp_path, TRACES)
    assert run_trial(program).status == 0
    alone = Program((sys.executable, option, "case.py"), tmp_path)
    with pytest.raises(SymfixError, match="hook is kept out of a process that compiles"):
        run_trial(alone)
    child = f"import subprocess, sys\nsubprocess.run([sys.executable, {option!r}, 'inner.py'], check=True)\n"
    (tmp_path / "inner.py").write_text(TRACES)
    (tmp_path / "case.py").write_text(child)
    with pytest.raises(SymfixError, match="hook is kept out of a process that compiles"):
        run_trial(program)
    with pytest.raises(SymfixError, match="no Python that the program starts has symfix's hook"):
        run_trial(Program((sys.executable, option, "-c", ""), tmp_path))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork")
def test_forks_are_seen(tmp_path: Path) -> None:
    fork = f"import os\nchild = os.fork()\nif not child:\n    exec({TRACES!r})\n    os._exit(0)\nos.waitpid(child, 0)\n"
    assert run_trial(make(tmp_path, fork)).status == 0


def test_how_it_failed_is_the_last_error(tmp_path: Path) -> None:
    trial = run_trial(make(tmp_path, "raise KeyError('no')\n"))
    assert (trial.status, trial.error, trial.end) == (1, "KeyError: 'no'", "fails: KeyError: 'no'")
    stuck = Program((sys.executable, "-c", "import time; time.sleep(60)"), tmp_path)
    assert run_trial(stuck, seconds=0.5).status == 124
