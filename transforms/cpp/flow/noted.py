"""A vocabulary that notes what is looked up in it, for what was found out with it to be kept between runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from codemod.tree.digest import digest
from transforms.cpp.reach.vocabulary import Vocabulary

K = TypeVar("K")
V = TypeVar("V")
Lookup = tuple[str, object]
"""A field of the vocabulary, and the key that is looked up in it."""


class _Set(Collection[K]):
    def __init__(self, values: Collection[K], field: str, lookups: set[Lookup]) -> None:
        self._values, self._field, self._lookups = values, field, lookups

    def __contains__(self, key: object) -> bool:
        self._lookups.add((self._field, key))
        return key in self._values

    def __iter__(self) -> Iterator[K]:
        raise TypeError(f"all {self._field} of a vocabulary are no lookup")

    def __len__(self) -> int:
        raise TypeError(f"all {self._field} of a vocabulary are no lookup")


class _Mapping(_Set[K], Mapping[K, V]):
    _values: Mapping[K, V]

    def __getitem__(self, key: K) -> V:
        self._lookups.add((self._field, key))
        return self._values[key]

    def get(self, key: K, default: V | None = None) -> V | None:  # type: ignore[override]
        """As of a dict."""
        self._lookups.add((self._field, key))
        return self._values.get(key, default)


def noting(vocabulary: Vocabulary, lookups: set[Lookup]) -> Vocabulary:
    """`vocabulary`, with what is looked up in it put into `lookups`. Only single keys can be looked up."""
    return replace(
        vocabulary,
        schemas=_Mapping(vocabulary.schemas, "schemas", lookups),
        functions=_Mapping(vocabulary.functions, "functions", lookups),
        names=_Set(vocabulary.names, "names", lookups),
        members=_Mapping(vocabulary.members, "members", lookups),
        aliases=_Mapping(vocabulary.aliases, "aliases", lookups),
        classes=_Set(vocabulary.classes, "classes", lookups),
        unserved=_Set(vocabulary.unserved, "unserved", lookups),
        defined=_Mapping(vocabulary.defined, "defined", lookups),
        asking_macros=_Set(vocabulary.asking_macros, "asking_macros", lookups),
    )


class Answers:
    """What a vocabulary answers to lookups, as digests."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._digests: dict[Lookup, str] = {}

    def digest(self, lookups: Collection[Lookup]) -> str:
        """A digest of all the answers; the same in another run where each of them is equal."""
        rest = self._vocabulary.mixes_integers
        return digest((rest, frozenset((field, key, self._answer((field, key))) for field, key in lookups)))

    def _answer(self, lookup: Lookup) -> str:
        if lookup not in self._digests:
            field, key = lookup
            values = getattr(self._vocabulary, field)
            self._digests[lookup] = digest(values.get(key) if isinstance(values, Mapping) else key in values)
        return self._digests[lookup]
