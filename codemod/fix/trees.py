"""The tree that a line of a program belongs to, and the program run from a copy of it with a patch."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from codemod.borders.files import read_below
from codemod.probe.script import Program
from codemod.prove.overlay import overlay
from codemod.runner.recording import WATCHED
from codemod.tree.checkout import Checkout, checkout_of, find_checkout, is_marked

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

    Nor has an installed module that is in no package one: it has no folder of its own to be copied. A file below one of
    `starts`, folders that a program's imports begin at, is of a tree that begins there, if nothing else says where.
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
    start = next((start for start in starts if _below(real, Path(start))), "")
    if start and checkout.git is None and not is_marked(checkout.root) and find_checkout(Path(real)).git is None:
        return Tree(Path(start), loose=True)
    return Tree(checkout.root)


@dataclass(frozen=True, slots=True)
class Copy:
    """A program that runs from copies of trees."""

    program: Program
    folders: Mapping[Tree, Path] = field(default_factory=dict)
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

        They are those of its scripts, and where it is started, which may hold much more than the program's code; none
        has the user's home in it.
        """
        files = [os.path.join(os.path.realpath(self.program.folder), "_"), *_files(self.program)]
        folders = {os.path.dirname(self.original(os.path.realpath(file))) for file in files}
        home = os.path.realpath(Path.home())
        return tuple(sorted((folder for folder in folders if not _below(home, Path(folder))), key=len, reverse=True))

    def original(self, path: str) -> str:
        """The file that a path of the run is a copy of; the path itself where it is none."""
        for tree, folder in self.folders.items():
            if path.startswith(_inside(folder)):
                return _inside(tree.root) + path[len(_inside(folder)) :]
        return path


@contextmanager
def patched(program: Program, contents: Mapping[Tree, Mapping[str, bytes]]) -> Iterator[Copy]:
    """The program as it runs from copies of trees in which files have other `contents`; the trees stay as they are.

    All else in a copy is links. Python looks for the neighbours of a script where the script's link leads, so scripts
    that the command names are copied too.
    """
    with TemporaryDirectory(prefix="symfix-fix-") as name:
        base = Path(os.path.realpath(name))
        folders: dict[Tree, Path] = {}
        changed: dict[str, str] = {}
        for tree, replaced in contents.items():
            scripts = {} if tree.package else _scripts(program, tree)
            folder = overlay(tree.root, {**scripts, **replaced}, base / "copies")
            for path in {**scripts, **replaced}:
                shutil.copymode(tree.root / path, folder / path)
                bytecode = (folder / path).parent / "__pycache__"
                if bytecode.is_symlink():  # that of the originals, where that of the changed files would be put
                    bytecode.unlink()
            changed |= {str(folder / path): str(tree.root / path) for path in replaced}
            if tree.package:
                (base / "packages").mkdir(exist_ok=True)
                link = base / "packages" / tree.package
                link.symlink_to(folder)
                folder = link
            folders[tree] = folder
        watched = os.pathsep.join((*changed, *changed.values()))
        moved = _moved(program, contents, folders)
        yield Copy(replace(moved, environment={**moved.environment, WATCHED: watched}), folders, changed)


def _moved(program: Program, contents: Mapping[Tree, Mapping[str, bytes]], folders: Mapping[Tree, Path]) -> Program:
    here = os.path.realpath(program.folder)
    cwd = Path(here)
    imports: list[Path] = []
    command = list(program.command)
    for tree, folder in folders.items():
        if tree.package:
            imports.append(folder.parent)
            continue
        if _below(here, tree.root):
            cwd = folder / os.path.relpath(here, tree.root)
        executable = _executable(program)
        if executable and _below(executable, tree.root):
            command[0] = str(folder / os.path.relpath(executable, tree.root))
        for index, argument in enumerate(command[1:], 1):
            named = os.path.join(here, argument)
            stays = not os.path.isabs(argument) and _below(here, tree.root)
            if not stays and os.path.exists(named) and _below(os.path.realpath(named), tree.root):
                command[index] = str(folder / os.path.relpath(os.path.realpath(named), tree.root))
        modules = contents[tree].keys() - _scripts(program, tree).keys()
        imports += _import_roots(sorted(modules), tree.root, folder)
        entries = filter(os.path.isabs, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        imports += [folder / os.path.relpath(entry, tree.root) for entry in entries if _below(entry, tree.root)]
    return replace(program, command=tuple(command), folder=cwd, imports=(*dict.fromkeys(imports), *program.imports))


def _import_roots(paths: Iterable[str], root: Path, folder: Path) -> Sequence[Path]:
    """Where changed modules are imported from, in the copy: others may be installed in their place."""
    roots = []
    for path in paths:
        parent = os.path.dirname(path)
        while parent and (root / parent / "__init__.py").is_file():
            parent = os.path.dirname(parent)
        roots.append(folder / parent)
    return roots


def _scripts(program: Program, tree: Tree) -> dict[str, bytes]:
    names = (tree.relative(file) for file in [*_files(program), _executable(program)] if file)
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
