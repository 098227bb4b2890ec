"""What one test file says about the failures it expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codemod.model.records import compact

Names = Literal["operator", "module", "test"]
Kind = Literal["xfail", "skip", "decorate"]
EVERY: tuple[str, ...] = ()


@compact
@dataclass(frozen=True, slots=True)
class Test:
    """A test that reads a registry. Empty `devices` and `dtypes` mean every one."""

    owner: str
    name: str
    devices: tuple[str, ...] = EVERY
    dtypes: tuple[str, ...] = EVERY


@compact
@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a registry: the bytes ``[start, end)`` of a set's element, a dict's item, or a statement.

    `name` is the operator as OpInfo calls it (`nn.functional.cross_entropy`), an overload (`aten.equal.default`), a
    module class, or the name of a test, which `names` tells. `tests` are those that read the registry.
    """

    start: int
    end: int
    line: int
    registry: str
    kind: Kind
    names: Names
    name: str
    variant: str = ""
    devices: tuple[str, ...] = EVERY
    dtypes: tuple[str, ...] = EVERY
    reason: str = ""
    tests: tuple[Test, ...] = ()


@compact
@dataclass(frozen=True, slots=True)
class FileRegistries:
    """The entries of one file, and the tests in it that read a registry of another file, by its name."""

    entries: tuple[Entry, ...] = ()
    foreign: tuple[tuple[str, Test], ...] = ()
