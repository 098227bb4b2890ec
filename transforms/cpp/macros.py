"""Functions that a file's own macros define, such as `DEFINE_ALIAS(name) …{ return impl(…); }`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from transforms.cpp.blocks import arguments
from transforms.cpp.facts import Function

_DEFINITION = re.compile(rb"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)\(([\w\s,.\\]*)\)((?:[^\n\\]|\\\r?\n|\\.)*)")
_SIGNATURE = re.compile(rb"\w\s*\([^;{}]*\)\s*(?:const\s*)?\\?\s*\{")
_CONTINUATION = re.compile(rb"\\\r?\n")
_WORD = re.compile(rb"\b[A-Za-z_]\w*")
_PASTE = re.compile(rb"\s*##\s*")


def expansions(source: bytes, text: bytes, functions: Sequence[Function]) -> Iterator[tuple[int, int, bytes, str]]:
    """(start, end, expanded code, scope) of every call at namespace level of a macro whose body defines functions.

    `text` is `source` without literals and defines. The scope is that of the function before the call.
    """
    bodies = sorted((f.start, f.end, f.qualified.rpartition("::")[0]) for f in functions if f.body >= 0)
    for definition in _DEFINITION.finditer(source):
        body = _CONTINUATION.sub(b"\n", definition[3])
        if _SIGNATURE.search(body) is None:
            continue
        names = [name.strip() for name in definition[2].replace(b"\\", b"").split(b",") if name.strip()]
        for call in re.finditer(rb"(?m)^[ \t]*" + definition[1] + rb"\s*(\()", text):
            spans = list(arguments(text, call.start(1)))
            before = [entry for entry in bodies if entry[0] <= call.start()]
            if not spans or (before and call.start() < before[-1][1]):
                continue
            values = dict(zip(names, (text[a:b].strip() for a, b in spans), strict=False))
            end = text.find(b")", spans[-1][1]) + 1
            yield call.start(), end, _substituted(body, values), before[-1][2] if before else ""


def _substituted(body: bytes, values: dict[bytes, bytes]) -> bytes:
    return _PASTE.sub(b"", _WORD.sub(lambda match: values.get(match.group(), match.group()), body))
