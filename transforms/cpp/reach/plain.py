"""Kernels that are given numbers and names alone: no symbol comes in with these."""

from __future__ import annotations

from collections.abc import Iterable

from transforms.cpp.reading.facts import Function
from transforms.cpp.reading.types import Type, parse_type

_PLAIN = frozenset({"int", "ints", "float", "bool", "string", "options"})
_HOLDING = frozenset({"wrap", "list", "tuple"})
_NAMED = frozenset({"Device", "DispatchKeySet", "Generator", "Layout", "MemoryFormat", "ScalarType"})


def takes_no_symbols(kernel: Function) -> bool:
    """Whether no parameter of a kernel can hold a tensor or a symbol.

    What is registered is a function of a namespace or a static method, which has no object. Where its schema has a
    SymInt for an integer, the dispatcher asks for the number (`unpackSymInt` in KernelFunction_impl.h of
    aten/src/ATen/core/boxing).
    """
    return not kernel.template and all(_is_plain(parse_type(p.type)) for p in kernel.params)


def _is_plain(kind: Type) -> bool:
    if kind.symbolic:
        return False
    if kind.kind in _HOLDING:
        return all(map(_is_plain, kind.args))
    return kind.kind in _PLAIN or (kind.kind == "other" and kind.name in _NAMED)


def looked_up(functions: Iterable[Function]) -> frozenset[str]:
    """The operators, without overloads, that functions ask the dispatcher for, with symbols where they have some."""
    return frozenset(lookup.operator.partition(".")[0] for function in functions for lookup in function.lookups)
