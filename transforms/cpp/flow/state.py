"""The records of a function while it is read: variables, lambdas, emissions, sinks, sites. `engine.Flow` fills them."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from transforms.cpp.reading.facts import Function, Slot
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import UNKNOWN, Type


@dataclass(eq=False, slots=True)
class Variable:
    """A name in a scope. `origins` grow while the passes run: non-empty or not None means it must hold SymInts."""

    name: str
    type: Type
    declarator: Node
    declaration: Node | None = None
    """The declaration whose type would be edited; None for parameters and names that have no spelled type."""
    parameter: int = -1
    """The index of a parameter of the function itself."""
    deduced: bool = False
    """Declared `auto`: its type follows its initialiser."""
    origins: frozenset[int] | None = None
    initial: Node | None = None

    @property
    def value(self) -> Type:
        """The type of the variable as it stands now."""
        if self.origins is None:
            return self.type
        return self.type.with_origins(self.origins | (self.type.origins or frozenset()))


@dataclass(slots=True)
class Lambda:
    """A lambda that has a name: its parameters, what it returns, and the node it was written as."""

    node: Node
    parameters: list[Variable]
    result: Type = UNKNOWN
    returns: list[tuple[Node | None, Type]] = field(default_factory=list)


def given_away(node: Node, algorithms: Container[str]) -> bool:
    """Whether a lambda, or the name of one, goes where others call it: into a type of its own, to a function."""
    outer = node.parent
    while outer is not None and outer.kind == "parenthesized_expression":
        node, outer = outer, outer.parent
    if outer is None or outer.kind == "call_expression":
        return False
    if outer.kind == "init_declarator":
        spelled = outer.parent.field("type") if outer.parent is not None else None
        return spelled is None or "auto" not in spelled.text.split()
    if outer.kind == "argument_list":
        function = outer.parent.field("function") if outer.parent is not None else None
        return function is None or function.text.removeprefix("std::") not in algorithms
    return outer.kind not in ("lambda_capture_initializer", "expression_statement")


@dataclass(frozen=True, slots=True)
class Handle:
    """An operator with a signature: `findSchemaOrThrow("ns::op", "").typed<Tensor(const Tensor&, int64_t)>()`."""

    operator: str
    spelled: tuple[Node, ...] | None = None
    """The types of its parameters, as written; None where they are those of `function`."""
    function: Function | None = None
    """`f` of `typed<decltype(f)>()`."""
    returns: str = ""


@dataclass(frozen=True, slots=True)
class Emission:
    """An edit made by `rule`, wanted because of `origins`."""

    rule: str
    start: int
    end: int
    new: str
    origins: frozenset[int]
    message: str


@dataclass(frozen=True, slots=True)
class Sink:
    """A place where a symbolic value cannot go: Mode 4."""

    code: str
    reason: str
    start: int
    end: int
    origins: frozenset[int]
    slot: Slot | None = None
    """What would have to become symbolic for the value to go on."""


@dataclass(frozen=True, slots=True)
class Site:
    """A concrete accessor called on a Tensor."""

    origin: int
    """The byte offset of the accessor's name."""
    start: int
    end: int
    api: str
    receiver: str
    free: bool = False
    """Written `at::size(t, d)`."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """`/`, `%` or an assignment with these, of integers of which one is symbolic; without a `token` the call of a
    template, which may hold one."""

    node: Node
    token: str
    operands: tuple[Node, ...]
    origins: frozenset[int]


@dataclass(frozen=True, slots=True)
class Rounding:
    """A quotient that a graph may round otherwise: where it begins, how it reads, and its operator."""

    start: int
    text: str
    token: str
    origins: frozenset[int]
