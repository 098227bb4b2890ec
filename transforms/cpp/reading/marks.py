"""The marks of a template of C++: Jinja's `{{ … }}`, `{% … %}`, `{# … #}`, and `${…}` of torchgen's CodeTemplate.

A template is read as C++ with its marks replaced by as many bytes of C++, so that every offset is one of the file:
what is put in becomes a name, the same for the same mark; what directs the engine, what stands as a statement of its
own, and what defines a macro become blank. Of alternatives that cannot stand one behind the other the first is read.
Sources: https://jinja.palletsprojects.com/en/stable/templates/, torchgen/code_template.py.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from transforms.cpp.reading.literals import blank, without_literals

_OPEN = re.compile(rb"\{[%#{]")
_CLOSE = {b"{%": b"%}", b"{#": b"#}", b"{{": b"}}"}
_KEYWORD = re.compile(rb"\{%[-+]?\s*(\w+)")
_MACRO = re.compile(rb"\{%[-+]?\s*macro\s+(\w+)")
_CALLED = re.compile(rb"(\w+)\s*\(")
_KEYWORDS = frozenset(b"if for set macro call filter block import from include extends raw with autoescape".split())
_DOLLAR = re.compile(rb"\$\{,?[A-Za-z_]\w*,?\}")
_OPENING = frozenset((b"if", b"for"))
_CLOSING = frozenset((b"endif", b"endfor"))
_OTHERWISE = frozenset((b"else", b"elif"))
# Branches nested deeper are all read: each is looked at once for every one around it.
_LEVELS = 50
_NO_WORD = re.compile(rb"\W")
_AFTER_STATEMENT = b";{}:)"
_AFTER_ITEM = b";{},("
_ACCESSOR = re.compile(
    rb"(?:\.|->)\s*((?:sizes|strides|numel|storage_offset|nbytes)\s*\(|(?:size|stride)\s*\(\s*[^\s)])"
)
_BRACKETS = {b"(": 1, b"[": 1, b"{": 1, b")": -1, b"]": -1, b"}": -1}


@dataclass(slots=True)
class _Branch:
    """The alternatives of an `{% if %}`: where the present one begins, and the first that holds anything."""

    begin: int
    first: bytes = b""


@dataclass(frozen=True, slots=True)
class Masked:
    """A file as the C++ that it is read as."""

    source: bytes
    template: bool = False
    """Whether the file has marks."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Of a template: the mark that each name in the source stands for, the longest name first."""
    unread: tuple[tuple[int, int, int], ...] = ()
    """The spans of code that is not read, alternatives and calls of macros, each with an accessor of sizes in it."""

    def restored(self, text: str) -> str:
        """`text` with each mark in the place of its name."""
        for name, mark in self.marks.items():
            text = text.replace(name, mark)
        return text


def is_template(source: bytes) -> bool:
    """Whether a file has marks."""
    return masked(source).template


def unread_accessor(source: bytes, start: int, end: int) -> int | None:
    """The offset of an accessor of sizes that code in the span `[start, end)` comes to and that is not read."""
    return next((offset for begin, last, offset in masked(source).unread if begin < end and start < last), None)


@functools.lru_cache(maxsize=8)  # asked for every function and every edit of a file
def masked(source: bytes) -> Masked:
    """The C++ that a file is read as; itself where it is no template."""
    spans = list(_spans(source))
    if not spans:
        return Masked(source)
    out = bytearray(source)
    marks = _named(source, out, spans)
    unread = (*_without_alternatives(source, spans, out), *_without_macros(source, spans, out))
    return Masked(bytes(out), True, dict(sorted(marks.items(), key=lambda item: -len(item[0]))), unread)


def _named(source: bytes, out: bytearray, spans: Sequence[tuple[int, int]]) -> dict[str, str]:
    """Each name that was put in the place of a mark, with the mark; the other marks are blanked."""
    marks: dict[str, str] = {}
    for begin, end in spans:
        mark = source[begin:end]
        name = _name(mark)
        if name is None or (_fills_lines(source, begin, end) and _ends_statement(out, begin)):
            out[begin:end] = blank(mark)
        else:
            out[begin:end] = name
            if len(name) == len(mark):
                marks[name.strip(b",").decode()] = mark.decode("utf-8", "surrogateescape")
    return marks


def _without_alternatives(
    source: bytes, spans: Sequence[tuple[int, int]], out: bytearray
) -> Iterator[tuple[int, int, int]]:
    """Blank the alternatives that cannot be read; the span of each that holds an accessor, and where that is."""
    for begin, end in _set_aside(source, spans, out):
        accessor = _ACCESSOR.search(source, begin, end)
        if accessor is not None:
            yield begin, end, accessor.start(1)
        out[begin:end] = blank(source[begin:end])


def _without_macros(source: bytes, spans: Sequence[tuple[int, int]], out: bytearray) -> Iterator[tuple[int, int, int]]:
    """Blank the macros; the span of each call of one that comes to an accessor, and where that is."""
    asking: dict[bytes, int] = {}
    for name, begin, end in _macros(source, spans):
        accessor = _ACCESSOR.search(source, begin, end)
        offsets = [accessor.start(1)] if accessor is not None else []
        offsets += (asking[called] for called in _CALLED.findall(source, begin, end) if called in asking)
        if offsets:
            asking[name] = offsets[0]
        out[begin:end] = blank(source[begin:end])
    for begin, end in spans if asking else ():
        called = _CALLED.findall(source, begin, end) if source.startswith(b"{{", begin) else ()
        yield from ((begin, end, asking[name]) for name in called if name in asking)


def _spans(source: bytes) -> Iterator[tuple[int, int]]:
    """The span of each mark, in order."""
    if b"{%" in source or b"{#" in source:
        marks = list(_jinja(source))
        if any(source.startswith(b"{#", begin) or _keyword(source, begin) in _KEYWORDS for begin, _ in marks):
            yield from marks
            return
    # A mark in a literal is none of the file's own: raw strings hold templates that the program fills.
    if b"${" in source and _DOLLAR.search(without_literals(source)) is not None:
        yield from (match.span() for match in _DOLLAR.finditer(source))


def _macros(source: bytes, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[bytes, int, int]]:
    """The name and the body of each macro."""
    opened: tuple[bytes, int] | None = None
    for begin, end in spans:
        word = _keyword(source, begin)
        if word == b"macro" and opened is None:
            named = _MACRO.match(source, begin)
            opened = (named[1], end) if named is not None else None
        elif word == b"endmacro" and opened is not None:
            yield opened[0], opened[1], begin
            opened = None


def _jinja(source: bytes) -> Iterator[tuple[int, int]]:
    """The spans of Jinja's marks; what is opened and never closed is none."""
    open_for_good: set[bytes] = set()
    position = 0
    while (match := _OPEN.search(source, position)) is not None:
        position = match.end()
        end = -1 if match[0] in open_for_good else source.find(_CLOSE[match[0]], position)
        if end < 0:
            open_for_good.add(match[0])
        else:
            position = end + 2
            yield match.start(), position


def _keyword(source: bytes, begin: int) -> bytes:
    """The keyword of the tag `{% … %}` at an offset; empty where none is there."""
    match = _KEYWORD.match(source, begin)
    return match[1] if match is not None else b""


def _name(mark: bytes) -> bytes | None:
    """As many bytes as the mark, a name in its first line; None for a mark that puts nothing in."""
    if mark.startswith((b"{%", b"{#")):
        return None
    if mark.startswith(b"$"):  # `${,x}` and `${x,}` bring a comma where there is anything
        before, after = mark.startswith(b"${,"), mark.endswith(b",}")
        name = re.sub(_NO_WORD, b"_", mark)
        return (b"," + name[1:] if before else name)[: len(mark) - after] + b"," * after
    line = mark.splitlines()[0]
    name = re.sub(_NO_WORD, b"_", line)
    rest = mark[len(line) :]
    return name + blank(rest)


def _fills_lines(source: bytes, begin: int, end: int) -> bool:
    """Whether nothing else stands on the lines of a span."""
    first, last = source.rfind(b"\n", 0, begin) + 1, source.find(b"\n", end)
    return not source[first:begin].strip() and not source[end : last if last >= 0 else len(source)].strip()


def _ends_statement(out: bytes | bytearray, position: int) -> bool:
    before = bytes(out[max(0, position - 2000) : position]).rstrip()
    return not before or before[-1:] in _AFTER_STATEMENT


def _set_aside(source: bytes, spans: Iterable[tuple[int, int]], out: bytes | bytearray) -> Iterator[tuple[int, int]]:
    """The spans of alternatives that cannot stand behind the first: half an expression, a brace that is open.

    The caller blanks each in `out` before it asks for the next, which may be around it.
    """
    open_branches: list[_Branch | None] = []
    for begin, end in spans:
        word = _keyword(source, begin)
        if word in _OPENING:
            followed = word == b"if" and len(open_branches) < _LEVELS
            open_branches.append(_Branch(end) if followed else None)
        elif word in _OTHERWISE or word in _CLOSING:
            branch = open_branches[-1] if open_branches else None
            if branch is not None:
                text = without_literals(bytes(out[branch.begin : begin])).strip()
                if branch.first and text and not _may_follow(text, branch.first):
                    yield branch.begin, begin
                branch.first = branch.first or text
                branch.begin = end
            if word in _CLOSING and open_branches:
                open_branches.pop()


def _may_follow(text: bytes, first: bytes) -> bool:
    """Whether an alternative can be read behind the first: both are whole statements, or items of a list."""
    both = first[-1:] in _AFTER_ITEM or (first[:1] == b"," and text[:1] == b",")
    return both and _balance(first) == 0 and _balance(text) == 0


def _balance(text: bytes) -> int:
    """How many brackets stay open; -1 where one is closed that was not opened."""
    depth = 0
    for bracket in re.findall(rb"[()\[\]{}]", text):
        depth += _BRACKETS[bracket]
        if depth < 0:
            return depth
    return depth
