from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]

SCRIPT = """
import os, time
from codemod.pool import run

def work(number):
    print(os.getpid(), flush=True)
    time.sleep(60)

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
        deadline = time.monotonic() + 30
        while any(_runs(worker) for worker in workers) and time.monotonic() < deadline:
            time.sleep(0.05)
        left = [worker for worker in workers if _runs(worker)]
        for worker in left:
            os.kill(worker, signal.SIGKILL)
        assert left == []


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # Dead, and not yet reaped by whoever inherited it.
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"
