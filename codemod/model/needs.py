"""Dependencies between shards: an acyclic graph, and the parent that each shard's branch starts from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from codemod.errors import SymfixError


class Needs:
    """What each of `names` needs. Earlier names serve later ones."""

    def __init__(self, names: Iterable[str]) -> None:
        self._bases: dict[str, dict[str, None]] = {name: {} for name in names}
        self._above: dict[str, dict[str, None]] = {name: {} for name in self._bases}

    def of(self, name: str) -> tuple[str, ...]:
        """The bases of `name`, sorted."""
        return tuple(sorted(self._bases[name]))

    def require(self, name: str, base: str) -> None:
        """Add what the user asked for. Raises SymfixError where there is no such shard, or a circle."""
        if base not in self._bases:
            raise SymfixError(f"the shard {name} is based on {base}, which is not there; keep it, or drop {name} too")
        if self._stands_on(base, name):
            raise SymfixError(f"the shards {name} and {base} are based on each other; take one of the bases away")
        self._put(name, base)

    def relate(self, name: str, base: str) -> None:
        """Put one above the other, `name` on `base` unless they already stand the other way round."""
        if not self._stands_on(base, name):
            self._put(name, base)

    def _put(self, name: str, base: str) -> None:
        self._bases[name][base] = None
        self._above[base][name] = None

    def _stands_on(self, name: str, base: str) -> bool:
        """Whether `name` is `base`, or needs it, directly or not.

        Looked for from both ends by turns: a name that is new has nothing above it, however long the line below is.
        """
        below, above = {name: None}, {base: None}
        for lower, upper in zip(_reached(below, self._bases), _reached(above, self._above), strict=False):
            if lower in above or upper in below:
                return True
        return False


def _reached(met: dict[str, None], related: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Those in `met` and all that they lead to, which `met` then holds too."""
    pending = list(met)
    while pending:
        name = pending.pop()
        yield name
        fresh = [next_name for next_name in related[name] if next_name not in met]
        met.update(dict.fromkeys(fresh))
        pending += fresh


def ancestry(name: str, bases: Mapping[str, Iterable[str]]) -> list[str]:
    """`name` and all it needs, directly or not, what is needed before what needs it."""
    return _below(name, bases, set())


def in_order(bases: Mapping[str, Iterable[str]]) -> list[str]:
    """All names, sorted, save that what is needed comes before what needs it."""
    met: set[str] = set()
    return [needed for name in sorted(bases) if name not in met for needed in _below(name, bases, met)]


def _below(name: str, bases: Mapping[str, Iterable[str]], met: set[str]) -> list[str]:
    """`name` and all it needs that was not `met`, which then is: what is needed before what needs it."""
    done: list[str] = []
    met.add(name)
    pending = [(name, iter(sorted(bases[name])))]
    while pending:
        needing, needed = pending[-1]
        base = next((base for base in needed if base not in met), None)
        if base is None:
            done.append(needing)
            pending.pop()
        else:
            met.add(base)
            pending.append((base, iter(sorted(bases[base]))))
    return done


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
    held = set(_line(tip, parent))
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
