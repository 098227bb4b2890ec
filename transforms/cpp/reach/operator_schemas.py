"""Operators that C++ of the tree defines with a schema: which integer arguments could be SymInts, and what goes along.

The dispatcher takes SymInts apart for a kernel that has integers alone (`unpackSymInt` in KernelFunction_impl.h of
aten/src/ATen/core/boxing), so kernels of backends stay. What runs before them has to follow: kernels under keys that
symbolic tensors meet, kernels that have SymInts already, and functions whose signature `typed<decltype(f)>()` takes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from transforms.cpp.reach.calls import named
from transforms.cpp.reach.reached import SYMBOLIC_KEYS
from transforms.cpp.reach.schemas import INTEGERS, Family
from transforms.cpp.reach.vocabulary import Definition
from transforms.cpp.reading.facts import FileFacts, Function, Registration, Slot
from transforms.cpp.reading.literals import without_literals
from transforms.schema.schema import Schema, parse_schema

Resolve = Callable[[FileFacts, Registration], Sequence[Function]]
"""The kernels that a registration may mean."""
Places = Sequence[tuple[FileFacts, Registration]]
BY_VALUE = re.compile(
    r"(?:const )?(?:int64_t|(?:(?:c10|at|torch)::)?(?:IntArrayRef|OptionalIntArrayRef)"
    r"|(?:(?:c10|at|torch|std)::)?optional<int64_t>)"
)
"""An integer as a kernel takes it whose SymInts the dispatcher takes apart, and whose place a SymInt can take."""
# Kernels that the stable ABI boxes (torch/csrc/stable/library.h): it has no SymInts.
_BOXED = (b"TORCH_BOX", b"STABLE_TORCH_LIBRARY")


@dataclass(frozen=True, slots=True)
class _Operator:
    """An operator that C++ of the tree defines, by one schema."""

    name: str
    path: str
    definition: Registration
    schema: Schema
    places: Places
    """All its registrations."""

    @property
    def symbolic(self) -> frozenset[int]:
        return frozenset(i for i, argument in enumerate(self.schema.arguments) if argument.symbolic)

    def index_in(self, function: Function, argument: int) -> int:
        """The parameter that `argument` is of a kernel, which may take a DispatchKeySet first; -1 where it has none."""
        ahead = int(bool(function.params) and "DispatchKeySet" in function.params[0].type)
        return argument + ahead if len(function.params) == len(self.schema.arguments) + ahead else -1

    def spelled(self, function: Function, argument: int) -> str:
        """The type of that parameter, "" where there is none."""
        index = self.index_in(function, argument)
        return function.params[index].type if index >= 0 else ""


def definitions(facts: Mapping[str, FileFacts]) -> dict[str, Definition]:
    """The operators that one schema in C++ defines, by `ns::op.overload`."""
    return {o.name: Definition(o.path, o.definition.start, o.symbolic) for o in _operators(facts)}


def operator_families(
    facts: Mapping[str, FileFacts], resolve: Resolve, read: Callable[[str], bytes]
) -> Iterator[Family]:
    """A family for each integer argument of those operators whose kernels and wrappers can follow."""
    operators = list(_operators(facts))
    kernels_of: dict[str, list[Function | None]] = {}
    registered: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    for operator in operators:
        kernels_of[operator.name] = list(_kernels(operator, resolve))
        for kernel in filter(None, kernels_of[operator.name]):
            registered[kernel.path, kernel.start].add(operator.name)
    wrappers = _Wrappers(facts)
    for operator in operators:
        words = dict(_words(operator, read(operator.path)))
        functions = [*kernels_of[operator.name], *wrappers.of(operator.name)] if words else [None]
        followers = [f for f in functions if f is not None and _follows(f, operator, registered)]
        if None in functions or any(registered[f.path, f.start] - {operator.name} for f in filter(None, functions)):
            continue
        if any(_BOXED[0] in read(file.path) or _BOXED[1] in read(file.path) for file, _ in operator.places):
            continue
        if not all(_only_called(follower.name, operator.places, facts, read) for follower in followers):
            continue
        for index, word in words.items():
            if all(BY_VALUE.fullmatch(operator.spelled(f, index)) for f in filter(None, functions)):
                slots = {Slot(f.path, f.start, operator.index_in(f, index)) for f in followers}
                own = Definition(operator.path, operator.definition.start, operator.symbolic).slot(operator.name, index)
                yield Family("", frozenset({own, *slots}), operator=operator.name, schema=(operator.path, *word))


def _operators(facts: Mapping[str, FileFacts]) -> Iterator[_Operator]:
    places: defaultdict[str, list[tuple[FileFacts, Registration]]] = defaultdict(list)
    for file in facts.values():
        for registration in file.registrations:
            places[registration.operator].append((file, registration))
    for name, registrations in places.items():
        schemas = [(file.path, r) for file, r in registrations if r.schema]
        if name and len(schemas) == 1:
            try:
                schema = parse_schema(schemas[0][1].schema)
            except ValueError:
                continue
            yield _Operator(name, *schemas[0], schema, registrations)


def _kernels(operator: _Operator, resolve: Resolve) -> Iterator[Function | None]:
    """The kernels of an operator; None for one that is not to be seen, or is written as a lambda."""
    for file, registration in operator.places:
        if not registration.function and not registration.inline and registration.schema:
            continue  # the schema alone
        functions = resolve(file, registration) if registration.function else ()
        yield functions[0] if len(functions) == 1 and not functions[0].template else None


def _follows(function: Function, operator: _Operator, registered: Mapping[tuple[str, int], set[str]]) -> bool:
    """Whether a function has to take SymInts where the schema has them: all but kernels of backends that take none."""
    keys = [r.key for _, r in operator.places if r.function.rpartition("::")[2] == function.name]
    backend = (function.path, function.start) in registered and not any(map(SYMBOLIC_KEYS.match, keys))
    return not backend or any("SymInt" in operator.spelled(function, index) for index in operator.symbolic)


class _Wrappers:
    """The functions whose signatures calls through the dispatcher take: `typed<decltype(f)>()`."""

    def __init__(self, facts: Mapping[str, FileFacts]) -> None:
        self._functions: defaultdict[str, list[Function]] = defaultdict(list)
        self._written: defaultdict[str, list[tuple[str, Function]]] = defaultdict(list)
        for function in (f for file in facts.values() for f in file.functions if f.body >= 0):
            self._functions[function.name].append(function)
            for lookup in function.lookups:
                if lookup.signature:
                    self._written[lookup.operator].append((lookup.signature, function))

    def of(self, operator: str) -> Iterator[Function | None]:
        """Those of an operator; None for one that is not to be seen."""
        for written, caller in self._written[operator]:
            meant = named(self._functions[written.rpartition("::")[2]], written, caller)
            yield meant[0] if len(meant) == 1 and not meant[0].template else None


def _words(operator: _Operator, source: bytes) -> Iterator[tuple[int, tuple[int, int]]]:
    """The integer arguments of a schema, each with the place of the word `int` that it is written with."""
    for index, argument in enumerate(operator.schema.arguments):
        if not INTEGERS.match(argument.plain_type):
            continue
        pattern = rb"(?<=[(,\s\"])int(?=(?:\[\d*\])?\??\s+%s\b)" % re.escape(argument.name.encode())
        found = list(re.finditer(pattern, source[operator.definition.start : operator.definition.end]))
        if len(found) == 1:
            yield index, (operator.definition.start + found[0].start(), operator.definition.start + found[0].end())


def _only_called(name: str, places: Places, facts: Iterable[str], read: Callable[[str], bytes]) -> bool:
    """Whether a function is called, and registered at `places`, but given to nothing else, such as pybind11."""
    word = re.compile(rb"\b%s\b(?!\s*\()" % re.escape(name.encode()))
    signature = re.compile(rb"\bdecltype\s*\(\s*(?:\w+::)*$")
    for path in facts:
        source = read(path)
        if name.encode() not in source:
            continue
        text = without_literals(source)
        spans = [(r.start, r.end) for file, r in places if file.path == path]
        for match in word.finditer(text):
            registers = any(start <= match.start() < end for start, end in spans)
            if not registers and signature.search(text, max(0, match.start() - 200), match.start()) is None:
                return False
    return True
