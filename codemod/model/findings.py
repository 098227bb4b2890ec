"""Findings: what a rule saw at one place, why it matters, and what it would change."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from codemod.model.edits import Edit
from codemod.model.records import compact


class Level(enum.IntEnum):
    """How much trust an edit asks for; the order is the order of `--level`."""

    SAFE = 0
    """The same result for every concrete input; only stops a throw or a needless guard."""
    REVIEW = 1
    """Picks a path for unknown sizes, rounds a negative quotient otherwise, or changes a signature or a schema: a
    person decides."""
    MANUAL = 2
    """Explained, never edited."""


class Root(enum.IntEnum):
    """What the code is that symbols enter first, on their way to a finding; the least, where there are several ways."""

    OPERATOR = 0
    """What an operator runs: kernels, fakes, derivatives, decompositions, composites."""
    COMPILED = 1
    """A function that the tree itself compiles or exports."""
    MODULE = 2
    """The forward of a module, which whoever uses it may compile."""
    TRACED = 3
    """A function that a running torch has come to, by a way that the tree does not show."""


class Mode(enum.IntEnum):
    """The four failure modes of symbolic shapes."""

    DIRECT_THROW = 1
    PYTHON_BRANCH = 2
    TENSOR_ITERATOR = 3
    LEAK = 4


@compact
@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path: how a symbolic tensor arrives, or where a value flows."""

    path: str
    line: int
    text: str


@compact
@dataclass(frozen=True, slots=True)
class Finding:
    """One decision about one place of one file.

    Findings that share a non-empty `group` are applied together or not at all.
    `refusal` is a short stable code ("loop-bound", "subscript", …) where symfix edits nothing
    although a concrete value meets a symbolic tensor; `reason` is the same in a sentence.
    `start` and `end` are byte offsets; `line` and `column` count from 1 (columns in bytes).
    `id` names the change of the finding's group whatever its position (see `codemod.model.identity`). `root` is no part
    of a saved plan, which holds what is in its scope alone.
    """

    path: str
    start: int
    end: int
    line: int
    column: int
    mode: Mode
    rule: str
    level: Level
    function: str
    operators: tuple[str, ...]
    message: str
    reason: str = ""
    refusal: str = ""
    reach: tuple[Step, ...] = ()
    flow: tuple[Step, ...] = ()
    edits: tuple[Edit, ...] = field(default=())
    group: str = ""
    id: str = ""
    root: Root = Root.OPERATOR
