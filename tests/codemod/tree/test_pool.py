from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.tree.pool import _chunks, beside, can_fork, run
from tests.conftest import left_of

ROOT = Path(__file__).parents[3]

SCRIPT = """
import os, time
from codemod.tree.pool import run

def work(number):
    os.write(1, b"%d\\n" % os.getpid())  # at once: print may write the number and the end of the line apart
    time.sleep(600)

list(run(work, range(20), jobs=2))
"""


BESIDE = """
import os, time
from codemod.tree.pool import beside, run

def work():
    os.write(1, b"%d\\n" % os.getpid())
    while True:
        list(run(abs, range(1), jobs=1))
        time.sleep(0.05)

with beside(work, "waiting") as result:
    os.write(1, b"%d\\n" % os.getpid())
    result()
"""


@pytest.mark.parametrize("script", [SCRIPT, BESIDE])
def test_workers_die_with_a_killed_parent(script: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        workers = {int(process.stdout.readline()) for _ in range(2)}
        assert len(workers) == 2
        process.send_signal(signal.SIGKILL)
        left = left_of(workers)
        for worker in left:
            os.kill(worker, signal.SIGKILL)
        assert left == []


def test_no_thread_of_a_finished_run_is_left_to_the_end_of_the_program() -> None:
    before = set(threading.enumerate())
    assert dict(run(abs, range(-20, 0), 2)) == {n: 20 - n for n in range(20)}
    assert set(threading.enumerate()) == before


def test_large_items_are_begun_first_and_small_ones_handed_out_together() -> None:
    chunks = list(_chunks([1, 500, *[1] * 100, 400], jobs=2))
    assert sorted(index for chunk in chunks for index in chunk) == list(range(103))
    assert chunks[:2] == [[1], [102]]
    assert max(map(len, chunks)) == 32
    assert list(_chunks([0] * 3, jobs=2)) == [[0, 1, 2]]


forking = pytest.mark.skipif(not can_fork(), reason="processes are not forked here")


@forking
def test_what_is_made_beside_is_made_in_another_process_with_workers_of_its_own() -> None:
    def work() -> tuple[int, dict[int, object]]:
        return os.getpid(), dict(run(abs, range(-20, 0), 2))

    with beside(work, "") as result:
        here = dict(run(abs, range(-20, 0), 2))
        pid, there = result()
    assert pid != os.getpid()
    assert there == here


@forking
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (SymfixError("a.yaml: is damaged"), "a.yaml: is damaged"),
        (ValueError("no"), r"counting failed: ValueError: no \(test_pool.py:\d+\)"),
        (None, "a worker process died, perhaps for want of memory; try again with --jobs 1"),
    ],
)
def test_what_fails_beside_fails_where_it_is_waited_for(error: Exception | None, message: str) -> None:
    def work() -> None:
        if error is None:
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            raise error

    with pytest.raises(SymfixError, match=f"^{message}$"), beside(work, "counting") as result:
        result()


@forking
def test_what_is_made_beside_ends_with_the_block() -> None:
    reader, writer = os.pipe()

    def work() -> None:
        os.write(writer, b"%d" % os.getpid())
        time.sleep(600)

    with beside(work, ""):
        pid = int(os.read(reader, 20))
    assert left_of([pid], 0) == []
    os.close(reader)
    os.close(writer)
