from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from codemod.model.transform import Override
from codemod.prove import isolate, orchestrate
from codemod.prove.evidence import Evidence, EvidenceStore, Outcome
from codemod.prove.orchestrate import ProofRequest, Proved, prove_all
from codemod.prove.target import Target
from codemod.prove.task import Settings, Task

TARGET = Target("python3", "3.11.2", "/include", "/torch", "2.6.0", True, "c++17")


def evidence(name: str, outcome: Outcome = "cured", torch: str = "2.6.0", runner: str = "r1") -> Evidence:
    versions = {"torch": torch, "tree": "2.6.0", "python": "3.11.2", "compiler": "", "runner": runner}
    return Evidence(name, outcome, f"key-{name}", versions=versions)


class Run:
    """A run over shards whose evidence is given; `worked` has those that were not known."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.worked: list[str] = []
        self.outcomes: dict[str, Outcome] = {}
        self.store = EvidenceStore(folder / "evidence")
        self.settings = Settings(folder, folder, TARGET, None, "2.6.0", runner="r1")
        monkeypatch.setattr(orchestrate, "prove", self.work)

    def work(self, settings: Settings, task: Task) -> list[Evidence]:
        self.worked.append(task.shard)
        return [evidence(task.shard, self.outcomes.get(task.shard, "cured"))]

    def prove(self, *names: str, again: bool = False) -> Iterator[Proved]:
        wanted = [ProofRequest(n, f"key-{n}", lambda n=n: Task(n, f"key-{n}", (), (), ())) for n in names]  # type: ignore[misc]
        return prove_all(self.settings, wanted, self.store, ThreadPoolExecutor(2), 2, again)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return Run(tmp_path, monkeypatch)


def test_every_shard_is_proved_and_kept(run: Run) -> None:
    names = [f"s{number}" for number in range(9)]
    assert sorted(proved.shard for proved in run.prove(*names)) == names
    assert all(run.store.all(f"key-{name}") == [evidence(name)] for name in names)


def test_what_is_known_is_not_run_again(run: Run) -> None:
    list(run.prove("a", "b"))
    assert [proved.reused for proved in run.prove("a", "b")] == [True, True]
    assert sorted(run.worked) == ["a", "b"]
    assert [proved.reused for proved in run.prove("a", again=True)] == [False]


def test_evidence_over_another_torch_is_not_quoted(run: Run) -> None:
    run.store.save(evidence("a", torch="2.13.0"))
    assert [proved.reused for proved in run.prove("a")] == [False]


def test_what_another_runner_found_is_run_again(run: Run) -> None:
    run.store.save(evidence("a", runner="r0"))
    assert [proved.reused for proved in run.prove("a", "a")] == [False, False]
    assert [proved.reused for proved in run.prove("a")] == [True]


def test_what_could_not_be_proved_is_tried_again(run: Run) -> None:
    run.outcomes["a"] = "not provable"
    list(run.prove("a"))
    assert [proved.reused for proved in run.prove("a")] == [False]


def test_an_operator_that_is_named_is_run_beside_what_is_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*named: str) -> Proved:
        override = Override(("aten::a", "aten::b"))
        request = ProofRequest("a", "key-a", lambda: Task("a", "key-a", (), (override,), ()), frozenset(named))
        (proved,) = prove_all(run.settings, [request], run.store, ThreadPoolExecutor(1), 1)
        return proved

    assert not asked().reused
    monkeypatch.setattr(orchestrate, "prove", lambda settings, task: [replace(evidence("a"), operator="b")])
    assert asked("aten::a").reused
    assert asked("aten::c").reused  # no run of this shard shows it
    assert [entry.operator for entry in asked("aten::b").evidence] == ["b"]
    assert sorted(entry.operator for entry in run.store.all("key-a")) == ["a", "b"]
    assert asked("aten::b").reused


def test_stopping_early_starts_nothing_more(run: Run) -> None:
    proved = prove_all(
        run.settings,
        (ProofRequest(f"s{n}", f"key-s{n}", lambda n=n: Task(f"s{n}", f"key-s{n}", (), (), ())) for n in range(50)),  # type: ignore[misc]
        run.store, ThreadPoolExecutor(1), 1,
    )  # fmt: skip
    next(proved)
    proved.close()
    assert isolate.stopping()
    isolate.resume()
    assert len(run.worked) < 50


def test_what_a_run_needs_is_asked_for_once_a_task_is_made_and_not_for_kept_evidence(run: Run) -> None:
    asked: list[str] = []

    def make() -> Task:
        asked.append("task")
        return Task("s", "key-s", (), (), ())

    def whole() -> Settings:
        asked.append("whole")
        return run.settings

    request = ProofRequest("s", "key-s", make)
    for _ in range(2):
        assert [p.shard for p in prove_all(run.settings, [request], run.store, ThreadPoolExecutor(2), 2, whole=whole)]
        assert asked == ["task", "whole"]
