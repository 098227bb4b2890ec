"""How an operator came out in each mode of compiling, and what of that is worse than before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MODES = {
    "forward": "compiled with symbolic sizes, and called with several",
    "backward": "the same with its gradients",
    "inplace": "the form that writes to its first argument",
    "out": "with `out=`",
    "vmap": "under torch.vmap",
    "unbacked": "compiled with every size unbacked",
    "sizes": "what was compiled so, with other sizes and strides that eager takes",
    "spec": "with a ShapesSpec of variables alone, then called with other sizes",
    "fake": "a library's fake beside the kernel, with other sizes and strides",
}
STATUSES = {
    "crashes": ("crash", "ends the process"),
    "hangs": ("hangs", "does not end in time"),
    "wrong": ("wrong", "gives another result than eager"),
    "throws": ("throws", "cannot be compiled, or fails when it is called"),
    "refuses": ("refuse", "refuses sizes or strides that eager takes"),
    "recompiles": ("again", "compiles again for other sizes"),
    "guards": ("guard", "passes, for sizes that satisfy so many conditions"),
    "passes": ("ok", "passes"),
    "no inputs": ("?", "no inputs were found that eager takes"),
    "": ("-", "has no such form, or nothing to do"),
}
"""Each status, the worst first: its short form in a table, and what it means."""
_RANKS = list(STATUSES)
_GOOD = _RANKS.index("guards")


@dataclass(frozen=True, slots=True)
class Cell:
    """How an operator came out in a mode: the worst of its cases, with the script that shows it."""

    status: str = ""
    message: str = ""
    guards: int = 0
    """The most conditions on sizes that a case of it has."""
    cases: int = 0
    script: str = ""
    """The repro of the case that decides, "" where all is well."""
    seconds: float = 0.0
    """Of processor time."""

    @property
    def short(self) -> str:
        """What a table has."""
        return f"{STATUSES[self.status][0]}{f' {self.guards}' if self.status == 'guards' else ''}"

    @property
    def asks(self) -> bool:
        """Whether somebody has something to do."""
        return _RANKS.index(self.status) <= _GOOD


@dataclass(frozen=True, slots=True)
class Subject:
    """An operator, by the name of its entry in OpInfo or its own, and its modes."""

    name: str
    modes: Mapping[str, Cell]

    @property
    def asks(self) -> bool:
        """Whether any mode does."""
        return any(cell.asks for cell in self.modes.values())


@dataclass(frozen=True, slots=True)
class Regression:
    """A mode of an operator that passed, and does not."""

    subject: str
    mode: str
    before: Cell
    after: Cell


_CELL = {
    "status": frozenset(STATUSES), "message": str, "guards": int, "cases": int, "script": str, "seconds": float,
}  # fmt: skip
SHAPE = {"name": str, "modes": {str: _CELL}}
"""The shape of a subject in a document."""


def read_subject(item: Mapping[str, Any]) -> Subject:
    """The subject that a document with `SHAPE` holds."""
    return Subject(item["name"], {mode: Cell(**cell) for mode, cell in item["modes"].items()})


def modes_met(subjects: Sequence[Subject]) -> list[str]:
    """The modes that any of `subjects` has, in their order."""
    met = {mode for subject in subjects for mode, cell in subject.modes.items() if cell.status}
    return [mode for mode in MODES if mode in met]


def worst(cells: Sequence[Cell]) -> Cell:
    """The cell that says most of what somebody has to do; an empty one of none."""
    return min(cells, key=lambda cell: (_RANKS.index(cell.status), -cell.guards, len(cell.script)), default=Cell())


def worsened(before: Sequence[Subject], after: Sequence[Subject]) -> list[Regression]:
    """The modes that passed in `before` and do not in `after`."""
    earlier = {(subject.name, mode): cell for subject in before for mode, cell in subject.modes.items()}
    regressions = []
    for subject in after:
        for mode, cell in subject.modes.items():
            old = earlier.get((subject.name, mode), Cell())
            if old.status in ("passes", "guards") and _RANKS.index(cell.status) < _GOOD:
                regressions.append(Regression(subject.name, mode, old, cell))
    return regressions
