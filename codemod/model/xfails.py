"""Expected failures: entries of test registries that say an operator fails, and which of them are outdated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

from codemod.model.edits import Edit
from codemod.model.transform import Project

Kind = Literal["xfail", "skip", "decorate", "marker"]
_KINDS = {
    "symbolic": "make_fx with symbolic sizes",
    "symbolic-inplace": "make_fx with symbolic sizes, in place,",
    "symbolic-out": "make_fx with symbolic sizes and out=",
    "aot-symbolic": "AOTAutograd with symbolic sizes",
    "unbacked": "torch.compile with unbacked sizes",
}


@dataclass(frozen=True, slots=True)
class ExpectedFailure:
    """One entry of a registry, or a marker file (then `end` is 0). Empty `devices` and `dtypes` mean every one.

    `name` is the operator or the test, as the registry writes it. `tests` are the tests that read the entry.
    `checks` are what `prove` can run in their place, all of which must pass before it may go: see `Check`;
    empty where it cannot, or where the entry expects a failure that has nothing to do with symbols: then `why` says so.
    """

    path: str
    start: int
    end: int
    line: int
    registry: str
    kind: Kind
    name: str
    variant: str = ""
    devices: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    reason: str = ""
    tests: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    why: str = ""
    narrow: tuple[str, ...] = ()
    """Of an entry to be removed: the dtypes that go, where others of it stay."""
    symbolic: bool = False
    """Whether a test with symbolic sizes is among those that read it."""

    @property
    def title(self) -> str:
        """The entry as one names it in a sentence: `nn.functional.pad (circular) for float32`."""
        name = f"{self.name} ({self.variant})" if self.variant else self.name
        return f"{name} for {', '.join(self.narrow)}" if self.narrow else name


@dataclass(frozen=True, slots=True)
class Removal:
    """The edits that take entries out, the marker files to delete, and the entries that have to stay, each with why."""

    edits: tuple[Edit, ...] = ()
    deleted: tuple[str, ...] = ()
    removed: tuple[ExpectedFailure, ...] = ()
    left: tuple[tuple[ExpectedFailure, str], ...] = ()
    """The entries that stay, and why."""


@dataclass(frozen=True, slots=True)
class NewTest:
    """A test method, not indented, about some operators."""

    operators: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class AddedTest:
    """The edits that put a test into a file, and its id: `path::class::method`."""

    edits: tuple[Edit, ...]
    id: str


@runtime_checkable
class KnowsTests(Protocol):
    """A transform that also reads the tests of a tree."""

    def expected_failures(
        self, project: Project, families: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[ExpectedFailure]]:
        """For each of `families` (the operators of one shard) the entries about them, in the order of their places."""

    def remove(self, project: Project, groups: Sequence[Sequence[ExpectedFailure]]) -> Sequence[Removal]:
        """For each of `groups` (the entries of one shard) the removal that is right alone and beside the others'."""

    def add_tests(self, project: Project, tests: Sequence[NewTest]) -> Sequence[AddedTest | None]:
        """For each test the edits that put it into the class that fits, None where none does; no two of them meet."""


def make_check(kind: str, operator: str, variant: str, dtype: str) -> str:
    """The id of a check: what an OpInfo test does, over all samples of one operator, on the CPU.

    `kind` is `symbolic`, `symbolic-inplace`, `symbolic-out`, `aot-symbolic` or `unbacked`.
    """
    return f"{kind}:{operator}:{variant}:{dtype}"


def split_check(check: str) -> tuple[str, str, str, str]:
    """The kind, operator, variant and dtype of a check's id."""
    kind, operator, variant, dtype = check.split(":")
    return kind, operator, variant, dtype


def describe_check(check: str) -> str:
    """What a check does, in words: `make_fx with symbolic sizes over all samples of nn.functional.pad (circular)`."""
    kind, operator, variant, dtype = split_check(check)
    return f"{_KINDS[kind]} over all samples of {operator}{f' ({variant})' if variant else ''}, {dtype}"


def outdated(
    entries: Iterable[ExpectedFailure], checks: Mapping[str, tuple[str, str]]
) -> tuple[list[ExpectedFailure], list[tuple[ExpectedFailure, str]]]:
    """The entries that `checks` show to be outdated, and the others, each with why it stays.

    `checks` gives for a check's id how it ended before and after the change: "passes", "fails", or "absent" where the
    operator has no such variant. An entry is outdated where every test that reads it now passes, and one failed before;
    one that lists dtypes, for those of them for which that is so.
    """
    gone: list[ExpectedFailure] = []
    remaining: list[tuple[ExpectedFailure, str]] = []
    for entry in entries:
        why = _why_kept(entry, checks)
        if not why:
            gone.append(entry)
            continue
        narrow = tuple(dtype for dtype in entry.dtypes if not _why_kept(_of_dtype(entry, dtype), checks))
        if narrow:
            gone.append(replace(entry, narrow=narrow))
        else:
            remaining.append((entry, why))
    return gone, remaining


def _of_dtype(entry: ExpectedFailure, dtype: str) -> ExpectedFailure:
    """The part of an entry that is about one dtype."""
    return replace(entry, checks=tuple(check for check in entry.checks if split_check(check)[3] == dtype))


def _why_kept(entry: ExpectedFailure, checks: Mapping[str, tuple[str, str]]) -> str:
    if entry.kind == "skip":
        return "a skip says nothing about failing"
    if entry.kind == "decorate":
        return "it changes how the test runs, not whether it fails"
    if not entry.checks:
        return entry.why
    missing = [check for check in entry.checks if check not in checks]
    if missing:
        return "no evidence: symfix prove has not run this check"
    devices = [device for device in entry.devices if device != "cpu"]
    if devices or not entry.devices:
        return f"it speaks of {', '.join(devices) or 'every device'}, and the evidence is from a CPU"
    failing = [check for check in entry.checks if checks[check][1] == "fails"]
    if failing:
        return f"still fails: {split_check(failing[0])[0]}"
    if not any(checks[check] == ("fails", "passes") for check in entry.checks):
        return "it passed before the change too, in the torch at hand"
    return ""
