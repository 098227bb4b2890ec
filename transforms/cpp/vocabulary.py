"""What the PyTorch at hand offers: operator schemas, their `_symint` names, and the names in its headers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from transforms.cpp.facts import Function
from transforms.schema.schema import Schema

ACCESSORS = ("numel", "size", "sizes", "stride", "strides", "storage_offset", "nbytes")
"""The TensorBase accessors that throw on a symbolic tensor (c10/core/TensorImpl.h)."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Schemas by base name and helper functions by name; both may be a subset made for one file."""

    schemas: Mapping[str, tuple[Schema, ...]]
    functions: Mapping[str, tuple[Function, ...]]
    names: frozenset[str]
    """Identifiers that stand in the headers: macros, types, functions."""
    members: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(class, member) → type as written."""
    aliases: Mapping[str, str] = field(default_factory=dict)

    def has_symint(self, base: str) -> bool:
        """Whether the C++ API has `base_symint` (torchgen/api/cpp.py: any SymInt among the non-out arguments)."""
        return any(schema.has_symint for schema in self.schemas.get(base, ()))

    def subset(self, words: Iterable[str]) -> Vocabulary:
        """The part that a file which contains the identifiers `words` can need."""
        wanted = set(words)
        bases = wanted | {base_name(word)[0] for word in wanted}
        helpers = wanted | {twin for word in wanted for twin in symbolic_twins(word)}
        return Vocabulary(
            {name: self.schemas[name] for name in bases if name in self.schemas},
            {name: self.functions[name] for name in helpers if name in self.functions},
            self.names,
            {key: value for key, value in self.members.items() if key[1] in wanted},
            {name: value for name, value in self.aliases.items() if name in wanted},
        )


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
