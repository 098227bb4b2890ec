"""What an analysis asked of a tree: what its plan rests on, and what one process tells another of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from codemod.tree.checkout import StatKey

Question = tuple[Any, ...]
"""The name of a method of `codemod.tree.project.CheckoutProject`, and its arguments."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What an analysis asked of the tree: every file with one of `suffixes`, and single files by name."""

    suffixes: tuple[str, ...]
    names: tuple[str, ...]


class Record(NamedTuple):
    """What a `codemod.tree.project.CheckoutProject` noted while it was asked."""

    hashes: Mapping[str, str]
    stats: Mapping[str, StatKey]
    failures: Collection[str]
    suffixes: Collection[str]
    names: Collection[str]
