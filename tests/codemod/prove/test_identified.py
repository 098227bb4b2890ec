"""Checks and tests are run in processes that may end at any of them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
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


ONE_SIDE = work._Overlay()


def runner(monkeypatch: pytest.MonkeyPatch, runs: Mapping[work._Overlay, Sequence[dict[str, str]]]) -> list[list[str]]:
    """Stands in for the process, and returns what it will have been asked, run by run.

    The nth run of a side, both of which run at once, says this much. It is done only where it has said all.
    """
    asked: list[list[str]] = []
    left_to_say = {overlay: iter(said) for overlay, said in runs.items()}

    def start(settings: Any, overlay: work._Overlay, folder: Path) -> None:
        job = json.loads((folder / "job.json").read_bytes())
        kind = "checks" if "checks" in job else "tests"
        said = next(left_to_say[overlay])
        asked.append(job[kind])
        left = [name for name in job[kind] if name not in said]
        report = {kind: said, "running": {"name": left[0]} if left else None, "done": not left}
        if said != {"nothing": ""}:
            (folder / "out.json").write_text(json.dumps(report))

    monkeypatch.setattr(work, "_start", start)
    return asked


def identified(wanted: list[str]) -> dict[str, str]:
    return work._run_identified(None, "checks", wanted, [], ONE_SIDE)  # type: ignore[arg-type]


def test_all_in_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = runner(monkeypatch, {ONE_SIDE: [{"a": "passes", "b": "absent"}]})
    assert identified(["a", "b"]) == {"a": "passes", "b": "absent"}
    assert asked == [["a", "b"]]


def test_what_ends_the_process_fails_and_the_rest_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = runner(monkeypatch, {ONE_SIDE: [{"a": "passes"}, {"c": "passes"}]})
    assert identified(["a", "b", "c"]) == {"a": "passes", "b": "fails", "c": "passes"}
    assert asked == [["a", "b", "c"], ["c"]]


def test_a_process_that_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    runner(monkeypatch, {ONE_SIDE: [{"nothing": ""}, {"nothing": ""}]})
    assert identified(["a", "b"]) == {"a": "fails", "b": "fails"}


@pytest.mark.parametrize(("before", "after", "kept"), [("fails", "passes", True), ("passes", "passes", False),
                                                       ("fails", "fails", False)])  # fmt: skip
def test_a_regression_test_is_kept_where_it_tells_the_sides_apart(
    monkeypatch: pytest.MonkeyPatch, before: str, after: str, kept: bool
) -> None:
    from codemod.prove.regression import make_test

    text = make_test("foo", REPRO, 1, "aot_eager")
    both = work._Overlay(("before",)), work._Overlay(("after",))
    runner(monkeypatch, dict(zip(both, ([{text: before}], [{text: after}]), strict=True)))
    assert work._with_test(None, [], both, CURED).test == (text if kept else "")  # type: ignore[arg-type]


@pytest.mark.parametrize("report", ["[" * 100_000, "[]", "{", "\0"])
def test_a_report_that_is_none_is_no_report(tmp_path: Path, report: str) -> None:
    (tmp_path / "out.json").write_text(report)
    assert work._read(tmp_path / "out.json") is None


def test_what_stands_in_the_place_of_a_report_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    assert [work._read(tmp_path / name) for name in ("fifo", "link", "folder", "gone")] == [None] * 4
