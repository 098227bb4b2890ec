"""A scripted session of the review under tmux, on a part of PyTorch."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from corpus_trees import find_tree
from review_session import review_session

TREE = find_tree("pytorch-2.6.0")


@pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")
@pytest.mark.skipif(TREE is None, reason="no PyTorch tree (see CONTRIBUTING.md)")
def test_apply_writes_what_a_person_accepted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert TREE is not None
    part = tmp_path / "part"
    # The kernels of one folder have more operators than are reviewed here; backends below it have as many again.
    native = TREE / "aten/src/ATen/native"
    backends = [path for path in native.iterdir() if path.is_dir()]
    shutil.copytree(
        native.parent,
        part / "aten/src/ATen",
        ignore=lambda folder, names: [name for name in names if Path(folder, name) in backends],
    )
    assert review_session(part, tmp_path / f"reviewed-{tmp_path.name}", 20) == 0
    assert "apply wrote exactly what was accepted" in capsys.readouterr().out
