"""Operators registered in C++: TORCH_LIBRARY blocks, torch::RegisterOperators, functions that take a torch::Library."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from codemod.model.operators import operator_name
from transforms.cpp.reading.blocks import arguments
from transforms.cpp.reading.facts import Block, Function, Registration
from transforms.cpp.reading.registration_blocks import HEAD, METHOD, NO_LIBRARY, RegistrationBlock, registration_blocks
from transforms.cpp.reading.signatures import decode

_MODULE = re.compile(r"\b(?:py|pybind11|nb|nanobind)::module_?\b")
_REGISTER_OPERATORS = re.compile(rb"\bRegisterOperators\s*(?:\w+\s*)?(?:\(\s*\)|\(\)|\{\s*\})?\s*(?=[.(])")
# The class itself, whose constructors register nothing.
_OWN_CLASS = re.compile(rb"\b(?:class|struct)\s+(?:\w+\s+)*RegisterOperators\b[^;{}()]*(?=\{)")
_OP = re.compile(rb"(?:\.\s*op|RegisterOperators\s*(?:\w+\s*)?)\s*(\()")
_MACRO = re.compile(rb"\b([A-Z][A-Z0-9_]{2,})\s*(\()")
_STRING = re.compile(
    rb"\s*(?:(?:TORCH_SELECTIVE_(?:SCHEMA|NAME)|(?:(?:torch|c10)::)?schema)\s*\(\s*){0,2}"
    rb'(?:R"[^(]*\((.*?)\)[^")]*"|((?:"(?:\\.|[^"\\])*"\s*)+))',
    re.S,
)
# What may follow the literal: the ends of the calls around it, and their further arguments.
_REST = re.compile(rb"[\s)]*(?:,.*)?", re.S)
# Those of the methods that register; the others say something of the library.
_REGISTERING = ("def", "impl", "impl_UNBOXED", "fallback")
_CLASS = re.compile(rb"\b(?:torch\s*::\s*|\w+\s*\.\s*)(?:selective_)?class_\s*<[^;(){}]*>\s*(?:\w+\s*)?\(\s*\"")
_NO_OPERATOR = (b"TORCH_", b"C10_", b"AT_", b"SINGLE_ARG")
_WRAPPERS = re.compile(
    r"^(?:&\s*|(?:torch|c10|at)::(?=dispatch|CppFunction)|TORCH_FN\b|TORCH_BOX\b|TORCH_FN_TYPE\b|SINGLE_ARG\b"
    r"|(?:(?:torch|c10)::)?CppFunction(?:::make\w+\s*(?=[<(])|(?=\())|<\s*(?=&)"
    r"|(?:torch::)?dispatch\(\s*[\w:\"]+\s*,|static_cast<.*>(?=\()|\(\s*(?=&|\w[\w:]*\)$)|\((?=TORCH_FN|&))\s*"
)
_KEY = re.compile(r"(?:DispatchKey::|(?:c10::|at::|torch::|^)k(?=[A-Z]))(\w+)")
_IDENTIFIER = re.compile(r"(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*")
# `m.def(schema, {at::Tag::pt2_compliant_tag})` names no kernel (torch/library.h).
_TAGS = re.compile(rb"\s*\{|\s*(?:std::vector\s*<\s*)?(?:at::|torch::)?Tag\b")
_KERNEL_OPTION = re.compile(
    r"\bkernel<\s*(?:decltype\(([\w:]+)\)\s*,\s*&?([\w:]+)|(\w[\w:]*))?[^>]*>\s*\("
    r"\s*(?:[\w:]*(?:DispatchKey::|k)(\w+))?"
)
_BARE_OPTION = re.compile(rb"\b(kernel|catchAllKernel)\s*(\()")
_SCHEMA_OPTION = re.compile(rb"\bschema\s*(\()")
_CATCH_ALL = re.compile(r"\bcatchAllKernel<\s*decltype\(([\w:]+)\)")


def registrations(
    source: bytes, text: bytes, functions: Sequence[Function], line: Callable[[int], int]
) -> tuple[tuple[Registration, ...], tuple[Block, ...]]:
    """The registrations of a file, in order, and its blocks that other files belong to.

    `text` is `source` with literals and defines blanked.
    """
    read: list[Registration] = []
    pending: list[Block] = []
    if b"Library" in text or b"TORCH_LIBRARY" in text or b".def(" in text or b".impl(" in text:
        for block in registration_blocks(text, source, functions):
            inside = tuple(_block_registrations(source, text, block, line))
            helpers = tuple(dict.fromkeys(block.helpers(text)))
            macros = tuple((start, end, line(start)) for start, end in _macro_calls(text, source, block))
            if not block.pending:
                read += inside
            if (block.pending and (inside or block.head)) or helpers or macros:
                own = inside if block.pending else ()
                pending.append(Block(block.head, block.arguments, own, helpers, block.variable, macros))
    if b"RegisterOperators" in text:
        read += _register_operators(source, text, line)
    return tuple(sorted(read, key=lambda registration: registration.start)), tuple(pending)


def classes(text: bytes) -> int:
    """How many classes a file registers that are no operators; `text` is without literals and defines."""
    if b"class_" not in text:
        return 0
    return sum(1 for _ in _CLASS.finditer(text))


def bound(text: bytes, functions: Sequence[Function]) -> int:
    """How many functions a file gives to Python by pybind11 or nanobind, which the dispatcher does not know."""
    if b".def(" not in text:
        return 0
    count = 0
    for function in functions:
        if function.body < 0:
            continue
        variable = next((p.name for p in function.params if _MODULE.search(p.type)), "")
        head = HEAD.match(text, function.start)
        if head is not None and NO_LIBRARY.match(head[1]) is not None and function.params:
            variable = function.params[-1].type
        methods = METHOD.finditer(text, function.body, function.end)
        count += sum(1 for m in methods if variable and decode(m[1]) == variable and m[2] == b"def")
    return count


def _block_registrations(
    source: bytes, text: bytes, block: RegistrationBlock, line: Callable[[int], int]
) -> Iterator[Registration]:
    calls = list(block.calls(text))
    for (start, method, opening), following in itertools.zip_longest(calls, calls[1:], fillvalue=(block.end, "", 0)):
        spans = list(arguments(text, opening))
        if method not in _REGISTERING or not spans or (method.startswith("impl") and len(spans) < 2):
            continue
        end = min(text.find(b";", spans[-1][1], block.end) + 1 or block.end, following[0])
        if b"makeFallthrough" in text[spans[-1][0] : spans[-1][1]]:
            continue
        if method == "fallback":
            yield _registration("", block, spans[-1], source, start, end, line)
            continue
        name = string(source, *spans[0])
        written = decode(source[slice(*spans[0])]) if name is None else ""
        if name is None and not written:
            continue
        if method == "def" and (len(spans) == 1 or _TAGS.match(text, *spans[1])):
            operator = qualified(name or "", block.namespace)
            yield Registration(operator, "", "", line(start), start, end, name or "", written=written)
            continue
        name = name or ""
        schema = name if "(" in name else ""
        # `m.impl("f", torch::kCUDA, f)`: torch/library.h has this as a convenience.
        key = decode(source[slice(*spans[1])]) if method == "impl" and len(spans) == 3 else ""
        kernel = spans[2] if key else spans[1]
        registration = _registration(name, block, kernel, source, start, end, line, schema, key)
        yield dataclasses.replace(registration, written=written) if written else registration
    for match in _MACRO.finditer(text, block.body, block.end) if block.made < 0 else ():
        spans = list(arguments(text, match.end() - 1))
        parts = [decode(source[a:b]) for a, b in spans]
        if not parts or match[1].startswith(_NO_OPERATOR) or not _names_operator(parts[0], block):
            continue
        operator = parts[0]
        if len(parts) > 2 and re.fullmatch(r"\w+", parts[1]):
            operator += "." + parts[1]
        last = callee(parts[-1]) if len(parts) > 1 else ""
        yield Registration(
            qualified(operator, block.namespace), block.key, last, line(match.start()), match.start(), spans[-1][1] + 1
        )


def _names_operator(argument: str, block: RegistrationBlock) -> bool:
    """Whether the first argument of a macro is taken for the name of an operator: `VMAP_SUPPORT(add, rule)`."""
    return re.fullmatch(r"\w+", argument) is not None and argument != block.variable


def _macro_calls(text: bytes, source: bytes, block: RegistrationBlock) -> Iterator[tuple[int, int]]:
    """The calls in a block of macros that may register there, and are not taken for the name of an operator.

    What a macro is given that registers is read where it stands: `WITH_CUDA(m.impl("f", f));`.
    """
    for match in _MACRO.finditer(text, block.body, block.end) if block.made < 0 else ():
        spans = list(arguments(text, match.end() - 1))
        if spans and not _names_operator(decode(source[slice(*spans[0])]), block):
            end = text.find(b")", spans[-1][1]) + 1
            if METHOD.search(text, match.end(), end) is None:
                yield match.start(), end


def _registration(
    name: str,
    block: RegistrationBlock,
    span: tuple[int, int],
    source: bytes,
    start: int,
    end: int,
    line: Callable[[int], int],
    schema: str = "",
    written_key: str = "",
) -> Registration:
    kernel = decode(source[span[0] : span[1]])
    key = block.key
    if written_key:
        named = _KEY.search(written_key)
        key = named[1] if named is not None else written_key
    elif "dispatch(" in kernel:
        named = _KEY.search(kernel) or re.search(r"dispatch\(\s*\"?(?:k(?=[A-Z]))?([A-Za-z]\w*)", kernel)
        key = named[1] if named is not None else key
    function = callee(kernel)
    inline = not function and "{" in kernel
    return Registration(qualified(name, block.namespace), key, function, line(start), start, end, schema, inline)


def qualified(schema: str, namespace: str) -> str:
    """The operator that a name or a schema is about, of `namespace` where it names none; "" where it is no name."""
    return operator_name(schema.partition("(")[0].strip(), namespace)


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


def string(source: bytes, start: int, end: int) -> str | None:
    """The value of the string literal(s) that the argument from `start` to `end` is, joined.

    None where it is none, or where a name without a schema is put together: `"f" + suffix`.
    """
    match = _STRING.match(source, start)
    if match is None:
        return None
    literal = match[1] if match[1] is not None else b"".join(re.findall(rb'"((?:\\.|[^"\\])*)"', match[2]))
    if b"(" not in literal and _REST.fullmatch(source, match.end(), max(end, match.end())) is None:
        return None
    return decode(literal)


def _register_operators(source: bytes, text: bytes, line: Callable[[int], int]) -> Iterator[Registration]:
    """`torch::RegisterOperators().op("ns::name(…) -> …", &kernel)` and its options form."""
    own = [(head.end(), max(arguments(text, head.end()), default=(0, 0))[1]) for head in _OWN_CLASS.finditer(text)]
    for start in _REGISTER_OPERATORS.finditer(text):
        if any(begin < start.start() < end for begin, end in own):
            continue
        stop = text.find(b";", start.end())
        for match in _OP.finditer(text, start.start(), stop if stop >= 0 else len(text)):
            yield from _registered_by(source, text, match, line)


def _registered_by(
    source: bytes, text: bytes, call: re.Match[bytes], line: Callable[[int], int]
) -> Iterator[Registration]:
    """What one `.op(…)` registers."""
    spans = list(arguments(text, call.start(1)))
    if not spans:
        return
    end = spans[-1][1] + 1
    name, given = string(source, *spans[0]), spans[1:]
    first = next((start for start, end in spans if b"options()" in text[start:end]), None)
    options = (first, spans[-1][1]) if first is not None else None  # template arguments have commas
    if name is None and options is not None and first == spans[0][0]:  # `options().schema("ns::name(…) -> …")`
        named = _SCHEMA_OPTION.search(text, *options)
        name = string(source, *next(arguments(text, named.start(1)), options)) if named is not None else None
        given = []
    place = call.start()
    if name is None or "::" not in name:
        written = decode(source[slice(*spans[0])]) if name is None else ""
        if written:
            yield Registration("", "", "", line(place), place, end, written=written)
        return
    operator = operator_name(name.partition("(")[0].strip())
    schema = name if "(" in name else ""
    found = list(_by_options(source, text, options)) if options is not None else []
    if given and given[0][0] != first:
        found.append(("", decode(source[slice(*given[0])])))
    elif not given and options is None:
        found.append(("", ""))
    for key, kernel in found:
        function = callee(kernel)
        yield Registration(
            operator, key, function, line(place), place, end, schema, inline=not function and "{" in kernel
        )


def _by_options(source: bytes, text: bytes, span: tuple[int, int]) -> Iterator[tuple[str, str]]:
    """(key, kernel) of each kernel that `RegisterOperators::options()` is given."""
    rest = decode(source[slice(*span)])
    for kernel in _KERNEL_OPTION.finditer(rest):
        yield kernel[4] or "", kernel[2] or kernel[1] or kernel[3] or ""
    catch = _CATCH_ALL.search(rest)
    if catch is not None:
        yield "", catch[1]
    for option in _BARE_OPTION.finditer(text, *span):
        written = [decode(source[slice(*part)]) for part in arguments(text, option.start(2))]
        key = _KEY.search(written[0]) if option[1] == b"kernel" and written else None
        if written and (key is not None or option[1] != b"kernel"):
            yield key[1] if key is not None else "", written[-1]
