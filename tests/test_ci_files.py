"""What other repositories run: the steps of action.yml in bash, and the hook of pre-commit, on a small library.

No torch can be imported there.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import MakeTree

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
INSTALL, SCAN = ACTION["runs"]["steps"]

FILES = {
    "setup.py": b'from setuptools import setup\n\nsetup(install_requires=["torch>=2.4"])\n',
    "ops.cpp": b"""#include <torch/library.h>
at::Tensor twice(const at::Tensor& x) {
  return x.reshape({x.numel()});
}
TORCH_LIBRARY(demo, m) {
  m.def("twice", twice);
}
""",
}
ANOTHER = FILES["ops.cpp"].replace(b"twice", b"again").replace(b"TORCH_LIBRARY(demo", b"TORCH_LIBRARY(more")


# What the command is where no torch is installed: nothing finds the package, wherever it lies.
WITHOUT_TORCH = """
import importlib.machinery as machinery
find = machinery.PathFinder.find_spec
hide = lambda _, name, *rest: None if name.partition(".")[0] in ("torch", "torchgen") else find(name, *rest)
machinery.PathFinder.find_spec = classmethod(hide)
"""


@pytest.fixture
def tree(make_tree: MakeTree, git: Callable[..., bytes]) -> Path:
    """A checkout whose second commit adds one more finding."""
    tree = make_tree(FILES)
    (tree / "more.cpp").write_bytes(ANOTHER)
    git("add", "-A", cwd=tree)
    git("commit", "-q", "-m", "more", cwd=tree)
    return tree


@pytest.fixture
def runner(tmp_path: Path, tree: Path) -> dict[str, str]:
    """The environment that a runner without torch gives a step, with this symfix where the action installs it."""
    command = tmp_path / "temp/symfix/bin/symfix"
    command.parent.mkdir(parents=True)
    script = f"{WITHOUT_TORCH}import sys\nfrom codemod.cli import main\nmain(sys.argv[1:])"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(script)} "$@"\n')
    command.chmod(0o755)
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_WORKSPACE": str(tree),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_ACTION_PATH": str(ROOT),
    }


def run_step(
    step: Mapping[str, Any], runner: Mapping[str, str], cwd: Path, **inputs: str
) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does: the inputs put into `env`, the script in a file, bash with -e and pipefail."""
    defaults = {name: "" if "${{" in entry["default"] else entry["default"] for name, entry in ACTION["inputs"].items()}
    given = {**defaults, **{name.replace("_", "-"): value for name, value in inputs.items()}}
    env = {
        name: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda match: given[match[1]], value)
        for name, value in step["env"].items()
    }
    script = Path(runner["RUNNER_TEMP"]) / "script.sh"
    script.write_text(step["run"])
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)]
    return subprocess.run(command, cwd=cwd, env={**runner, **env}, capture_output=True, text=True)


def test_no_input_is_ever_part_of_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
    used = re.findall(r"inputs\.([a-z-]+)", str([step["env"] for step in ACTION["runs"]["steps"]]))
    assert sorted(used) == sorted(ACTION["inputs"])


def test_the_scan_fails_on_what_the_change_adds(runner: dict[str, str], tree: Path) -> None:
    done = run_step(SCAN, runner, tree, since="HEAD~", sarif_file="out.sarif")
    assert (done.returncode, done.stderr) == (1, "")
    annotated = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert annotated
    assert all(line.startswith("::error file=more.cpp,line=3,") for line in annotated)
    assert '"uri": "more.cpp"' in (tree / "out.sarif").read_text()
    assert "`more::again`" in (Path(runner["RUNNER_TEMP"]).parent / "summary.md").read_text()
    assert run_step(SCAN, runner, tree, since="HEAD").returncode == 0
    assert "file=ops.cpp" in run_step(SCAN, runner, tree).stdout


def test_paths_and_further_options_are_lines(runner: dict[str, str], tree: Path) -> None:
    done = run_step(SCAN, runner, tree, paths="ops.cpp\nmore.cpp\n", args="--exit-zero\n--op=twice\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "file=ops.cpp" in done.stdout
    assert "more.cpp" not in done.stdout


@pytest.mark.parametrize(
    ("names", "code"), [(("paths", "level", "since", "baseline", "args"), 2), (("sarif_file",), 1)]
)
def test_an_input_is_never_a_command(runner: dict[str, str], tree: Path, names: tuple[str, ...], code: int) -> None:
    done = run_step(SCAN, runner, tree, **dict.fromkeys(names, '"; touch owned; $(touch owned) `touch owned` #'))
    assert not (tree / "owned").exists()
    assert done.returncode == code


def test_what_cannot_be_told_fails_the_step(runner: dict[str, str], tree: Path) -> None:
    done = run_step(SCAN, runner, tree, since="origin/main", sarif_file="out.sarif")
    assert done.returncode == 2
    assert done.stderr == f"symfix: --since origin/main: {tree} has no such commit; fetch it first\n"


@pytest.mark.parametrize(
    ("version", "wanted"), [("", str(ROOT)), ("1.2", "symfix==1.2"), ("1; touch x", "symfix==1; touch x")]
)
def test_the_action_installs_itself_or_a_version(
    runner: dict[str, str], tree: Path, tmp_path: Path, version: str, wanted: str
) -> None:
    log = tmp_path / "log"
    for place in ("stub/python3", "temp/symfix/bin/python"):
        stub = tmp_path / place
        stub.parent.mkdir(exist_ok=True)
        stub.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {log}\n')
        stub.chmod(0o755)
    runner["PATH"] = f"{tmp_path / 'stub'}:{runner['PATH']}"
    done = run_step(INSTALL, runner, tree, version=version)
    assert done.returncode == 0, done.stderr
    lines = log.read_text().splitlines()
    assert lines[:4] == ["-m", "venv", "--system-site-packages", f"{tmp_path}/temp/symfix"]
    assert lines[-1] == wanted


def test_the_hook_judges_what_is_about_to_be_committed(
    runner: dict[str, str], tree: Path, git: Callable[..., bytes]
) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["id"] == "symfix"
    script = f"{shlex.quote(runner['RUNNER_TEMP'])}/symfix/bin/{hook['entry']} {shlex.join(hook['args'])}"

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(["sh", "-c", script], cwd=tree, env=runner, capture_output=True, text=True)

    assert run().returncode == 0
    (tree / "ops.cpp").write_bytes(FILES["ops.cpp"].replace(b"numel()", b"size(0)"))
    git("add", "-A", cwd=tree)
    done = run()
    assert (done.returncode, done.stderr) == (1, "")
    assert "ops.cpp:3:" in done.stdout
    assert "more.cpp" not in done.stdout


@pytest.mark.parametrize("torch", ["", "2.1", "2.8"])
def test_without_torch_a_library_is_written_for_a_release(
    runner: dict[str, str], make_tree: MakeTree, torch: str
) -> None:
    tree = make_tree({"ops.cpp": FILES["ops.cpp"]}, name="library")
    done = run_step(SCAN, runner, tree, args=f"--torch={torch}" if torch else "")
    assert (done.returncode, done.stderr) == (1, "")
    assert "file=ops.cpp,line=3," in done.stdout
    command = [f"{runner['RUNNER_TEMP']}/symfix/bin/symfix", "scan", *([f"--torch={torch}"] if torch else [])]
    printed = subprocess.run(command, cwd=tree, env=runner, capture_output=True, text=True).stdout
    assert ("Written for torch 2." in printed) is not bool(torch)


def test_without_torch_an_unknown_release_is_an_error(runner: dict[str, str], make_tree: MakeTree) -> None:
    tree = make_tree({"ops.cpp": FILES["ops.cpp"]}, name="library")
    done = run_step(SCAN, runner, tree, args="--torch=1.8")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "symfix: --torch 1.8: symfix has no vocabulary of that release; the nearest is 1.13\n"


@pytest.mark.usefixtures("torch_is_read")
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_the_findings_are_those_with_the_release_installed(runner: dict[str, str], make_tree: MakeTree) -> None:
    installed = importlib.metadata.version("torch")
    example = ROOT / "examples/extension"
    files = {path.name: path.read_bytes() for path in example.iterdir() if path.suffix in (".cpp", ".py")}
    tree = make_tree({**files, "ops.cpp": FILES["ops.cpp"]}, name="library")
    scan = ["scan", "--format=json"]
    release = ".".join(installed.split(".")[:2])
    without = [f"{runner['RUNNER_TEMP']}/symfix/bin/symfix", *scan, f"--torch={release}"]
    beside = [sys.executable, "-c", "import sys\nfrom codemod.cli import main\nmain(sys.argv[1:])", *scan]
    plans = [
        json.loads(subprocess.run(command, cwd=tree, env=runner, capture_output=True, text=True).stdout)
        for command in (without, beside)
    ]
    assert plans[0]["findings"] == plans[1]["findings"]
    assert any(finding["edits"] for finding in plans[0]["findings"])
    assert [any("/torch/include/" in file for file in plan["files"]) for plan in plans] == [False, True]
