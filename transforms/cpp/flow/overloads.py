"""Overloads of functions and methods: which of them a call means, as long as its sizes are integers.

That one has to be called afterwards as well, or its counterpart for SymInts: a SymInt converts to a Scalar, an optional
or a SymFloat, where the integer that it was had an overload of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from transforms.cpp.flow.engine import Flow
from transforms.cpp.reach.headers import same_function
from transforms.cpp.reading.facts import Function, Slot
from transforms.cpp.reading.types import Type

_EXACT, _ARITHMETIC, _CONVERTED, _NEVER = range(4)
"""How near a parameter is to a value (C++ standard, "Implicit conversion sequences")."""
_NUMBERS = frozenset({"int", "float", "bool"})
_NO_NUMBER = frozenset({"tensor", "list", "options"})
"""Kinds of parameters that no number converts to."""
_TAKES_NO_TENSOR = _NUMBERS | {"ints", "scalar", "string", "options"}
_SAME = ({"int64_t", "long", "long long", "ptrdiff_t", "SymIntType"}, {"int", "int32_t"}, {"IntArrayRef", "ArrayRef"})
"""Types that are one, on some platform at least."""


def meant(flow: Flow, candidates: Sequence[Function], values: Sequence[Type]) -> list[Function]:
    """Those of `candidates` that a call with `values` may mean while what symfix makes symbolic is an integer."""
    if len(candidates) < 2:
        return list(candidates)
    ranks = [[_rank(flow, function, index, value) for index, value in enumerate(values)] for function in candidates]
    viable = [index for index, row in enumerate(ranks) if _NEVER not in row] or range(len(candidates))

    def beaten(index: int) -> bool:
        return any(_is_nearer(candidates[o], ranks[o], candidates[index], ranks[index]) for o in viable)

    return [candidates[index] for index in viable if not beaten(index)]


def is_among(flow: Flow, function: Function, meant_before: Iterable[Function], arguments: int) -> bool:
    """Whether `function` is one of those that a call meant, or the counterpart of one for SymInts."""
    return any(
        function is other
        or same_function(function) == same_function(other)
        or all(_is_counterpart(flow, function, other, index) for index in range(arguments))
        for other in meant_before
    )


def _is_counterpart(flow: Flow, function: Function, other: Function, index: int) -> bool:
    """Whether a parameter is that of another function, with SymInts in the place of integers where it has them."""
    if index >= min(len(function.params), len(other.params)):
        return index >= max(len(function.params), len(other.params))
    ours, theirs = (flow.type_of(f.params[index].type) for f in (function, other))
    while ours.kind == theirs.kind == "wrap" and ours.args and theirs.args:
        ours, theirs = ours.args[0], theirs.args[0]
    if ours.kind != theirs.kind or (theirs.symbolic and not ours.symbolic):
        return False
    return ours.kind not in ("other", "unknown") or ours.name == theirs.name


def _is_nearer(function: Function, ranks: Sequence[int], other: Function, others: Sequence[int]) -> bool:
    pairs = list(zip(ranks, others, strict=True))
    if not all(ours <= theirs for ours, theirs in pairs):
        return False
    return any(ours < theirs for ours, theirs in pairs) or (other.template and not function.template)


def _rank(flow: Flow, function: Function, index: int, value: Type) -> int:
    """How near a parameter is to a value, as it was before symfix made it symbolic."""
    if index >= len(function.params):
        return _CONVERTED  # `...`
    kind = flow.type_of(function.params[index].type)
    deduced = function.template and kind.kind == "other" and kind.name not in flow.vocabulary.classes
    if deduced or kind.kind == "unknown" or value.kind in ("unknown", "lambda", "braces", "iter"):
        return _EXACT
    is_symbol = value.origins is not None and not value.origins
    if is_symbol and flow.asked.is_settled(Slot(function.path, function.start, index)):
        return _EXACT
    if kind.symbolic != is_symbol and kind.kind in ("int", "ints", "float"):
        return _NEVER if is_symbol else _CONVERTED
    if kind.kind == value.kind:
        return _EXACT if _same_type(kind, value) else _ARITHMETIC if kind.kind in _NUMBERS else _CONVERTED
    if value.kind in _NUMBERS:
        return _ARITHMETIC if kind.kind in _NUMBERS else _NEVER if kind.kind in _NO_NUMBER else _CONVERTED
    if value.kind == "tensor" and kind.kind in _TAKES_NO_TENSOR:
        return _NEVER
    return _CONVERTED


def _same_type(kind: Type, value: Type) -> bool:
    """Whether a parameter has the very type of a value of its kind; of a value that stays it is taken to."""
    if value.kind == "other":
        return kind.name == value.name
    names = {kind.name, value.name}
    return not value.origins or len(names) == 1 or any(names <= same for same in _SAME)
