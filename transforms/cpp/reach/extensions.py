"""Namespaces that only the build knows: TORCH_EXTENSION_NAME, which torch/utils/cpp_extension.py defines.

Python that calls the operators, or registers their fakes, says what it is.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping

from transforms.cpp.reading.facts import FileFacts, Registration

Use = tuple[str, str]
"""The namespace and the name of an operator."""
_MACRO = "TORCH_EXTENSION_NAME"
_USE = re.compile(rb"""\btorch\.ops\.(\w+)\.(\w+)|["'](\w+)::(\w+)""")


def uses(path: str, source: bytes) -> tuple[Use, ...]:
    """The operators that a Python file names."""
    names = (((m[1] or m[3]).decode(), (m[2] or m[4]).decode()) for m in _USE.finditer(source))
    return tuple(dict.fromkeys(names))


def with_extension_names(facts: Mapping[str, FileFacts], used: Callable[[], Iterable[Use]]) -> Mapping[str, FileFacts]:
    """`facts` with the names that Python gives to the operators of a namespace that the build defines.

    A file's namespace is renamed where all that Python names of its operators lies in one namespace.
    """
    built = _built(facts)
    if not built:
        return facts
    by_name = _by_name(used())
    return {**facts, **{path: _renamed(file, by_name) for path, file in built.items()}}


def extension_names(facts: Mapping[str, FileFacts], used: Callable[[], Iterable[Use]]) -> set[str]:
    """What the build may define TORCH_EXTENSION_NAME as, by what Python calls the operators of that namespace."""
    built = _built(facts)
    by_name = _by_name(used()) if built else {}
    return {name for file in built.values() for written, name in _names(file, by_name).items() if written == _MACRO}


def _built(facts: Mapping[str, FileFacts]) -> dict[str, FileFacts]:
    return {path: file for path, file in facts.items() if any(_MACRO in r.operator for r in file.registrations)}


def _by_name(used: Iterable[Use]) -> dict[str, set[str]]:
    by_name: dict[str, set[str]] = {}
    for namespace, name in used:
        by_name.setdefault(name, set()).add(namespace)
    return by_name


def _names(file: FileFacts, by_name: Mapping[str, set[str]]) -> dict[str, str]:
    """The name that Python gives to each namespace of a file, as that is written, where it is one name."""
    candidates: dict[str, set[str]] = {}
    for registration in file.registrations:
        written, _, name = registration.operator.partition("::")
        if _MACRO in written:
            pattern = re.compile(re.escape(written).replace(_MACRO, r"\w+"))
            called = by_name.get(name.partition(".")[0], ())
            candidates.setdefault(written, set()).update(filter(pattern.fullmatch, called))
    return {written: next(iter(fitting)) for written, fitting in candidates.items() if len(fitting) == 1}


def _renamed(file: FileFacts, by_name: Mapping[str, set[str]]) -> FileFacts:
    names = _names(file, by_name)

    def renamed(registration: Registration) -> Registration:
        written, _, name = registration.operator.partition("::")
        return dataclasses.replace(registration, operator=f"{names.get(written, written)}::{name}")

    return dataclasses.replace(file, registrations=tuple(renamed(r) if r.operator else r for r in file.registrations))
