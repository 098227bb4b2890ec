"""Sizes as polynomials: what a shape's numbers are made of, brought into one form so that equal ones are seen to be.

A size is a sum of products of *atoms*. An atom is a number that a function is given (`x.shape[0]`, `k`), or what an
operation that is no sum and no product makes of sizes (`(n // k)`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

Size = frozenset[tuple[tuple[str, ...], int]]
"""The products, each as its sorted atoms, with how often; equal sizes are equal sets."""

Facts = Mapping[str, Size]
"""What atoms are known to be."""

_LONGEST = 400
_TERMS = 16
_DEPTH = 12

ZERO: Size = frozenset()
ONE: Size = frozenset({((), 1)})


def number(value: int) -> Size:
    """A known size."""
    return frozenset({((), value)}) if value else ZERO


def named(name: str) -> Size:
    """A size that is an atom."""
    return frozenset({((name,), 1)})


def constant(size: Size) -> int | None:
    """The number that a size is, or None."""
    if not size:
        return 0
    ((atoms, count), *others) = size
    return count if not atoms and not others else None


def atom_of(size: Size) -> str:
    """The atom that a size is, "" where it is none."""
    return next((atoms[0] for atoms, count in size if len(size) == len(atoms) == count == 1), "")


def text(size: Size) -> str:
    """A size as one text, the same for equal ones."""
    terms = sorted(("*".join(atoms), count) for atoms, count in size)
    return " + ".join(f"{count}*{atoms}" if atoms else str(count) for atoms, count in terms) or "0"


def plus(left: Size, right: Size, sign: int = 1) -> Size:
    """`left + right`, or `left - right` where `sign` is -1."""
    counts = dict(left)
    for atoms, count in right:
        counts[atoms] = counts.get(atoms, 0) + sign * count
    return frozenset((atoms, count) for atoms, count in counts.items() if count)


def times(left: Size, right: Size) -> Size:
    """The product."""
    counts: dict[tuple[str, ...], int] = {}
    for (first, a), (second, b) in itertools.product(left, right):
        atoms = tuple(sorted(first + second))
        counts[atoms] = counts.get(atoms, 0) + a * b
    return frozenset((atoms, count) for atoms, count in counts.items() if count)


def product(sizes: Iterable[Size]) -> Size:
    """The product of all; 1 for none."""
    result = ONE
    for size in sizes:
        result = times(result, size)
    return result


class Sizes:
    """Makes sizes, and compares them; remembers what each atom is made of.

    `facts` are known of the sizes that the function is given.
    """

    def __init__(self, facts: Facts | None = None, like: Sizes | None = None) -> None:
        self._facts = facts or {}
        self._made: dict[str, tuple[str, tuple[Size, ...]]] = {} if like is None else like._made
        self._unseen: set[str] = set() if like is None else like._unseen

    def given(self, facts: Facts) -> Sizes:
        """The same sizes where `facts` are known."""
        return Sizes(facts, self)

    def atom(self, name: str, seen: bool = True) -> Size:
        """A size by its name. One that is not `seen` may be equal to any other."""
        if not seen:
            self._unseen.add(name)
        return self._facts.get(name, named(name))

    def made(self, operation: str, *operands: Size) -> Size:
        """What an operation makes of sizes: "//", "%", "max", "min", "/" (what divides), "broadcast" or "slice"."""
        result = _OPERATIONS[operation](*operands)
        if result is not None:
            return result
        if operation in ("max", "min"):
            if ZERO in operands and all(_is_count(size) for size in operands):
                return ZERO if operation == "min" else plus(operands[0], operands[1])
            operands = tuple(sorted(operands, key=text))
        name = f"({f' {operation} '.join(map(text, operands))})"
        if len(name) > _LONGEST:
            name = f"(… {len(self._made)})"
            self._unseen.add(name)
        self._made[name] = operation, operands
        if operation == "slice":
            self._unseen.add(name)
        return self.atom(name)

    def same(self, first: Size, second: Size, facts: Facts) -> bool | None:
        """Whether two sizes are equal, given `facts`; None where that is not to be seen.

        Sizes of different tensors are not, though all that a function is called with may have them equal.
        """
        difference = self._resolved(plus(first, second, -1), facts)
        if not difference:
            return True
        if constant(difference) is not None:
            return False
        atoms = {atom for atoms, _ in difference for atom in atoms}
        return None if any(map(self._is_unseen, (*atoms, *self._facts))) else False

    def where_equal(self, first: Size, second: Size) -> list[dict[str, Size]]:
        """What is known where two sizes are equal: for each way they can be, what atoms are; [] if not to be seen.

        `a * b == 0` is so where a is 0, and where b is; so is `min(a, b) == 0`.
        """
        difference = plus(first, second, -1)
        if not difference:
            return [{}]
        if len(difference) == 1:
            ((atoms, _),) = difference
            return [facts for atom in dict.fromkeys(atoms) for facts in self._where_zero(atom)]
        for atoms, count in sorted(difference):
            if len(atoms) == 1 and count in (1, -1):
                rest = plus(difference, frozenset({(atoms, count)}), -1)
                if not any(atoms[0] in others for others, _ in rest):
                    return [{atoms[0]: times(rest, number(-count))}]
        return []

    def _where_zero(self, atom: str) -> list[dict[str, Size]]:
        operation, operands = self._made.get(atom, ("", ()))
        if operation == "min" and all(_is_count(operand) for operand in operands):
            return [facts for operand in operands for facts in self.where_equal(operand, ZERO)]
        return [{atom: ZERO}]

    def constant(self, size: Size, facts: Facts) -> int | None:
        """The number that a size is, given `facts`, or None."""
        return constant(self._resolved(size, facts))

    def _is_unseen(self, atom: str, depth: int = 0) -> bool:
        if atom in self._unseen or depth > _DEPTH:
            return True
        operands = self._made.get(atom, ("", ()))[1]
        return any(self._is_unseen(inner, depth + 1) for size in operands for atoms, _ in size for inner in atoms)

    def _resolved(self, size: Size, facts: Facts, depth: int = 0) -> Size:
        """A size with all facts put in."""
        if depth > _DEPTH or not facts:
            return size
        result = ZERO
        for atoms, count in size:
            term = number(count)
            for atom in atoms:
                term = times(term, self._of_atom(atom, facts, depth))
            result = plus(result, term)
            if len(result) > _TERMS:
                return size
        return result

    def _of_atom(self, atom: str, facts: Facts, depth: int) -> Size:
        if atom in facts:
            return self._resolved(facts[atom], facts, depth + 1)
        if atom in self._made:
            operation, operands = self._made[atom]
            return self.made(operation, *(self._resolved(operand, facts, depth + 1) for operand in operands))
        return named(atom)


def _is_count(size: Size) -> bool:
    """Whether a size is made of the sizes of tensors by sums and products alone, so that it is not below 0."""
    return all(count > 0 and all(".shape[" in atom or "numel(" in atom for atom in atoms) for atoms, count in size)


def _quotient(left: Size, right: Size) -> Size | None:
    exact = _divided(left, right)
    if exact is not None:
        return exact
    dividend, divisor = constant(left), constant(right)
    return number(dividend // divisor) if dividend is not None and divisor else None


def _divided(left: Size, right: Size) -> Size | None:
    """What times `right` is `left`, where that is to be seen."""
    if left == right and constant(right) != 0:
        return ONE
    if not left and right:
        return ZERO
    if len(right) != 1:
        return None
    ((divisor, count),) = right
    result = set()
    for atoms, number_of in left:
        rest = list(atoms)
        for atom in divisor:
            if atom not in rest:
                return None
            rest.remove(atom)
        if number_of % count:
            return None
        result.add((tuple(rest), number_of // count))
    return frozenset(result)


def _remainder(left: Size, right: Size) -> Size | None:
    if _divided(left, right) is not None:
        return ZERO
    dividend, divisor = constant(left), constant(right)
    return number(dividend % divisor) if dividend is not None and divisor else None


def _extreme(choose: Callable[[int, int], int]) -> Callable[[Size, Size], Size | None]:
    def extreme(left: Size, right: Size) -> Size | None:
        if left == right:
            return left
        apart = constant(plus(left, right, -1))
        if apart is None:
            return None
        return left if choose(apart, 0) == apart else right

    return extreme


def _broadcast(left: Size, right: Size) -> Size | None:
    if left == right or constant(right) == 1 or not left:
        return left
    return right if constant(left) == 1 or not right else None


def _slice(size: Size, first: Size, last: Size) -> Size | None:
    """The elements of `size` from `first` to before `last`."""
    if first == ZERO and last in (size, ZERO):
        return last
    constants = tuple(constant(part) for part in (size, first, last))
    if constants[0] == 0:
        return ZERO
    if None in constants:
        return None
    return number(len(range(*slice(constants[1], constants[2]).indices(constants[0] or 0))))


_OPERATIONS: Mapping[str, Callable[..., Size | None]] = {
    "//": _quotient,
    "/": _divided,
    "%": _remainder,
    "max": _extreme(max),
    "min": _extreme(min),
    "broadcast": _broadcast,
    "slice": _slice,
}


def joined(facts: Sequence[Facts]) -> Facts:
    """All facts as one; the first wins."""
    result: dict[str, Size] = {}
    for some in facts:
        for atom, size in some.items():
            result.setdefault(atom, size)
    return result
