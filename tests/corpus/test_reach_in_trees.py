"""Facts and reach on a real release of PyTorch; skipped where the tree is absent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from corpus_trees import find_tree
from reach_report import facts_of, reach_of
from tree_sitter import Query, QueryCursor

from codemod.model.operators import Reach
from transforms.cpp.reading.facts import FileFacts, Function
from transforms.cpp.reading.syntax import LANGUAGE, errors, parse

TREE = find_tree("pytorch-2.6.0")

pytestmark = pytest.mark.skipif(TREE is None, reason="no tree pytorch-2.6.0: see Real trees in CONTRIBUTING.md")

Reached = list[tuple[Function, Reach]]


@pytest.fixture(scope="module")
def facts() -> Mapping[str, FileFacts]:
    assert TREE is not None
    return facts_of(TREE)


@pytest.fixture(scope="module")
def reached(facts: Mapping[str, FileFacts]) -> Reached:
    assert TREE is not None
    functions = {(f.path, f.start): f for file in facts.values() for f in file.functions}
    return [(functions[key], reach) for key, reach in reach_of(TREE, facts).items() if key in functions]


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


def test_hardly_a_reached_function_lies_in_a_parse_error(reached: Reached) -> None:
    """Every function is found, and nearly every one that may be edited is parsed without an error inside."""
    assert TREE is not None
    query = Query(LANGUAGE, "(function_definition body: (_) @body) @function")
    by_file: dict[str, list[Function]] = {}
    for function, _ in reached:
        if function.candidates:
            by_file.setdefault(function.path, []).append(function)
    broken = []
    for path, functions in by_file.items():
        tree, _ = parse((Path(TREE) / path).read_bytes())
        matches = [captures for _, captures in QueryCursor(query).matches(tree.root_node)]
        nodes = {captures["body"][0].start_byte: captures["function"][0] for captures in matches}
        for function in functions:
            node = nodes.get(function.body)
            if node is None or node.end_byte != function.end or any(errors(node)):
                broken.append(function.qualified)
    assert len(broken) <= 5, broken
