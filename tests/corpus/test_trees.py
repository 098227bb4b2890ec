"""symfix on kernels of a real release of PyTorch, analysed once for all tests here; they skip where it is absent."""

from __future__ import annotations

import json
import pickle
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from corpus_trees import apply_in, changed_files, converted_sites, copy_kernels, find_tree, symfix
from reach_report import reach_of, source_paths
from tree_sitter import Query, QueryCursor

from codemod.model.decisions import Choice, Decision, decide, followed, standing
from codemod.model.findings import Level
from codemod.model.groups import make_groups
from codemod.model.operators import Reach
from codemod.model.plan import Plan
from codemod.model.transform import load_transforms
from codemod.tree.cache import Cache
from codemod.tree.checkout import find_checkout
from codemod.tree.project import CheckoutProject
from codemod.writing.changes import make_changes
from tests.sharing import of_all_workers, one_at_a_time
from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.facts import FileFacts, Function
from transforms.cpp.reading.syntax import LANGUAGE, errors, parse

TREE = find_tree("pytorch-2.6.0")
LOSS = "aten/src/ATen/native/LossNLL.cpp"

pytestmark = pytest.mark.skipif(TREE is None, reason="no tree pytorch-2.6.0: see Real trees in CONTRIBUTING.md")

Reached = list[tuple[Function, Reach]]


class Runs(NamedTuple):
    """What runs over a copy of the tree's kernels gave, one after the other with one cache."""

    tree: Path
    """The copy as it was."""
    plan: bytes
    """The plan of all of it."""
    loss: bytes
    """What a scan of one operator in one file prints."""
    facts: Mapping[str, FileFacts]
    """Of each C++ file in the folders that hold operators."""
    applied: Path
    """A copy with symfix applied at the safe level after all that."""
    cache: Path
    """The user's cache folder of these runs."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Made by the worker that asks first; `applied` is changed by none."""
    folder = of_all_workers(tmp_path_factory) / "pytorch-2.6.0"
    folder.mkdir(exist_ok=True)
    made = folder / "runs.pickle"
    with one_at_a_time(folder / "lock"):
        if not made.exists():
            made.write_bytes(pickle.dumps(_runs(folder)))
    runs: Runs = pickle.loads(made.read_bytes())
    return runs


def _runs(folder: Path) -> Runs:
    assert TREE is not None
    tree, cache = copy_kernels(TREE, folder / "tree"), folder / "cache"
    copy = shutil.copytree(tree, folder / "pytorch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        plan = symfix(["scan", "--format", "json"], copy).stdout
        loss = symfix(["scan", "--op", "cross_entropy_loss", "--format", "json", LOSS], copy).stdout
        project = CheckoutProject(find_checkout(copy), Cache.of(copy, cache / "symfix"))
        facts = project.facts(extract, source_paths(copy))
        assert project.failures == []
        assert apply_in(copy) == 1
    return Runs(tree, plan, loss, facts, copy, cache)


@pytest.fixture(scope="module")
def reached(runs: Runs) -> Reached:
    functions = {(f.path, f.start): f for file in runs.facts.values() for f in file.functions}
    return [(functions[key], reach) for key, reach in reach_of(runs.tree, runs.facts).items() if key in functions]


def test_at_least_150_sites_are_converted(runs: Runs) -> None:
    assert converted_sites(runs.tree, runs.applied, changed_files(runs.tree, runs.applied)) >= 150


def test_a_second_apply_changes_nothing(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(runs.cache))
    changed = changed_files(runs.tree, runs.applied)
    before = {path: (runs.applied / path).read_bytes() for path in changed}
    assert apply_in(runs.applied) == 0
    assert before == {path: (runs.applied / path).read_bytes() for path in changed_files(runs.tree, runs.applied)}


def test_cross_entropy_is_found_and_its_chain_converted(runs: Runs) -> None:
    """The case of pytorch/pytorch#182004."""
    found = [
        finding
        for finding in json.loads(runs.loss)["findings"]
        if finding["function"].endswith("cross_entropy_loss_prob_target")
    ]
    replaced = " ".join(finding["message"] for finding in found)
    assert "weight" in replaced
    after = (runs.applied / LOSS).read_text(encoding="utf-8")
    body = after[after.index("Tensor cross_entropy_loss_prob_target(") :]
    body = body[: body.index("\n}\n")]
    assert "weight.sym_numel()" in body
    assert "self.sym_size(class_dim)" in body


def test_what_is_accepted_is_what_is_written(runs: Runs) -> None:
    """Decisions made at random on all of it."""
    plan = Plan.from_json(runs.plan)
    groups = [group for group in make_groups(plan.findings) if group.edits and group.level <= Level.REVIEW]
    assert len({group.id for group in groups}) == len(groups) > 100
    chance = random.Random(7)
    for share in (0.1, 0.6):
        accepted = [group for group in groups if chance.random() < share]
        chosen = {group.id for group in accepted}
        made: list[Decision] = [
            decide(group, Choice.ACCEPT if group.id in chosen else Choice.REJECT, plan.files) for group in groups
        ]
        held = standing(groups, plan.files, made)
        written = make_changes(
            find_checkout(runs.tree).listing(), plan, [group for group, _ in followed(groups, held)], load_transforms(),
            lambda function, items: list(map(function, items)),
        )  # fmt: skip
        assert not written.refused
        places: dict[str, set[tuple[int, int, bytes]]] = {}
        for group in accepted:
            for edit in group.edits:
                places.setdefault(edit.path, set()).add((edit.start, edit.end, edit.new))
        assert [change.path for change in written.files] == sorted(places)
        for change in written.files:
            new, at = b"", 0
            for start, end, text in sorted(places[change.path]):
                new += change.old[at:start] + text
                at = end
            assert change.new == new + change.old[at:], change.path


def test_a_helper_is_reached_through_its_operator(reached: Reached) -> None:
    """The case of pytorch/pytorch#182004."""
    (reach,) = [reach for function, reach in reached if function.name == "cross_entropy_loss_prob_target"]
    assert reach.operators == ("cross_entropy_loss",)
    assert [step.text for step in reach.steps] == [
        "cross_entropy_loss is CompositeImplicitAutograd",
        "cross_entropy_loss_symint calls cross_entropy_loss_prob_target",
    ]


def test_no_structured_kernel_is_reached(reached: Reached) -> None:
    assert len(reached) > 3000
    assert [function.qualified for function, _ in reached if function.structured] == []


def test_hardly_a_reached_function_lies_in_a_parse_error(runs: Runs, reached: Reached) -> None:
    """Every function is found, and nearly every one that may be edited is parsed without an error inside."""
    query = Query(LANGUAGE, "(function_definition body: (_) @body) @function")
    by_file: dict[str, list[Function]] = {}
    for function, _ in reached:
        if function.candidates:
            by_file.setdefault(function.path, []).append(function)
    broken = []
    for path, functions in by_file.items():
        tree, _ = parse((runs.tree / path).read_bytes())
        matches = [captures for _, captures in QueryCursor(query).matches(tree.root_node)]
        nodes = {captures["body"][0].start_byte: captures["function"][0] for captures in matches}
        for function in functions:
            node = nodes.get(function.body)
            if node is None or node.end_byte != function.end or any(errors(node)):
                broken.append(function.qualified)
    assert len(broken) <= 5, broken
