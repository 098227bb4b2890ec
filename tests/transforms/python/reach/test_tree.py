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
        ("python/lib/a.py", "from .inner.b import helper", "python/lib/", ""),
        ("python/lib/a.py", "from lib.inner.b import helper", "python/lib/", ""),
        ("lib/lib/a.py", "from lib.inner.b import helper", "lib/lib/", ""),
        ("tools/a.py", "from lib.inner.b import helper", "python/lib/", ""),
        ("a.py", "from .inner.b import helper", "", "lib"),
        ("a.py", "from lib.inner.b import helper", "", "lib"),
        ("__init__.py", "from .inner.b import helper", "", "lib"),
        ("other/a.py", "from ..inner.b import helper", "", "lib"),
    ],
)
def test_an_import_finds_what_it_names(path: str, statement: str, root: str, package: str) -> None:
    """`root` is the folder of the package `lib`, of which `package` says that the tree is one."""
    sources = dict.fromkeys((f"{root}__init__.py", f"{root}inner/__init__.py"), "")
    sources |= {path: f"{statement}\n", f"{root}inner/b.py": "def helper(x):\n    return x\n"}
    tree = SourceTree({name: extract(name, source.encode()) for name, source in sources.items()}, package)
    found = tree.globally(path, "helper")
    assert found is not None
    assert found.path == f"{root}inner/b.py"
    assert tree.imported(path, "helper") == "lib.inner.b.helper"
    assert tree.module_name(found.path) == "lib.inner.b"


@pytest.mark.parametrize(("path", "package"), [("a.py", "lib"), ("src/lib/a.py", ""), ("lib/a.py", "")])
def test_what_no_folder_of_the_tree_holds_is_not_taken_for_its_own(path: str, package: str) -> None:
    """`import random` is the standard library's, though the package has a module of that name."""
    folder = path.removesuffix("a.py")
    sources = {path: "from random import choice\n", f"{folder}random.py": "def choice(x):\n    return x\n"}
    sources[f"{folder}__init__.py"] = ""
    tree = SourceTree({name: extract(name, source.encode()) for name, source in sources.items()}, package)
    assert tree.globally(path, "choice") is None


@pytest.mark.parametrize("root", ["", "src/", "libs/core/"])
def test_a_folder_that_imports_name_is_a_package_without_a_file_that_says_so(root: str) -> None:
    """flash-linear-attention shares `fla` with another distribution, which has the `__init__.py`."""
    sources = {
        f"{root}fla/layers/__init__.py": "from fla.layers.b import helper\n",
        f"{root}fla/layers/a.py": "from .b import helper\n",
        f"{root}fla/layers/b.py": "def helper(x):\n    return x\n",
    }
    tree = SourceTree({name: extract(name, source.encode()) for name, source in sources.items()})
    for path in (f"{root}fla/layers/__init__.py", f"{root}fla/layers/a.py"):
        found = tree.globally(path, "helper")
        assert found is not None
        assert tree.module_name(found.path) == "fla.layers.b"
        assert tree.place(path).root == root.removesuffix("/")


@pytest.mark.parametrize(
    ("path", "imports"),
    [
        ("examples/torch/nn/__init__.py", "import torch.nn"),  # that of PyTorch
        ("examples/logging/handlers/__init__.py", "import logging.handlers"),
        ("examples/fla/layers/__init__.py", "import fla.models"),
    ],
)
def test_a_folder_further_down_is_named_by_what_it_holds(path: str, imports: str) -> None:
    sources = {path: "def helper(x):\n    return x\n", "run.py": f"{imports}\n"}
    tree = SourceTree({name: extract(name, source.encode()) for name, source in sources.items()})
    assert tree.module_name(path) == path.split("/")[2]


def test_of_packages_of_one_name_the_nearest_to_the_root_has_it() -> None:
    """Each of two examples has its `utils`; neither is taken for the other, or for the library's."""
    sources = {
        f"{root}utils/__init__.py": "def helper(x):\n    return x\n" for root in ("", "examples/a/", "examples/b/")
    }
    sources |= {f"examples/{which}/utils/main.py": "from . import helper\n" for which in "ab"}
    sources["run.py"] = "from utils import helper\n"
    tree = SourceTree({name: extract(name, source.encode()) for name, source in sources.items()})
    found = tree.globally("run.py", "helper")
    assert found is not None
    assert found.path == "utils/__init__.py"
    assert [tree.globally(f"examples/{which}/utils/main.py", "helper") for which in "ab"] == [None, None]
