"""When the outcome of a function is found out again, and that one which is kept is what would be found."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from codemod.model.transform import Project
from tests.transforms.cpp.flow.test_helper_twins import TWINS
from tests.transforms.cpp.flow.test_helpers import CONVERTED, KEPT
from tests.transforms.cpp.snippets import HEADER, SCHEMAS, MemoryProject, findings
from transforms.cpp.flow import outcome, outcomes
from transforms.cpp.flow.answers import Rewrites
from transforms.cpp.flow.assumptions import Assumptions, Key, Trace
from transforms.cpp.flow.noted import Lookup
from transforms.cpp.flow.outcome import Outcome, Task
from transforms.cpp.flow.outcomes import Outcomes
from transforms.cpp.reach import headers
from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.facts import Function, Slot
from transforms.cpp.rules import load_rewrites

SOURCE = """
static int64_t half(int64_t n) { return n; }
static int64_t other(int64_t n) { return n; }
Tensor f(const Tensor& x) { return x.narrow(0, 0, half(x.size(0))); }
Tensor g(const Tensor& x) { return x.narrow(0, 0, other(x.size(0))); }
"""
ALL = ["half", "other", "f", "g"]
SOURCES: Mapping[str, Mapping[str, str]] = {
    "kept": KEPT,
    "converted": {name: before for name, (before, _) in CONVERTED.items()},
    "twins": {name: before for name, (before, _) in TWINS.items()},
}


def _project(root: Path, source: str = SOURCE) -> Project:
    yaml = root / "schemas.yaml"
    yaml.write_text(SCHEMAS + "- func: size.int(Tensor self, int dim) -> int\n")
    return MemoryProject(root, {"source.cpp": source, "c10.h": HEADER}, yaml)


def _outcomes(project: Project) -> tuple[Outcomes, dict[str, Function]]:
    facts = project.facts(extract, project.files((".cpp",)))
    sources = headers.locate(project)
    vocabulary = headers.load_vocabulary(project, facts, sources, headers.load_schemas(project, sources), asked=True)
    functions = {function.name: function for function in facts["source.cpp"].functions}
    return Outcomes(project, vocabulary, load_rewrites()), functions


def _followed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the functions that are followed from now on."""
    names: list[str] = []

    def analyse(rewrites: Rewrites, task: Task) -> tuple[list[Outcome], frozenset[Lookup]]:
        names.extend(function.name for function in task.functions)
        return outcome.analyse(rewrites, task)

    monkeypatch.setattr(outcomes, "analyse", analyse)
    return names


def test_a_function_is_followed_again_where_an_answer_that_it_was_given_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, functions = _outcomes(_project(tmp_path))
    followed = _followed(monkeypatch)
    half = functions["half"]
    taken, returned = (Slot(half.path, half.start, index) for index in (0, -1))

    def again(assumptions: Assumptions) -> list[str]:
        del followed[:]
        assert [o.function for o in found.of(functions.values(), assumptions).values()] == list(functions.values())
        return followed

    nothing, settled = Assumptions(), Assumptions(frozenset({taken, returned}))
    assert again(nothing) == list(functions)
    assert again(nothing) == []
    assert again(settled) == ["half", "f"]
    assert again(nothing) == again(settled) == []
    assert again(Assumptions(dead_ends=frozenset({(half.path, half.start)}))) == ["f"]
    assert again(Assumptions(dead_operators=frozenset({"narrow"}))) == ["f", "g"]
    assert again(Assumptions(dead_operators=frozenset({"expand"}))) == []
    assert again(Assumptions(renamed=frozenset({(half.path, half.start)}))) == ["f"]


def test_what_no_symbolic_tensor_reaches_is_followed_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, functions = _outcomes(_project(tmp_path))
    reached = functions["f"]
    followed = _followed(monkeypatch)
    for passive in (set(), {(reached.path, reached.start)}):
        (own,) = found.of([reached], Assumptions(), passive).values()
        assert bool(own.refusals) != bool(passive)
    assert followed == ["f", "f"]


@pytest.mark.parametrize(("call", "stuck"), [("y.expand({1})", True), ("y.expand()", True), ("y.size()", False)])
def test_what_has_a_size_without_a_dimension_is_a_container(tmp_path: Path, call: str, stuck: bool) -> None:
    """What `scatter` of torch/csrc/cuda/comm.h returns is taken for a Tensor, as ATen's operator does."""
    source = f"void f(const Tensor& x) {{ auto y = at::sum(x); {call}; }}"
    found, functions = _outcomes(_project(tmp_path, source))
    dead = Assumptions(dead_operators=frozenset({"expand", "size"}))
    (own,) = found.of(functions.values(), dead).values()
    assert own.stuck is stuck


@pytest.mark.parametrize("sources", SOURCES.values(), ids=SOURCES)
def test_what_is_kept_is_what_would_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: Mapping[str, str]
) -> None:
    kept = {name: findings(tmp_path, source) for name, source in sources.items()}
    followed = _followed(monkeypatch)
    for source in sources.values():
        findings(tmp_path, source)
    before = len(followed)
    monkeypatch.setattr(Trace, "holds", lambda trace, facts, slots: False)
    assert {name: findings(tmp_path, source) for name, source in sources.items()} == kept
    assert len(followed) > 2 * before  # there was something to keep


class KeepingProject(MemoryProject):
    """A project that keeps values for the next of its kind, as pickles."""

    kept: dict[str, dict[str, bytes]]

    def recall(self, kind: str, paths: Sequence[str]) -> Mapping[str, Any]:
        """What is in `kept` of the same bytes."""
        of_kind = {path: pickle.loads(blob) for path, blob in self.kept.get(kind, {}).items()}
        return {path: of_kind[path][1] for path in paths if path in of_kind and of_kind[path][0] == self.read(path)}

    def keep(self, kind: str, values: Mapping[str, object]) -> None:
        """In `kept`."""
        blobs = {path: pickle.dumps((self.read(path), value)) for path, value in values.items()}
        self.kept.setdefault(kind, {}).update(blobs)


@pytest.mark.parametrize(
    ("sources", "schemas", "again"),
    [
        ((SOURCE, ""), SCHEMAS, []),
        ((SOURCE, "int64_t elsewhere(int64_t n);\n"), SCHEMAS, []),
        ((SOURCE, ""), SCHEMAS + "- func: unasked(Tensor self) -> Tensor\n", []),
        ((SOURCE + "// more\n", ""), SCHEMAS, ALL),
        ((SOURCE, "int64_t half(double n);\n"), SCHEMAS, ALL),
        ((SOURCE, ""), SCHEMAS.replace("SymInt length", "int length"), ALL),
    ],
    ids=["nothing", "another function", "another schema", "source", "overload", "schema"],
)
def test_what_an_earlier_run_found_is_taken_over_where_what_it_looked_up_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: tuple[str, str], schemas: str, again: list[str]
) -> None:
    kept: dict[str, dict[str, bytes]] = {}

    def run(sources: tuple[str, str], schemas: str, kept: dict[str, dict[str, bytes]]) -> Mapping[Key, Outcome]:
        yaml = tmp_path / "schemas.yaml"
        yaml.write_text(schemas)
        project = KeepingProject(tmp_path, {"source.cpp": sources[0], "other.cpp": sources[1], "c10.h": HEADER}, yaml)
        project.kept = kept
        found, functions = _outcomes(project)
        made = found.of(functions.values(), Assumptions())
        found.keep()
        return made

    run((SOURCE, ""), SCHEMAS, kept)
    fresh = run(sources, schemas, {})
    followed = _followed(monkeypatch)
    assert run(sources, schemas, kept) == fresh
    assert followed == again
    assert run(sources, schemas, kept) == fresh
    assert followed == again
