"""Objects of torch::Library that a file makes itself: `torch::Library m(torch::Library::FRAGMENT, "lib", …);`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transforms.cpp.reading.blocks import arguments
from transforms.cpp.reading.facts import Function
from transforms.cpp.reading.signatures import decode

_KIND = re.compile(rb"([({])\s*[\w:]*\b(?:Stable)?Library::(?:Kind::)?(?:DEF|FRAGMENT|IMPL)\s*,")
_STATEMENT = re.compile(rb"[^;{}]*\Z")
# What stands before the arguments: the type, `new`, make_unique, behind the variable that is given it; or that alone.
_MADE = re.compile(
    rb"(?:\b(\w+)\s*=\s*)?(?:\bnew\s+)?(?:[\w:]*\bmake_\w+\s*<\s*)?(?<![.\w])[\w:]*\b(?:Stable)?Library\s*>?\s*$"
)
_NAMED = re.compile(rb"\b(\w+)\s*(?:(?:\.|->)\s*emplace\s*)?$")
_MACRO = re.compile(rb"(?:\b(\w+)\s*=\s*)?\bMAKE_TORCH_LIBRARY(?:_IMPL)?\s*(\()")
_DECLARED = re.compile(rb"(?<![\w.])[\w:]*\b(?:Stable)?Library\s*[&*]?\s*(\w+)\s*(?=[;=({,)])")
_LITERAL = re.compile(r'"(\w+)"')
_KEY = re.compile(r"(?:DispatchKey::|\bk(?=[A-Z]))(\w+)|\"(\w+)\"")
_NO_KEY = re.compile(r"(?:\w+::)*nullopt|nullptr|\{\}")
_BRACE = re.compile(rb"[{}]")


@dataclass(frozen=True, slots=True)
class LibraryObject:
    """A torch::Library by the name that means it from `start` to `end`, offsets of its file."""

    variable: str
    """"" for one that has no name."""
    placed: tuple[str, str] | None
    """The namespace and the key, "" where it has none, that it registers for; None where the source does not tell."""
    start: int
    end: int
    made: int
    """The offset past what makes it, where a chain of calls may follow."""


def library_objects(text: bytes, source: bytes, functions: Sequence[Function]) -> list[LibraryObject]:
    """The objects of torch::Library that a file makes, or has of elsewhere by a reference or a pointer.

    `text` is `source` without literals and defines, `functions` those of the file.
    """
    if b"Library" not in text and b"MAKE_TORCH_LIBRARY" not in text:
        return []
    bodies = [(function.body, function.end) for function in functions if function.body >= 0]
    made = [*_constructed(text, source, bodies), *_by_macro(text, bodies)]
    return [*made, *_of_elsewhere(text, bodies, made)]


def _constructed(text: bytes, source: bytes, bodies: Sequence[tuple[int, int]]) -> Iterator[LibraryObject]:
    for call in _KIND.finditer(text):
        spans = list(arguments(text, call.start(1)))
        written = [decode(source[a:b]).strip() for a, b in spans]
        before = _STATEMENT.search(text, max(0, call.start() - 400), call.start())
        named = before and (_MADE.search(before[0]) or _NAMED.search(before[0]))
        variable = decode(named[1] or b"") if named else ""
        start, end = _region(text, call.start(), bodies)
        yield LibraryObject(variable, _placed(written), start, end, spans[-1][1] + 1)


def _placed(written: Sequence[str]) -> tuple[str, str] | None:
    namespace = _LITERAL.fullmatch(written[1])
    key = _KEY.search(written[2]) if len(written) > 2 else None
    if namespace is None or (key is None and len(written) > 2 and _NO_KEY.fullmatch(written[2]) is None):
        return None
    return namespace[1], (key[1] or key[2]) if key is not None else ""


def _by_macro(text: bytes, bodies: Sequence[tuple[int, int]]) -> Iterator[LibraryObject]:
    for call in _MACRO.finditer(text):
        spans = list(arguments(text, call.start(2)))
        namespace, key, *_ = [decode(text[a:b]).strip() for a, b in spans] + ["", ""]
        start, end = _region(text, call.start(2), bodies)
        close = text.find(b")", spans[-1][1] if spans else call.end())
        yield LibraryObject(decode(call[1] or b""), ("" if namespace == "_" else namespace, key), start, end, close + 1)


def _of_elsewhere(
    text: bytes, bodies: Sequence[tuple[int, int]], made: Sequence[LibraryObject]
) -> Iterator[LibraryObject]:
    """Variables and parameters of lambdas in functions that are given a library which this file does not make there."""
    for match in _DECLARED.finditer(text):
        variable = decode(match[1])
        around = next(((body, end) for body, end in bodies if body < match.start() < end), None)
        if around is None:
            continue
        if not any(found.variable == variable and around[0] < found.start < around[1] for found in made):
            start, end = _region(text, match.start(), bodies)
            yield LibraryObject(variable, None, start, end, match.end())


def _region(text: bytes, offset: int, bodies: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Where a name means what is declared at `offset`: from there to the end of its block, or in the whole file."""
    if not any(body < offset < end for body, end in bodies):
        return 0, len(text)
    depth = 0
    for brace in _BRACE.finditer(text, offset):
        depth += 1 if brace[0] == b"{" else -1
        if depth < 0:
            return offset, brace.start()
    return offset, len(text)
