"""What one of pytest-xdist's workers makes for all."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def of_all_workers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of this run of the tests, the same for each of pytest-xdist's workers."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Other workers wait at the lock `path` until this one is done."""
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
