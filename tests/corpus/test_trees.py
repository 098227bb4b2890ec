"""symfix on real releases of PyTorch; each test skips where the tree is absent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpus_trees import apply_in, changed_files, converted_sites, copy_tree, find_tree, symfix

TREE = find_tree("pytorch-2.6.0")
LOSS = "aten/src/ATen/native/LossNLL.cpp"

pytestmark = pytest.mark.skipif(TREE is None, reason="no tree pytorch-2.6.0: see Real trees in CONTRIBUTING.md")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, with symfix applied at the safe level."""
    assert TREE is not None
    copy = copy_tree(TREE, tmp_path_factory.mktemp("tree") / "pytorch")
    assert apply_in(copy) == 1
    return copy


def test_at_least_150_sites_are_converted(tree: Path) -> None:
    assert TREE is not None
    assert converted_sites(TREE, tree, changed_files(TREE, tree)) >= 150


def test_a_second_apply_changes_nothing(tree: Path) -> None:
    before = {path: (tree / path).read_bytes() for path in changed_files(TREE or tree, tree)}
    assert apply_in(tree) == 0
    assert before == {path: (tree / path).read_bytes() for path in changed_files(TREE or tree, tree)}


def test_cross_entropy_is_found_and_its_chain_converted(tree: Path) -> None:
    """The case of pytorch/pytorch#182004."""
    assert TREE is not None
    done = symfix(["scan", "--op", "cross_entropy_loss", "--format", "json", LOSS], TREE)
    found = [
        finding
        for finding in json.loads(done.stdout)["findings"]
        if finding["function"].endswith("cross_entropy_loss_prob_target")
    ]
    replaced = " ".join(finding["message"] for finding in found)
    assert "weight" in replaced
    after = (tree / LOSS).read_text(encoding="utf-8")
    body = after[after.index("Tensor cross_entropy_loss_prob_target(") :]
    body = body[: body.index("\n}\n")]
    assert "weight.sym_numel()" in body
    assert "self.sym_size(class_dim)" in body
