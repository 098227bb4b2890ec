"""The two sides of a change, before and after: their sources as units for the compiler, and their overrides built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from codemod.model.transform import Override, Part
from codemod.prove.compiler import Compiler, Diagnostic, Unit
from codemod.prove.overlay import overlay
from codemod.prove.symbols import missing, missing_tables
from codemod.prove.task import Settings
from codemod.writing.changes import Change

Given = TypeVar("Given")
Made = TypeVar("Made")

# Sources that are needed for the functions of others are looked for so often, each time for those found last.
_ROUNDS = 4
_HEADERS = (".h", ".hpp", ".hh", ".cuh", ".inl")


@dataclass(frozen=True, slots=True)
class Side:
    """The tree before or after a change. `changed` are the paths in it; `headers` holds the changed headers alone."""

    settings: Settings
    tree: Path
    headers: Path | None
    changed: frozenset[str]

    def unit(self, part: Part) -> Unit:
        """The unit of one source of the tree, and what goes before and after it."""
        source = self._tree(part.path) / part.path
        text = f'{part.before}\n#include "{source}"\n{part.after}'
        return Unit(text, self.flags(part.path))

    def flags(self, path: str) -> tuple[str, ...]:
        """The compiler's flags for the source `path`.

        The tree's own headers come first only where the installed torch is of the same version: classes of another
        version are laid out otherwise. Changed headers come first in any case.
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

    def _tree(self, path: str) -> Path:
        """The tree to compile `path` in: the checkout itself where nothing that it may include has changed."""
        return self.tree if self.headers is not None or path in self.changed else self.settings.root

    def _abi(self) -> tuple[str, ...]:
        """What torch's own build has in common with all that is loaded beside it: it is a release."""
        return (f"-D_GLIBCXX_USE_CXX11_ABI={int(self.settings.target.cxx11_abi)}", "-DNDEBUG")


def sides(settings: Settings, changes: tuple[Change, ...]) -> tuple[Side, Side]:
    """The tree as it is, and an overlay of it with `changes` made; the checkout is only read."""
    changed = frozenset(change.path for change in changes)
    made = []
    for contents in ({c.path: c.old for c in changes}, {c.path: c.new for c in changes}):
        headers = {path: text for path, text in contents.items() if path.endswith(_HEADERS)}
        alone = overlay(Path("/nonexistent"), headers, settings.kept / "headers") if headers else None
        made.append(Side(settings, settings.root, alone, changed))
    new = {change.path: change.new for change in changes}
    return made[0], replace(made[1], tree=overlay(settings.root, new, settings.kept / "trees"))


def on_both(work: Callable[[Given], Made], before: Given, after: Given) -> tuple[Made, Made]:
    """What `work` makes of both sides, at once: most of it is waiting for other processes."""
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(work, (before, after))
    return one, other


def build(side: Side, override: Override, compiler: Compiler) -> Path | Diagnostic:
    """The shared library of an override on one side, or the first error.

    What it uses of other sources of the tree, and the installed library keeps to itself, is built with it.
    """
    objects = []
    for part in override.parts:
        made = compiler.compile(side.unit(part))
        if not isinstance(made, Diagnostic):
            objects.append(made)
        elif part.required:
            return made
    folder = side.settings.target.libraries
    # Names inside the library mean its own; what torch defines is found in the process that loads it.
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
        built = [compiler.compile(side.unit(Part(path, side.settings.prelude))) for path in sorted(further)]
        objects += (made for made in built if not isinstance(made, Diagnostic))
        library = compiler.link(objects, flags)
    tables = missing_tables(library, Path(folder)) if isinstance(library, Path) else ()
    named = tuple(f"-Wl,--defsym={name}=0" for name in sorted(tables))
    return compiler.link(objects, (*flags, *named)) if named else library


def python_path(side: Side, override: Override, contents: Mapping[str, bytes]) -> list[str]:
    """The folders for `sys.path` from which changed Python is imported in the place of what is installed."""
    if override.packages is None:
        return [str(side.tree), str(side.tree / "src")]
    packages = Path(side.settings.target.package).parent
    moved = {f"{override.packages}{path}": text for path, text in contents.items() if path.endswith(".py")}
    replaced = {path: text for path, text in moved.items() if (packages / path).is_file()}
    return [str(overlay(packages, replaced, side.settings.kept / "packages"))]
