"""pytest's `--symfix-probe`, in a pytest of its own: inert without the option, a summary with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

# Stands in for torch.compile: writes the trace that a compilation with one guard leaves.
TESTS = """
import os
import pathlib


def test_compiled():
    folder = pathlib.Path(os.environ["TORCH_TRACE"])
    (folder / f"dedicated_log_torch_trace_{os.getpid()}.log").write_text(pathlib.Path("trace").read_text())


def test_plain():
    pass
"""
LIGHT = """
import sys
before = set(sys.modules)
import codemod.testing.plugin
print(sorted({name for name in set(sys.modules) - before}))
"""


def trace(path: Path) -> str:
    frame = {"line": 5, "name": "test_compiled", "filename": 0, "loc": "if x.size(0) > 5:"}
    head = {"frame_id": 0, "frame_compile_id": 0}
    records = [{"str": [str(path), 0]}, {"dynamo_start": {"stack": [frame]}, **head},
               {"guard_added_fast": {"expr": "s0 > 5", "stack": [frame], "user_stack": [frame]}, **head}]  # fmt: skip
    return "".join(f"V1122 06:59:39.722000 1 torch/a.py:1] {json.dumps(item)}\n" for item in records)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "trace").write_text(trace(tmp_path / "test_it.py"))
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    return tmp_path


def run(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment: Mapping[str, str] = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TMPDIR": str(folder)}
    command = [sys.executable, "-m", "pytest", "-p", "codemod.testing.plugin", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env={**environment, **more}, capture_output=True, text=True, check=False)


def test_the_summary_has_the_causing_line_and_what_looks_for_a_cure(folder: Path) -> None:
    done = run(folder, "--symfix-probe", "-k", "compiled or plain")
    assert done.returncode == 0, done.stdout + done.stderr
    _, found, summary = done.stdout.partition("= symfix probe =")
    assert found
    assert "test_compiled (test_it.py:5)" in summary
    assert "test_it.py:5 in test_compiled: if x.size(0) > 5:  [your code]" in summary
    assert "symfix fix -- python -m pytest" in summary
    assert "-k 'compiled or plain' looks for a cure" in summary
    assert not list(folder.glob("symfix-probe-*"))


def test_tests_that_compile_nothing_are_said_to(folder: Path) -> None:
    done = run(folder, "--symfix-probe", "-k", "plain")
    assert done.returncode == 0
    assert "the tests compiled nothing" in done.stdout


def test_a_trace_of_the_users_own_is_not_taken_away(folder: Path) -> None:
    done = run(folder, "--symfix-probe", TORCH_TRACE=str(folder))
    assert done.returncode == 4
    assert "--symfix-probe: TORCH_TRACE is set" in done.stderr


def test_nothing_is_done_or_imported_without_the_option(folder: Path) -> None:
    done = run(folder)
    assert done.returncode == 1
    assert "KeyError: 'TORCH_TRACE'" in done.stdout
    assert "symfix probe" not in done.stdout
    light = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True).stdout
    imported = {name.partition(".")[0] for name in eval(light)}
    assert imported - set(sys.stdlib_module_names) == {"codemod"}
    assert {name for name in eval(light) if name.startswith("codemod.")} <= {
        "codemod.testing", "codemod.testing.check", "codemod.testing.plugin",
    }  # fmt: skip
