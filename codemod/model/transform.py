"""What a transform offers the engine, and how the engine finds transforms."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from codemod.errors import SymfixError
from codemod.model.drawn import DrawnMeta
from codemod.model.findings import Finding, Level, Mode, Root

ENTRY_POINT_GROUP = "symfix.transforms"

F = TypeVar("F")
Item = TypeVar("Item")
T = TypeVar("T")
W = TypeVar("W")


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


class TracedLine(NamedTuple):
    """A line that a running torch traced, and the function that it stands in, by its own name.

    `path` is that of a file of the tree, POSIX and relative to the root.
    """

    path: str
    line: int
    function: str


class Project(Protocol):
    """The tree as a transform sees it: bytes, cached facts, two processes. Paths are POSIX, relative to `root`."""

    @property
    def root(self) -> Path: ...

    @property
    def vocabulary(self) -> Path | None:
        """The file of `--vocabulary`, where the user gave one."""

    @property
    def torch(self) -> str:
        """The version of `--torch`, "" where none is given."""

    @property
    def traced(self) -> Collection[TracedLine]:
        """Lines to which a running torch is known to have come with symbols; none where nothing was run."""

    def selected(self, path: str) -> bool:
        """Whether findings in `path` are asked for (it lies under one of PATHS)."""

    def in_scope(self, path: str, root: Root) -> bool:
        """Whether findings in code of `path` that symbols enter by `root` are in the scope that is asked for.

        The others are only counted: no edit that is in the scope may rest on one that is not.
        """

    def named(self, path: str) -> bool:
        """Whether `path` is of tests, docs or the like, and one of PATHS asks for these by name."""

    def files(self, suffixes: Sequence[str], under: Sequence[str] = ("",)) -> list[str]:
        """All files of the checkout with one of `suffixes` below one of the folders `under`, sorted."""

    def has(self, path: str) -> bool:
        """Whether the tree has a file of that name, under version control or not."""

    def left_out(self, suffixes: Sequence[str]) -> list[str]:
        """The files with one of `suffixes` that a sparse checkout has not written: what they call is not seen."""

    def read(self, path: str) -> bytes:
        """The bytes of a file, which from then on belongs to what the plan rests on."""

    def remark(self, line: str) -> None:
        """Say something about the tree that is no finding: a line that `scan` shows below its sums."""

    def facts(self, extract: Callable[[str, bytes], F], paths: Sequence[str]) -> Mapping[str, F]:
        """`extract(path, bytes)` for every path: from the cache, else computed in the process pool.

        `extract` is a module-level function; what it returns is pickled and kept by content hash,
        path and the version of `extract`'s package.
        """

    def facts_of(
        self, extract: Callable[[str, bytes, W], F], wanted: Mapping[str, W], label: str = "reading"
    ) -> Mapping[str, F]:
        """As `facts`, `extract(path, bytes, wanted[path])`: kept as long as the same is wanted of a file.

        What is wanted follows from what the project said before, and is made of texts, numbers, enums, dataclasses and
        containers of these. `label` is shown meanwhile.
        """

    def map(
        self, function: Callable[[Item], T], items: Sequence[Item], label: str = "", bytes_of: Sequence[int] = ()
    ) -> list[T]:
        """`[function(item) for item in items]`, in the process pool, with progress shown as `label`.

        `bytes_of` says how large each item is, so that the processes end together.
        """

    def recall(self, kind: str, paths: Sequence[str]) -> Mapping[str, Any]:
        """What `keep` kept under `kind`, the name of a module, of those of `paths` that have the same bytes.

        Whether what else it rests on still holds is for the one who asks to see.
        """

    def keep(self, kind: str, values: Mapping[str, object]) -> None:
        """Keep a value of each path for `recall`, in place of the one before."""

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, or gave for an equal `key` before, where no other was made since: one is kept."""


@dataclass(frozen=True, slots=True)
class Part:
    """One source of an override, and the text that is compiled before and after it in the same unit."""

    path: str
    before: str = ""
    after: str = ""
    required: bool = True
    """Whether the override is of no use without it; else it is left out where it does not compile."""


@dataclass(frozen=True, slots=True)
class Override:
    """How changed code is laid over an installed library, and which operators run it then.

    `parts` are compiled to one shared library; `modules` are imported in the place of the installed ones.
    Where neither says how, `reason` tells why it cannot be done.
    """

    operators: tuple[str, ...]
    """Qualified, without overloads: `aten::cross_entropy_loss`."""
    pieces: tuple[str, ...] = ()
    """What of the operators runs it: "forward", "out", "inplace", "backward", "double_backward", "jvp" or "vmap"."""
    parts: tuple[Part, ...] = ()
    preload: bool = False
    """Whether the library goes in front of the installed one (LD_PRELOAD), rather than being loaded after it."""
    modules: tuple[str, ...] = ()
    """Python files of the tree."""
    packages: str | None = None
    """Where the tree's root stands among the installed packages, "" where it is their folder, as in "torch/".

    None where the tree itself is what is imported."""
    functions: tuple[str, ...] = ()
    """The dotted names of the changed Python functions."""
    imports: tuple[str, ...] = ()
    """Modules that register the operators."""
    roots: tuple[str, ...] = ()
    """The folders of the tree from which `imports` are imported, "" for its root."""
    fakes: bool = False
    """Whether the change gives the operators of an installed library metas, to be compared with their kernels."""
    again: tuple[Part, ...] | None = None
    """What is compiled in the place of `parts`, which are a whole library, where that library is installed.

    It registers changed kernels over the installed ones. None where `parts` are not a whole library."""
    reason: str = ""


class Prover(Protocol):
    """What `symfix prove` asks of a transform about one tree."""

    @property
    def version(self) -> str:
        """The version of the library that the tree is of, as far as an installed one has one too; "" where unknown."""

    @property
    def include(self) -> Sequence[str]:
        """The folders of the tree that are searched for headers, in order."""

    @property
    def flags(self) -> Sequence[str]:
        """Further flags of the compiler for every source."""

    @property
    def definitions(self) -> Mapping[str, str]:
        """The source that defines each function which others may need, by its qualified name."""

    @property
    def prelude(self) -> str:
        """What goes before a source that is compiled for its functions alone, so that it registers nothing."""

    def overrides(self, findings: Sequence[Finding], named: Collection[str] = ()) -> Sequence[Override]:
        """How the edits of `findings`, all of one shard, can be run; the likeliest operators first.

        Of the operators that run a function a few are chosen: those that the user has `named`, then the nearest.
        """

    def companions(self, operators: Sequence[str]) -> Sequence[Override]:
        """What else must be loaded to run `operators`, whose changed code is another prover's: it changes nothing."""

    def checked(self, paths: Sequence[str], built: Collection[str]) -> Sequence[str]:
        """The sources to compile for a change of `paths`: those among them, and for each header one that includes it.

        That is one of `built`, which are compiled anyway, where it can be.
        """


@runtime_checkable
class Provable(Protocol):
    """A transform whose changes can be proved."""

    def prover(self, project: Project, scratch: Path) -> Prover:
        """The prover for the tree of `project`. It may make files in `scratch`, and run the tree's own generators."""


@runtime_checkable
class NamesOperators(Protocol):
    """A transform that can say which operators a tree has, those of which nothing was found too."""

    def operators(self, project: Project) -> Collection[str]:
        """The operators that the tree declares or registers: `aten::add`, `torchvision::nms`."""

    def functions(self, project: Project) -> Mapping[str, tuple[str, ...]]:
        """Public Python functions of the tree, by name, with the operators that they end in."""


@runtime_checkable
class KnowsReleases(Protocol):
    """A transform that knows since when torch has what is written for it."""

    def lacking(self, project: Project, path: str, line: int, text: str) -> str:
        """What the oldest torch that runs a line of `path` lacks of what `text` names, as a reason; "" for nothing.

        Raises SymfixError where `--torch` names a release that is not known.
        """


@runtime_checkable
class WritesMetas(Protocol):
    """A transform that writes metas for operators of the tree."""

    def metas(self, project: Project, drawn: Sequence[DrawnMeta]) -> Iterable[Finding]:
        """A finding for each overload that the tree has and gives no meta: with the edit that adds what was `drawn`.

        Without one, and with the reason, where none could be drawn.
        """


class Transform(Protocol):
    """One kind of source and the rules for it."""

    name: str
    suffixes: tuple[str, ...]

    def rules(self) -> Sequence[Rule]: ...

    def parse_errors(self, path: str, source: bytes) -> int:
        """How many syntax errors `source` holds; an edit may never raise it."""

    def analyse(self, project: Project) -> Iterable[Finding]:
        """Every finding in the selected files, in any order, with all of a group's edits.

        They rest on what `project` says alone: where it would say all of it again, what was found is kept.
        """


def load_transforms() -> list[Transform]:
    """The installed transforms, sorted by name.

    Raises SymfixError where one cannot be loaded, or none is installed: as where symfix is run from its folder alone.
    """
    from importlib.metadata import entry_points

    transforms: list[Transform] = []
    for point in entry_points(group=ENTRY_POINT_GROUP):
        try:
            transforms.append(point.load()())
        except (ImportError, AttributeError) as error:
            raise SymfixError(f"the transform {point.name} ({point.value}) cannot be loaded: {error}") from error
    if not transforms:
        raise SymfixError(f"{sys.executable}: symfix is not installed for it, so that no rule is found: pip install it")
    return sorted(transforms, key=lambda transform: transform.name)
