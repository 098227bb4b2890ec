from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from codemod.prove import isolate
from codemod.prove.isolate import Ended, Limits, run
from tests.conftest import left_of

LIMITS = Limits(seconds=60, memory=1 << 30)


def python(program: str, limits: Limits = LIMITS) -> Ended:
    return run([sys.executable, "-c", program], limits)


def test_output_and_exit_code() -> None:
    ended = python("import sys; print('one'); print('two', file=sys.stderr); sys.exit(3)")
    assert (ended.how, ended.code, ended.last_line) == ("ended", 3, "two")


def test_a_crash_has_the_signal_s_name() -> None:
    ended = python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (ended.how, ended.signal) == ("crashed", "SIGSEGV")


def test_an_endless_loop_is_ended_with_all_it_started(tmp_path: Path) -> None:
    program = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
while True: pass
"""
    assert python(program, Limits(seconds=6, memory=1 << 30)).how == "timed out"
    assert left_of([int((tmp_path / "pid").read_text())]) == []


def test_memory_has_a_limit() -> None:
    ended = python("import time; time.sleep(0.3); x = bytearray(400 << 20); x[::4096] = x[::4096]",
                   Limits(seconds=60, memory=200 << 20))  # fmt: skip
    assert ended.code == 1
    assert "MemoryError" in ended.output


def test_what_runs_in_another_thread_is_stopped() -> None:
    seen: list[str] = []

    def work() -> None:
        try:
            python("import time; time.sleep(60)")
        except KeyboardInterrupt:
            seen.append("interrupted")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        while not isolate._live:
            os.sched_yield()
        isolate.stop_all()
        thread.join(30)
        with pytest.raises(KeyboardInterrupt):
            python("")
    finally:
        isolate.resume()
    assert seen == ["interrupted"]


def test_what_starts_while_all_is_stopped_is_stopped_too() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True) as process:
        try:
            isolate.stop_all()
            isolate.watch(process)
            assert process.wait(30) == -signal.SIGKILL
        finally:
            isolate.forget(process)
            isolate.resume()


def test_the_line_that_names_an_error_is_told_from_noise() -> None:
    noise = "Warning: overridden\n  new kernel: registered at a.cpp:13 (function operator())\n"
    assert Ended("crashed", -11, noise).error_line == ""
    assert Ended("crashed", -6, f"terminate called\n  what():  Mismatch\n{noise}").error_line == "what():  Mismatch"
    assert Ended("ended", 1, f"Traceback\nImportError: no torch\n{noise}").error_line == "ImportError: no torch"
