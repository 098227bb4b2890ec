"""Which groups of a change go, so that every source that compiled before it compiles after it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from codemod.errors import SymfixError, system_error
from codemod.model.groups import Group
from codemod.model.transform import Part
from codemod.prove import isolate
from codemod.prove.build import HEADERS, Side, sides
from codemod.prove.check import blamed, shown
from codemod.prove.compiler import Compiler, Diagnostic
from codemod.prove.session import Provers
from codemod.prove.task import Settings
from codemod.terminal import one_line
from codemod.tree.pool import progress
from codemod.writing.changes import changes_in

Input = TypeVar("Input")
Output = TypeVar("Output")

# How often the group that an error points at goes by itself; then all groups of a source that does not compile go.
_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class Compilable:
    """What compiling the sources of a change showed."""

    groups: tuple[Group, ...]
    """Those without which no source stops compiling."""
    broken: tuple[tuple[Group, str], ...]
    """Each group that is not among them, and the compiler's first error with it."""
    compiled: int
    """How many sources compile with `groups`."""
    unknown: tuple[str, ...]
    """The sources that show nothing, mostly because they do not compile before either."""
    reason: str
    """What is wrong with the first of them."""


def in_parallel(
    label: str, work: Callable[[Input], Output], items: Sequence[Input], jobs: int
) -> Generator[tuple[Input, Output], None, None]:
    """Each item and the result of `work`, in their order, with a progress bar.

    What runs is ended when the caller stops early.
    """
    isolate.resume()
    executor = ThreadPoolExecutor(jobs, "compile")
    try:
        with isolate.terminable(), progress(label, len(items)) as advance:
            futures = [executor.submit(work, item) for item in items]
            for item, future in zip(items, futures, strict=True):
                yield item, future.result()
                advance(1)
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
        isolate.stop_all()
        executor.shutdown()
        isolate.resume()


def without_broken(
    settings: Settings, provers: Provers, groups: Sequence[Group], sources: Mapping[str, bytes], jobs: int
) -> Compilable:
    """Those of `groups` that leave every source of the tree compiling that compiles now; nothing is written.

    `sources` holds the bytes of every file that they edit. Sources that may not fit the installed torch are not
    compiled: those of a tree of another version, unless its compile_commands.json says how.
    """
    compiler = settings.compiler
    assert compiler is not None  # `Provers.settings` finds one
    kept = list(groups)
    broken: dict[int, tuple[Group, str]] = {}
    compiled: set[str] = set()
    unknown: dict[str, str] = {}
    paths = sorted({path for group in groups for path in group.paths})
    checked = {path: {source for prover in provers for source in prover.checked((path,), ())} for path in paths}
    pending = _sources(checked, groups)
    for path in pending:
        if not settings.same_version and path not in settings.sources:
            unknown[path] = f"{path} is of version {settings.version}"
    for turn in range(len(groups) + 1):
        pending = [path for path in pending if path not in unknown]
        if not pending:
            break
        changes = changes_in(kept, sources)
        before, after = sides(settings, changes)
        going: dict[int, tuple[Group, str]] = {}
        work = partial(_errors, compiler, before, after)
        with closing(in_parallel("compiling the changed sources", work, pending, jobs)) as results:
            for path, (old, new) in results:
                if new is None:
                    compiled.add(path)
                elif old is not None:
                    unknown[path] = f"{path} did not compile before: {shown(old, before)}"
                elif not new.of_source:
                    unknown[path] = f"{path} could not be compiled: {new}"
                else:
                    text = one_line(shown(new, after, changes))
                    place = blamed(new, after, changes) if turn < _ROUNDS else None
                    named = [group for group in kept if place is not None and place[1] in group.edits]
                    going.update((id(group), (group, text)) for group in named or _editing(kept, path))
        broken.update(going)
        kept = [group for group in kept if id(group) not in going]
        pending = _sources(checked, [group for group, _ in going.values()])
        compiled.difference_update(pending)
        pending = [path for path in _sources(checked, kept) if path in pending]
    return Compilable(
        tuple(kept), tuple(broken.values()), len(compiled), tuple(unknown), one_line(next(iter(unknown.values()), ""))
    )


def _errors(compiler: Compiler, before: Side, after: Side, path: str) -> tuple[Diagnostic | None, Diagnostic | None]:
    """The first error of a source before and after; that before only where there is one after."""
    try:
        new = compiler.check(after.unit(Part(path)))
        return (None, None) if new is None else (compiler.check(before.unit(Part(path))), new)
    except OSError as error:
        raise SymfixError(f"{path}: {system_error(error)}") from error


def _sources(checked: Mapping[str, set[str]], groups: Sequence[Group]) -> list[str]:
    """The sources to compile for what `groups` edit, sorted; `checked` has those for each file."""
    return sorted({source for group in groups for path in group.paths for source in checked[path]})


def _editing(groups: Sequence[Group], path: str) -> list[Group]:
    """The groups that edit the source `path`; where none does, those that edit headers, which it includes some of."""
    editing = [group for group in groups if path in group.paths]
    return editing or [group for group in groups if any(name.endswith(HEADERS) for name in group.paths)]
