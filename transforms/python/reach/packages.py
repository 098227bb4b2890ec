"""Where the modules of a library are imported from, and by which names."""

from __future__ import annotations

import sys
from collections.abc import Collection, Container, Iterable
from typing import NamedTuple

# Every PyTorch that symfix serves has it.
_OF_PYTORCH = "torch/fx/experimental/symbolic_shapes.py"
KNOWN = frozenset({"torch", *sys.stdlib_module_names})
"""The packages of PyTorch and of Python itself."""


class Place(NamedTuple):
    """A module: the folder that has to be on `sys.path`, "" for the tree's root, and its dotted name there."""

    root: str
    module: str


def place_of(path: str, listed: Container[str]) -> Place:
    """The place of the Python file `path` in a tree of the files `listed`.

    Its outermost folder with an `__init__.py` is the package; where it has none, its name begins at the tree's root, or
    below a `src` folder there. A package `torch` in another folder that is not PyTorch belongs to a namespace package.
    """
    folders = path.split("/")[:-1]
    package = next((n for n in range(len(folders)) if "/".join((*folders[: n + 1], "__init__.py")) in listed), None)
    if package is None:
        package = int(folders[:1] == ["src"])
    elif folders[:package] not in ([], ["src"]) and folders[package] == "torch":
        package -= "/".join((*folders[:package], _OF_PYTORCH)) not in listed
    parts = path.removesuffix(".py").split("/")[package:]
    if parts[-1] == "__init__":
        parts.pop()
    return Place("/".join(folders[:package]), ".".join(parts))


def places_of(paths: Collection[str], imported: Iterable[str], package: str = "") -> dict[str, Place]:
    """The place of each of the files of a tree, in which the dotted names `imported` are imported.

    `package` is the name of the tree's root where that is a package, of which all is. Else what the imports names begin
    with is a package though it has no `__init__.py`: a folder at the tree's root, and one further down where what it
    holds is named with it (`own.models`, for `src/own/models`).
    """
    if package:
        return {path: Place("", ".".join(filter(None, (package, module_of(path))))) for path in paths}
    places = {path: place_of(path, paths) for path in paths}
    beginnings = {".".join(target.split(".", 2)[:2]) for target in imported}
    tops = {beginning.partition(".")[0] for beginning in beginnings}
    tops -= {place.module.partition(".")[0] for place in places.values() if place.root}

    def spread(path: str) -> int | None:
        """The number of folders before the package that has no `__init__.py`, None where there is none."""
        folders = path.split("/")
        for number in range(places[path].root.count("/") + bool(places[path].root)):
            around = f"{folders[number]}.{folders[number + 1].removesuffix('.py')}"
            if folders[number] in tops and (not number or (around in beginnings and folders[number] not in KNOWN)):
                return number
        return None

    for path in paths:
        number = spread(path)
        if number is not None:
            folders = path.split("/")
            places[path] = Place("/".join(folders[:number]), module_of("/".join(folders[number:])))
    return places


def module_of(path: str) -> str:
    """`a.b` for `a/b.py` and `a/b/__init__.py`."""
    return path.removesuffix(".py").removesuffix("__init__").strip("/").replace("/", ".")


def import_path(path: str, place: Place, package: str = "") -> str:
    """The path of a module from the folder that it is imported from, as PyTorch writes its own: `torch/_refs/fft.py`.

    `package` is the name of the tree's root where that is a package.
    """
    if package:
        return f"{package}/{path}"
    return path.removeprefix(f"{place.root}/") if place.root else path
