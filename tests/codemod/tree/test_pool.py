from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from codemod.tree.pool import _chunks, run
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


def test_workers_die_with_a_killed_parent() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True
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
