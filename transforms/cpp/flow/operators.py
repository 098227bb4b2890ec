"""Calls of operators: which overload is meant, and whether it takes SymInts where the call gives them."""

from __future__ import annotations

from dataclasses import dataclass

from transforms.cpp.reach.vocabulary import Vocabulary, base_name, symint_name
from transforms.cpp.reading.types import BOOL, FLOAT, INT, STRING, TENSOR, UNKNOWN, Type
from transforms.schema.schema import Schema

_OPTIONS = ("dtype", "layout", "device", "pin_memory")
_RESULTS = {"int": INT, "SymInt": INT, "bool": BOOL, "float": FLOAT, "Scalar": Type("scalar"), "str": STRING}


@dataclass(frozen=True, slots=True)
class Resolved:
    """The outcome for one call: the name to call, per argument the parameter's schema type, the result."""

    name: str
    parameters: tuple[str, ...]
    result: Type
    refusal: str = ""
    refused: int = -1
    """The index of the argument that the operator takes as a concrete integer."""


def parameters_of(schema: Schema, *, method: bool, out: str, packed: bool = True) -> list[tuple[str, bool]]:
    """(schema type, has a default) of the C++ parameters, in order (torchgen/api/cpp.py, `arguments`)."""
    ordinary, outputs = [], []
    skipped_self = not method
    for argument in schema.arguments:
        if not skipped_self and argument.name == "self":
            skipped_self = True
            continue
        if out and argument.kwarg_only and argument.written:
            outputs.append((argument.plain_type, False))
            continue
        ordinary.append(argument)
    names = [argument.name for argument in ordinary if argument.kwarg_only]
    tensor_options = all(name in names for name in _OPTIONS)
    rest: list[tuple[str, bool]] = []
    for argument in ordinary:
        if tensor_options and packed and argument.kwarg_only and argument.name in _OPTIONS:
            if argument.name == "dtype":
                rest.append(("TensorOptions", bool(argument.default)))
            continue
        rest.append((argument.plain_type, bool(argument.default)))
    return rest + outputs if out == "_outf" else outputs + rest


def _fit(value: Type, schema_type: str) -> str:
    """ "ok", "symint" (fits the SymInt overload only), "refused" (takes a concrete integer), or "" (no match)."""
    while value.symbolic and value.kind == "wrap" and value.args:
        value = value.args[0].with_origins(value.origins)
    base = schema_type.rstrip("?")
    array = "[" in base
    element = base.split("[")[0].rstrip("?")
    kind = value.kind
    if kind in ("unknown", "other", "lambda", "iter"):
        if value.symbolic:
            return ""
        return "ok"
    if kind == "wrap":
        return "ok"
    if element in ("int", "SymInt"):
        if array:
            if kind in ("ints", "braces", "int"):
                return "ok" if not value.symbolic else "symint" if element == "SymInt" else "refused"
            return ""
        if kind in ("int", "bool"):
            return "ok" if not value.symbolic or kind == "bool" else "symint" if element == "SymInt" else "refused"
        if kind == "braces":
            return "symint" if value.symbolic and element == "SymInt" else "" if value.symbolic else "ok"
        return "ok" if kind == "scalar" and element == "int" and not value.symbolic else ""
    if element in ("Scalar", "float"):
        if array:
            return "ok" if kind in ("braces", "list") and not value.symbolic else ""
        if value.symbolic:
            return "ok" if element == "Scalar" else "refused"
        return "ok" if kind in ("int", "float", "bool", "scalar", "braces") else ""
    if element == "Tensor":
        if array:
            return "ok" if kind in ("list", "braces", "tensor") and not value.symbolic else ""
        return "ok" if kind in ("tensor", "braces") and not value.symbolic else ""
    if element == "bool" and array and kind == "list":
        return "ok" if value.args[0].kind == "bool" else ""
    if element == "bool":
        return "ok" if kind in ("bool", "int", "braces") and not value.symbolic else ""
    if element in ("Dimname", "str"):
        return "ok" if kind in ("string", "braces") and not value.symbolic else ""
    return "ok" if not value.symbolic and kind in ("options", "string", "braces", "int") else ""


def result_of(schema: Schema) -> Type:
    """What the C++ API returns for a schema."""
    kinds = [_returned(item.plain_type) for item in schema.returns]
    if not kinds:
        return Type("void")
    return kinds[0] if len(kinds) == 1 else Type("tuple", args=tuple(kinds))


def _returned(base: str) -> Type:
    if base.startswith("Tensor"):
        return Type("list", args=(TENSOR,)) if "[" in base else TENSOR
    return _RESULTS.get(base, UNKNOWN)


def resolve(vocabulary: Vocabulary, name: str, values: list[Type], *, method: bool) -> Resolved | None:
    """The operator that `at::name(values…)` or `x.name(values…)` calls; None where there is none of that name."""
    base, out = base_name(name)
    schemas = vocabulary.schemas.get(base) or vocabulary.schemas.get(name)
    if schemas is None and base.endswith("_"):
        return None
    if not schemas:
        return None
    already = "_symint" in name
    best: Resolved | None = None
    for schema in schemas:
        if bool(out) != bool(schema.outputs):
            continue
        for packed in (True, False):
            candidate = _match(schema, name, values, method=method, out=out, packed=packed, already=already)
            if candidate is None:
                continue
            if not candidate.refusal:
                return candidate
            best = best or candidate
    if best is None and not any(kind.symbolic for kind in values):
        return Resolved(name, (), result_of(schemas[0]) if not out else TENSOR)
    return best


def _match(
    schema: Schema, name: str, values: list[Type], *, method: bool, out: str, packed: bool, already: bool
) -> Resolved | None:
    parameters = parameters_of(schema, method=method, out=out, packed=packed)
    required = sum(1 for _, default in parameters if not default)
    if not required <= len(values) <= len(parameters):
        return None
    needs_symint, refused = False, -1
    for index, (kind, (schema_type, _)) in enumerate(zip(values, parameters, strict=False)):
        fit = _fit(kind, schema_type)
        if not fit:
            return None
        needs_symint |= fit == "symint"
        if fit == "refused" and refused < 0:
            refused = index
    spelled = tuple(schema_type for schema_type, _ in parameters[: len(values)])
    if refused >= 0:
        refusal = f"`{base_name(name)[0]}` takes `{spelled[refused]}` there"
        return Resolved(name, spelled, result_of(schema), refusal, refused)
    rename = symint_name(name) if needs_symint and not already and schema.has_symint else name
    return Resolved(rename, spelled, result_of(schema))
