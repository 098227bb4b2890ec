"""The two sides of a change, before and after: their sources as units for the compiler, and their overrides built."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from codemod.model.transform import Override, Part
from codemod.prove.compiler import Compiler, Diagnostic, Unit
from codemod.prove.installed import import_folders
from codemod.prove.overlay import overlay
from codemod.prove.symbols import missing, missing_tables
from codemod.prove.task import Settings
from codemod.writing.changes import Change

Input = TypeVar("Input")
Output = TypeVar("Output")

# How many times sources are added for the functions that the library still leaves undefined.
_ROUNDS = 4
HEADERS = (".h", ".hpp", ".hh", ".cuh", ".inl")


@dataclass(frozen=True, slots=True)
class Side:
    """The tree before or after a change. `changed` are the paths in it; `headers` holds the changed headers alone.

    `before` is the other side of the one after.
    """

    settings: Settings
    tree: Path
    headers: Path | None
    changed: frozenset[str]
    before: Side | None = None

    def unit(self, part: Part) -> Unit:
        """The unit of one source of the tree, and what goes before and after it."""
        source = self._tree(part.path) / part.path
        text = f'{part.before}\n#include "{source}"\n{part.after}'
        return Unit(text, self.flags(part.path))

    def flags(self, path: str) -> tuple[str, ...]:
        """The compiler's flags for the source `path`.

        The tree's own headers come first only where the installed torch is of the same version: classes of another
        version have another layout. Changed headers come first in any case.
        """
        settings = self.settings
        target = settings.target
        named = settings.sources.get(path)
        if named is not None:
            root, tree = f"{settings.root}", f"{self._tree(path)}"
            return (*(flag.replace(root, tree) for flag in named), *self._abi())
        own = [f"-I{self._tree(path) / folder}" for folder in settings.include]
        installed = [f"-I{folder}" for folder in (*settings.further, *target.include)]
        ordered = own + installed if settings.same_version else installed + own
        if self.headers is not None and not settings.same_version:
            ordered = [f"-I{self.headers / folder}" for folder in settings.include] + ordered
        return (f"-std={target.standard}", *settings.flags, *self._abi(), *ordered)

    def object_file(self, part: Part, compiler: Compiler) -> Path | Diagnostic:
        """The object file of one source: that of the other side where nothing that it was made from changes."""
        if self.before is not None and self.headers is not None and part.path not in self.changed:
            unit = self.before.unit(part)
            compiled = compiler.compile(unit)
            read = compiler.read_by(unit)
            if not isinstance(compiled, Diagnostic) and read and read.isdisjoint(self._changed_files):
                return compiled
        return compiler.compile(self.unit(part))

    @property
    def _changed_files(self) -> frozenset[str]:
        """The changed files as the side before reads them, links followed."""
        assert self.before is not None
        folders = [folder for folder in (self.before.tree, self.before.headers) if folder is not None]
        return frozenset(os.path.realpath(folder / path) for folder in folders for path in self.changed)

    def _tree(self, path: str) -> Path:
        """The tree to compile `path` in: the checkout itself where nothing that it may include has changed."""
        return self.tree if self.headers is not None or path in self.changed else self.settings.root

    def _abi(self) -> tuple[str, ...]:
        """The flags that code loaded beside torch must share with its build: the ABI, and that it is a release."""
        return (f"-D_GLIBCXX_USE_CXX11_ABI={int(self.settings.target.cxx11_abi)}", "-DNDEBUG")


def sides(settings: Settings, changes: tuple[Change, ...]) -> tuple[Side, Side]:
    """The tree as it is, and an overlay of it with `changes` made; the checkout is only read."""
    changed = frozenset(change.path for change in changes)
    pair = []
    for contents in ({c.path: c.old for c in changes}, {c.path: c.new for c in changes}):
        headers = {path: text for path, text in contents.items() if path.endswith(HEADERS)}
        header_tree = overlay(Path("/nonexistent"), headers, settings.cache / "headers") if headers else None
        pair.append(Side(settings, settings.root, header_tree, changed))
    new = {change.path: change.new for change in changes}
    return pair[0], replace(pair[1], tree=overlay(settings.root, new, settings.cache / "trees"), before=pair[0])


def on_commit(settings: Settings, differing: Mapping[str, bytes | None]) -> Settings:
    """`settings` over the tree of a commit; `differing` has what it holds where the work tree has something else.

    A shard is made from a commit: what the work tree has of other shards must neither help nor hinder it.
    """
    if not differing:
        return settings
    root = overlay(settings.root, differing, settings.cache / "trees")
    old, new = f"{settings.root}", f"{root}"
    sources = {path: tuple(flag.replace(old, new) for flag in flags) for path, flags in settings.sources.items()}
    further = tuple(new + folder[len(old) :] if f"{folder}/".startswith(f"{old}/") else folder
                    for folder in settings.further)  # fmt: skip
    return replace(settings, root=root, sources=sources, further=further)


def on_both(work: Callable[[Input], Output], before: Input, after: Input) -> tuple[Output, Output]:
    """The results of `work` for both sides, run at the same time: most of it is waiting for other processes."""
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(work, (before, after))
    return first, second


def build(side: Side, override: Override, compiler: Compiler) -> Path | Diagnostic:
    """The shared library of an override on one side, or the first error.

    What it uses of other sources of the tree, and the installed library keeps to itself, is built with it.
    """
    objects = []
    for part in override.parts:
        compiled = side.object_file(part, compiler)
        if not isinstance(compiled, Diagnostic):
            objects.append(compiled)
        elif part.required:
            return compiled
    folder = side.settings.target.libraries
    # Names inside the library bind to its own definitions; those of torch are resolved in the process that loads it.
    bound = () if override.preload else ("-Wl,-Bsymbolic",)
    torch = (f"-L{folder}", f"-Wl,-rpath,{folder}", "-ltorch_cpu", "-lc10", "-Wl,-z,lazy")
    flags = (*bound, *torch, "-Wl,--unresolved-symbols=ignore-all")
    paths = {part.path for part in override.parts}
    library = compiler.link(objects, flags)
    for _ in range(_ROUNDS):
        if isinstance(library, Diagnostic):
            break
        definitions = side.settings.definitions
        names = missing(library, Path(folder)) if definitions else ()
        further = {definitions[name] for name in names if name in definitions} - paths
        if not further:
            break
        paths |= further
        built = [side.object_file(Part(path, side.settings.prelude), compiler) for path in sorted(further)]
        objects += (compiled for compiled in built if not isinstance(compiled, Diagnostic))
        library = compiler.link(objects, flags)
    tables = missing_tables(library, Path(folder)) if isinstance(library, Path) else ()
    named = tuple(f"-Wl,--defsym={name}=0" for name in sorted(tables))
    return compiler.link(objects, (*flags, *named)) if named else library


def python_path(side: Side, override: Override, contents: Mapping[str, bytes], whole: bool) -> list[str]:
    """The folders for `sys.path` from which Python is imported in the place of what is installed.

    `whole` says that all of the library's C++ is built and loaded.
    """
    if override.packages is None:
        return list(import_folders(side.settings, side.tree, override, whole))
    packages = Path(side.settings.target.package).parent
    moved = {f"{override.packages}{path}": text for path, text in contents.items() if path.endswith(".py")}
    replaced = {path: text for path, text in moved.items() if (packages / path).is_file()}
    return [str(overlay(packages, replaced, side.settings.cache / "packages"))]
