"""What the analysis tells the rules: for each kind of place that cannot stay as it is, an event that names its nodes.

A rule lists the events it answers in `EVENTS`; its `rewrite(event)` yields what the source is to read instead. The flow
announces these; what follows for signatures and schemas once slots are settled stands in `settled`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transforms.cpp.reading.tree import Node

Origins = frozenset[int] | None


@dataclass(frozen=True, slots=True)
class Replacement:
    """The bytes `[start, end)` are to read `new`; `message` says so to the user."""

    start: int
    end: int
    new: str
    message: str


@dataclass(frozen=True, slots=True)
class Event:
    """A place where a symbolic value arrives. Without `origins` that are still symbolic nothing is rewritten."""

    origins: Origins


@dataclass(frozen=True, slots=True)
class AccessorCall(Event):
    """`receiver.api(…)` on a Tensor; `name` is the node of `api`."""

    name: Node
    api: str
    receiver: str


@dataclass(frozen=True, slots=True)
class FreeAccessorCall(Event):
    """`at::api(arguments…)`, whose first argument is a Tensor."""

    call: Node
    arguments: Sequence[Node]
    api: str


@dataclass(frozen=True, slots=True)
class LoopCount(Event):
    """A size, written as `value`, that counts a loop and nothing else, in a function that converts but for it."""

    value: Node


@dataclass(frozen=True, slots=True)
class OffsetOfImpl(Event):
    """`impl->set_storage_offset(offset)`, a `statement`, before the `following` one: a call of set_sizes_and_strides.

    `last` is the last argument of that.
    """

    statement: Node
    offset: Node
    following: Node
    last: Node


@dataclass(frozen=True, slots=True)
class RankQuery(Event):
    """`t.sizes().size()` or `….empty()`: `accessor` is `sizes`, `invoked` the whole call, `member` its last name."""

    accessor: Node
    invoked: Node
    member: str


@dataclass(frozen=True, slots=True)
class FloatCast(Event):
    """A cast of a symbolic integer to the floating type `spelled`."""

    spelled: Node


@dataclass(frozen=True, slots=True)
class FloatOperand(Event):
    """A number on the left of a SymFloat, or beside a SymInt in `?:`."""

    operand: Node


@dataclass(frozen=True, slots=True)
class IntCast(Event):
    """A cast of the symbolic integer `value` to an integer type."""

    cast: Node
    value: Node


@dataclass(frozen=True, slots=True)
class CompoundAssignment(Event):
    """`left -= right` and its like, which a SymInt lacks."""

    node: Node
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Step(Event):
    """`++argument` or `argument--` as a statement of its own."""

    node: Node
    argument: Node


@dataclass(frozen=True, slots=True)
class ExtremumOperand(Event):
    """An integer beside a SymInt in `std::min` or `std::max`."""

    operand: Node


@dataclass(frozen=True, slots=True)
class ExtremumTemplate(Event):
    """The template argument of `std::min<int64_t>` or `std::max<int64_t>`."""

    template: Node


@dataclass(frozen=True, slots=True)
class AccumulateStart(Event):
    """The initial value of a `std::accumulate` over symbolic sizes."""

    initial: Node


@dataclass(frozen=True, slots=True)
class AccumulateOperation(Event):
    """The operation of such a call; `element` spells the integer type that it is over."""

    operation: Node
    element: Node


@dataclass(frozen=True, slots=True)
class Condition(Event):
    """A symbolic integer where a bool is wanted."""

    node: Node


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`, of which one is a SymInt; `node` is all of it, with parentheses around it.

    `shapes`: both are sequences of SymInts, and `operator` is `==` or `!=`.
    """

    node: Node
    operator: str
    left: Node
    right: Node
    symbolic_left: bool
    shapes: bool = False


@dataclass(frozen=True, slots=True)
class Junction:
    """`left && right`, or with `||`; `node` is all of it, with parentheses around it.

    A `left` that is a Node is a bool of C++: `right` is asked only where it does not decide.
    """

    node: Node
    operator: str
    left: Comparison | Junction | Node
    right: Comparison | Junction


@dataclass(frozen=True, slots=True)
class SizeCheck(Event):
    """`condition` is all that `macro` checks; `twin` checks a SymBool, "" where the macro has none.

    What answers it makes a change of its own.
    """

    macro: Node
    twin: str
    condition: Comparison | Junction


@dataclass(frozen=True, slots=True)
class ExpectedSizes(Event):
    """A check that holds only where each of `expected` does, as far as it is asked at all.

    What answers it makes a change of its own.
    """

    expected: Sequence[Comparison]


@dataclass(frozen=True, slots=True)
class Extremum(Event):
    """`call`, a `std::min` or `std::max` (`name`) of the numbers `left` and `right`, of which one is a SymInt.

    `template` is what is written between `<` and `>`. What answers it makes a change of its own.
    """

    call: Node
    name: str
    template: Node | None
    left: Node
    right: Node
    symbolic_left: bool


@dataclass(frozen=True, slots=True)
class RaisingBranch(Event):
    """An `if` on `condition` that only raises: each of `refused` is what has to be false for it not to.

    What answers it makes a change of its own.
    """

    condition: Node
    refused: Sequence[Comparison]


@dataclass(frozen=True, slots=True)
class Disagreement(Event):
    """An `if` on `condition` that says no of two sizes: `size` is neither `other` nor 1; `guard` gives False else.

    What answers it makes a change of its own.
    """

    condition: Node
    size: Node
    other: Node
    guard: str


@dataclass(frozen=True, slots=True)
class SizeShortcut(Event):
    """An `if` that tells special sizes apart by `decided`: comparisons, each with its outcome for sizes in general.

    `guards` are the macros that take an outcome of False and of True for sizes that are not known.
    What answers it makes a change of its own.
    """

    decided: Sequence[tuple[Comparison, bool]]
    guards: tuple[str, str]


@dataclass(frozen=True, slots=True)
class EitherPath(Event):
    """An `if` on `compared`, either path of which will do; `guard` takes each of them to be false.

    What answers it makes a change of its own.
    """

    compared: Sequence[Comparison]
    guard: str


@dataclass(frozen=True, slots=True)
class ChosenSize(Event):
    """`choice`, `comparison ? n + amount : n` or, where `backward`, `comparison ? n : n + amount`; `base` is `n`.

    What answers it makes a change of its own.
    """

    choice: Node
    comparison: Comparison
    backward: bool
    amount: str
    base: Node


@dataclass(frozen=True, slots=True)
class ShortcutNumber(Event):
    """A size as the condition, or part of it, of such an `if`: it is true of sizes in general, or expected to be."""

    node: Node
    guards: tuple[str, str]


EXPECTED_NUMBER = ("", "")
"""The `guards` of a size behind a `!` that is expected not to be 0."""


@dataclass(frozen=True, slots=True)
class StoredType(Event):
    """The type `spelled` of something that holds a symbolic value, and its symbolic twin."""

    spelled: Node
    twin: str


@dataclass(frozen=True, slots=True)
class SequenceArgument(Event):
    """A concrete sequence among the symbolic arguments of a call."""

    argument: Node


@dataclass(frozen=True, slots=True)
class CalleeName(Event):
    """A call of `old`, at `name`, whose arguments only `new` takes."""

    name: Node
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class SavedRead(Event):
    """`ctx->saved_data["name"].old()`, at `method`, of what is saved as a SymInt or a list of them."""

    method: Node
    old: str
