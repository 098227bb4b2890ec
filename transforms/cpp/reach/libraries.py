"""Registrations of which one file does not say all: their macro is defined in another, or they stand in a function.

`TORCH_LIBRARY_EXPAND(NAME, m) { … }` and `DISPATCH_TO_META("f", f);` are what the tree's macros make of them, and
`void add(torch::Library& m) { … }` registers in the namespaces and under the keys of the blocks that call it.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping

from transforms.cpp.reading.blocks import arguments
from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.facts import Block, FileFacts, Registration
from transforms.cpp.reading.literals import without_defines, without_literals
from transforms.cpp.reading.preprocessor import Expander, Macro, read_macros
from transforms.cpp.reading.registration_blocks import placement
from transforms.cpp.reading.registrations import qualified

Placement = tuple[str, str]
"""The namespace and the key of a block."""


def with_libraries(facts: Mapping[str, FileFacts], read: Callable[[str], bytes]) -> Mapping[str, FileFacts]:
    """`facts` with the registrations that take several files to tell. `read` gives the bytes of a file."""
    if not any(file.blocks or file.block_macros for file in facts.values()):
        return facts
    return {**facts, **_Libraries(facts, read).joined()}


class _Libraries:
    def __init__(self, facts: Mapping[str, FileFacts], read: Callable[[str], bytes]) -> None:
        self._facts = dict(facts)
        self._read = read
        self._macros: dict[str, dict[bytes, Macro]] = {}
        self._defined: dict[str, list[str]] = {}
        for path, file in facts.items():
            for name in file.macros:
                self._defined.setdefault(name, []).append(path)
        self._expanded = dict(self._expanded_blocks())
        self._facts.update(self._expanded)
        for path, file in self._facts.items():
            if any(block.macros for block in file.blocks):
                blocks = tuple(self._with_calls(path, block) for block in file.blocks)
                self._facts[path] = self._expanded[path] = dataclasses.replace(file, blocks=blocks)
        self._blocks = [(path, block) for path, file in sorted(self._facts.items()) for block in file.blocks]
        self._helpers: dict[str, list[int]] = {}
        for index, (_, block) in enumerate(self._blocks):
            if not block.arguments:
                self._helpers.setdefault(block.head.rpartition("::")[2], []).append(index)

    def joined(self) -> dict[str, FileFacts]:
        """The files that gain registrations, each with all of its own."""
        placements = self._placements()
        gained: dict[str, dict[Registration, None]] = {path: {} for path in self._expanded}
        for index, places in placements.items():
            path, block = self._blocks[index]
            registrations = gained.setdefault(path, {})
            for namespace, key in sorted(places):
                registrations.update(dict.fromkeys(_placed(block, namespace, key)))
        return {
            path: dataclasses.replace(
                self._facts[path],
                registrations=tuple(sorted((*self._facts[path].registrations, *new), key=lambda r: r.start)),
            )
            for path, new in gained.items()
        }

    def _expanded_blocks(self) -> Iterator[tuple[str, FileFacts]]:
        """The files that call macros which hold whole blocks, with the registrations of these, at the calls."""
        names = sorted({name for file in self._facts.values() for name in file.block_macros})
        if not names:
            return
        written = [name.encode("utf-8", "surrogateescape") for name in names]
        pattern = re.compile(rb"(?m)^[ \t]*(" + b"|".join(written) + rb")\s*(\()")
        for path, file in sorted(self._facts.items()):
            source = self._source(path)
            if not any(name in source for name in written) or pattern.search(source) is None:
                continue
            registrations, blocks = list(file.registrations), list(file.blocks)
            text = without_defines(without_literals(source))
            for call in pattern.finditer(text):
                spans = list(arguments(text, call.start(2)))
                end = text.find(b")", spans[-1][1] if spans else call.end()) + 1
                inside = extract(path, self._expander(path).expand(source[call.start(1) : end]))
                line = source.count(b"\n", 0, call.start(1)) + 1
                at = functools.partial(dataclasses.replace, start=call.start(1), end=end, line=line)
                registrations += map(at, inside.registrations)
                blocks += (
                    dataclasses.replace(block, registrations=tuple(map(at, block.registrations)), macros=())
                    for block in inside.blocks
                )
            yield path, dataclasses.replace(file, registrations=tuple(registrations), blocks=tuple(blocks))

    def _with_calls(self, path: str, block: Block) -> Block:
        """A block with what the tree's macros register that it calls, at the calls."""
        source, expander = self._source(path), self._expander(path)
        library = block.library.encode("utf-8", "surrogateescape")
        registrations = list(block.registrations)
        for start, end, line in block.macros:
            expanded = expander.expand(source[start:end])
            inside = extract(path, b"void block(torch::Library& %s) { %s; }" % (library, expanded)).blocks
            for registration in (r for made in inside for r in made.registrations):
                registrations.append(dataclasses.replace(registration, start=start, end=end, line=line))
        return dataclasses.replace(block, registrations=tuple(registrations))

    def _expander(self, path: str) -> Expander:
        return Expander(lambda name: self._macro(name.decode(), path))

    def _placements(self) -> dict[int, set[Placement]]:
        """Where each block registers: what its macro says, or all that call it say."""
        placements: dict[int, set[Placement]] = {}
        pending: list[tuple[int, Placement]] = []
        for index, (path, block) in enumerate(self._blocks):
            placed = self._placed_by_macro(path, block) if block.arguments else None
            if placed is not None:
                pending.append((index, placed))
        while pending:
            index, placed = pending.pop()
            if placed in placements.setdefault(index, set()):
                continue
            placements[index].add(placed)
            path, block = self._blocks[index]
            for written in block.helpers:
                pending += ((helper, placed) for helper in self._called(path, written))
        return placements

    def _called(self, path: str, written: str) -> list[int]:
        """The functions of that name that take a library: those of the same file, if it has some, else all."""
        named = self._helpers.get(written.rpartition("::")[2], [])
        named = [index for index in named if f"::{self._blocks[index][1].head}".endswith(f"::{written}")] or named
        return [index for index in named if self._blocks[index][0] == path] or named

    def _placed_by_macro(self, path: str, block: Block) -> Placement | None:
        head = f"{block.head}({', '.join(block.arguments)})".encode("utf-8", "surrogateescape")
        expanded = self._expander(path).expand(head).decode("utf-8", "surrogateescape").strip()
        name, parenthesis, _ = expanded.partition("(")
        if not parenthesis:
            return None
        text = expanded.encode("utf-8", "surrogateescape")
        spans = [text[a:b].decode("utf-8", "surrogateescape").strip() for a, b in arguments(text, text.index(b"("))]
        placed = placement(name.strip(), spans)
        own = placed is None or block.names_library or spans[-1] == block.library
        return placed if own else None

    def _macro(self, name: str, near: str) -> Macro | None:
        """The definition of a macro: of the same file, or of the file that is nearest by its folders."""
        paths = self._defined.get(name, ())
        for path in sorted(paths, key=lambda path: (path != near, -_shared_folders(path, near), path)):
            if path not in self._macros:
                self._macros[path] = read_macros(self._source(path))
            macro = self._macros[path].get(name.encode("utf-8", "surrogateescape"))
            if macro is not None:
                return macro
        return None

    def _source(self, path: str) -> bytes:
        try:
            return self._read(path)
        except OSError:
            return b""


def _shared_folders(path: str, near: str) -> int:
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(path.split("/"), near.split("/"), strict=False))
    return sum(1 for _ in pairs)


def _placed(block: Block, namespace: str, key: str) -> Iterator[Registration]:
    for registration in block.registrations:
        operator = qualified(registration.operator, namespace)
        yield dataclasses.replace(registration, operator=operator, key=registration.key or key)
