"""The symbolic twins of helpers as a call sees them: those of the tree, and those that the plan writes beside a helper.

A twin has the name `…_symint`, and SymInts where the helper has integers: infer_size_symint of ATen/ExpandUtils.h,
get_bdim_size2_symint of ATen/functorch/BatchRulesHelper.h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from transforms.cpp.flow.engine import Flow
from transforms.cpp.reach.vocabulary import symbolic_twins
from transforms.cpp.reading.facts import PART, Function, Slot
from transforms.cpp.reading.types import Type, parse_type, returns_symbols, symbolic_parts, symbolic_spelling

_TWIN = -10_000
"""The index of a slot that stands for parameter 0 of a twin; those of other parameters are lower."""


def twin_slot(slot: Slot) -> Slot:
    """The slot of a function's twin that stands for one of its own, and that of the function for one of its twin."""
    return replace(slot, index=_TWIN - slot.index)


def is_twin(slot: Slot) -> bool:
    """Whether a slot is that of a twin which the plan writes."""
    return not slot.member and slot.index < _TWIN // 2


def twin_name(function: Function) -> str:
    """What the twin of a helper is called."""
    return f"{function.name}_symint"


def written_twin(is_settled: Callable[[Slot], bool], function: Function) -> Function | None:
    """The twin of a helper that the plan writes; None where it writes none."""
    parts = range(PART, PART - len(parse_type(function.returns).args), -1)
    slots = (Slot(function.path, function.start, index) for index in (*parts, *range(-1, len(function.params))))
    indexes = [slot.index for slot in slots if is_settled(twin_slot(slot))]
    if not indexes:
        return None
    params = tuple(
        replace(param, type=symbolic_spelling(param.type) or param.type) if index in indexes else param
        for index, param in enumerate(function.params)
    )
    returns = (symbolic_spelling(function.returns) if -1 in indexes else None) or function.returns
    if indexes[0] <= PART:
        returns = symbolic_parts(function.returns, {PART - index for index in indexes if index <= PART})
    return replace(function, name=twin_name(function), params=params, returns=returns)


def twins(flow: Flow, name: str, candidates: Sequence[Function]) -> Iterator[Function]:
    """The twins of the overloads of a helper."""
    for other in symbolic_twins(name):
        yield from flow.vocabulary.functions.get(other, ())
    for candidate in candidates:
        twin = written_twin(flow.asked.is_settled, candidate)
        if twin is not None:
            yield twin


def asking_twin(flow: Flow, helper: Function, values: Sequence[Type]) -> Function | None:
    """The twin of a helper that is given no symbolic value, and asks for what it returns itself.

    None where there is none, or where it takes sequences of SymInts: the call has sequences of integers.
    """
    tensors = any(value.kind in ("tensor", "wrap") for value in values)
    if flow.passive or not tensors or returns_symbols(flow.type_of(helper.returns)):
        return None
    for twin in twins(flow, helper.name, [helper]):
        if len(twin.params) != len(helper.params) or twin.parent != helper.parent:
            continue
        given = zip(
            map(parse_type, (p.type for p in twin.params)),
            map(parse_type, (p.type for p in helper.params)),
            strict=True,
        )
        same = all(t.kind == h.kind and (t.symbolic == h.symbolic or t.kind == "int") for t, h in given)
        if same and returns_symbols(parse_type(twin.returns)):
            return twin
    return None


def note_use(flow: Flow, twin: Function) -> None:
    """The function calls a twin, which it stands or falls with where the plan writes it."""
    flow.uses |= set(filter(is_twin, flow.asked.settled_of(twin)))
