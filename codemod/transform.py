"""What a transform offers the engine, and how the engine finds transforms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, TypeVar

from codemod.errors import SymfixError
from codemod.findings import Finding, Level, Mode

ENTRY_POINT_GROUP = "symfix.transforms"

F = TypeVar("F")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Example:
    """Source before and after a rule; `after` is None where the rule must leave it alone."""

    before: str
    after: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as its manual page needs it. `doc` is the rule module's docstring."""

    name: str
    mode: Mode
    level: Level
    doc: str
    examples: tuple[Example, ...] = ()


class Project(Protocol):
    """The tree as a transform sees it: bytes, cached facts, two processes. Paths are POSIX, relative to `root`."""

    @property
    def root(self) -> Path: ...

    @property
    def vocabulary(self) -> Path | None:
        """The file of `--vocabulary`, where the user gave one."""

    def selected(self, path: str) -> bool:
        """Whether findings in `path` are asked for (it lies under one of PATHS)."""

    def files(self, suffixes: Sequence[str], under: Sequence[str] = ("",)) -> list[str]:
        """All files of the checkout with one of `suffixes` below one of the folders `under`, sorted."""

    def read(self, path: str) -> bytes:
        """The bytes of a file, which from then on belongs to what the plan rests on."""

    def facts(self, extract: Callable[[str, bytes], F], paths: Sequence[str]) -> Mapping[str, F]:
        """`extract(path, bytes)` for every path: from the cache, else computed in the process pool.

        `extract` is a module-level function; what it returns is pickled and kept by content hash,
        path and the version of `extract`'s package.
        """

    def map(self, function: Callable[[Any], T], items: Sequence[Any], label: str = "") -> list[T]:
        """`[function(item) for item in items]`, in the process pool, with progress shown as `label`."""


class Transform(Protocol):
    """One kind of source and the rules for it."""

    name: str
    suffixes: tuple[str, ...]

    def rules(self) -> Sequence[Rule]: ...

    def parse_errors(self, path: str, source: bytes) -> int:
        """How many syntax errors `source` holds; an edit may never raise it."""

    def analyse(self, project: Project) -> Iterable[Finding]:
        """Every finding in the selected files, in any order, with all of a group's edits."""


def load_transforms() -> list[Transform]:
    """The installed transforms, sorted by name.

    Raises SymfixError where one cannot be loaded.
    """
    transforms: list[Transform] = []
    for point in entry_points(group=ENTRY_POINT_GROUP):
        try:
            transforms.append(point.load()())
        except (ImportError, AttributeError) as error:
            raise SymfixError(f"the transform {point.name} ({point.value}) cannot be loaded: {error}") from error
    return sorted(transforms, key=lambda transform: transform.name)
