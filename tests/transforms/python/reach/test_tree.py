"""What names mean in the files of a tree."""

from __future__ import annotations

import pytest

from transforms.python.reach.tree import SourceTree
from transforms.python.reading.extract import extract


@pytest.mark.parametrize(
    ("path", "statement", "root", "package"),
    [
        ("lib/a.py", "from .inner.b import helper", "lib/", ""),
        ("lib/__init__.py", "from .inner.b import helper", "lib/", ""),
        ("lib/other/a.py", "from ..inner.b import helper", "lib/", ""),
        ("lib/inner/__init__.py", "from .b import helper", "lib/", ""),
        ("src/lib/a.py", "from .inner.b import helper", "src/lib/", ""),
        ("src/lib/a.py", "from lib.inner.b import helper", "src/lib/", ""),
        ("src/lib/other/__init__.py", "from ..inner.b import helper", "src/lib/", ""),
        ("a.py", "from .inner.b import helper", "", "lib"),
        ("a.py", "from lib.inner.b import helper", "", "lib"),
        ("__init__.py", "from .inner.b import helper", "", "lib"),
        ("other/a.py", "from ..inner.b import helper", "", "lib"),
    ],
)
def test_an_import_finds_what_it_names(path: str, statement: str, root: str, package: str) -> None:
    """`root` is the folder of the package `lib`, of which `package` says that the tree is one."""
    sources = {path: f"{statement}\n", f"{root}inner/b.py": "def helper(x):\n    return x\n"}
    tree = SourceTree({name: extract(name, source.encode()) for name, source in sources.items()}, package)
    found = tree.globally(path, "helper")
    assert found is not None
    assert found.path == f"{root}inner/b.py"
    assert tree.imported(path, "helper") == "lib.inner.b.helper"


@pytest.mark.parametrize(("path", "package"), [("a.py", "lib"), ("src/lib/a.py", ""), ("lib/a.py", "")])
def test_what_no_folder_of_the_tree_holds_is_not_taken_for_its_own(path: str, package: str) -> None:
    """`import random` is the standard library's, though the package has a module of that name."""
    folder = path.removesuffix("a.py")
    sources = {path: "from random import choice\n", f"{folder}random.py": "def choice(x):\n    return x\n"}
    tree = SourceTree({name: extract(name, source.encode()) for name, source in sources.items()}, package)
    assert tree.globally(path, "choice") is None
