"""The tree that a line of a program belongs to, and the program run from a copy of it with a patch."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from codemod.borders.files import read_below
from codemod.probe.script import Program
from codemod.prove.overlay import overlay
from codemod.runner.recording import WATCHED
from codemod.tree.checkout import Checkout, checkout_of, find_checkout, is_marked, whole_package

_BELOW_INSTALLED = re.compile(r"/(?:site|dist)-packages/")
_INSTALLED = re.compile(r"^(.*/(?:site|dist)-packages(?:/[^/]+\.egg)?)/(\w+)/")
_CONFIGURED = "[tool.symfix]\n"


@dataclass(frozen=True, slots=True)
class Tree:
    """Where code lies. `package` is the name of an installed package, "" where the tree is the user's own."""

    root: Path
    package: str = ""
    loose: bool = False
    """Whether only the program says where it begins: there is no git, and no configuration of symfix."""

    @property
    def extent(self) -> Path | None:
        """The root, where nothing else says that it is one; else None."""
        return self.root if self.loose else None

    def relative(self, path: str) -> str:
        """The POSIX path below the root; "" for one that lies elsewhere."""
        real, base = os.path.realpath(path), _inside(self.root)
        return real[len(base) :] if real.startswith(base) else ""

    def unit(self, path: str) -> str:
        """What is read to understand a file: the whole package that it is a part of, else the file; "" for all."""
        if self.package:
            return ""
        unit = path
        while (self.root / os.path.dirname(unit) / "__init__.py").is_file():
            unit = os.path.dirname(unit)
            if not unit:
                break
        return unit

    def python(self) -> dict[str, bytes]:
        """The Python files by path, without what git ignores; what cannot be read is left out."""
        if self.package:
            names = [path.relative_to(self.root).as_posix() for path in sorted(self.root.rglob("*.py"))]
        else:
            checkout = Checkout(self.root, None) if self.loose else checkout_of(self.root)
            names = [name for name in checkout.names() if name.endswith(".py")]
        files = {}
        for name in names:
            with suppress(OSError):
                files[name] = read_below(self.root, name)
        return files

    @contextmanager
    def sources(self) -> Iterator[Path]:
        """A folder to analyse: the root itself, of a package a copy of its Python, which git may ignore."""
        if not self.package:
            yield self.root
            return
        with TemporaryDirectory(prefix="symfix-fix-") as folder:
            (Path(folder) / "pyproject.toml").write_text(_CONFIGURED, encoding="ascii")
            shutil.copytree(self.root, Path(folder) / self.package, ignore=_not_python)
            yield Path(folder)


def tree_of(path: str, starts: Sequence[str] = ()) -> Tree | None:
    """The tree that holds a Python file; None where there is no such file, or it is of torch or of Python itself.

    Nor has an installed module that is in no package one: it has no folder of its own to be copied. Where nothing else
    says where its tree begins, the file's begins at that of `starts`, folders that a program's imports begin at, which
    holds it, else beside the outermost package that it is a part of.
    """
    real = os.path.realpath(path)
    if not real.endswith(".py") or not os.path.isfile(real):
        return None
    installed = _INSTALLED.match(real)
    if installed is not None:
        return None if installed[2] == "torch" else Tree(Path(installed[1], installed[2]), installed[2])
    if _BELOW_INSTALLED.search(real):
        return None
    if real.startswith(os.path.dirname(os.path.realpath(os.__file__)) + os.sep):
        return None
    checkout = checkout_of(Path(real))
    if checkout.git is not None or is_marked(checkout.root) or find_checkout(Path(real)).git is not None:
        return Tree(checkout.root)
    start = next((start for start in starts if _below(real, Path(start))), "")
    return Tree(Path(start or _import_root(os.path.dirname(real))), loose=True)


@dataclass(frozen=True, slots=True)
class Copy:
    """A program that runs from copies of trees."""

    program: Program
    folders: Mapping[Tree, Path] = field(default_factory=dict)
    mirror: Path | None = None
    """What stands for the root of the file system, with the copies of trees that are the user's own in their places."""
    changed: Mapping[str, str] = field(default_factory=dict)
    """The files that are changed, as they are in the copies, with their originals."""

    def missed(self, files: Collection[str]) -> str:
        """The original that a program runs whose code is of `files`, or no copy of; "" where it runs the changes."""
        kept = [original for original in self.changed.values() if original in files]
        if kept or self.changed.keys().isdisjoint(files):
            return (kept or [*self.changed.values()])[0]
        return ""

    def starts(self) -> tuple[str, ...]:
        """The folders, without copies, that the program's imports may begin at, the innermost first.

        They are those that its processes look into, where a run shows that, else those of its scripts and where it is
        started, which may hold much more than the program's code; none has the user's home in it.
        """
        seen = self.program.processes.imports
        folders = {os.path.dirname(self.original(os.path.realpath(file))) for file in _files(self.program)}
        folders |= seen or {self.original(os.path.realpath(self.program.folder))}
        home = os.path.realpath(Path.home())
        return tuple(sorted((folder for folder in folders if not _below(home, Path(folder))), key=len, reverse=True))

    def original(self, path: str) -> str:
        """The file that a path of the run is a copy of; the path itself where it is none."""
        for tree, folder in self.folders.items():
            if path.startswith(_inside(folder)):
                return _inside(tree.root) + path[len(_inside(folder)) :]
        mirrored = self.mirror is not None and path.startswith(_inside(self.mirror))
        return path[len(str(self.mirror)) :] if mirrored else path


@contextmanager
def patched(program: Program, contents: Mapping[Tree, Mapping[str, bytes]]) -> Iterator[Copy]:
    """The program as it runs from copies of trees in which files have other `contents`; the trees stay as they are.

    All else is links, also all around a tree, so that a path that leads out of it leads where it did. Python looks for
    the neighbours of a script where the script's link leads, so scripts are copied too.
    """
    with TemporaryDirectory(prefix="symfix-fix-") as name:
        base = Path(os.path.realpath(name))
        scripts = {tree: _scripts(program, tree) for tree in contents if not tree.package}
        own = {tree: {**files, **contents[tree]} for tree, files in scripts.items()}
        files = {_mirrored(tree.root / path): files[path] for tree, files in own.items() for path in files}
        mirror = overlay(Path(os.sep), files, base / "copies")
        folders: dict[Tree, Path] = {}
        changed: dict[str, str] = {}
        for tree, replaced in contents.items():
            folder = mirror / _mirrored(tree.root)
            if tree.package:
                folder = base / "packages" / tree.package
                folder.parent.mkdir(exist_ok=True)
                folder.symlink_to(overlay(tree.root, replaced, base / "copies"))
            for path in own.get(tree, replaced):
                shutil.copymode(tree.root / path, folder / path)
                bytecode = (folder / path).parent / "__pycache__"
                if bytecode.is_symlink():  # that of the originals, where that of the changed files would be put
                    bytecode.unlink()
            changed |= {os.path.realpath(folder / path): str(tree.root / path) for path in replaced}
            folders[tree] = folder
        watched = os.pathsep.join((*changed, *changed.values()))
        packages = [folder.parent for tree, folder in folders.items() if tree.package]
        modules = {tree: contents[tree].keys() - files.keys() for tree, files in scripts.items()}
        moved = _moved(replace(program, imports=(*packages[:1], *program.imports)), modules, mirror)
        yield Copy(replace(moved, environment={**moved.environment, WATCHED: watched}), folders, mirror, changed)


def _moved(program: Program, modules: Mapping[Tree, Collection[str]], mirror: Path) -> Program:
    """The program as it runs in `mirror`, where `modules` of trees are changed."""
    here = os.path.realpath(program.folder)
    cwd = os.path.realpath(mirror / _mirrored(here))  # the same, where no copy is near
    executable = _executable(program)
    command = list(program.command)
    if any(_below(executable, tree.root) for tree in modules):
        command[0] = str(mirror / _mirrored(executable))
    for index, argument in enumerate(command[1:], 1):
        named = os.path.join(here, argument)
        stays = not os.path.isabs(argument) and cwd != here
        if not stays and os.path.exists(named) and any(_below(os.path.realpath(named), tree.root) for tree in modules):
            command[index] = str(mirror / _mirrored(os.path.realpath(named)))
    changed = (os.path.dirname(tree.root / path) for tree, paths in modules.items() for path in sorted(paths))
    roots = dict.fromkeys(root for folder in changed for root in _looked_into(program, folder))
    imports = (*(mirror / _mirrored(root) for root in roots), *program.imports)
    return replace(program, command=tuple(command), folder=Path(cwd), imports=imports)


def _mirrored(path: str | Path) -> str:
    """An absolute path, relative to the root of the file system."""
    return os.path.relpath(path, os.sep)


def _looked_into(program: Program, folder: str) -> list[str]:
    """Where the imports of a program find modules of `folder`, as it seems, and as a run shows."""
    seen = [entry for entry in program.processes.imports if _below(folder, Path(entry))]
    return [*sorted(seen, key=len)[-1:], _import_root(folder)]


def _import_root(folder: str) -> str:
    """The innermost folder, from `folder` outwards, that is no package itself."""
    package = whole_package(Path(folder))
    return str(package.parent if (package / "__init__.py").is_file() else package)


def _scripts(program: Program, tree: Tree) -> dict[str, bytes]:
    files = [*_files(program), *sorted(program.processes.scripts), _executable(program)]
    names = (tree.relative(file) for file in files if file)
    return {name: (tree.root / name).read_bytes() for name in names if name}


def _files(program: Program) -> list[str]:
    """The files of Python that a command names."""
    files = [os.path.join(os.path.realpath(program.folder), word.partition("::")[0]) for word in program.command[1:]]
    return [file for file in files if file.endswith(".py") and os.path.isfile(file)]


def _executable(program: Program) -> str:
    """The script that a command is by itself; "" where it is none: a program in machine code stays where it is."""
    found = shutil.which(program.command[0])
    real = os.path.realpath(found) if found else ""
    try:
        with open(real, "rb") as file:
            return real if file.read(2) == b"#!" else ""
    except OSError:
        return ""


def _below(path: str, root: Path) -> bool:
    return path == str(root) or path.startswith(_inside(root))


def _inside(folder: Path) -> str:
    """What the paths in a folder begin with; the root of the file system ends with its separator already."""
    return os.path.join(folder, "")


def _not_python(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not (name.endswith(".py") or os.path.isdir(os.path.join(folder, name)))]
