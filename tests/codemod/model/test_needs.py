"""Which shard needs which, and the branches that follow from it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemod.errors import SymfixError
from codemod.model.needs import Needs, ancestry, in_order, parents


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    """Bases without circles: each name needs some of those before it, in an order that is not the alphabet's."""
    names = draw(st.permutations("abcdefghij"))
    return {
        name: tuple(sorted(draw(st.sets(st.sampled_from(names[:index]), max_size=4)) if index else ()))
        for index, name in enumerate(names)
    }


@given(graphs())
def test_every_branch_holds_all_that_its_shard_needs(bases: dict[str, tuple[str, ...]]) -> None:
    parent = parents(bases)
    for name in bases:
        line = []
        below = name
        while below:
            assert below not in line
            line.append(below)
            below = parent[below]
        assert set(ancestry(name, bases)) <= set(line)


@given(graphs())
def test_what_is_needed_comes_first(bases: dict[str, tuple[str, ...]]) -> None:
    order = in_order(bases)
    assert sorted(order) == sorted(bases)
    assert all(order.index(base) < order.index(name) for name in bases for base in bases[name])


def test_shards_that_need_nothing_stay_apart() -> None:
    assert parents({"a": (), "b": (), "c": ("a",)}) == {"a": "", "b": "", "c": "a"}


def test_two_bases_of_one_shard_are_put_above_one_another() -> None:
    assert parents({"a": (), "b": (), "c": ("a", "b"), "d": ("b",)}) == {"a": "", "b": "a", "c": "b", "d": "b"}


def test_a_line_of_any_length() -> None:
    names = [f"{number:04}" for number in range(2_000)]
    bases = {name: names[number - 1 : number] if number else [] for number, name in enumerate(names)}
    assert ancestry(names[-1], bases) == names
    assert parents(bases)[names[-1]] == names[-2]


def test_related_shards_keep_the_order_in_which_they_already_stand() -> None:
    needs = Needs(["a", "b"])
    needs.require("a", "b")
    needs.relate("b", "a")
    assert (needs.of("a"), needs.of("b")) == (("b",), ())


def test_a_circle_and_a_base_that_was_dropped_are_refused() -> None:
    needs = Needs(["a", "b", "c"])
    needs.require("b", "a")
    needs.require("c", "b")
    with pytest.raises(SymfixError, match="a and c are based on each other"):
        needs.require("a", "c")
    with pytest.raises(SymfixError, match="a is based on gone, which is not there"):
        needs.require("a", "gone")
