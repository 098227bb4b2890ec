"""The macros of a file, and the functions they define, such as `DEFINE_ALIAS(name) …{ return impl(…); }`."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence

from transforms.cpp.reading.blocks import arguments
from transforms.cpp.reading.facts import Function

_DEFINE = re.compile(rb"#[ \t]*define[ \t]+(\w+)")
_REST = re.compile(rb"\(([\w\s,.\\]*)\)((?:[^\n\\]|\\\r?\n|\\.)*)")
_SIGNATURE = re.compile(rb"\w\s*\([^;{}]*\)\s*(?:const\s*)?\\?\s*\{")
_BLOCK = re.compile(rb"\b(?:STABLE_)?TORCH_LIBRARY\w*\s*\([^;{}]*\)[\s\\]*\{")
_ASKS = re.compile(rb"(?:\.|->)\s*(?:(?:sizes|strides|numel|storage_offset)\s*\(\s*\)|(?:size|stride)\s*\(\s*[^\s)])")
CONTINUATION = re.compile(rb"\\\r?\n")
_WORD = re.compile(rb"\b[A-Za-z_]\w*")
_PASTE = re.compile(rb"\s*##\s*")


def definitions(source: bytes) -> list[tuple[bytes, int]]:
    """The name of every macro that `source` defines, and the offset past it."""
    macros = []
    for match in _DEFINE.finditer(source):
        line = source.rfind(b"\n", 0, match.start()) + 1
        if not source[line : match.start()].strip():
            macros.append((match[1], match.end()))
    return macros


def block_macros(source: bytes, macros: Sequence[tuple[bytes, int]]) -> Iterator[str]:
    """The names of those of `macros`, the definitions of `source`, whose bodies hold blocks of registrations."""
    if b"TORCH_LIBRARY" in source:
        for name, end in macros:
            rest = _REST.match(source, end)
            if rest is not None and _BLOCK.search(rest[2]) is not None:
                yield name.decode()


def asking_macros(source: bytes, macros: Sequence[tuple[bytes, int]]) -> Iterator[str]:
    """The names of those of `macros`, the definitions of `source`, that ask a tensor for sizes or call such a macro."""
    bodies = {}
    for name, end in macros:
        rest = _REST.match(source, end)
        if rest is not None:
            bodies[name] = rest[2]
    pending = [name for name, body in bodies.items() if _ASKS.search(body) is not None]
    asking: set[bytes] = set()
    while pending:
        name = pending.pop()
        if name not in asking:
            asking.add(name)
            pending += (other for other, body in bodies.items() if name in _WORD.findall(body))
    yield from sorted(name.decode() for name in asking)


def launching_macros(source: bytes, macros: Sequence[tuple[bytes, int]]) -> Iterator[bytes]:
    """The names of those of `macros`, the definitions of `source`, that launch kernels of a device: `f<<<…>>>(…)`."""
    if b"<<<" in source:
        for name, end in macros:
            rest = _REST.match(source, end)
            if rest is not None and b"<<<" in rest[2]:
                yield name


def parameters_and_body(source: bytes, end: int) -> tuple[list[bytes], bytes] | None:
    """The parameters and the body of the macro whose name ends at `end`; None where it takes none."""
    rest = _REST.match(source, end)
    if rest is None:
        return None
    names = rest[1].replace(b"\\", b"").split(b",")
    return [name.strip() for name in names], CONTINUATION.sub(b"\n", rest[2])


def expansions(
    source: bytes, text: bytes, macros: Sequence[tuple[bytes, int]], functions: Sequence[Function]
) -> Iterator[tuple[int, int, bytes, str]]:
    """(start, end, expanded code, scope) of every call at namespace level of a macro whose body defines functions.

    `text` is `source` without literals and defines, `macros` its definitions. The scope is that of the function before
    the call.
    """
    bodies: dict[bytes, tuple[list[bytes], bytes]] = {}
    for name, end in macros:
        rest = _REST.match(source, end)
        if rest is not None and b"{" in rest[2] and _SIGNATURE.search(body := CONTINUATION.sub(b"\n", rest[2])):
            bodies[name] = (rest[1].replace(b"\\", b"").replace(b" ", b"").split(b","), body)
    if not bodies:
        return
    scopes = sorted((f.start, f.end, f.qualified.rpartition("::")[0]) for f in functions if f.body >= 0)
    starts = [start for start, _, _ in scopes]
    for call in re.finditer(rb"(?m)^[ \t]*(" + b"|".join(bodies) + rb")\s*(\()", text):
        spans = list(arguments(text, call.start(2)))
        before = bisect.bisect(starts, call.start()) - 1
        if not spans or (before >= 0 and call.start() < scopes[before][1]):
            continue
        parameters, body = bodies[call[1]]
        values = dict(zip((p.strip() for p in parameters), (text[a:b].strip() for a, b in spans), strict=False))
        end = text.find(b")", spans[-1][1]) + 1
        yield call.start(), end, _substituted(body, values), scopes[before][2] if before >= 0 else ""


def _substituted(body: bytes, values: dict[bytes, bytes]) -> bytes:
    return _PASTE.sub(b"", _WORD.sub(lambda match: values.get(match.group(), match.group()), body))
