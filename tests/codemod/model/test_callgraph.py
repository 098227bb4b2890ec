"""Walking a graph."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from codemod.model.callgraph import gather, shortest_ways, way

GRAPHS = st.dictionaries(st.integers(0, 8), st.lists(st.integers(0, 8), max_size=4), max_size=9)


def test_a_shortest_way() -> None:
    graph = {1: [2, 3], 2: [4], 3: [5], 4: [5], 5: [6]}
    before = shortest_ways([[1]], lambda n: graph.get(n, []))
    assert way(6, before) == [1, 3, 5, 6]


def test_roots_of_a_later_group_count_only_where_no_earlier_one_leads() -> None:
    graph = {1: [2], 2: [3], 4: [5]}
    before = shortest_ways([[1], [3, 4]], lambda n: graph.get(n, []))
    assert way(3, before) == [1, 2, 3]
    assert way(5, before) == [4, 5]


def test_the_earlier_root_wins() -> None:
    assert way(3, shortest_ways([[2, 1]], lambda n: [3] if n < 3 else [])) == [2, 3]


def test_labels_flow_round_cycles() -> None:
    graph = {1: [2], 2: [3], 3: [2, 4]}
    assert gather({1: 1, 3: 2}, lambda n: graph.get(n, [])) == {1: 1, 2: 3, 3: 3, 4: 3}


@given(GRAPHS, st.lists(st.integers(0, 8), max_size=3))
def test_both_reach_the_same(graph: dict[int, list[int]], roots: list[int]) -> None:
    before = shortest_ways([roots], lambda n: graph.get(n, []))
    found = gather({root: 1 << index for index, root in enumerate(dict.fromkeys(roots))}, lambda n: graph.get(n, []))
    assert before.keys() == found.keys()
    for node in before:
        steps = way(node, before)
        assert steps[0] in roots
        assert all(b in graph[a] for a, b in itertools.pairwise(steps))
        assert len(set(steps)) == len(steps)
