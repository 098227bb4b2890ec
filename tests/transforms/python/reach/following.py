"""Functions that symbols reach, and their values, in sources that are at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from transforms.python.reach.bodies import Bodies
from transforms.python.reach.passing import follow
from transforms.python.reach.reached import Reached, reach
from transforms.python.reach.tree import Definition, SourceTree
from transforms.python.reading.bodies import Wanted, wanted_bodies
from transforms.python.reading.extract import extract
from transforms.python.reading.facts import Body
from transforms.python.reading.named import Named, named_in


def tree_of(sources: Mapping[str, str]) -> SourceTree:
    """The tree of `sources`."""
    return SourceTree({path: extract(path, source.encode()) for path, source in sources.items()})


def body_of(
    tree: SourceTree, definitions: Iterable[Definition], sources: Mapping[str, str]
) -> Callable[[Definition], Body]:
    """Says what `definitions` of the tree of `sources` do with values."""

    def read(wanted: Mapping[str, Wanted]) -> Mapping[str, Mapping[str, Body]]:
        return {path: wanted_bodies(path, sources[path].encode(), asked) for path, asked in wanted.items()}

    return Bodies(tree, definitions, read).of


def followed(sources: Mapping[str, str]) -> tuple[SourceTree, dict[Definition, Reached]]:
    """The tree of `sources`, and what is reached in it, with the values of parameters."""
    tree = tree_of(sources)

    def named(wanted: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[Named, ...]]:
        return {path: named_in(path, sources[path].encode(), asked) for path, asked in wanted.items()}

    functions = reach(tree, named_in=named)
    follow(tree, functions, body_of(tree, functions, sources))
    return tree, functions
