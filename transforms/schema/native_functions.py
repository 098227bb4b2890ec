"""native_functions.yaml: every operator of ATen, with the kernels that its dispatch table names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from transforms.schema.entries import list_of, schemas, text_of
from transforms.schema.schema import Schema

COMPOSITE_IMPLICIT = "CompositeImplicitAutograd"


@dataclass(frozen=True, slots=True)
class NativeFunction:
    """One entry. `dispatch` has one (key, kernel) for each key, kernels as written, `native::` included if written.

    An entry without `dispatch` that delegates to no structured kernel is CompositeImplicitAutograd, its kernel named
    as the C++ API names the operator (torchgen/model.py, NativeFunction.from_yaml).
    """

    schema: Schema
    line: int
    dispatch: tuple[tuple[str, str], ...]
    structured: bool = False
    structured_delegate: str = ""
    variants: tuple[str, ...] = ("function",)
    autogen: tuple[str, ...] = ()
    python_module: str = ""
    tags: tuple[str, ...] = ()
    manual_cpp_binding: bool = False

    @property
    def symint_names(self) -> tuple[str, ...]:
        """The SymInt names of the C++ API, of the out variants that torchgen generates as well."""
        names = dict.fromkeys(self.schema.symint_names)
        if names:
            for generated in self.autogen:
                base, _, overload = generated.partition(".")
                suffixes = ("_out", "_outf") if "out" in overload else ("",)
                names.update(dict.fromkeys(f"{base}_symint{suffix}" for suffix in suffixes))
        return tuple(names)


@dataclass(frozen=True, slots=True)
class NativeFunctions:
    """All entries of one file, in order."""

    path: str
    entries: tuple[NativeFunction, ...]

    def schemas(self) -> dict[str, tuple[Schema, ...]]:
        """The overloads of every operator by base name."""
        overloads: dict[str, list[Schema]] = {}
        for entry in self.entries:
            overloads.setdefault(entry.schema.base, []).append(entry.schema)
        return {name: tuple(schemas) for name, schemas in overloads.items()}

    def kernels(self) -> Iterator[tuple[NativeFunction, str, str]]:
        """(entry, dispatch key, kernel) of every dispatch entry."""
        for entry in self.entries:
            for key, kernel in entry.dispatch:
                yield entry, key, kernel


def load(path: str, source: bytes) -> NativeFunctions:
    """The operators in `source`, the bytes of the file at `path`.

    Raises BrokenYaml.
    """
    entries = []
    for schema, line, mapping in schemas(path, source, "func", "native_functions.yaml"):
        delegate = text_of(mapping, "structured_delegate")
        entries.append(
            NativeFunction(
                schema,
                line,
                _dispatch(mapping.get("dispatch"), schema, delegate),
                text_of(mapping, "structured") == "True",
                delegate,
                list_of(mapping, "variants") or ("function",),
                list_of(mapping, "autogen"),
                text_of(mapping, "python_module"),
                list_of(mapping, "tags"),
                text_of(mapping, "manual_cpp_binding") == "True",
            )
        )
    return NativeFunctions(path, tuple(entries))


def _dispatch(table: object, schema: Schema, delegate: str) -> tuple[tuple[str, str], ...]:
    if isinstance(table, dict):
        return tuple((key.strip(), str(kernel)) for keys, kernel in table.items() for key in keys.split(","))
    return () if delegate else ((COMPOSITE_IMPLICIT, schema.cpp_name),)
