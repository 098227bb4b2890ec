"""Registrations that name a function by way of macros and templates, which the call graph does not see through."""

from __future__ import annotations

import re
from collections.abc import Sequence

from transforms.cpp.reach.reached import SYMBOLIC_KEYS
from transforms.cpp.reading.facts import FileFacts, Function, Registration

_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:[^\n\\]|\\\n|\\.)*", re.M)
_WORD = re.compile(rb"[A-Za-z_]\w*")
# A method that every helper class has says nothing; its class does.
_ANY = frozenset(("apply", "operator"))


def registrations_of(function: Function, file: FileFacts, source: bytes) -> Sequence[Registration]:
    """The registrations of `file` whose text leads to `function` by macros, classes and functions of the file.

    Those that it takes the fewest steps to lead there, in order.
    """
    texts = [(_names(f), source[f.start : f.end]) for f in file.functions if f.body >= 0 and not _registers(f, file)]
    texts += [({match[1]}, match[0]) for match in _DEFINE.finditer(source)]
    words = [(names, set(_WORD.findall(text))) for names, text in texts]
    calls = [
        (registration, set(_WORD.findall(source, registration.start, registration.end)))
        for registration in file.registrations
        if registration.operator and SYMBOLIC_KEYS.match(registration.key) is not None
    ]
    seen = ring = _names(function)
    while ring:
        nearest = [registration for registration, mentioned in calls if mentioned & ring]
        if nearest:
            return nearest
        ring = {name for names, mentioned in words if mentioned & ring for name in names} - seen
        seen = seen | ring
    return ()


def _names(function: Function) -> set[bytes]:
    return {name.encode() for name in (function.name, function.parent) if name and name not in _ANY}


def _registers(function: Function, file: FileFacts) -> bool:
    """Whether the function is a block of registrations."""
    return any(function.start <= registration.start < function.end for registration in file.registrations)
