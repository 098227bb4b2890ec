"""What Python registers is made once for all who ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.tree.cache import Cache
from codemod.tree.checkout import find_checkout
from codemod.tree.project import CheckoutProject
from tests.conftest import MakeTree
from transforms.python.reach import kernels
from transforms.python.reach.kernels import registrations_of, source_paths
from transforms.python.reach.registrations import Registrations
from transforms.python.reach.tree import SourceTree
from transforms.python.transform import PythonTransform

FAKE = b"import torch\n@torch.library.register_fake('lib::f')\ndef f(x):\n    return x\n"


def test_both_transforms_ask_for_the_same_registrations(
    make_tree: MakeTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees: list[SourceTree] = []

    def counted(tree: SourceTree) -> Registrations:
        trees.append(tree)
        return Registrations(tree)

    monkeypatch.setattr(kernels, "Registrations", counted)
    root = make_tree({"lib/a.py": FAKE, "tests/test_a.py": FAKE})
    project = CheckoutProject(find_checkout(root), Cache.of(root, tmp_path / "cache"))
    registrations_of(project, source_paths(project))
    assert PythonTransform().operators(project) == {"lib::f"}
    list(PythonTransform().analyse(project))
    assert len(trees) == 1
