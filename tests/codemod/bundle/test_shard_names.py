"""Names of shards from plan to plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.bundle import shard_names
from codemod.bundle.shard_names import Cluster, ShardNames
from codemod.errors import SymfixError
from codemod.model.findings import Finding, Level, Mode
from codemod.model.groups import Group


def cluster(key: str, *names: str, functions: tuple[str, ...] = ("a.cc:f",)) -> Cluster:
    found = []
    for member in functions:
        path, _, function = member.partition(":")
        found.append(Group((Finding(path, 0, 1, 1, 1, Mode.LEAK, "r", Level.SAFE, function, (), "m"),)))
    return Cluster(key, names, "helper", names[0], found)


def test_a_name_stays_with_its_key(tmp_path: Path) -> None:
    names = ShardNames()
    assert list(names.assign([cluster("helper:b", "x")])) == ["x"]
    names.save(tmp_path)
    again = ShardNames.load(tmp_path)
    assert "x" in again
    found = again.assign([cluster("helper:a", "x", "x-a", functions=("c.cc:g",)), cluster("helper:b", "x", "x-b")])
    assert {name: assigned.key for name, assigned in found.items()} == {"x": "helper:b", "x-a": "helper:a"}


def test_a_shard_keeps_its_name_when_its_functions_move() -> None:
    names = ShardNames()
    names.assign([cluster("helper:a.cc:f", "old-name")])
    assert list(names.assign([cluster("helper:b.cc:f", "new-name", functions=("b.cc:f",))])) == ["old-name"]


def test_the_name_of_a_shard_that_is_gone_is_not_given_to_another() -> None:
    names = ShardNames()
    names.assign([cluster("helper:a.cc:f", "x")])
    assert list(names.assign([cluster("helper:b.cc:g", "X", functions=("b.cc:g",))])) == ["X-2"]


def test_no_shard_is_named_as_the_index_of_a_series() -> None:
    names = ShardNames()
    assert list(names.assign([cluster("op:a", "series"), cluster("op:b", "\u202e", functions=("b.cc:g",))])) == [
        "series-2", "shard"
    ]  # fmt: skip


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"format": "symfix-shard-names", "shards": {"x": 1}}'])
def test_damaged_names_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "shards.json").write_bytes(content)
    with pytest.raises(SymfixError, match=r"shards\.json: (not JSON|damaged) .*; remove it"):
        ShardNames.load(tmp_path)


def test_names_that_had_to_be_numbered_are_read_again(tmp_path: Path) -> None:
    names = ShardNames()
    keys = ["op:a#b", "op:a#9x", "op:a#2"]
    assigned = names.assign([cluster(key, "x" * 200, functions=(f"{n}.cc:f{n}",)) for n, key in enumerate(keys)])
    names.save(tmp_path)
    assert list(assigned) == [name for name in assigned if name in ShardNames.load(tmp_path)]
    assert len(assigned) == 3


def test_names_are_made_as_far_as_they_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def file_name(name: str) -> str:
        made.append(name)
        return name

    monkeypatch.setattr(shard_names, "file_name", file_name)
    assigned = ShardNames().assign([cluster(f"helper:{number:02}", f"x{number:02}") for number in range(40)])
    assert len(assigned) == len(made) == 40
