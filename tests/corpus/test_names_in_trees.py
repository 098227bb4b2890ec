"""The names that symfix prints about a release of PyTorch: each is accepted; skips where the tree is absent."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from corpus_trees import copy_tree, find_tree, git

from codemod.model.plan import Plan
from codemod.planning.operators import Operators
from codemod.planning.selection import Selection
from tests.names_shown import names_shown, run

TREE = find_tree("pytorch-2.6.0")

pytestmark = pytest.mark.skipif(TREE is None, reason="no tree pytorch-2.6.0: see Real trees in CONTRIBUTING.md")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert TREE is not None
    copy = copy_tree(TREE, tmp_path_factory.mktemp("names") / "pytorch")
    git(copy, "init", "-q")
    git(copy, "add", "-A")
    git(copy, "commit", "-qm", "start")
    return copy


def test_every_name_that_is_shown_is_accepted(tree: Path) -> None:
    plan = Plan.from_json(run(tree, "scan", "--format", "json"))
    operators = Operators(plan.findings)
    refused = {}
    for output, names in names_shown(tree, tree.parent / "page.html").items():
        assert names, output
        for name in sorted(names):
            if not Selection(ops=operators.resolve(name, output)).groups(plan.findings):
                refused[name] = output
    assert refused == {}


@pytest.mark.parametrize("name", ["cross_entropy", "F.cross_entropy", "torch.nn.functional.cross_entropy"])
def test_a_public_function_means_the_operator_that_it_calls(tree: Path, name: str) -> None:
    assert run(tree, "scan", "--op", name, "--format", "csv") == run(
        tree, "scan", "--op", "aten::cross_entropy_loss", "--format", "csv"
    )


def test_a_typo_is_refused_with_the_nearest_name(tree: Path) -> None:
    with pytest.raises(AssertionError, match="nearest: tensordot"):
        run(tree, "scan", "--op", "tensordott")


def test_nothing_was_written(tree: Path) -> None:
    done = subprocess.run(["git", "status", "--porcelain"], cwd=tree, capture_output=True, check=True)
    assert done.stdout == b""
