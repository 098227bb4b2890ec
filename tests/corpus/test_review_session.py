"""A scripted session of the review under tmux, on a part of PyTorch."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from corpus_trees import copy_kernels, find_tree
from review_session import review_session

TREE = find_tree("pytorch-2.6.0")


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
@pytest.mark.skipif(TREE is None, reason="no PyTorch tree (see CONTRIBUTING.md)")
def test_apply_writes_what_a_person_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert TREE is not None
    part = copy_kernels(TREE, tmp_path / "part")
    assert review_session(part, tmp_path / f"reviewed-{tmp_path.name}", 20) == 0
    assert "apply wrote exactly what was accepted" in capsys.readouterr().out
