"""Where the modules of a library are imported from, and by which names."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple

# Every PyTorch that symfix serves has it.
_OF_PYTORCH = "torch/fx/experimental/symbolic_shapes.py"


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


def import_path(path: str, place: Place, package: str = "") -> str:
    """The path of a module from the folder that it is imported from, as PyTorch writes its own: `torch/_refs/fft.py`.

    `package` is the name of the tree's root where that is a package.
    """
    if package:
        return f"{package}/{path}"
    return path.removeprefix(f"{place.root}/") if place.root else path
