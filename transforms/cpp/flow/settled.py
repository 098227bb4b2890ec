"""What `decisions` tells the rules: the events of signatures, members and schemas that follow once slots are settled.

They are answered as those of `events` are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from transforms.cpp.flow.events import Event
from transforms.cpp.reading.lines import Lines
from transforms.cpp.reading.tree import Node


@dataclass(frozen=True, slots=True)
class SettledSignature(Event):
    """A definition or declaration of `function`, of which `types` become symbolic: all of them or none."""

    function: str
    types: Sequence[Node]


@dataclass(frozen=True, slots=True)
class SettledMembers(Event):
    """The `declaration` of data members of the struct `owner`, of which those named `members` become symbolic.

    `spelled` is its type, `names` are all that it declares.
    """

    owner: str
    declaration: Node
    spelled: Node
    names: Sequence[str]
    members: Sequence[str]


@dataclass(frozen=True, slots=True)
class HelperTwin(Event):
    """The definition or declaration of `function`, `[start, end)` in `lines`, which gains a twin called `name`.

    `changes` are (start, end, new) of what the twin has otherwise, its name apart, which stands at `named`.
    """

    function: str
    name: str
    lines: Lines
    start: int
    end: int
    named: Node
    changes: Sequence[tuple[int, int, str]]


@dataclass(frozen=True, slots=True)
class SymbolicKernel(Event):
    """A definition or declaration of a kernel whose name, `old` at the end of `name`, becomes `new`."""

    name: Node
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class RegisteredKernel(Event):
    """The bytes `[start, end)` of a registration name the kernel `old`, which is renamed: they are to read `new`."""

    start: int
    end: int
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class SymbolicSchema(Event):
    """The entry at `line` of native_functions.yaml or derivatives.yaml, whose `argument` takes SymInts."""

    lines: Lines
    line: int
    argument: str


@dataclass(frozen=True, slots=True)
class SymbolicDispatch(Event):
    """The entry at `line` of native_functions.yaml, whose `kernels` gain the name `…_symint`."""

    lines: Lines
    line: int
    kernels: Sequence[str]


@dataclass(frozen=True, slots=True)
class SymbolicDerivative(Event):
    """The entry at `line` of derivatives.yaml, whose formulas give `accessor` to what takes SymInts.

    It is `x.sizes()` or the like, or a `std::vector<int64_t>(n, 0)`.
    """

    lines: Lines
    line: int
    accessor: str


@dataclass(frozen=True, slots=True)
class SymbolicArgument(Event):
    """The schema of `operator` in C++ has an argument whose type begins with `int`, at the bytes `[start, end)`."""

    operator: str
    start: int
    end: int
