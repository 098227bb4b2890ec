"""What commands that compile say of it, and the compiler's part of `symfix apply`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codemod.borders.files import read_below
from codemod.cli.run import Run
from codemod.errors import SymfixError
from codemod.reporting.report import plural
from codemod.terminal import note

if TYPE_CHECKING:
    from codemod.model.groups import Group
    from codemod.prove.session import Provers
    from codemod.prove.task import Settings


def compiler_settings(provers: Provers, python: Path | None, include: Sequence[Path]) -> Settings | None:
    """A compiler and torch's headers; None where there is none of either, which is noted.

    Raises SymfixError where the interpreter `python` has no torch.
    """
    from codemod.prove.target import find_target, target_of_headers

    try:
        target = None if python is not None else target_of_headers(include)
        return provers.settings(target or find_target(python, imported=False), include)
    except SymfixError as error:
        if python is not None:
            raise
        note(f"symfix: compiling was not checked: {error}")
        return None


def note_unknown(settings: Settings, unknown: Sequence[str], reason: str) -> None:
    """Note how many sources could not be checked, and why the first could not."""
    if unknown:
        torch = settings.target.torch_version
        note(f"symfix: {plural(len(unknown), 'source')} could not be checked over torch {torch}: {reason}")


def compiling_groups(run: Run, groups: Sequence[Group]) -> list[Group]:
    """Those of `groups` with which all that compiles now still compiles, as far as a compiler can tell.

    What is left out, and what could not be told, is noted.
    """
    from codemod.prove.compiling import without_broken
    from codemod.prove.session import load_provers

    provers = load_provers(run.project)
    paths = sorted({path for group in groups for path in group.paths})
    if not any(prover.checked(paths, ()) for prover in provers):
        return list(groups)
    settings = compiler_settings(provers, None, ())
    if settings is None:
        return list(groups)
    sources = {path: read_below(run.checkout.root, path) for path in paths}
    compilable = without_broken(settings, provers, groups, sources, run.project.jobs)
    note_unknown(settings, compilable.unknown, compilable.reason)
    if compilable.compiled:
        torch = settings.target.torch_version
        note(f"symfix: {plural(compilable.compiled, 'changed source')} compiled over torch {torch}")
    for group, error in compilable.broken:
        first = group.findings[0]
        sites = plural(len(group.findings), "site")
        note(f"symfix: {first.path}:{first.line}: left alone with its {sites}, as it would not compile: {error}")
    return list(compilable.groups)
