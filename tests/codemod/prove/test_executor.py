from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.model.transform import Override
from codemod.prove.executor import make_executor
from codemod.prove.target import Target
from codemod.prove.task import Settings, Task
from codemod.prove.work import prove


def test_threads_by_default() -> None:
    with make_executor("", 2) as executor:
        assert executor.submit(os.getpid).result() == os.getpid()


@pytest.mark.parametrize("address", ["ray://here", "dask:/x", "localhost:1"])
def test_another_address_is_refused(address: str) -> None:
    with pytest.raises(SymfixError, match="give dask://HOST:PORT"):
        make_executor(address, 1)


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SymfixError, match=r"pip install 'symfix\[dask\]'"):
        make_executor("dask://localhost:1", 1)


@pytest.mark.filterwarnings("default")
def test_a_cluster_works_on_tasks(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="dask's distributed is not installed")
    target = Target("python3", "3.11.2", "/include", "/torch", "2.6.0", True, "c++17")
    settings = Settings(tmp_path, tmp_path, target, None, "2.6.0")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        with make_executor(f"dask://{address}", 1) as executor:
            assert executor.submit(os.getpid).result() != os.getpid()
            override = Override((), reason="no operator runs it")
            task = Task("shard", "key", (), (override,), ())
            (found,) = executor.submit(functools.partial(prove, settings), task).result()
    assert (found.operator, found.outcome, found.reason) == ("shard", "not provable", "no operator runs it")
