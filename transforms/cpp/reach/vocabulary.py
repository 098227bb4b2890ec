"""What the PyTorch at hand offers: operator schemas, their `_symint` names, and the names in its headers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from transforms.cpp.reading.facts import Function, Slot
from transforms.cpp.reading.types import Type, parse_type, returns_symbols
from transforms.schema.schema import Schema

ACCESSORS = ("numel", "size", "sizes", "stride", "strides", "storage_offset", "nbytes")
"""The TensorBase accessors that throw on a symbolic tensor (c10/core/TensorImpl.h)."""


@dataclass(frozen=True, slots=True)
class Definition:
    """The schema of an operator that C++ of the tree defines."""

    path: str
    start: int
    """The offset of the registration."""
    symbolic: frozenset[int]
    """The indexes of the arguments that are SymInts already."""

    def slot(self, operator: str, index: int) -> Slot:
        """The argument `index` of `operator`, which is the one defined."""
        return Slot(self.path, -2 - self.start, index, operator=operator)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Schemas by base name, functions by name."""

    schemas: Mapping[str, tuple[Schema, ...]]
    functions: Mapping[str, tuple[Function, ...]]
    names: Collection[str]
    """Identifiers that stand in the headers: macros, types, functions."""
    members: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(class, member) → type as written."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    classes: Collection[str] = frozenset()
    """Names of classes with a member or a method."""
    unserved: Collection[str] = frozenset()
    """Base names of operators of the tree that have no kernel for symbolic tensors."""
    defined: Mapping[str, Definition] = field(default_factory=dict)
    """The operators with a schema in the tree's C++, as `ns::op.overload`."""
    asking_macros: Collection[str] = frozenset()
    """Names of macros of the tree whose bodies ask a tensor for sizes."""
    mixes_integers: bool = True
    """Whether SymInt has operators for an integer on its left, a unary minus, `/=`, `min` and `max`, as since 2.0.

    It is read from those that are members: the others are written by macros (c10/core/SymInt.h).
    """
    _symbolic: dict[str, list[Function]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def symbolic(self, name: str) -> Sequence[Function]:
        """The functions of the tree, not of the vocabulary's headers, that take or return SymInts and are called so."""
        if name not in self._symbolic:
            self._symbolic[name] = [
                function
                for function in self.functions.get(name, ())
                if any("Sym" in spelled for spelled in (function.returns, *(p.type for p in function.params)))
                and not Path(function.path).is_absolute()
            ]
        return self._symbolic[name]

    def asks_for_size(self, name: str) -> bool:
        """Whether a helper of the tree returns a size as an integer, and its twin as a SymInt."""
        twins = self.symbolic(f"{name}_symint")
        return any(returns_symbols(parse_type(twin.returns)) for twin in twins) and name in self.functions


def has_symbolic_twin(vocabulary: Vocabulary, function: Function) -> bool:
    """Whether an overload, or a function named `…_symint`, takes or returns SymInts where `function` has integers."""
    names = (function.name, *symbolic_twins(function.name))
    for twin in (twin for name in names for twin in vocabulary.symbolic(name)):
        if twin.parent != function.parent or len(twin.params) != len(function.params):
            continue
        theirs, ours = _signature(twin), _signature(function)
        pairs = list(zip(theirs, ours, strict=False))
        same = len(theirs) == len(ours) and all(their.kind == our.kind for their, our in pairs)
        if same and any(their.symbolic and not our.symbolic for their, our in pairs):
            return True
    return False


def _signature(function: Function) -> list[Type]:
    """The types of a function's result, or of the parts of the tuple that it returns, and of its parameters."""
    result = parse_type(function.returns)
    return [*(result.args if result.kind == "tuple" else (result,)), *(parse_type(p.type) for p in function.params)]


def base_name(name: str) -> tuple[str, str]:
    """(`topk`, `_out`) of `topk_out`; the suffix is one of "", "_out", "_outf"; `_symint` is dropped."""
    suffix = next((s for s in ("_outf", "_out") if name.endswith(s)), "")
    stem = name.removesuffix(suffix) if suffix else name
    return stem.removesuffix("_symint"), suffix


def symint_name(name: str) -> str:
    """`topk_out` → `topk_symint_out`; `as_strided_` → `as_strided__symint` (torchgen/api/cpp.py, `name`)."""
    base, suffix = base_name(name)
    return f"{base}_symint{suffix}"


def symbolic_twins(name: str) -> tuple[str, ...]:
    """The names under which ATen keeps the symbolic twin of a helper, most likely first."""
    twins = [f"{name}_symint", symint_name(name)]
    if "dimvector" in name:
        twins.insert(0, name.replace("dimvector", "symdimvector"))
    if name.endswith("_dv"):
        twins.append(name.removesuffix("_dv") + "_symdimvector")
    if not name.startswith("sym_"):
        twins.append(f"sym_{name}")
    return tuple(dict.fromkeys(twins))
