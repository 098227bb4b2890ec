"""The marks of a template of C++: Jinja's `{{ … }}`, `{% … %}`, `{# … #}`, and `${…}` of torchgen's CodeTemplate.

A template is read as C++ with its marks replaced by as many bytes of C++, so that every offset is one of the file:
what is put in becomes a name, the same for the same mark; what directs the engine, what stands as a statement of its
own, and what defines a macro become blank. Of alternatives that cannot stand one behind the other the first is read.
What is blank is kept as `Unread`: it may use the variables and functions around it.
Sources: https://jinja.palletsprojects.com/en/stable/templates/, torchgen/code_template.py.
"""

from __future__ import annotations

import bisect
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
_CALLING = re.compile(rb"\{(?:\{[-+]?|%[-+]?\s*call\b)\s*(\w+)\s*\(")
_IDENTIFIER = re.compile(rb"[A-Za-z_]\w*")
_STRING = re.compile(rb"\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'", re.S)
_KEYWORDS = frozenset(b"if for set macro call filter block import from include extends raw with autoescape".split())
_DOLLAR = re.compile(rb"\$\{,?[A-Za-z_]\w*,?\}")
_OPENING = frozenset((b"if", b"for"))
_CLOSING = frozenset((b"endif", b"endfor"))
_OTHERWISE = frozenset((b"else", b"elif"))
# What stands between such a tag and its end is put in once, often, never, or elsewhere.
_ENCLOSING = _OPENING | frozenset((b"call", b"filter", b"macro", b"block", b"set"))
_BROUGHT = frozenset((b"include", b"call"))
# Branches nested deeper are all read: each is looked at once for every one around it.
_LEVELS = 50
_NO_WORD = re.compile(rb"\W")
_AFTER_STATEMENT = b";{}:)"
_AFTER_ITEM = b";{},("
_BEFORE_ITEM = b";{}:),("
_BEGINNING = re.compile(rb"[\w(\[{\"#~!]")
_ACCESSOR = re.compile(
    rb"(?:\.|->)\s*((?:sizes|strides|numel|storage_offset|nbytes)\s*\(|(?:size|stride)\s*\(\s*[^\s)])"
)
# A second branch of these alone leaves every type around it: integers, texts and what SymInts have operators for.
_LITERALS = re.compile(rb"(?:[\s\d<>=!&|+*()-]|\"[^\"\\\n]*\")*")
_BRACKETS = {b"(": 1, b"[": 1, b"{": 1, b")": -1, b"]": -1, b"}": -1}


@dataclass(slots=True)
class _Branch:
    """The alternatives of an `{% if %}`: where the present one begins, and the first that holds anything."""

    begin: int
    apart: bool
    """Whether they stand where a statement or an item of a list may begin."""
    first: bytes = b""


@dataclass(frozen=True, slots=True)
class Unread:
    """Code in the span `[begin, end)`, or that is put there, which is not read with what stands around it."""

    begin: int
    end: int
    accessor: int | None = None
    """Where it asks a tensor for sizes."""
    words: frozenset[str] | None = frozenset()
    """The names in it; None where nothing is known of it."""
    alternative: bool = False
    """Whether it is a branch that stands in the place of the one that is read, and may change its type."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A mark that directs the engine: a branch, or code that is put in often or elsewhere, begins or ends there."""

    begin: int
    end: int
    around: int
    """The offset of the mark that opened what it belongs to."""
    branch: int
    """The offset of the mark that begins the branch which stands behind it; -1 for none."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A file as the C++ that it is read as."""

    source: bytes
    template: bool = False
    """Whether the file has marks."""
    marks: Mapping[str, str] = field(default_factory=dict)
    """Of a template: the mark that each name in the source stands for, the longest name first."""
    unread: tuple[Unread, ...] = ()
    """The code that is not read: alternatives, macros where they are called, statements that are put in."""
    spans: tuple[tuple[int, int], ...] = ()
    """Of every mark, in order."""
    tags: tuple[Tag, ...] = ()
    """The marks that direct the engine, in order."""
    quoted: frozenset[str] = frozenset()
    """The names in the marks' strings, which may be put in anywhere."""
    elsewhere: frozenset[str] = frozenset()
    """The names in all code that is not read, macros that nothing calls included."""

    def restored(self, text: str) -> str:
        """`text` with each mark in the place of its name."""
        for name, mark in self.marks.items():
            text = text.replace(name, mark)
        return text

    def branch(self, position: int) -> int:
        """The branch that a byte stands in: the offset of the mark that begins it; -1 for none."""
        index = bisect.bisect_right(self.tags, position, key=lambda tag: tag.end) - 1
        return self.tags[index].branch if index >= 0 else -1

    def tags_in(self, start: int, end: int) -> Sequence[Tag]:
        """The marks in a span that direct the engine."""
        first = bisect.bisect_right(self.tags, start, key=lambda tag: tag.end)
        return self.tags[first : bisect.bisect_left(self.tags, end, key=lambda tag: tag.begin)]

    def deletes(self, start: int, end: int, new: str) -> bool:
        """Whether a mark in the span `[start, end)` is cut, or is gone once `new` stands there, names in its place."""
        first = bisect.bisect_right(self.spans, start, key=lambda span: span[1])
        for begin, last in self.spans[first:]:
            if begin >= end:
                return False
            name = self.source[begin:last].strip(b" ,").decode("utf-8", "surrogateescape")
            mark = self.marks.get(name, "")
            if begin < start or last > end or not mark or (name not in new and mark not in new):
                return True
        return False


def is_template(source: bytes) -> bool:
    """Whether a file has marks."""
    return masked(source).template


def unread_accessor(source: bytes, start: int, end: int) -> int | None:
    """The offset of an accessor of sizes that code in the span `[start, end)` comes to and that is not read."""
    unread = (part for part in masked(source).unread if part.accessor is not None)
    return next((part.accessor for part in unread if part.begin < end and start < part.end), None)


@functools.lru_cache(maxsize=8)  # asked for every function and every edit of a file
def masked(source: bytes) -> Masked:
    """The C++ that a file is read as; itself where it is no template."""
    spans = list(_spans(source))
    if not spans:
        return Masked(source)
    out = bytearray(source)
    marks, statements = _named(source, out, spans)
    alternatives = list(_without_alternatives(source, spans, out))
    macros = _without_macros(source, spans, out)
    unread = (*alternatives, *_calls(source, spans, macros), *_put_in(source, statements, macros))
    quoted = frozenset().union(*(_quoted(source[begin:end]) for begin, end in spans))
    elsewhere = quoted.union(*(part.words or () for part in (*alternatives, *macros.values())))
    names = dict(sorted(marks.items(), key=lambda item: -len(item[0])))
    return Masked(bytes(out), True, names, unread, tuple(spans), tuple(_tags(source, spans)), quoted, elsewhere)


def _named(
    source: bytes, out: bytearray, spans: Sequence[tuple[int, int]]
) -> tuple[dict[str, str], list[tuple[int, int]]]:
    """Each name that was put in the place of a mark, with the mark; and the marks that stand for statements.

    These are blanked, as those are that put nothing in.
    """
    marks: dict[str, str] = {}
    statements: list[tuple[int, int]] = []
    for begin, end in spans:
        mark = source[begin:end]
        name = _name(mark)
        if name is None or (_fills_lines(source, begin, end) and _ends_statement(out, begin)):
            if name is not None or _keyword(source, begin) in _BROUGHT:
                statements.append((begin, end))
            out[begin:end] = blank(mark)
        else:
            out[begin:end] = name
            if len(name) == len(mark):
                marks[name.strip(b",").decode()] = mark.decode("utf-8", "surrogateescape")
    return marks, statements


def _without_alternatives(source: bytes, spans: Sequence[tuple[int, int]], out: bytearray) -> Iterator[Unread]:
    """Blank the alternatives that cannot be read, and give them."""
    for begin, end in _set_aside(source, spans, out):
        accessor = _ACCESSOR.search(source, begin, end)
        other = _LITERALS.fullmatch(source, begin, end) is None
        offset = accessor.start(1) if accessor is not None else None
        yield Unread(begin, end, offset, _words(bytes(out[begin:end])), alternative=other)
        out[begin:end] = blank(source[begin:end])


def _without_macros(source: bytes, spans: Sequence[tuple[int, int]], out: bytearray) -> dict[bytes, Unread]:
    """Blank the macros, and give what each comes to, with the macros that it calls."""
    macros: dict[bytes, Unread] = {}
    for name, begin, end in _macros(source, spans):
        accessor = _ACCESSOR.search(source, begin, end)
        offset = accessor.start(1) if accessor is not None else None
        called = [macros[inner] for inner in _CALLED.findall(source, begin, end) if inner in macros]
        if offset is None:
            offset = next((part.accessor for part in called if part.accessor is not None), None)
        words = _words(bytes(out[begin:end])).union(*(part.words or () for part in called))
        macros[name] = Unread(begin, end, offset, words)
        out[begin:end] = blank(source[begin:end])
    return macros


def _calls(source: bytes, spans: Sequence[tuple[int, int]], macros: Mapping[bytes, Unread]) -> Iterator[Unread]:
    """What the macros that are called in marks come to, where they are called."""
    for begin, end in spans if macros else ():
        putting = source.startswith(b"{{", begin) or _keyword(source, begin) == b"call"
        for name in _CALLED.findall(source, begin, end) if putting else ():
            if name in macros:
                yield Unread(begin, end, macros[name].accessor, macros[name].words)


def _put_in(source: bytes, statements: Iterable[tuple[int, int]], macros: Mapping[bytes, Unread]) -> Iterator[Unread]:
    """The marks that stand for statements of which nothing is known: they call no macro of the file."""
    for begin, end in statements:
        called = _CALLING.match(source, begin)
        if called is None or (called[1] not in macros and called[1] != b"caller"):
            yield Unread(begin, end, words=None)


def _tags(source: bytes, spans: Iterable[tuple[int, int]]) -> Iterator[Tag]:
    """The marks that direct the engine; one that ends nothing belongs to none."""
    opened: list[tuple[bytes, int, int]] = []
    for begin, end in spans:
        word = _keyword(source, begin)
        if word in _ENCLOSING and not (word == b"set" and b"=" in source[begin:end]):
            opened.append((word, begin, begin))
            yield Tag(begin, end, begin, begin)
        elif word in _OTHERWISE and opened:
            opened[-1] = (opened[-1][0], opened[-1][1], begin)
            yield Tag(begin, end, opened[-1][1], begin)
        elif word.startswith(b"end") and opened and opened[-1][0] == word[3:]:
            _, around, _ = opened.pop()
            yield Tag(begin, end, around, opened[-1][2] if opened else -1)


def _words(code: bytes) -> frozenset[str]:
    """The names in code, but for those in its comments and literals."""
    return frozenset(word.decode() for word in _IDENTIFIER.findall(without_literals(code)))


def _quoted(mark: bytes) -> frozenset[str]:
    """The names in the strings of a mark."""
    return frozenset().union(*(_words(match[1] or match[2] or b"") for match in _STRING.finditer(mark)))


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
    plain = without_literals(bytes(out))
    for begin, end in spans:
        word = _keyword(source, begin)
        if word in _OPENING:
            followed = word == b"if" and len(open_branches) < _LEVELS
            open_branches.append(_Branch(end, _stands_apart(plain, begin)) if followed else None)
        elif word in _OTHERWISE or word in _CLOSING:
            branch = open_branches[-1] if open_branches else None
            if branch is not None:
                text = without_literals(bytes(out[branch.begin : begin])).strip()
                if branch.first and text and not _may_follow(text, branch):
                    yield branch.begin, begin
                branch.first = branch.first or text
                branch.begin = end
            if word in _CLOSING and open_branches:
                open_branches.pop()


def _stands_apart(plain: bytes, position: int) -> bool:
    """Whether a statement, or an item of a list, may begin at a place, by what stands before."""
    before = plain[max(0, position - 2000) : position].rstrip()
    line = before[before.rfind(b"\n") + 1 :].lstrip()
    return not before or before[-1:] in _BEFORE_ITEM or line.startswith(b"#")


def _may_follow(text: bytes, branch: _Branch) -> bool:
    """Whether an alternative can be read behind the first: both are whole statements, or items of a list."""
    first = branch.first
    apart = branch.apart and _BEGINNING.match(first) is not None and _BEGINNING.match(text) is not None
    both = (apart and first[-1:] in _AFTER_ITEM) or (first[:1] == b"," and text[:1] == b",")
    return both and _balance(first) == 0 and _balance(text) == 0


def _balance(text: bytes) -> int:
    """How many brackets stay open; -1 where one is closed that was not opened."""
    depth = 0
    for bracket in re.findall(rb"[()\[\]{}]", text):
        depth += _BRACKETS[bracket]
        if depth < 0:
            return depth
    return depth
