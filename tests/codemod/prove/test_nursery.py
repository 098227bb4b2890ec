from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codemod.prove import isolate, nursery
from codemod.prove.isolate import Ended, Limits
from tests.conftest import PATIENCE, await_true, free

ROOT = Path(__file__).parents[3]
# The runner's server without torch, whose jobs are programs.
SERVER = """
import json, sys, types
from codemod import runner
from codemod.runner import serve

def main(arguments):
    exec(json.load(open(arguments[0]))["program"], {})
    return 0

serve.warm = lambda cache: None
runner.job = types.SimpleNamespace(main=main)
sys.exit(serve.main(""))
"""
COMMAND = (sys.executable, "-c", SERVER)
# The same on a system that has no namespaces.
NO_WAY = "from codemod.runner import contain\ncontain.find_way = lambda network: contain.Way()\n"
BARE = (sys.executable, "-c", NO_WAY + SERVER)
# It has left its session, and what it starts inherits the lock, which is free once all of them have ended.
STARTS = """
import fcntl, os, subprocess, sys, time
alive = open("alive", "a")
fcntl.flock(alive, fcntl.LOCK_SH)
if not os.fork():
    os.setsid()
    subprocess.Popen([sys.executable, "-c", "while True: pass"], pass_fds=[alive.fileno()])
    open("started", "w").close()
    while True: time.sleep(60)
while not os.path.exists("started"): time.sleep(0.01)
"""
FOREVER = f"{STARTS}\nwhile True: time.sleep(60)"


@pytest.fixture(autouse=True)
def _no_server_is_left() -> Iterator[None]:
    yield
    nursery.close()
    isolate.resume()


def run(folder: Path, program: str, seconds: float = PATIENCE, command: tuple[str, ...] = COMMAND) -> Ended | None:
    folder.mkdir(exist_ok=True)
    (folder / "alive").touch()
    (folder / "job.json").write_text(json.dumps({"program": program}), encoding="ascii")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    limits = Limits(seconds, 1 << 30)
    return nursery.run(command, folder / "job.json", folder / "out.json", folder, environment, limits)


def test_jobs_are_run_in_their_folders_by_children_of_one_process(tmp_path: Path) -> None:
    program = "import os; print(os.getcwd(), os.getppid())"
    ended = [run(tmp_path / name, program) for name in ("one", "two")]
    said = [end.output.split() for end in ended if end is not None and (end.how, end.code) == ("ended", 0)]
    assert [words[0] for words in said] == [str(tmp_path / "one"), str(tmp_path / "two")]
    assert len(nursery._servers) == 1


def test_jobs_run_beside_one_another(tmp_path: Path) -> None:
    program = """
import pathlib, time
pathlib.Path({!r}).touch()
while not pathlib.Path({!r}).exists(): time.sleep(0.01)
"""
    first, second = str(tmp_path / "1"), str(tmp_path / "2")
    programs = [program.format(first, second), program.format(second, first)]
    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(run, [tmp_path / "one", tmp_path / "two"], programs))
    assert [end is not None and (end.how, end.code) for end in ended] == [("ended", 0)] * 2


def test_a_crash_ends_one_job_alone(tmp_path: Path) -> None:
    ended = run(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert ended is not None
    assert (ended.how, ended.signal) == ("crashed", "SIGSEGV")
    after = run(tmp_path, "raise SystemExit('no')")
    assert after is not None
    assert (after.how, after.code, after.last_line) == ("ended", 1, "SystemExit: no")


def test_memory_has_a_limit(tmp_path: Path) -> None:
    ended = run(tmp_path, "x = bytearray(2 << 30); x[::4096] = x[::4096]")
    assert ended is not None
    assert (ended.how, ended.last_line) == ("ended", "MemoryError")


@pytest.mark.parametrize("command", [COMMAND, BARE], ids=["as the system can", "without namespaces"])
def test_what_takes_too_long_is_ended_with_all_it_started(
    tmp_path: Path, command: tuple[str, ...], time_is_up_at: Callable[[Path], float]
) -> None:
    ended = run(tmp_path, FOREVER, time_is_up_at(tmp_path / "started"), command)
    assert ended is not None
    assert ended.how == "timed out"
    assert free(tmp_path / "alive")


@pytest.mark.parametrize("command", [COMMAND, BARE], ids=["as the system can", "without namespaces"])
def test_what_a_job_leaves_behind_is_ended(tmp_path: Path, command: tuple[str, ...]) -> None:
    ended = run(tmp_path, STARTS, command=command)
    assert ended is not None
    assert (ended.how, ended.code) == ("ended", 0)
    assert free(tmp_path / "alive")


def test_what_runs_without_a_network_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = f"import socket; socket.create_connection({server.getsockname()}); print('connected')"
        ended = run(tmp_path, program)
        bare = run(tmp_path, program, command=BARE)
    assert ended is not None
    assert bare is not None
    assert ended.cut_off == (ended.last_line != "connected")
    assert not bare.cut_off


def test_of_a_long_output_the_end_is_read(tmp_path: Path) -> None:
    ended = run(tmp_path, "print('x' * (4 << 20)); print('last')")
    assert ended is not None
    assert ended.last_line == "last"
    assert len(ended.output) < 1 << 20


def test_all_is_stopped(tmp_path: Path) -> None:
    seen: list[str] = []

    def work() -> None:
        try:
            run(tmp_path, FOREVER)
        except KeyboardInterrupt:
            seen.append("interrupted")

    thread = threading.Thread(target=work)
    thread.start()
    await_true((tmp_path / "started").exists)
    isolate.stop_all()
    thread.join(PATIENCE)
    assert seen == ["interrupted"]
    nursery.close()
    assert free(tmp_path / "alive")


@pytest.mark.parametrize("command", [COMMAND, BARE], ids=["as the system can", "without namespaces"])
def test_of_a_job_that_goes_with_its_server_nothing_is_said(tmp_path: Path, command: tuple[str, ...]) -> None:
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(run, tmp_path, FOREVER, command=command)
        await_true((tmp_path / "started").exists)
        nursery._servers[command].process.keeper.kill()
        assert job.result() is None
    await_true(lambda: free(tmp_path / "alive"))


def test_a_killed_client_leaves_nothing(tmp_path: Path) -> None:
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    script += "from pathlib import Path\nfrom tests.codemod.prove.test_nursery import *\n"
    script += f"run(Path({str(tmp_path)!r}), FOREVER)"
    with subprocess.Popen([sys.executable, "-c", script]) as client:
        await_true((tmp_path / "started").exists)
        client.send_signal(signal.SIGKILL)
    await_true(lambda: free(tmp_path / "alive"))


@pytest.mark.parametrize("command", [("/nonexistent/python",), (sys.executable, "-c", "import no_such_module")])
def test_without_a_server_the_job_is_another_s_to_run(tmp_path: Path, command: tuple[str, ...]) -> None:
    nursery.prepare(command, os.environ)
    assert run(tmp_path, "", command=command) is None
    assert nursery._servers == {}
