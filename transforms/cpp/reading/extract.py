"""The facts of one C++ file, from its bytes alone."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Iterable, Iterator

from transforms.cpp.reading.blocks import (
    Block,
    Scope,
    Statement,
    argument_counts,
    arguments,
    read_blocks,
)
from transforms.cpp.reading.facts import Call, FileFacts, Function, Lookup
from transforms.cpp.reading.generic import takes_symbols
from transforms.cpp.reading.literals import without_defines, without_literals
from transforms.cpp.reading.macros import asking_macros, block_macros, definitions, expansions, launching_macros
from transforms.cpp.reading.marks import masked
from transforms.cpp.reading.registrations import bound, classes, registrations
from transforms.cpp.reading.signatures import decode

# Read backwards, from each `(`: template arguments, the callee with its qualifiers, `.` or `->`.
_CALL = re.compile(
    rb"\(\s*(?:>(?:[^<>(){};]|>[^<>(){};]*<)*<\s*)?"
    rb"(\w+(?:\s*::\s*(?:>[^<>(){};]*<\s*)?\w+)*(?:\s*::(?!\w))?)(?:(?:\s*etalpmet\b)?\s*(\.|>-))?"
)
_CANDIDATE = frozenset(
    name[::-1] for name in (b"size", b"sizes", b"numel", b"stride", b"strides", b"storage_offset", b"nbytes")
)
# No call of a function of the tree: keywords, casts, accessors of Tensors and of the standard containers.
_UNINTERESTING = frozenset(
    name[::-1]
    for name in b"""
    if for while switch catch return sizeof decltype alignof noexcept typeid static_cast reinterpret_cast const_cast
    dynamic_cast assert defined operator int64_t int32_t int bool float double size_t void char uint8_t int8_t auto
    irange move forward make_tuple make_pair get tie min max vector string optional function
    begin end rbegin rend push_back emplace_back emplace pop_back back front at reserve resize empty clear find count
    insert erase data has_value value value_or c_str str length append swap reset
    defined dim dtype scalar_type options device layout is_cuda is_sparse item to data_ptr const_data_ptr
    mutable_data_ptr contiguous requires_grad get_device numel size sizes stride strides storage_offset nbytes
    """.split()
)
# Of those the functions of the standard library that are methods of other classes where an object stands before them.
_METHODS_TOO = frozenset((b"forward"[::-1], b"move"[::-1]))
# An operator asked for in the dispatcher (aten/src/ATen/core/dispatch/Dispatcher.h), as far as its signature.
_LOOKUP = re.compile(
    rb'\bfindSchemaOrThrow\s*\(\s*"([^"]+)"\s*,\s*"([^"]*)"\s*\)'
    rb"(?:\s*\.\s*(?:template\s+)?typed\s*<\s*decltype\s*\(\s*([\w:]+)\s*\))?"
)
_MACRO = re.compile(r"[A-Z][A-Z0-9_]*$")
_FEATURES = (
    ("dispatch", (b"AT_DISPATCH", b"THO_DISPATCH", b"AT_PRIVATE_CASE_TYPE")),
    ("parallel", (b"parallel_for", b"parallel_reduce", b"#pragma omp parallel")),
    (
        "data_ptr",
        (b"data_ptr", b"->data()", b"->data ()", b"mutable_data()", b"mutable_data ()", b".data<", b"toDLPack("),
    ),
    ("iterator", (b"TensorIterator",)),
    ("item", (b".item<", b".item()", b".item ()")),
    ("accessor", (b"accessor<", b"accessor_t<", b"accessor32<", b"accessor64<")),
    # CUDA C++ and HIP, their runtimes' functions, and Metal's encoders.
    ("launch", (b"<<<", b"LaunchKernel", b"LaunchCooperativeKernel", b"dispatchThread")),
)
_NO_FEATURES = frozenset[str]()
_ALIAS = re.compile(rb"^\s*(?:using\s+(\w+)\s*=\s*(.+)|typedef\s+(.+?[\s*&>])(\w+))\s*$", re.S)
_MEMBER = re.compile(rb"^(.*[\s&*>])([A-Za-z_]\w*)\s*((?:\[[^\]]*\])*)\s*$", re.S)
# `T a, b;`: the type, and the names with nothing but commas between them.
_MEMBERS = re.compile(rb"^([\w:]+(?:\s*<[\w:<>\s]*>)?)\s+([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)+)\s*$")
_INITIALISER = re.compile(rb"(?<![=<>!])=(?!=)|\{")
_NO_MEMBER = re.compile(rb"^\s*(?:using|typedef|friend|static_assert|template|class|struct|enum|union|return|extern)\b")
_PREFIX = re.compile(
    rb"(?:\b(?:public|private|protected)\s*:(?!:)|\b(?:static|mutable|constexpr|inline)\b|\s|\[\[[^\]]*\]\])*"
)
_INTEREST = re.compile(
    rb"Tensor|IntArrayRef|int64_t|SymInt|TORCH_LIBRARY|torch::Library|RegisterOperators|DimVector|\.(?:def|impl)\(|class_<"
)


def extract(path: str, source: bytes) -> FileFacts:
    """The functions, registrations, members, aliases and macros of a file.

    The file is not parsed (see `blocks`), so no function is lost to a macro the grammar does not know. A function is to
    be found in a parse by its `body`, the offset of its `{`.
    """
    source = masked(source).source
    defined = definitions(source)
    macros = tuple(name.decode() for name, _ in defined)
    asking = tuple(asking_macros(source, defined))
    if _INTEREST.search(source) is None:
        return FileFacts(path, macros=macros, asking_macros=asking)
    text = without_defines(without_literals(source))
    blocks, statements = read_blocks(text)
    lines = _Lines(source)
    featuring = _featuring(text)
    functions = tuple(_function(path, text, block, lines, featuring) for block in blocks)
    launching = tuple(launching_macros(source, defined))
    if launching:
        functions = tuple(_with_launches(function, text, launching) for function in functions)
    if b"findSchemaOrThrow" in text:
        functions = tuple(_with_lookups(function, source) for function in functions)
    members: list[tuple[str, str, str]] = []
    aliases: list[tuple[str, str]] = []
    for statement in statements:
        _statement(text, statement, members, aliases)
    registered, library_blocks = registrations(source, text, functions, lines.line)
    generated = tuple(_generated(path, expansions(source, text, defined, functions), lines))
    return FileFacts(
        path,
        functions,
        registered,
        tuple(members),
        tuple(aliases),
        macros,
        generated,
        library_blocks,
        tuple(block_macros(source, defined)),
        asking,
        classes(text),
        bound(text, functions),
        b"__global__" in text or b"<<<" in text or bool(launching),
    )


def _with_launches(function: Function, text: bytes, macros: Iterable[bytes]) -> Function:
    if function.body < 0 or not any(name in text[function.body : function.end] for name in macros):
        return function
    return dataclasses.replace(function, features=function.features | {"launch"})


def _with_lookups(function: Function, source: bytes) -> Function:
    if function.body < 0:
        return function
    found = _LOOKUP.finditer(source, function.body, function.end)
    lookups = dict.fromkeys(
        Lookup(f"{decode(m[1])}.{decode(m[2])}" if m[2] else decode(m[1]), decode(m[3] or b"")) for m in found
    )
    return dataclasses.replace(function, lookups=tuple(lookups)) if lookups else function


def _generated(path: str, expanded_calls: Iterable[tuple[int, int, bytes, str]], lines: _Lines) -> Iterator[Function]:
    for start, end, code, scope in expanded_calls:
        line = lines.line(start)
        expanded = without_literals(code)
        for block in read_blocks(expanded)[0]:
            function = _function(path, expanded, block, _Lines(expanded), _FEATURES)
            calls = tuple(dataclasses.replace(call, start=start, line=line) for call in function.calls)
            qualified = f"{scope}::{function.qualified}" if scope else function.qualified
            yield dataclasses.replace(
                function, qualified=qualified, start=start, end=end, body=-1, line=line, calls=calls
            )


class _Lines:
    """Line numbers for offsets, cheap when asked in ascending order."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.offset = 0
        self.number = 1

    def line(self, offset: int) -> int:
        """The line of `offset`, counted from 1."""
        if offset < self.offset:
            self.offset, self.number = 0, 1
        self.number += self.source.count(b"\n", self.offset, offset)
        self.offset = offset
        return self.number


def _featuring(text: bytes) -> list[tuple[str, tuple[bytes, ...]]]:
    """Of the words of each feature those that the text has, which few files do."""
    held = ((feature, tuple(word for word in words if word in text)) for feature, words in _FEATURES)
    return [(feature, words) for feature, words in held if words]


def _function(
    path: str, text: bytes, block: Block, lines: _Lines, featuring: Iterable[tuple[str, tuple[bytes, ...]]]
) -> Function:
    head = block.signature
    name = head.name
    structured = ""
    if name[:6] in ("META__", "IMPL__"):
        structured, name = name[:4], name[6:]
    spaces = [scope.name for scope in block.scopes if scope.name and scope.name != "extern"]
    qualified = "::".join((*spaces, head.scope, name) if head.scope else (*spaces, name))
    parent = _parent(block.scopes, head.scope)
    in_class = bool(block.scopes) and block.scopes[-1].kind == "class"
    internal = (head.static and not in_class) or any(s.kind == "namespace" and not s.name for s in block.scopes)
    line = lines.line(head.start)
    features = _NO_FEATURES
    calls: tuple[Call, ...] = ()
    candidates = 0
    if block.body >= 0:
        # The initialisers of a constructor belong to its code.
        begin = head.start if name == parent else block.body
        code = text[begin : block.end]
        held = [feature for feature, words in featuring for word in words if word in code]
        features = frozenset(held) if held else _NO_FEATURES
        calls, candidates = _calls(code, begin, lines)
        if head.template and takes_symbols(_before(text, head.start), text[block.body : block.end], head):
            features |= {"generic"}
    return Function(
        name,
        qualified,
        path,
        head.start,
        block.end,
        block.body,
        line,
        head.params,
        head.returns,
        parent,
        head.template,
        internal,
        structured,
        features,
        calls,
        candidates,
    )


def _before(text: bytes, start: int) -> bytes:
    """What stands between the last statement or brace and the head of a function: its `template <…>`."""
    return re.split(rb"[;{}]", text[max(0, start - 500) : start])[-1]


def _parent(scopes: tuple[Scope, ...], written: str) -> str:
    """The class a function belongs to: the enclosing one, or the last part of a qualification that names one."""
    if scopes and scopes[-1].kind == "class":
        return scopes[-1].name
    last = written.rpartition("::")[2]
    return last if last and last not in ("native", "at", "detail", "torch", "std", "c10") else ""


def _calls(code: bytes, offset: int, lines: _Lines) -> tuple[tuple[Call, ...], int]:
    """The calls in a function's code, one per callee, argument count and kind, and the number of candidate sites."""
    candidates = 0
    backwards = code[::-1]
    size = len(code)
    counts: dict[int, int] = {}
    seen: dict[tuple[bytes, bytes, int], int] = {}
    for match in _CALL.finditer(backwards):
        name, dot = match.groups()
        if dot and name in _CANDIDATE:
            candidates += 1
        elif (name not in _UNINTERESTING or (dot and name in _METHODS_TOO)) and not (
            name[-5:] == b"::dts" or name.isupper()
        ):
            opening = size - match.start() - 1
            flat = _FLAT.match(code, opening)
            if flat is not None:
                count = flat[1].count(b",") + 1 if flat[1].strip() else 0
            else:
                counts = counts or argument_counts(code)
                count = counts[opening]
            seen[name, dot or b"", count] = size - match.end(1)
    calls = [
        Call(
            "".join(decode(name[::-1]).split()),
            count,
            offset + start,
            bool(dot),
            lines.line(offset + start),
            _literals(code, start),
        )
        for (name, dot, count), start in sorted(seen.items(), key=operator.itemgetter(1))
    ]
    return tuple(calls), candidates


def _literals(code: bytes, start: int) -> tuple[int, ...]:
    """Which arguments of the call that begins at `start` are string literals."""
    opening = code.find(b"(", start)
    if code.find(b'"', opening, code.find(b";", opening)) < 0:
        return ()
    spans = enumerate(arguments(code, opening))
    return tuple(index for index, (begin, end) in spans if code[begin:end].lstrip().startswith(b'"'))


_FLAT = re.compile(rb"\(([^(){}\[\]<>]*)\)")


def _statement(
    text: bytes, statement: Statement, members: list[tuple[str, str, str]], aliases: list[tuple[str, str]]
) -> None:
    """Add what a statement declares, a data member or a type alias, to the lists."""
    code = text[statement.start : statement.end]
    if b"using" in code or b"typedef" in code:
        alias = _ALIAS.match(code)
        if alias is not None:
            aliases.append((decode(alias[1] or alias[4]), decode(alias[2] or alias[3])))
            return
    if not statement.scopes or statement.scopes[-1].kind != "class":
        return
    prefix = _PREFIX.match(code)
    code = code[prefix.end() :] if prefix is not None else code
    if _NO_MEMBER.match(code) is not None or b"#" in code:
        return
    initialiser = _INITIALISER.search(code)
    code = code if initialiser is None else code[: initialiser.start()]
    several = _MEMBERS.match(code)
    if several is not None:
        names = decode(several[2]).replace(" ", "").split(",")
        members.extend((statement.scopes[-1].name, name, decode(several[1])) for name in names)
        return
    member = _MEMBER.match(code)
    if member is not None and b"(" not in member[1]:
        members.append((statement.scopes[-1].name, decode(member[2]), decode(member[1]) + decode(member[3])))
