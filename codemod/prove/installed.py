"""A library beside its checkout: what of it is installed already, so that its C++ need not be built."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from codemod.errors import SymfixError
from codemod.model.transform import Override
from codemod.prove.overlay import union
from codemod.prove.target import Target, ask
from codemod.prove.task import Settings

_COMPILED = (".so", ".dylib", ".pyd")
# Finds packages without importing them. A name may be of anything that stands in a folder, so that looking may raise.
_LOCATE = """
import importlib.util, json, sys
try:
    spec = importlib.util.find_spec(sys.argv[1])
except (ImportError, ValueError):
    spec = None
print(json.dumps([list(spec.submodule_search_locations or ()) if spec else []]))
"""


def packages_of(overrides: Iterable[Override]) -> dict[str, str]:
    """The packages of the tree that are imported, with the folders of the tree that they stand in."""
    packages: dict[str, str] = {}
    for override in overrides:
        for module in override.imports if override.packages is None else ():
            name = module.partition(".")[0]
            for root in override.roots:
                packages.setdefault(name, root)
    return packages


def over_installed(settings: Settings, overrides: Sequence[Override]) -> tuple[Override, ...]:
    """`overrides` as they are run beside what is installed: where a library is, only its changes are compiled."""
    if not any(override.again is not None for override in overrides):
        return tuple(overrides)
    compiled = any(
        has_compiled(folder)
        for name, root in packages_of(overrides).items()
        for folder in (settings.root / root / name, *folders_of(settings.target, name))
    )
    if not compiled:
        return tuple(overrides)
    return tuple(o if o.again is None else replace(o, parts=o.again) for o in overrides)


def built(overrides: Iterable[Override]) -> bool:
    """Whether the C++ of a library is built as a whole."""
    return any(override.again is not None and override.parts not in ((), override.again) for override in overrides)


def import_folders(settings: Settings, tree: Path, override: Override, whole: bool) -> Iterator[str]:
    """The folders for `sys.path` that a library's own modules are imported from, in `tree`.

    Unless the `whole` of it is built, compiled files that only the installed package has stand beside the tree's.
    """
    for name, root in {} if whole else packages_of((override,)).items():
        for folder in folders_of(settings.target, name)[:1]:
            own = tree / root / name
            if own.is_dir() and not os.path.samefile(settings.root / root / name, folder) and has_compiled(folder):
                yield str(union(name, own, folder, settings.cache / "packages"))
    for root in override.roots or ("", "src"):
        yield str(tree / root)


@functools.cache
def folders_of(target: Target, name: str) -> tuple[Path, ...]:
    """Where the target has the package `name`; nowhere where it has none."""
    try:
        return tuple(Path(folder) for folder in ask(Path(target.python), _LOCATE, 1, name)[0])
    except SymfixError:
        return ()


@functools.cache
def has_compiled(folder: Path) -> bool:
    """Whether a package in `folder` has compiled files."""
    return any(name.endswith(_COMPILED) for _, _, names in os.walk(folder) for name in names)
