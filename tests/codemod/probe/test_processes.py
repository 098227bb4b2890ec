"""Operators that are asked in real processes, over a stand-in for an interpreter: after SIGKILL, and on a cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.probe.operators import Selection, probe_all
from codemod.prove.executor import make_executor
from codemod.prove.target import Target
from tests.conftest import ROOT

STAND_IN = """#!{python}
import json, os, subprocess, sys, time
if sys.argv[2] == "--serve":
    sys.exit(1)  # each job has a process of its own then
with open(sys.argv[2]) as file:
    job = json.load(file)
folder = {folder!r}
with open(os.path.join(folder, "asked"), "a") as file:
    file.write(job["probe"] + "\\n")
if job["probe"] == "mul" and not os.path.exists(os.path.join(folder, "again")):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", folder])
    open(os.path.join(folder, "running"), "w").close()
    time.sleep(600)
case = {{"name": "", "script": "", "status": "passes", "message": "", "guards": [], "frames": 1}}
modes = {{mode: {{"cases": [case], "reason": "", "seconds": 1.0}} for mode in job["modes"]}}
document = {{"torch": {torch!r}, "package": "/x/torch", "traced": True, "running": None, "done": True, "modes": modes}}
with open(sys.argv[3], "w") as file:
    json.dump(document, file)
"""
DRIVER = """
import json, sys
from tests.codemod.probe.test_processes import selection
from codemod.probe.operators import probe_all
from codemod.prove.executor import make_executor
from pathlib import Path
ended = probe_all(selection(Path(sys.argv[1])), make_executor("", 1), 1)
print(json.dumps({report.subjects[0].name: kept for report, kept in ended}))
"""
NAMES = ("add", "mul", "sub")


def interpreter(folder: Path, torch: str = "2.13.0") -> None:
    path = folder / "python"
    path.write_text(STAND_IN.format(python=sys.executable, folder=str(folder), torch=torch))
    path.chmod(0o755)


def selection(folder: Path) -> Selection:
    target = Target(str(folder / "python"), "3.11", "", "/x/torch", "2.13.0", True, "c++20")
    return Selection(target, (), NAMES, "2.13.0", "state")


def running(folder: Path) -> list[str]:
    """The command lines of processes that name the folder."""
    lines = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        lines += [command] if str(folder) in command and process.name != str(os.getpid()) else []
    return lines


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="the processes of the system are not listed")
def test_after_sigkill_only_the_rest_is_asked_and_nothing_is_left(tmp_path: Path) -> None:
    interpreter(tmp_path)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-c", DRIVER, str(tmp_path)]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    driver = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "running").exists() and driver.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(running(tmp_path)) > 1
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    while running(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert running(tmp_path) == []

    (tmp_path / "again").touch()
    again = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(again.stdout) == {"add": True, "mul": False, "sub": False}
    assert (tmp_path / "asked").read_text().split() == ["add", "mul", "mul", "sub"]
    assert list(scratch.iterdir()) == []
    assert running(tmp_path) == []


@pytest.mark.filterwarnings("default")
def test_a_cluster_asks_operators(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="dask's distributed is not installed")
    (tmp_path / "again").touch()
    interpreter(tmp_path)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None, silence_logs=50
    ) as cluster:
        address = f"dask://{cluster.scheduler_address.removeprefix('tcp://')}"
        ended = list(probe_all(selection(tmp_path), make_executor(address, 2), 2))
    statuses = {report.subjects[0].name: report.subjects[0].modes["out"].status for report, _ in ended}
    assert statuses == dict.fromkeys(NAMES, "passes")


def test_answers_over_another_torch_are_not_taken(tmp_path: Path) -> None:
    (tmp_path / "again").touch()
    interpreter(tmp_path, torch="2.14.1")
    with pytest.raises(SymfixError, match=r"add: ran over torch 2\.14\.1, not 2\.13\.0; .*--executor"):
        list(probe_all(selection(tmp_path), make_executor("", 1), 1))
    interpreter(tmp_path)
    assert [kept for _, kept in probe_all(selection(tmp_path), make_executor("", 1), 1)] == [False] * 3
