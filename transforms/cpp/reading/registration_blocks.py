"""Where a file registers: blocks of TORCH_LIBRARY and its kin, functions that take a torch::Library, objects of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from transforms.cpp.reading.blocks import arguments
from transforms.cpp.reading.facts import Function
from transforms.cpp.reading.library_objects import LibraryObject, library_objects
from transforms.cpp.reading.signatures import decode

_LIBRARY = re.compile(rb"\b((?:STABLE_)?TORCH_LIBRARY(_FRAGMENT|_IMPL|_THREAD_UNSAFE_LAZY_INIT)?)\s*\(")
HEAD = re.compile(rb"(\w+)\s*\(")
_CALL = re.compile(rb"(?<![\w.:])((?:::)?\w+(?:::\w+)*)\s*(?:<[^<>;(){}]*>\s*)?(\()")
# Of pybind11 and nanobind: what they define Python calls, and the dispatcher does not know.
NO_LIBRARY = re.compile(rb"(?:PYBIND11|NB)_\w*MODULE$")
# A namespace or a key that is no macro. torch/library.h expands one, which TORCH_LIBRARY itself did not at first: what
# it defined had another name then than what the others registered for it.
_PLAIN = re.compile(r"(?:[a-z_]\w*)?")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9]*")
METHOD = re.compile(rb"\b(\w+)\s*(?:\.|->)\s*(def|impl|impl_UNBOXED|fallback|impl_abstract_pystub)\s*(\()")
# What returns the library, so that the next stands behind it: `m.def("f() -> ()").impl("f", f);`.
_NEXT = re.compile(rb"\s*\.\s*(def|impl|impl_UNBOXED|fallback|impl_abstract_pystub|set_python_module)\s*(\()")


@dataclass(frozen=True, slots=True)
class RegistrationBlock:
    """Code that registers in one library, by the name `variable`, from `body` to `end`."""

    namespace: str
    key: str
    variable: str
    start: int
    body: int
    end: int
    head: str
    """The macro that opens it, or the function that it is; "" for an object whose namespace is not known."""
    arguments: tuple[str, ...] = ()
    """Of the macro."""
    pending: bool = False
    """Whether namespace and key are for other files to say."""
    made: int = -1
    """The offset past what makes the object that it is of; -1 for a function."""
    inner: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    """The spans inside it where the name means another library."""

    def calls(self, text: bytes) -> Iterator[tuple[int, str, int]]:
        """(start, method, opening parenthesis) of each call of its library's methods, in order."""
        if self.made >= 0:
            yield from _chain(text, self.made, self.end)
        for match in METHOD.finditer(text, self.body, self.end) if self.variable else ():
            if decode(match[1]) == self.variable and not any(a <= match.start() < b for a, b in self.inner):
                yield match.start(), decode(match[2]), match.start(3)
                yield from _chain(text, _closing(text, match.start(3)), self.end)

    def helpers(self, text: bytes) -> Iterator[str]:
        """The functions that it calls with its library."""
        for match in _CALL.finditer(text, self.body, self.end) if self.variable else ():
            passed = (decode(text[a:b]).strip("&* ") for a, b in arguments(text, match.start(2)))
            if self.variable in passed and not any(a <= match.start() < b for a, b in self.inner):
                yield match[1].decode().removeprefix("::")


def registration_blocks(text: bytes, source: bytes, functions: Sequence[Function]) -> Iterator[RegistrationBlock]:
    """The blocks of a file; `text` is `source` without literals and defines."""
    blocks = [block for function in functions if function.body >= 0 for block in _of(text, source, function)]
    blocks += map(_of_object, library_objects(text, source, functions))
    for block in blocks:
        others = (other for other in blocks if other.variable == block.variable and block.start < other.start)
        yield replace(block, inner=tuple((other.start, other.end) for other in others if other.start < block.end))


def _of(text: bytes, source: bytes, function: Function) -> Iterator[RegistrationBlock]:
    library = next((p for p in function.params if re.search(r"\b(?:Stable)?Library\b", p.type)), None)
    if library is None and function.template:  # `template <typename M> void add(M& m) { m.impl(…); }`
        methods = METHOD.finditer(text, function.body, function.end)
        libraries = {decode(match[1]) for match in methods if match[2] == b"impl"}  # a module of pybind11 has `def`
        library = next((p for p in function.params if p.name in libraries), None)
    if library is not None:
        yield replace(_block(function), variable=library.name, head=function.qualified, pending=True)
    elif not function.returns and (head := HEAD.match(text, function.start)) is not None:
        yield from _of_macro(text, source, function, head)


def _block(function: Function) -> RegistrationBlock:
    return RegistrationBlock("", "", "", function.start, function.body, function.end, function.name)


def _of_macro(text: bytes, source: bytes, function: Function, head: re.Match[bytes]) -> Iterator[RegistrationBlock]:
    """The block that the macro at `head` opens; nothing where it opens none."""
    spans = tuple(decode(source[a:b]) for a, b in arguments(text, head.end() - 1))
    library = _LIBRARY.match(text, head.start())
    block = replace(_block(function), arguments=spans)
    if library is not None:
        placed = placement(decode(library[1]), spans)
        if placed is not None:
            literal = _PLAIN.fullmatch(placed[0]) is not None and _PLAIN_KEY.fullmatch(placed[1]) is not None
            namespace, key = placed if literal else ("", "")
            yield replace(block, namespace=namespace, key=key, variable=spans[-1], pending=not literal)
    elif NO_LIBRARY.match(head[1]) is None:
        methods = {decode(match[1]) for match in METHOD.finditer(text, function.body, function.end)}
        variable = next((argument for argument in reversed(spans) if argument in methods), spans[-1] if spans else "")
        block = replace(block, variable=variable, pending=True)
        if variable in methods or any(block.helpers(text)):
            yield block
        elif spans and len(methods) == 1:  # the macro may name it itself: `#define MINE(ns) TORCH_LIBRARY(ns, m)`
            yield replace(block, variable=methods.pop())


def _of_object(made: LibraryObject) -> RegistrationBlock:
    namespace, key = made.placed or ("", "")
    head = "" if made.placed is None else "TORCH_LIBRARY_IMPL" if key else "TORCH_LIBRARY"
    spans = (namespace or "_", key, made.variable) if key else (namespace or "_", made.variable)
    block = RegistrationBlock(namespace, key, made.variable, made.start, made.start, made.end, head, made=made.made)
    return replace(block, pending=True) if made.placed is None else replace(block, arguments=spans)


def placement(head: str, spans: Sequence[str]) -> tuple[str, str] | None:
    """The namespace and the key of the block that one of torch's macros opens, "" where it has none; else None."""
    library = _LIBRARY.fullmatch(f"{head}(".encode())
    if library is None or len(spans) < (3 if library[2] == b"_IMPL" else 2):
        return None
    return "" if spans[0] == "_" else spans[0], spans[1] if library[2] == b"_IMPL" else ""


def _chain(text: bytes, offset: int, end: int) -> Iterator[tuple[int, str, int]]:
    """The calls that follow one another from `offset`, each of what the one before returns."""
    while offset >= 0 and (match := _NEXT.match(text, offset, end)) is not None:
        yield match.start(1), decode(match[1]), match.start(2)
        offset = _closing(text, match.start(2))


def _closing(text: bytes, opening: int) -> int:
    """The offset past the call whose `(` is at `opening`, -1 where it is not closed."""
    spans = list(arguments(text, opening))
    return text.find(b")", spans[-1][1] if spans else opening) + 1 or -1
