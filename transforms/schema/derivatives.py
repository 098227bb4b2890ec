"""derivatives.yaml: the backward formulas of ATen's operators, and the C++ functions they call."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from transforms.schema.entries import Value, schemas
from transforms.schema.schema import Schema

_CALL = re.compile(r"(?<![\w.>:])((?:\w+::)*[A-Za-z_]\w*)\s*\(")
_RESULT = re.compile(r"result\d*")
"""What formulas call an output that the schema has no name for (tools/autograd/load_derivatives.py)."""
_NO_FORMULA = frozenset(("name", "dispatch", "output_differentiability"))
_NO_FUNCTION = frozenset(("if", "not_implemented", "not_differentiable", "auto_linear", "auto_element_wise"))


@dataclass(frozen=True, slots=True)
class Derivative:
    """One operator's formulas, as (the inputs they are for, formula) in order."""

    schema: Schema
    line: int
    formulas: tuple[tuple[str, str], ...]

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the functions that the formulas call, in order, methods left out."""
        return _called(formula for _, formula in self.formulas)

    @property
    def in_backward(self) -> frozenset[str]:
        """The unqualified names of the functions that backward formulas call, those of inputs and not of outputs."""
        outputs = {result.name for result in self.schema.returns} - {
            argument.name for argument in self.schema.arguments
        }
        backward = (
            formula
            for names, formula in self.formulas
            if not all(name in outputs or _RESULT.fullmatch(name) for name in names.replace(" ", "").split(","))
        )
        return frozenset(name.rpartition("::")[2] for name in _called(backward))


@dataclass(frozen=True, slots=True)
class Derivatives:
    """All entries of one file, in order."""

    path: str
    entries: tuple[Derivative, ...]

    def callers(self) -> dict[str, tuple[Derivative, ...]]:
        """The entries whose formulas call a function, by the function's unqualified name."""
        callers: dict[str, list[Derivative]] = {}
        for entry in self.entries:
            for name in dict.fromkeys(called.rpartition("::")[2] for called in entry.functions):
                callers.setdefault(name, []).append(entry)
        return {name: tuple(entries) for name, entries in callers.items()}


def _called(formulas: Iterable[str]) -> tuple[str, ...]:
    calls = (name for formula in formulas for name in _CALL.findall(formula))
    return tuple(dict.fromkeys(name for name in calls if name not in _NO_FUNCTION))


def load(path: str, source: bytes) -> Derivatives:
    """The formulas in `source`, the bytes of the file at `path`.

    Raises BrokenYaml.
    """
    entries = (
        Derivative(schema, line, tuple(_formulas(mapping)))
        for schema, line, mapping in schemas(path, source, "name", "derivatives.yaml")
    )
    return Derivatives(path, tuple(entries))


def _formulas(mapping: dict[str, Value]) -> list[tuple[str, str]]:
    formulas = [(key, value) for key, value in mapping.items() if key not in _NO_FORMULA and isinstance(value, str)]
    dispatch = mapping.get("dispatch")
    if isinstance(dispatch, dict):
        # One set of formulas for each autograd key; a nested mapping comes as its text.
        formulas += [(key, str(value)) for key, value in dispatch.items()]
    return formulas
