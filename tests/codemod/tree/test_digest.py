from __future__ import annotations

import enum
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemod.tree.digest import digest


class Kind(enum.Enum):
    FIRST = 1
    SECOND = 2


class Pair(NamedTuple):
    left: object
    right: object


@dataclass(frozen=True)
class Record:
    kind: Kind
    held: Mapping[str, object]
    uncompared: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Other:
    kind: Kind
    held: Mapping[str, object]
    uncompared: int = 0


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3), st.binary(max_size=3))
PAIRS = st.one_of(LEAVES, st.tuples(LEAVES, LEAVES), st.frozensets(LEAVES, max_size=3))
HASHABLE = st.one_of(PAIRS, st.frozensets(PAIRS, max_size=3))
VALUES = st.recursive(
    HASHABLE,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.builds(Pair, inner, inner),
        st.builds(Record, st.sampled_from(Kind), st.dictionaries(st.text(max_size=2), inner, max_size=2)),
    ),
)


def spelled(value: Any) -> str:
    """A text that says all of a value, without an order of sets."""
    if isinstance(value, frozenset):
        return f"{{{sorted(map(spelled, value))}}}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}{[*map(spelled, value)]}"
    if isinstance(value, dict):
        return f"dict{[(key, spelled(item)) for key, item in value.items()]}"
    if isinstance(value, Record):
        return f"Record{value.kind.name, spelled(value.held), value.uncompared}"
    return f"{type(value).__name__} {value!r}"


@given(VALUES, VALUES)
def test_values_have_one_digest_where_they_are_the_same(left: object, right: object) -> None:
    assert (digest(left) == digest(right)) == (spelled(left) == spelled(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, True), (0, None), (1, 1.0), ("a", b"a"), ((), frozenset()), ((1, 2), [1, 2]), (("a", "b"), ("ab",)),
        (Pair(1, 2), (1, 2)), (Kind.FIRST, Kind.SECOND), (Record(Kind.FIRST, {}), Other(Kind.FIRST, {})),
        (Record(Kind.FIRST, {}), Record(Kind.FIRST, {}, 1)), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ("\ud800", "?"),
        ({"a": (1, 2)}, {"a": ("builtins.tuple", 1, 2)}),
    ],
)  # fmt: skip
def test_what_differs_in_any_way_has_another_digest(left: object, right: object) -> None:
    assert digest(left) != digest(right)


def test_what_has_no_content_has_no_digest() -> None:
    for value in (digest, object(), [iter(())]):
        with pytest.raises(TypeError, match="has no digest"):
            digest(value)


def test_a_digest_is_the_same_in_every_process() -> None:
    program = (
        "from codemod.tree.digest import digest\nprint(digest(({*map(str, range(99))}, ['x' * 9, {'y': 2 ** 70}])))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program], cwd=Path(__file__).parents[3], check=True, capture_output=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(printed) == 1
