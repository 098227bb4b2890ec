"""Operators whose schema could take SymInts: which kernel parameters, formulas and yaml entries go together.

Between a schema and its kernels nothing may change alone: the functional, out and in-place entries, every composite
kernel, the formulas of derivatives.yaml that pass the argument on. Such a set is a family; it converts as a whole.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from transforms.cpp.reading.facts import FileFacts, Function, Slot
from transforms.cpp.reading.types import parse_type
from transforms.schema.derivatives import Derivative, Derivatives
from transforms.schema.native_functions import NativeFunction, NativeFunctions
from transforms.schema.schema import Schema, parse_schema

_COMPOSITE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
INTEGERS = re.compile(r"int(\[\d*\])?\??$")
"""The types of a schema's arguments that have a symbolic counterpart."""
_ACCESSOR = re.compile(r"^(\w+)\s*\.\s*(size|sizes|numel|stride|strides|storage_offset)\s*\(")
_CALL = re.compile(r"(?<![\w.>:])(?:\w+::)*([A-Za-z_]\w*)\s*\(")
_MADE = re.compile(r"(?:std::)?vector<int64_t>\(\w+\.size\(\), *-?\d+\)")
_SYMBOLIC = re.compile(r"^\{|\bsym_\w+\s*\(|_symint\b|\bSymInt")
_LIST = re.compile(r"ArrayRef|vector<")


@dataclass(frozen=True, slots=True)
class Family:
    """What changes together: kernel parameters, and the entries and formulas around them."""

    argument: str
    """The schema argument, or "" where only formulas are concerned."""
    slots: frozenset[Slot]
    kernels: frozenset[tuple[str, int]] = frozenset()
    """(path, start) of the kernels, which gain the name `…_symint`."""
    entries: tuple[NativeFunction, ...] = ()
    derivatives: tuple[Derivative, ...] = ()
    accessors: tuple[tuple[Derivative, str], ...] = ()
    """(entry, `x.sizes()`): accessors in formulas that become symbolic, and vectors that are made there."""
    operator: str = ""
    """Of a schema that C++ defines: `ns::op.overload`. It changes only where a symbolic value is to go through it."""
    schema: tuple[str, int, int] = ("", 0, 0)
    """(path, start, end) of the word `int` in that schema."""


def split_arguments(text: str, opening: int) -> list[str]:
    """The arguments of the call whose `(` is at `opening`."""
    out: list[str] = []
    depth, last = 0, opening + 1
    for index in range(opening, len(text)):
        if text[index] in "([{":
            depth += 1
        elif text[index] in ")]}":
            depth -= 1
            if depth == 0:
                return [*out, text[last:index].strip()]
        elif text[index] == "," and depth == 1:
            out.append(text[last:index].strip())
            last = index + 1
    return out


_PARAMETERS = {"Tensor": "tensor", "int": "int", "SymInt": "int", "str": "string", "bool": "bool", "float": "float"}


def _serves(function: Function, schema: Schema) -> bool:
    """Whether each parameter can be that of the schema's argument in its place: overloads are told apart by types."""
    for parameter, argument in zip(function.params, schema.arguments, strict=True):
        spelled = argument.plain_type.rstrip("?")
        expected = _PARAMETERS.get(spelled.partition("[")[0].rstrip("?"))
        kind = parse_type(parameter.type)
        if kind.kind == "wrap" and kind.args:
            kind = kind.args[0]
        if "[" in spelled:
            expected = "ints" if expected == "int" else None
        if expected is not None and kind.kind not in (expected, "other", "unknown"):
            return False
    return True


class Schemas:
    """The families of a tree."""

    def __init__(
        self,
        facts: Mapping[str, FileFacts],
        own: NativeFunctions | None,
        target_schemas: Mapping[str, tuple[Schema, ...]] | None,
        formulas: Derivatives | None,
    ) -> None:
        self.own = own.entries if own is not None else ()
        self.target_schemas = target_schemas
        """The schemas of another version, which say what becomes symbolic; None: nothing by itself."""
        self.formulas = formulas.entries if formulas is not None else ()
        self.functions: dict[str, list[Function]] = {}
        self.definitions: dict[tuple[str, int], Function] = {}
        for file in facts.values():
            for function in file.functions:
                if function.body >= 0 and not function.parent and not function.structured:
                    self.functions.setdefault(function.name, []).append(function)
                    self.definitions[function.path, function.start] = function

    def families(self) -> list[Family]:
        """Every family that the other version's schemas or the formulas ask for.

        Those are left whose parameters another formula gives what stays a list of integers.
        """
        found = [*self._schema_families(), *self._formula_families()]
        while True:
            held = [family for family in found if all(self._is_served(slot, found) for slot in family.slots)]
            if len(held) == len(found):
                return held
            found = held

    def _is_served(self, slot: Slot, families: Iterable[Family]) -> bool:
        """Whether all that formulas give a parameter is symbolic with it. An int64_t becomes a SymInt by itself."""
        if not _LIST.search(self.definitions[slot.path, slot.start].params[slot.index].type):
            return True
        following = [family for family in families if slot in family.slots]
        for derivative, given in self._given.get(slot, ()):
            declared = (argument.symbolic for argument in derivative.schema.arguments if argument.name == given)
            if _SYMBOLIC.search(given) or any(declared):
                continue
            if not any(
                (derivative, given) in family.accessors
                or (given == family.argument and derivative in family.derivatives)
                for family in following
            ):
                return False
        return True

    def _schema_families(self) -> Iterator[Family]:
        """Those that the other version's schemas ask for."""
        if self.target_schemas is None:
            return
        groups: dict[tuple[str, str], list[NativeFunction]] = {}
        for entry in self.own:
            for name in self._to_change(entry.schema):
                groups.setdefault((entry.schema.base.rstrip("_"), name), []).append(entry)
        for (_, name), entries in groups.items():
            family = self._family(name, entries)
            if family is not None:
                yield family

    def _to_change(self, schema: Schema) -> Iterator[str]:
        overloads = (self.target_schemas or {}).get(schema.base, ())
        target = next((target for target in overloads if target.overload == schema.overload), None)
        if target is None:
            return
        symbolic = {argument.name for argument in target.arguments if argument.symbolic}
        for argument in schema.arguments:
            if argument.name in symbolic and INTEGERS.match(argument.type):
                yield argument.name

    def _family(self, name: str, entries: list[NativeFunction]) -> Family | None:
        slots: set[Slot] = set()
        kernels: set[tuple[str, int]] = set()
        for entry in entries:
            for key, kernel in entry.dispatch:
                if key not in _COMPOSITE:
                    continue
                index = [argument.name for argument in entry.schema.arguments].index(name)
                candidates = [
                    function
                    for function in self.functions.get(kernel.rpartition("::")[2], ())
                    if "native" in function.qualified.split("::")
                    and len(function.params) == len(entry.schema.arguments)
                ]
                if len(candidates) > 1:
                    candidates = [function for function in candidates if _serves(function, entry.schema)]
                if len(candidates) != 1 or entry.structured:
                    return None
                slots.add(Slot(candidates[0].path, candidates[0].start, index))
                kernels.add((candidates[0].path, candidates[0].start))
        names = {entry.schema.full_name for entry in entries}
        derivatives = tuple(entry for entry in self.formulas if entry.schema.full_name in names)
        for derivative in derivatives:
            passed = self._passed_on(derivative, name)
            if passed is None:
                return None
            slots |= passed
        if not slots:
            return None
        given = (call for slot, calls in self._given.items() if slot in slots for call in calls)
        vectors = dict.fromkeys(call for call in given if _MADE.fullmatch(call[1]))
        return Family(name, frozenset(slots), frozenset(kernels), tuple(entries), derivatives, tuple(vectors))

    def _passed_on(self, derivative: Derivative, name: str) -> set[Slot] | None:
        """The parameters that an entry's formulas hand the argument to; None where they use it otherwise."""
        slots: set[Slot] = set()
        for _, formula in derivative.formulas:
            # How many sizes there are is no size.
            uses = len(re.findall(rf"(?<![\w.]){re.escape(name)}\b(?!\.(?:size|empty)\(\))", formula))
            for match in _CALL.finditer(formula):
                arguments = split_arguments(formula, match.end() - 1)
                for index, argument in enumerate(arguments):
                    if argument != name:
                        continue
                    slot = self._parameter(match[1], index, len(arguments))
                    if slot is None:
                        return None
                    slots.add(slot)
                    uses -= 1
            if uses:
                return None
        return slots

    def _parameter(self, name: str, index: int, count: int) -> Slot | None:
        """Parameter `index` of the one function that a formula can mean by `name`, called with `count` arguments."""
        named = [f for f in self.functions.get(name, ()) if "native" not in f.qualified.split("::")]
        exact = [f for f in named if len(f.params) == count]
        candidates = exact or [f for f in named if len(f.params) > count]  # the rest have defaults
        return Slot(candidates[0].path, candidates[0].start, index) if len(candidates) == 1 else None

    @functools.cached_property
    def _given(self) -> dict[Slot, list[tuple[Derivative, str]]]:
        """What formulas give to each parameter of a function: (entry, the argument)."""
        arguments: dict[Slot, list[tuple[Derivative, str]]] = {}
        for derivative in self.formulas:
            for _, formula in derivative.formulas:
                for match in _CALL.finditer(formula):
                    given = split_arguments(formula, match.end() - 1)
                    for index, argument in enumerate(given):
                        slot = self._parameter(match[1], index, len(given))
                        if slot is not None:
                            arguments.setdefault(slot, []).append((derivative, argument))
        return arguments

    def _formula_families(self) -> Iterator[Family]:
        """Functions that formulas give `x.sizes()` to: symbolic where every formula does so."""
        for slot, calls in self._given.items():
            concrete = [(entry, argument) for entry, argument in calls if _ACCESSOR.match(argument)]
            spelled = self.definitions[slot.path, slot.start].params[slot.index].type
            scalar = spelled.replace("const ", "").rstrip("& ") in ("int64_t", "int")
            if concrete and (scalar or len(concrete) == len(calls)) and "Sym" not in spelled:
                yield Family("", frozenset({slot}), accessors=tuple(concrete))


def integer_arguments(facts: Mapping[str, FileFacts]) -> frozenset[tuple[str, int]]:
    """(name of an operator without its namespace, index of an argument) that schemas in C++ have as integers.

    A function of an operator's name, `fps` of `m.def("fps(Tensor x, int n) -> Tensor")`, is what others call it by, and
    takes what the schema says (torch/library.h: a kernel's signature is checked against it).
    """
    integers: set[tuple[str, int]] = set()
    for file in facts.values():
        pending = (registration for block in file.blocks for registration in block.registrations)
        for registration in (*file.registrations, *pending):
            try:
                schema = parse_schema(registration.schema)
            except ValueError:
                continue
            indexes = (index for index, argument in enumerate(schema.arguments) if INTEGERS.match(argument.type))
            integers.update((schema.base, index) for index in indexes)
    return frozenset(integers)


def links(families: Iterable[Family]) -> dict[Slot, frozenset[Slot]]:
    """For each slot of a family all slots that must change with it."""
    out: dict[Slot, frozenset[Slot]] = {}
    for family in families:
        for slot in family.slots:
            out[slot] = out.get(slot, frozenset()) | family.slots
    return out
