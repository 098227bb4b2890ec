"""Where registrations name a kernel of at::native: what they are to read once it is called `…_symint`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from transforms.cpp.reach.schemas import Family
from transforms.cpp.reach.vocabulary import symint_name
from transforms.cpp.reading.blocks import arguments
from transforms.cpp.reading.facts import FileFacts
from transforms.cpp.reading.macros import definitions, parameters_and_body

_NAMED = re.compile(rb"\bnative::(\w+)(?!\w|\s*::)")
_CALL = re.compile(rb"(\w+)\s*(\()")
_WORD = re.compile(rb"(\"(?:[^\"\\]|\\.)*\")|((?<!#)#\s*)?\b([A-Za-z_]\w*)")
_ADJACENT = re.compile(rb'"\s*"')


@dataclass(frozen=True, slots=True)
class Naming:
    """The bytes `[start, end)` of a file name the kernel `kernel`; they read `new` where that is renamed."""

    path: str
    start: int
    end: int
    kernel: str
    new: str


def namings(facts: Mapping[str, FileFacts], read: Callable[[str], bytes]) -> dict[str, list[Naming]]:
    """The places in registrations that name a kernel, by its name.

    A macro that is defined in the registration's own file, such as functorch's OP_DECOMPOSE, is expanded there.
    """
    out: dict[str, list[Naming]] = {}
    for path, file in facts.items():
        registrations = [*file.registrations, *(r for block in file.blocks for r in block.registrations)]
        source = read(path) if registrations else b""
        bodies = _macros(source) if registrations and file.macros else {}
        for registration in registrations:
            for naming in _namings(path, source, registration.start, registration.end, bodies):
                out.setdefault(naming.kernel, []).append(naming)
    return out


def renamable(
    families: Sequence[Family], facts: Mapping[str, FileFacts], registered: Collection[str]
) -> Iterator[Family]:
    """The families whose kernels can be renamed wherever they are `registered` by name.

    A name means all kernels of at::native that have it, so they change together: a family that has some of them holds
    with one that has all.
    """
    functions = (function for file in facts.values() for function in file.functions)
    names: dict[tuple[str, int], str] = {}
    kernels: dict[str, set[tuple[str, int]]] = {}
    for function in functions:
        if function.body >= 0 and not function.parent and function.qualified.split("::")[-2:-1] == ["native"]:
            names[function.path, function.start] = function.name
            kernels.setdefault(function.name, set()).add((function.path, function.start))
    for family in families:
        slots = family.slots
        for name in {names[key] for key in family.kernels if key in names} & set(registered):
            whole = next((other for other in (family, *families) if kernels[name] <= other.kernels), None)
            if whole is None:
                break
            slots |= whole.slots
        else:
            yield family if slots == family.slots else replace(family, slots=slots)


def _macros(source: bytes) -> dict[bytes, tuple[list[bytes], bytes]]:
    """The parameters and the body of each macro that registers a kernel of at::native."""
    bodies = {}
    for name, end in definitions(source):
        defined = parameters_and_body(source, end)
        if defined is not None and b"native::" in defined[1]:
            bodies[name] = defined
    return bodies


def _namings(
    path: str, source: bytes, start: int, end: int, bodies: Mapping[bytes, tuple[list[bytes], bytes]]
) -> Iterator[Naming]:
    for match in _NAMED.finditer(source, start, end):
        kernel = match[1].decode()
        yield Naming(path, match.start(1), match.end(1), kernel, symint_name(kernel))
    call = _CALL.match(source, start, end)
    if call is None or call[1] not in bodies:
        return
    parameters, body = bodies[call[1]]
    values = [source[first:last].strip() for first, last in arguments(source, call.start(2))]
    if len(values) != len(parameters):
        return
    text = body.strip().removesuffix(b";")
    texts = {parameter: value for parameter, value in zip(parameters, values, strict=True) if parameter}
    text = _WORD.sub(lambda match: _argument(match, texts), text)
    text = _ADJACENT.sub(b"", text)
    for match in _NAMED.finditer(text):
        kernel = match[1].decode()
        new = text[: match.start(1)] + symint_name(kernel).encode() + text[match.end(1) :]
        yield Naming(path, start, end, kernel, new.decode("utf-8", "surrogateescape"))


def _argument(match: re.Match[bytes], texts: Mapping[bytes, bytes]) -> bytes:
    """A word of a macro's body as it is expanded: what is given for a parameter, quoted behind `#`."""
    value = texts.get(match[3]) if match[3] else None
    if value is None:
        return match[0]
    return b'"%s"' % value if match[2] else value
