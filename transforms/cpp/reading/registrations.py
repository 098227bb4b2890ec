"""Operators registered in C++: TORCH_LIBRARY blocks, torch::RegisterOperators, functions that take a torch::Library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from codemod.model.operators import operator_name
from transforms.cpp.reading.blocks import arguments
from transforms.cpp.reading.facts import Function, Registration
from transforms.cpp.reading.signatures import decode

_LIBRARY = re.compile(rb"\b(?:STABLE_)?TORCH_LIBRARY(_FRAGMENT|_IMPL|_THREAD_UNSAFE_LAZY_INIT)?\s*\(")
_METHOD = re.compile(rb"\b(\w+)\s*\.\s*(def|impl|impl_UNBOXED|fallback|impl_abstract_pystub)\s*\(")
_REGISTER_OPERATORS = re.compile(rb"\bRegisterOperators\s*(?:\w+\s*)?(?:\(\s*\)|\(\)|\{\s*\})?\s*(?=[.(])")
_OP = re.compile(rb"(?:\.\s*op|RegisterOperators\s*(?:\w+\s*)?)\s*(\()")
_MACRO = re.compile(rb"\b([A-Z][A-Z0-9_]{2,})\s*(\()")
_STRING = re.compile(
    rb'\s*(?:TORCH_SELECTIVE_(?:SCHEMA|NAME)\s*\(\s*)?(?:R"[^(]*\((.*?)\)[^")]*"|((?:"(?:\\.|[^"\\])*"\s*)+))', re.S
)
_NO_OPERATOR = (b"TORCH_", b"C10_", b"AT_", b"SINGLE_ARG")
_WRAPPERS = re.compile(
    r"^(?:&\s*|(?:torch|c10|at)::(?=dispatch|CppFunction)|TORCH_FN\b|TORCH_BOX\b|TORCH_FN_TYPE\b|SINGLE_ARG\b"
    r"|(?:(?:torch|c10)::)?CppFunction::make\w+\s*(?=[<(])|<\s*(?=&)"
    r"|(?:torch::)?dispatch\(\s*[\w:\"]+\s*,|static_cast<.*>(?=\()|\(\s*(?=&|\w[\w:]*\)$)|\((?=TORCH_FN|&))\s*"
)
_KEY = re.compile(r"(?:DispatchKey::|c10::k|at::k|torch::k|^k)(\w+)")
_IDENTIFIER = re.compile(r"(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*")
_KERNEL_OPTION = re.compile(
    r"\bkernel<\s*(?:decltype\(([\w:]+)\)\s*,\s*&?([\w:]+)|(\w[\w:]*))?[^>]*>\s*\("
    r"\s*(?:[\w:]*(?:DispatchKey::|k)(\w+))?"
)
_CATCH_ALL = re.compile(r"\bcatchAllKernel<\s*decltype\(([\w:]+)\)")


@dataclass(frozen=True, slots=True)
class _Block:
    namespace: str
    key: str
    variable: str
    body: int
    end: int


def registrations(
    source: bytes, text: bytes, functions: Sequence[Function], line: Callable[[int], int]
) -> tuple[Registration, ...]:
    """The registrations of a file, in order. `text` is `source` with literals and defines blanked."""
    read: list[Registration] = []
    if b"Library" in text or b"TORCH_LIBRARY" in text:
        for block in _blocks(text, source, functions):
            read += _block_registrations(source, text, block, line)
    if b"RegisterOperators" in text:
        read += _register_operators(source, text, line)
    return tuple(sorted(read, key=lambda registration: registration.start))


def _blocks(text: bytes, source: bytes, functions: Sequence[Function]) -> Iterator[_Block]:
    starts: set[int] = set()
    bodies = {function.body: function for function in functions}
    for match in _LIBRARY.finditer(text):
        spans = [decode(source[a:b]) for a, b in arguments(text, match.end() - 1)]
        brace = text.find(b"{", match.end())
        function = bodies.get(brace) if brace >= 0 else None
        if function is None or len(spans) < (3 if match[1] == b"_IMPL" else 2):
            continue
        starts.add(function.body)
        key = spans[1] if match[1] == b"_IMPL" else ""
        yield _Block("" if spans[0] == "_" else spans[0], key, spans[-1], function.body, function.end)
    for function in functions:
        library = next((p for p in function.params if re.search(r"\bLibrary\b", p.type)), None)
        if library is not None and function.body >= 0 and function.body not in starts:
            yield _Block("", "", library.name, function.body, function.end)


def _block_registrations(
    source: bytes, text: bytes, block: _Block, line: Callable[[int], int]
) -> Iterator[Registration]:
    for match in _METHOD.finditer(text, block.body, block.end):
        if match[1].decode() != block.variable or match[2] == b"impl_abstract_pystub":
            continue
        spans = list(arguments(text, match.end() - 1))
        if not spans or (match[2].startswith(b"impl") and len(spans) < 2):
            continue
        end = text.find(b";", spans[-1][1], block.end) + 1 or block.end
        if b"makeFallthrough" in text[spans[-1][0] : spans[-1][1]]:
            continue
        if match[2] == b"fallback":
            yield _registration("", block, spans[-1], source, match.start(), end, line)
            continue
        name = string(source, spans[0][0])
        if name is None:
            if match[2] == b"def" or b"TORCH_SELECTIVE" not in source[spans[0][0] : spans[0][1]]:
                continue
            name = ""
        if match[2] == b"def" and len(spans) == 1:
            yield Registration(_qualified(name, block), "", "", line(match.start()), match.start(), end, name)
            continue
        schema = name if "(" in name else ""
        yield _registration(name, block, spans[1], source, match.start(), end, line, schema)
    for match in _MACRO.finditer(text, block.body, block.end):
        spans = list(arguments(text, match.end() - 1))
        parts = [decode(source[a:b]) for a, b in spans]
        if not parts or match[1].startswith(_NO_OPERATOR) or not re.fullmatch(r"\w+", parts[0]):
            continue
        operator = parts[0]
        if len(parts) > 2 and re.fullmatch(r"\w+", parts[1]):
            operator += "." + parts[1]
        last = callee(parts[-1]) if len(parts) > 1 else ""
        yield Registration(
            _qualified(operator, block), block.key, last, line(match.start()), match.start(), spans[-1][1] + 1
        )


def _registration(
    name: str,
    block: _Block,
    span: tuple[int, int],
    source: bytes,
    start: int,
    end: int,
    line: Callable[[int], int],
    schema: str = "",
) -> Registration:
    kernel = decode(source[span[0] : span[1]])
    key = block.key
    if "dispatch(" in kernel:
        named = _KEY.search(kernel) or re.search(r"dispatch\(\s*\"?([A-Za-z]\w*)", kernel)
        key = named[1] if named is not None else key
    function = callee(kernel)
    inline = not function and "{" in kernel
    return Registration(_qualified(name, block), key, function, line(start), start, end, schema, inline)


def _qualified(schema: str, block: _Block) -> str:
    """The operator that a name or a schema is about."""
    return operator_name(schema.partition("(")[0].strip(), block.namespace)


def callee(expression: str) -> str:
    """The function that a registered expression names, without `&`, `TORCH_FN(…)`, casts and template arguments.

    "" for a lambda and for what names none.
    """
    previous = ""
    text = expression.strip()
    if text.startswith("["):
        return ""
    while text != previous:
        previous = text
        text = _WRAPPERS.sub("", text, count=1).strip()
        if text.startswith("(") and not text.startswith("()"):
            text = text[1:].strip()
        if text.startswith("["):
            return ""
    match = _IDENTIFIER.match(text.lstrip(":"))
    return match[0] if match is not None else ""


def string(source: bytes, offset: int) -> str | None:
    """The value of the string literal(s) that stand at `offset`, joined; None where there is none."""
    match = _STRING.match(source, offset)
    if match is None:
        return None
    if match[1] is not None:
        return decode(match[1])
    return decode(b"".join(re.findall(rb'"((?:\\.|[^"\\])*)"', match[2])))


def _register_operators(source: bytes, text: bytes, line: Callable[[int], int]) -> Iterator[Registration]:
    """`torch::RegisterOperators().op("ns::name(…) -> …", &kernel)` and its options form."""
    for start in _REGISTER_OPERATORS.finditer(text):
        stop = text.find(b";", start.end())
        for match in _OP.finditer(text, start.start(), stop if stop >= 0 else len(text)):
            spans = list(arguments(text, match.start(1)))
            name = string(source, spans[0][0]) if spans else None
            if name is None or "::" not in name:
                continue
            rest = decode(source[spans[0][1] : spans[-1][1]]).lstrip(", ")
            end = spans[-1][1] + 1
            operator = operator_name(name.partition("(")[0].strip())
            schema = name if "(" in name else ""
            if "options()" not in rest:
                function = callee(rest)
                inline = not function and "{" in rest
                yield Registration(operator, "", function, line(match.start()), match.start(), end, schema, inline)
                continue
            for kernel in _KERNEL_OPTION.finditer(rest):
                function = kernel[2] or kernel[1] or kernel[3] or ""
                yield Registration(operator, kernel[4] or "", function, line(match.start()), match.start(), end, schema)
            catch = _CATCH_ALL.search(rest)
            if catch is not None:
                yield Registration(operator, "", catch[1], line(match.start()), match.start(), end, schema)
