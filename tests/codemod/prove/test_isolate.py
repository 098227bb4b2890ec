from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codemod.prove import isolate
from codemod.prove.isolate import Ended, Limits, run
from codemod.prove.run_folder import LOCK
from tests.conftest import PATIENCE, await_true, free

ROOT = Path(__file__).parents[3]
LIMITS = Limits(seconds=PATIENCE, memory=1 << 30)
# The keeper on a system that has no namespaces.
BARE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from codemod.runner import contain, keeper
contain.find_way = lambda network: contain.Way()
sys.exit(keeper.main(sys.argv[2:]))
"""
# The same on a system that is not Linux.
GROUPED = BARE.replace("sys.exit", "contain.adopt = lambda: False\nkeeper.descendants.of = lambda pid: []\nsys.exit")
# What it starts inherits the lock, which is free once all of them have ended.
LOCKING = "import fcntl, os, subprocess, sys, time\nalive = open('alive', 'a')\nfcntl.flock(alive, fcntl.LOCK_SH)\n"
LEAVES = """
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    subprocess.Popen([sys.executable, "-c", "while True: pass"], pass_fds=[alive.fileno()])
    open("left", "w").close()
    while True: time.sleep(60)
while not os.path.exists("left"): time.sleep(0.01)
"""
RUNS_AWAY = """
if not os.fork():
    while True:
        os.setsid()
        if os.fork():
            os._exit(0)
        open("left", "w").close()
while not os.path.exists("left"): time.sleep(0.01)
"""


@pytest.fixture(params=["as the system can", "without namespaces"])
def _ways(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test also as on a system without namespaces."""
    if request.param == "without namespaces":
        (tmp_path / "bare.py").write_text(BARE)
        monkeypatch.setattr(isolate, "RUNNER", tmp_path / "bare.py")


@pytest.fixture
def _grouped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test as on a system that is not Linux."""
    (tmp_path / "grouped.py").write_text(GROUPED)
    monkeypatch.setattr(isolate, "RUNNER", tmp_path / "grouped.py")


@pytest.fixture
def listening() -> Iterator[int]:
    """The port of a server on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def alive(tmp_path: Path) -> Path:
    """What `LOCKING` locks; there also where a busy machine is late to start that."""
    (tmp_path / "alive").touch()
    return tmp_path / "alive"


def python(program: str, limits: Limits = LIMITS, folder: Path | None = None) -> Ended:
    return run([sys.executable, "-c", textwrap.dedent(program)], limits, folder=folder)


def test_output_and_exit_code() -> None:
    ended = python("import sys; print('one'); print('two', file=sys.stderr); sys.exit(3)")
    assert (ended.how, ended.code, ended.last_line) == ("ended", 3, "two")


@pytest.mark.usefixtures("_ways")
def test_a_crash_has_the_signal_s_name() -> None:
    ended = python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (ended.how, ended.signal) == ("crashed", "SIGSEGV")


def test_what_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run(["/nonexistent/python"], LIMITS)
    with pytest.raises(NotADirectoryError):
        run([sys.executable, "-c", ""], LIMITS, folder=Path(__file__))


def test_it_has_the_environment_and_the_folder_that_are_named(tmp_path: Path) -> None:
    program = "import os; print(os.environ['A'], 'HOME' in os.environ, os.getcwd())"
    ended = run([sys.executable, "-c", program], LIMITS, {"A": "\udcff b"}, tmp_path)
    assert ended.last_line.endswith(f"b False {tmp_path}")


@pytest.mark.usefixtures("_ways")
def test_an_endless_loop_is_ended_with_all_it_started(tmp_path: Path, alive: Path) -> None:
    loop = 'subprocess.Popen([sys.executable, "-c", "while True: pass"], pass_fds=[alive.fileno()])\nwhile True: pass'
    assert python(LOCKING + loop, Limits(seconds=1, memory=1 << 30), tmp_path).how == "timed out"
    assert free(alive)


@pytest.mark.usefixtures("_grouped")
@pytest.mark.parametrize(("after", "how"), [("", "ended"), ("time.sleep(600)", "timed out")])
def test_elsewhere_its_group_is_ended(
    tmp_path: Path, alive: Path, after: str, how: str, time_is_up_at: Callable[[Path], float]
) -> None:
    start = 'subprocess.Popen([sys.executable, "-c", "while True: pass"], pass_fds=[alive.fileno()])\n'
    start += 'open("left", "w").close()\n'
    seconds = time_is_up_at(tmp_path / "left") if after else PATIENCE
    ended = python(LOCKING + start + after, Limits(seconds, memory=1 << 30), tmp_path)
    assert (ended.how, ended.code) == (how, -signal.SIGKILL if after else 0)
    await_true(lambda: free(alive))


@pytest.mark.usefixtures("_ways")
@pytest.mark.parametrize("program", [LEAVES, RUNS_AWAY], ids=["leaves", "runs away"])
@pytest.mark.parametrize(("after", "how"), [("", "ended"), ("time.sleep(600)", "timed out")])
def test_what_has_left_its_session_is_ended_too(
    tmp_path: Path, alive: Path, program: str, after: str, how: str, time_is_up_at: Callable[[Path], float]
) -> None:
    seconds = time_is_up_at(tmp_path / "left") if after else PATIENCE
    ended = python(LOCKING + program + after, Limits(seconds, memory=1 << 30), tmp_path)
    assert ended.how == how
    assert free(alive)


@pytest.mark.usefixtures("_ways")
def test_what_kills_all_that_it_may_is_a_crash(tmp_path: Path) -> None:
    ended = python("import os, signal; os.killpg(0, signal.SIGKILL)")
    assert (ended.how, ended.signal) == ("crashed", "SIGKILL")


def test_one_process_may_not_write_to_more_memory() -> None:
    ended = python("x = bytearray(400 << 20); x[::4096] = x[::4096]", Limits(PATIENCE, 200 << 20))
    assert ended.code == 1
    assert "MemoryError" in ended.output


SHARED = "import mmap, os, time\nx = mmap.mmap(-1, {size} << 20)\nx[::4096] = x[::4096]\n"


@pytest.mark.usefixtures("_ways")
@pytest.mark.parametrize("program", [
    SHARED.format(size=300) + "time.sleep(600)",
    "import os, time\n[os.fork() for _ in range(2)]\nx = bytearray(b'x') * (90 << 20)\ntime.sleep(600)",
], ids=["shared", "of several"])  # fmt: skip
def test_all_together_may_not_hold_more_memory(program: str) -> None:
    ended = python(program, Limits(PATIENCE, 200 << 20))
    assert (ended.how, ended.over, ended.cause) == ("crashed", *["more than 0.195 GiB of memory"] * 2)


def test_what_several_share_counts_once() -> None:
    program = SHARED.format(size=150) + "children = [os.fork() for _ in range(2)]\nx[::4096]\ntime.sleep(1)"
    ended = python(program, Limits(PATIENCE, 400 << 20))
    assert (ended.how, ended.code, ended.over) == ("ended", 0, "")


@pytest.mark.usefixtures("_ways")
def test_processes_have_a_limit() -> None:
    program = "import os, time\nfor _ in range(20): os.fork() or time.sleep(600)\ntime.sleep(600)"
    assert python(program, Limits(PATIENCE, 1 << 30, processes=10)).over == "more than 10 processes"


def test_files_have_a_limit(tmp_path: Path) -> None:
    program = "open('big', 'wb').write(bytes(2 << 20))"
    ended = python(program, Limits(PATIENCE, 1 << 30, file=1 << 20), tmp_path)
    assert os.strerror(errno.EFBIG) in ended.output
    assert (tmp_path / "big").stat().st_size <= 1 << 20


def test_no_core_is_dumped(tmp_path: Path) -> None:
    assert python("import resource; print(resource.getrlimit(resource.RLIMIT_CORE))").last_line == "(0, 0)"


@pytest.mark.usefixtures("_ways")
def test_what_runs_without_a_network_is_told(listening: int) -> None:
    program = f"import socket; socket.create_connection(('127.0.0.1', {listening})); print('connected')"
    ended = python(program)
    assert ended.cut_off == (ended.last_line != "connected")
    tool = python(program, Limits(PATIENCE, 1 << 30, network=True))
    assert (tool.cut_off, tool.last_line) == (False, "connected")


def test_without_namespaces_the_network_is_not_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bare.py").write_text(BARE)
    monkeypatch.setattr(isolate, "RUNNER", tmp_path / "bare.py")
    assert not python("").cut_off


def test_its_lock_is_held_while_anything_runs(tmp_path: Path) -> None:
    (tmp_path / LOCK).touch()
    program = """
    import fcntl, sys
    try: fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError: print("held")
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / LOCK)]
    assert run(command, LIMITS, held=tmp_path / LOCK).last_line == "held"
    assert free(tmp_path / LOCK)


@pytest.mark.usefixtures("_ways")
def test_what_a_killed_caller_leaves_is_ended(tmp_path: Path, alive: Path) -> None:
    script = f"""
    import sys
    sys.path.insert(0, {str(ROOT)!r})
    from pathlib import Path
    from codemod.prove import isolate
    isolate.RUNNER = Path({str(isolate.RUNNER)!r})
    isolate.run([sys.executable, "-c", {LOCKING + LEAVES + "time.sleep(600)"!r}], isolate.Limits(600, 1 << 30),
                folder=Path({str(tmp_path)!r}))
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)]) as caller:
        await_true((tmp_path / "left").exists)
        caller.send_signal(signal.SIGKILL)
    await_true(lambda: free(alive))


def test_what_runs_in_another_thread_is_stopped() -> None:
    seen: list[str] = []

    def work() -> None:
        try:
            python("import time; time.sleep(600)")
        except KeyboardInterrupt:
            seen.append("interrupted")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        await_true(lambda: bool(isolate._live))
        isolate.stop_all()
        thread.join(PATIENCE)
        with pytest.raises(KeyboardInterrupt):
            python("")
    finally:
        isolate.resume()
    assert seen == ["interrupted"]


def test_what_starts_while_all_is_stopped_is_stopped_too() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    isolate.stop_all()
    try:
        process = isolate.ManagedProcess(
            command, LIMITS, os.environ, None, None, subprocess.DEVNULL, subprocess.DEVNULL
        )
        how, answer = process.follow(PATIENCE)
        process.close()
    finally:
        isolate.resume()
    assert (how, answer["status"]) == ("ended", signal.SIGKILL)


def test_the_line_that_names_an_error_is_told_from_noise() -> None:
    noise = "Warning: overridden\n  new kernel: registered at a.cpp:13 (function operator())\n"
    assert Ended("crashed", -11, noise).error_line == ""
    assert Ended("crashed", -6, f"terminate called\n  what():  Mismatch\n{noise}").error_line == "what():  Mismatch"
    assert Ended("ended", 1, f"Traceback\nImportError: no torch\n{noise}").error_line == "ImportError: no torch"
