"""Recordings of what symfix says, and what differs between two of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from compare_outputs import compare_tree, main
from corpus_recording import CHECKOUT, RUNS, TreeRecording, own_symfix
from corpus_show import show_decision

NATIVE_FUNCTIONS = "aten/src/ATen/native/native_functions.yaml"
SOURCE = b"int f(Tensor a) {\n  int n = a.size(0);\n  return n + a.numel();\n}\n"

Finding = dict[str, Any]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with recordings of examples/: `before` and `again` by this symfix, `after` by one that reads a newer
    schema of trailing_window.
    """
    folder = tmp_path_factory.mktemp("recordings")
    yaml = (CHECKOUT / "examples" / NATIVE_FUNCTIONS).read_text(encoding="utf-8")
    newer = folder / "newer.yaml"
    newer.write_text(yaml.replace("(Tensor self, int length)", "(Tensor self, SymInt length)"), encoding="utf-8")
    other = folder / "other.py"
    more = ["--vocabulary", str(newer)]
    other.write_text(
        "import subprocess, sys\n"
        f"more = [] if '--version' in sys.argv else {more!r}\n"
        f"sys.exit(subprocess.run({own_symfix()!r} + sys.argv[1:] + more).returncode)\n",
        encoding="utf-8",
    )
    assert main(["record", str(folder / "before"), "examples"]) == 0
    assert main(["record", str(folder / "again"), "examples"]) == 0
    assert main(["record", str(folder / "after"), "examples", "--symfix", f"{sys.executable} {other}"]) == 0
    return folder


def test_a_recording_holds_every_output(recordings: Path) -> None:
    recording = TreeRecording("examples", recordings / "before" / "examples")
    assert recording.findings
    assert all(recording.output(f"{run}.stdout") for run in RUNS if run != "page")
    assert json.loads(recording.output("page.data.json") or b"")["shards"]
    assert "symfix/tile_mean" in recording.commits("bundle")
    assert recording.commits("bundle").keys() < recording.commits("bundle-review").keys()
    assert recording.source("aten/src/ATen/native/Blend.cpp")


def test_two_recordings_of_one_symfix_are_the_same(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(recordings / "before"), str(recordings / "again")]) == 0
    assert capsys.readouterr().out.startswith("no difference: examples (")


def test_what_another_symfix_decides_otherwise(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = [str(recordings / "before"), str(recordings / "after")]
    assert main(["compare", *both, "--format", "json"]) == 1
    examples = json.loads(capsys.readouterr().out)["trees"]["examples"]
    assert {"scan-json.stdout", "scan.stdout", "diff-review.stdout", "page.data.json"} <= set(examples["outputs"])
    assert examples["decisions"]
    for decision in examples["decisions"]:
        assert "aten::trailing_window" in (decision["after"] or decision["before"])["operators"]
    assert any(decision["kind"] == "appeared" and decision["after"]["edits"] for decision in examples["decisions"])
    assert "symfix/trailing_window" in str(examples["commits"])

    assert main(["compare", *both]) == 1
    out = capsys.readouterr().out
    assert "c10::SymInt length" in out
    assert "no difference" not in out

    assert main(["compare", *both, "--sample", "1", "--seed", "3"]) == 1
    assert "1 of 1  examples" in capsys.readouterr().out


def test_findings_at_random_are_those_of_the_seed(recordings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outs = []
    for seed in ("1", "1", "2"):
        assert main(["sample", str(recordings / "before" / "examples"), "4", "--seed", seed]) == 0
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1] != outs[2]
    assert outs[0].count("  >") == 4


def finding(at: bytes, new: str = "", source: bytes = SOURCE, **fields: Any) -> Finding:
    """A finding about the first place of `at` in `source`, which writes `new` in its place where there is one."""
    start = source.index(at)
    edit = {"path": "a.cpp", "start": start, "end": start + len(at), "old": at.decode(), "new": new}
    line = source.count(b"\n", 0, start) + 1
    place = {"path": "a.cpp", "start": start, "end": start + len(at), "line": line, "column": 1}
    rest = {"rule": "r", "level": "safe", "function": "f", "operators": ["o"], "message": f"`{at.decode()}`"}
    lists = {"edits": [edit] if new else [], "reach": [], "flow": [], "group": f"a.cpp:f:{line}"}
    return {**place, **rest, "reason": "", "refusal": "", **lists, **fields}


def recording_of(folder: Path, findings: list[Finding], source: bytes = SOURCE, code: int = 1) -> TreeRecording:
    """A recording of a tree of one source."""
    (folder / "sources").mkdir(parents=True)
    (folder / "sources" / "a.cpp").write_bytes(source)
    (folder / "recorded.json").write_text(json.dumps({"tree": source.decode()}))
    for run in RUNS:
        (folder / f"{run}.exit").write_text(f"{code}\n")
        (folder / f"{run}.stderr").write_text("symfix: disk full\n" if code > 1 else "")
    (folder / "scan-json.stdout").write_text(json.dumps({"findings": findings}))
    return TreeRecording(folder.name, folder)


def test_each_kind_of_difference_is_told(tmp_path: Path) -> None:
    old = [finding(b"int n", "SymInt n"), finding(b"size", "sym_size"), finding(b"n +", "gone")]
    new = [
        finding(b"int n", "auto n"),
        finding(b"size", level="manual", refusal="loop-bound", reason="it bounds a loop"),
        finding(b"numel", "sym_numel", rule="s"),
    ]
    before, after = recording_of(tmp_path / "before", old), recording_of(tmp_path / "after", new)
    comparison = compare_tree(before, after)
    assert comparison.outputs == ["scan-json.stdout"]
    kinds = {
        kind: [decision.finding["message"] for decision in some]
        for kind, some in comparison.differences.kinds().items()
    }
    assert kinds == {"appeared": ["`numel`"], "vanished": ["`n +`"], "level": ["`size`"], "edits": ["`int n`"]}
    rules = comparison.differences.by_rule()
    assert rules["s"] == {"appeared": 1}
    assert rules["r"] == {"vanished": 1, "changed": 2, "level": 1, "edits": 2, "refusal": 1, "reason": 1}

    (changed,) = (decision for decision in comparison.differences.decisions if decision.kind == "edits")
    lines = [line.plain.strip() for line in show_decision(changed, before, after, context=1)]
    assert lines[0] == "a.cpp:2:1  safe r  f  [o]"
    assert "-  SymInt n = a.size(0);" in lines
    assert "+  auto n = a.size(0);" in lines


def test_positions_are_carried_over_where_the_tree_differs(tmp_path: Path) -> None:
    """Lines come before and after what is decided, and one with a decision goes: that one is the only difference."""
    source = b"// head\n" + SOURCE.replace(b"  int n = a.size(0);\n", b"").replace(b"}", b"// tail\n}")
    old = [finding(b"int n", "SymInt n"), finding(b"numel", "sym_numel")]
    new = [finding(b"numel", "sym_numel", source=source)]
    comparison = compare_tree(recording_of(tmp_path / "one", old), recording_of(tmp_path / "other", new, source))
    assert comparison.other_tree
    assert comparison.differences.sources == ("a.cpp",)
    assert [(decision.kind, decision.finding["message"]) for decision in comparison.differences.decisions] == [
        ("vanished", "`int n`")
    ]


def test_a_field_that_one_symfix_lacks_is_said_and_not_compared(tmp_path: Path) -> None:
    before = recording_of(tmp_path / "before", [finding(b"numel", "sym_numel")])
    after = recording_of(tmp_path / "after", [finding(b"numel", "sym_numel", certainty=1)])
    differences = compare_tree(before, after).differences
    assert (differences.one_sided, differences.decisions) == (("certainty",), [])


def test_what_failed_is_never_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("before", "after"):
        recording_of(tmp_path / name / "tree", [], code=2)
    assert main(["compare", str(tmp_path / "before"), str(tmp_path / "after")]) == 0
    out = capsys.readouterr().out
    assert out.count("failed, so that little is compared: tree: ") == len(RUNS)
    assert "tree: bundle: exit 2: symfix: disk full" in out


def test_a_tree_of_one_recording_is_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("before/a", "before/b", "after/a"):
        recording_of(tmp_path / name, [])
    assert main(["compare", str(tmp_path / "before"), str(tmp_path / "after")]) == 1
    assert capsys.readouterr().out.startswith("b: recorded in ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["record", "out", "absent"], "absent: not a folder"),
        (["record", "out", "trees/a", "other/a"], "a: two trees of this name"),
        (["record", "recorded", "trees/a"], "recorded/a: exists already"),
        (["compare", "recorded", "trees"], "trees: holds no recording"),
        (["sample", "absent", "1"], "absent: holds no recording"),
    ],
)
def test_bad_input_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    recording_of(tmp_path / "recorded" / "a", [])
    for folder in ("trees/a", "other/a"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"compare_outputs.py: {said}")
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()
