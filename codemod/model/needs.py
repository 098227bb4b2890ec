"""Dependencies between shards: an acyclic graph, and the parent that each shard's branch starts from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from codemod.errors import SymfixError


class Needs:
    """What each of `names` needs. Earlier names serve later ones."""

    def __init__(self, names: Iterable[str]) -> None:
        self._bases: dict[str, dict[str, None]] = {name: {} for name in names}

    def of(self, name: str) -> tuple[str, ...]:
        """The bases of `name`, sorted."""
        return tuple(sorted(self._bases[name]))

    def require(self, name: str, base: str) -> None:
        """Add what the user asked for. Raises SymfixError where there is no such shard, or a circle."""
        if base not in self._bases:
            raise SymfixError(f"the shard {name} is based on {base}, which is not there; keep it, or drop {name} too")
        if name in self._below(base):
            raise SymfixError(f"the shards {name} and {base} are based on each other; take one of the bases away")
        self._bases[name][base] = None

    def relate(self, name: str, base: str) -> None:
        """Put one above the other, `name` on `base` unless they already stand the other way round."""
        if name not in self._below(base):
            self._bases[name][base] = None

    def _below(self, name: str) -> set[str]:
        """`name` and everything it needs."""
        return set(ancestry(name, self._bases))


def ancestry(name: str, bases: Mapping[str, Iterable[str]]) -> list[str]:
    """`name` and all it needs, directly or not, what is needed before what needs it."""
    done: dict[str, None] = {}

    def visit(needed: str) -> None:
        if needed not in done:
            for base in sorted(bases[needed]):
                visit(base)
            done[needed] = None

    visit(name)
    return list(done)


def in_order(bases: Mapping[str, Iterable[str]]) -> list[str]:
    """All names, sorted, save that what is needed comes before what needs it."""
    done: dict[str, None] = {}
    for name in sorted(bases):
        done.update(dict.fromkeys(needed for needed in ancestry(name, bases) if needed not in done))
    return list(done)


def parents(bases: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The branch that each name's branch starts from, "" for the tree as it is.

    A branch starts from one other, so shards that one shard needs together are put above one another.
    """
    parent: dict[str, str] = {}
    for name in in_order(bases):
        tip = ""
        for base in sorted(bases[name], key=lambda base: (-len(_line(base, parent)), base)):
            tip = _join(tip, base, parent)
        parent[name] = tip
    return parent


def _join(tip: str, base: str, parent: dict[str, str]) -> str:
    """The end of a line that holds both `tip` and `base`: what is below base and not below tip is put above tip."""
    if not tip or tip in _line(base, parent):
        return base
    held = _line(tip, parent)
    if base in held:
        return tip
    lowest = next(candidate for candidate in reversed(_line(base, parent)) if candidate not in held)
    parent[lowest] = tip
    return base


def _line(name: str, parent: Mapping[str, str]) -> list[str]:
    """`name` and everything below it, nearest first."""
    line = []
    while name:
        line.append(name)
        name = parent[name]
    return line
