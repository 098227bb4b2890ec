"""Checks and tests are run in processes that may end at any of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codemod.prove import work
from codemod.prove.evidence import Evidence, Verdict

REPRO = """
import torch
sizes = (2, 3)
def inputs(n):
    return (torch.ones(n),)
def operator(x):
    return x + 1
"""
CURED = Evidence("foo", "cured", "k", before=Verdict("throws"), after=Verdict("passes", frames=1), repro=REPRO)


def runner(monkeypatch: pytest.MonkeyPatch, *runs: dict[str, str]) -> list[list[str]]:
    """Stands in for the process: the nth run says this much, and is done only where it has said all it was asked."""
    asked: list[list[str]] = []

    def start(settings: Any, laid: Any, folder: Path) -> None:
        job = json.loads((folder / "job.json").read_bytes())
        kind = "checks" if "checks" in job else "tests"
        said = runs[len(asked)]
        asked.append(job[kind])
        left = [one for one in job[kind] if one not in said]
        report = {kind: said, "running": {"name": left[0]} if left else None, "done": not left}
        if said != {"nothing": ""}:
            (folder / "out.json").write_text(json.dumps(report))

    monkeypatch.setattr(work, "_start", start)
    return asked


def identified(wanted: list[str]) -> dict[str, str]:
    return work._run_identified(None, "checks", wanted, [], work._Laid())  # type: ignore[arg-type]


def test_all_in_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = runner(monkeypatch, {"a": "passes", "b": "absent"})
    assert identified(["a", "b"]) == {"a": "passes", "b": "absent"}
    assert asked == [["a", "b"]]


def test_what_ends_the_process_fails_and_the_rest_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = runner(monkeypatch, {"a": "passes"}, {"c": "passes"})
    assert identified(["a", "b", "c"]) == {"a": "passes", "b": "fails", "c": "passes"}
    assert asked == [["a", "b", "c"], ["c"]]


def test_a_process_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    runner(monkeypatch, {"nothing": ""}, {"nothing": ""})
    assert identified(["a", "b"]) == {"a": "fails", "b": "fails"}


@pytest.mark.parametrize(("before", "after", "kept"), [("fails", "passes", True), ("passes", "passes", False),
                                                       ("fails", "fails", False)])  # fmt: skip
def test_a_regression_test_is_kept_where_it_tells_the_sides_apart(
    monkeypatch: pytest.MonkeyPatch, before: str, after: str, kept: bool
) -> None:
    from codemod.prove.regression import make_test

    text = make_test("foo", REPRO, 1)
    runner(monkeypatch, {text: before}, {text: after})
    both = [work._Laid(), work._Laid()]
    assert work._with_test(None, [], both, CURED).test == (text if kept else "")  # type: ignore[arg-type]
