"""A short run of fuzz.py on `examples/`, and the questions it asks of a run, on what must not pass them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import cast

import pytest
from fuzz import report, run_rounds
from fuzz_documents import make_pyproject, mutate_json, mutate_yaml, redirected
from fuzz_mutations import mutations_of
from fuzz_nesting import CPP_NESTS, PYTHON_NESTS, cpp_nest, python_nest
from fuzz_promises import (
    Bounds,
    Span,
    Violation,
    check_printable,
    check_run,
    check_syntax,
    check_unchanged,
    compiles,
    cpp_errors,
    differences,
    edits_of,
    made_edits,
    names_any,
    snapshot,
)
from fuzz_round import Round, Surroundings
from fuzz_server import Outcome, Server, wait
from fuzz_special import SPECIALS
from fuzz_trees import EXAMPLES, Source

from tests.conftest import drawn

BOUNDS = Bounds(seconds=20, megabytes=600, limit=90)


def test_damaged_trees_break_no_promise(tmp_path: Path) -> None:
    """Six rounds, and fifteen with `--hypothesis-profile search`; fuzz.py runs any number."""
    numbers = range(1, drawn(15) + 1)
    tally = run_rounds(Source.of(EXAMPLES), 1, numbers, 1, BOUNDS, tmp_path)
    assert tally.rounds == len(numbers)
    assert tally.edits > 0
    assert not tally.failed, report(tally, 0)


@pytest.mark.parametrize(("work", "timed_out"), [("sum(range(1 << 26))", False), ("time.sleep(600)", True)])
def test_what_is_slow_does_not_hang(work: str, timed_out: bool, tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", f"import time; {work}"], start_new_session=True)
    assert wait(process.pid, time.monotonic(), 0.5)["timed_out"] == timed_out
    process.returncode = 0  # it was waited for


def outcome(code: int = 0, err: bytes = b"", out: bytes = b"", **more: float) -> Outcome:
    values = {"seconds": 1.0, "processor": 1.0, **more}
    return Outcome(("scan",), code, out, err, megabytes=10, process=1, timed_out=False, orphaned=False, **values)


def promises(found: list[Violation]) -> list[str]:
    return [violation.promise for violation in found]


@pytest.mark.parametrize(
    ("run", "broken"),
    [
        (outcome(1, b"symfix: a.cpp: left alone\n"), []),
        (outcome(2, b"symfix: a.cpp: cannot be read; make it readable\n"), []),
        (outcome(2, b"symfix: cannot be read\n"), ["message names the file"]),
        (outcome(2), ["message"]),
        (outcome(2, b"a.cpp is bad\n"), ["message"]),
        (outcome(2, b"symfix: a.cpp: " + b"x" * 3_000 + b"\n"), ["message"]),
        (outcome(2, b"symfix: a.cpp\n" * 50), ["message"]),
        (outcome(1, b"Traceback (most recent call last):\n  File\nKeyError: 1\n"), ["no traceback"]),
        (outcome(2, b"symfix: a.cpp: IndexError: list index out of range (registrations.py:99)\n"), ["no traceback"]),
        (outcome(3), ["exit code"]),
        (outcome(-11), ["no crash"]),
        (outcome(processor=21), ["time"]),
    ],
)
def test_what_a_run_owes(run: Outcome, broken: list[str]) -> None:
    assert promises(check_run(run, BOUNDS, ["aten/a.cpp"])) == broken


def test_a_name_is_known_by_its_printable_parts() -> None:
    assert names_any(b"symfix: d/nl\\n::error.cpp: bad", ["d/nl\n::error.cpp"])
    assert not names_any(b"symfix: cannot be read", ["d/nl\n::error.cpp"])


@pytest.mark.parametrize(
    ("form", "out", "broken"),
    [
        ("text", b"a.cpp:1: x\n", []),
        ("text", b"\x1b[31mred\n", ["no control characters"]),
        ("text", b"a\n::error file=x::y\n", ["no command in a log"]),
        ("github", b"::error file=a.cpp,line=1::x\n", []),
        ("github", b"::error file=b.cpp,line=1::x\n", ["no command in a log"]),
        ("github", b"::error file=c\\x9b.cpp,line=1::x\n", []),
        ("github", b"::set-output name=a::b\n", ["no command in a log"]),
        ("markdown", b"`@fuzz-mention`\n\n```\nFixes #31337 @fuzz-mention\n```\n", []),
        ("markdown", b"Fixes #31337 @fuzz-mention\n", ["nobody is called"] * 2),
        ("json", b"{}", []),
        ("json", b"{", ["a document"]),
        ("csv", b'a,b\n"1\n2",3\n', []),
        ("csv", b"a,b\n1\n", ["a document"]),
        ("patch", b"\x1b", []),
    ],
)
def test_what_a_terminal_and_a_log_are_given(form: str, out: bytes, broken: list[str]) -> None:
    assert promises(check_printable(outcome(out=out), form, {"a.cpp", "c\udc9b.cpp"})) == broken


def test_edits_are_all_that_changes() -> None:
    edits = [Span(1, 2, b"b", b"XY"), Span(3, 3, b"", b"Z"), Span(4, 5, b"e", b"")]
    assert made_edits(b"abcde", b"abcde", edits) == 0
    assert made_edits(b"abcde", b"aXYcZd", edits) == 2 + 1
    assert made_edits(b"abcde", b"abcZde", edits) == 1
    assert made_edits(b"abcde", b"aXYcde!", edits) is None
    assert made_edits(b"abcde", b"AbcZde", edits) is None
    plan = {"findings": [{"edits": [{"path": "a", "start": 1, "end": 2, "old": "b", "new": "\udcff"}]}] * 2}
    assert edits_of(json.dumps(plan).encode()) == {"a": [Span(1, 2, b"b", b"\xff")]}
    assert edits_of(b"[]") == {}


def test_syntax_errors_are_counted() -> None:
    assert cpp_errors(b"int f() { return 1; }") == 0
    assert 0 < cpp_errors(b"int f() { return 1 }") < cpp_errors(b"int f() { return 1 } int g() { return ) ; }")
    assert promises(check_syntax("a.cpp", b"int a;", b"int a")) == ["no syntax error gained"]
    assert not check_syntax("a.cpp", b"int a", b"int b")
    assert promises(check_syntax("a.py", b"a = 1", b"a = (1")) == ["no syntax error gained"]
    assert not check_syntax("a.py", b"a = (", b"b = (")


def test_a_snapshot_sees_bytes_modes_and_links(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe", 0o600)
    before = snapshot(tmp_path)
    assert not check_unchanged("x", before, snapshot(tmp_path))
    (tmp_path / "a").write_bytes(b"2")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("b")
    (tmp_path / "new").mkdir()
    os.chmod(tmp_path / "pipe", 0o640)
    assert differences(before, snapshot(tmp_path)) == ["a", "link", "new", "pipe"]
    assert differences(before, snapshot(tmp_path, {"a", "new", "pipe"})) == ["a", "link", "pipe"]
    assert [violation.detail for violation in check_unchanged("x", before, snapshot(tmp_path))] == [
        "'a' has other bytes",
        "'link' has other bytes",
        "'new' is new",
    ]


class FakeServer:
    """Runs a command that shows, and writes, `2` in place of what `a.cpp` holds."""

    _DIFF = b"diff --git a/a.cpp b/a.cpp\n--- a/a.cpp\n+++ b/a.cpp\n@@ -1 +1 @@\n-int a = 1;\n+int a = 2;\n"

    def run(self, arguments: Sequence[str], folder: Path, *_: object) -> Outcome:
        if arguments[0] == "apply":
            (folder / "a.cpp").write_bytes(b"int a = 2;\n")
        return outcome(0, out=self._DIFF if arguments[0] == "diff" else b"")


def round_of(folder: Path) -> Round:
    around = Surroundings(cast(Server, FakeServer()), Source.of(EXAMPLES), BOUNDS, Path("/usr/bin"), folder)
    for name in ("tree", "tmp", "log"):
        (folder / name).mkdir()
    (folder / "tree" / "a.cpp").write_bytes(b"int a = 1;\n")
    return Round(around, folder, Random(2))


def test_a_link_called_git_is_no_git_folder(tmp_path: Path) -> None:
    case = round_of(tmp_path)
    (case.tree / ".git").symlink_to(".")
    case.symfix("apply", writes=(".",))
    assert not case.violations
    (case.tree / ".git").unlink()
    (case.tree / ".git").mkdir()
    (case.tree / ".git" / "config").write_bytes(b"")
    (case.tree / "a.cpp").unlink()
    (case.tree / "a.cpp").hardlink_to(case.tree / ".git" / "config")
    case.symfix("apply", writes=(".",))
    assert "the git folder stays as it is" in promises(case.violations)


@pytest.mark.parametrize(("plan", "broken"), [(b"", []), (b'{"findings": []}', ["bytes outside an edit"])])
def test_what_is_written_is_compared_with_a_plan_where_there_is_one(
    plan: bytes, broken: list[str], tmp_path: Path
) -> None:
    case = round_of(tmp_path)
    case.change("safe", plan=plan)
    assert promises(case.violations) == broken


@pytest.mark.parametrize("path", ["extension/neighbor_ops.cpp", "extension/neighbor_metas.py"])
def test_the_same_seed_makes_the_same_damage(path: str) -> None:
    source = (EXAMPLES / path).read_bytes()
    for name, mutate in mutations_of(path).items():
        results = [mutate(source, Random(f"{name} {seed}")) for seed in range(8)]
        assert results == [mutate(source, Random(f"{name} {seed}")) for seed in range(8)]
        assert any(result != source for result in results), name
        assert isinstance(mutate(b"", Random(1)), bytes), name


def test_the_same_seed_makes_the_same_documents() -> None:
    document = json.dumps({"findings": [{"path": "a.cpp", "edits": []}], "files": {"a.cpp": "0" * 64}}).encode()
    operators = (EXAMPLES / "aten/src/ATen/native/native_functions.yaml").read_bytes()
    for make in (lambda c: mutate_json(document, c), lambda c: mutate_yaml(operators, c), make_pyproject):
        results = [make(Random(seed)) for seed in range(60)]
        assert results == [make(Random(seed)) for seed in range(60)]
        assert len(set(results)) > 10
    assert redirected(json.loads(document), "a.cpp", "b")["files"] == {"b": "0" * 64}


@pytest.mark.parametrize("name", list(SPECIALS))
def test_what_is_planted_is_named(name: str, tmp_path: Path) -> None:
    made = []
    for seed in range(12):
        tree = tmp_path / str(seed)
        Source.of(EXAMPLES).build(tree, Random(seed))
        before = snapshot(tree)
        try:
            made += SPECIALS[name](tree, Random(seed))
        except OSError:
            continue
        assert len(made) == 0 or snapshot(tree) != before or name == "rights taken"
    assert made


def test_nests_are_what_they_say() -> None:
    for kind in CPP_NESTS:
        assert len(cpp_nest(kind, 50)) > len(cpp_nest(kind, 5)) >= len(cpp_nest(kind, 5, open_only=True))
    for kind in PYTHON_NESTS:
        assert len(python_nest(kind, 50)) > len(python_nest(kind, 5))
        assert compiles(python_nest(kind, 3)), kind
