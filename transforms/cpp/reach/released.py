"""The C++ of a release of torch that travels with symfix, each name made from its rows when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from transforms.cpp.reading.facts import Function, Param
from transforms.releases.data import base_name, rows
from transforms.releases.version import Release, spelled
from transforms.schema.schema import Schema, parse_schema

T = TypeVar("T")


class _ByName(Mapping[str, tuple[T, ...]]):
    """Rows by name; `_make` turns one, with its number, into what it stands for."""

    def __init__(self, named: Iterator[tuple[str, tuple[int, str]]]) -> None:
        self._rows: dict[str, list[tuple[int, str]]] = {}
        for name, row in named:
            self._rows.setdefault(name, []).append(row)
        self._made: dict[str, tuple[T, ...]] = {}

    def _make(self, number: int, row: str) -> T:
        raise NotImplementedError

    def __getitem__(self, name: str) -> tuple[T, ...]:
        if name not in self._made:
            self._made[name] = tuple(self._make(number, row) for number, row in self._rows[name])
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class ReleasedSchemas(_ByName[Schema]):
    """The schemas of the operators of a release by base name."""

    def __init__(self, release: Release) -> None:
        numbered = enumerate(rows("operators", release))
        super().__init__((base_name(row), (number, row)) for number, row in numbered)

    def _make(self, number: int, row: str) -> Schema:
        return parse_schema(row.partition("\t")[0])


class ReleasedFunctions(_ByName[Function]):
    """The functions that the headers of a release declare, by name.

    Their path is no file's, and absolute, as that of an installed header; `start` is the number of the row.
    """

    def __init__(self, release: Release) -> None:
        self._path = f"/torch-{spelled(release)}/include"
        numbered = enumerate(rows("functions", release))
        super().__init__((row[: row.index("\t")], (number, row)) for number, row in numbered)

    def classes(self) -> set[str]:
        """The names of classes with a function."""
        heads = {tuple(row.split("\t", 3)[1:3]) for group in self._rows.values() for _, row in group}
        return {_parent(scope, parent) for scope, parent in heads if parent}

    def _make(self, number: int, row: str) -> Function:
        name, scope, parent, flags, returns, *types = row.split("\t")
        params = tuple(Param(spelling.removeprefix("="), "", spelling[: spelling[:1] == "="]) for spelling in types)
        return Function(
            name=name,
            qualified=f"{scope}::{name}" if scope else name,
            path=self._path,
            start=number,
            end=number,
            body=number if "d" in flags else -1,
            line=0,
            params=params,
            returns=returns,
            parent=_parent(scope, parent),
            template="t" in flags,
        )


def released_names(release: Release) -> tuple[set[str], dict[str, str]]:
    """The macros of a release, and its aliases with the type that each stands for."""
    macros: set[str] = set()
    aliases: dict[str, str] = {}
    for row in rows("names", release):
        kind, name, *alias = row.split("\t")
        if kind == "macro":
            macros.add(name)
        else:
            aliases[name] = "\t".join(alias)
    return macros, aliases


def _parent(scope: str, parent: str) -> str:
    return scope.rpartition("::")[2] if parent == "=" else parent
