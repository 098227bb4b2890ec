"""What is edited in libraries is run before and after."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from run_edited import verdict

MODEL = """import torch
import torch.nn.functional as F
from missing_library import config


class Padded(torch.nn.Module):
    def __init__(self, in_channels, kernel_size=3):
        super().__init__()
        self.conv = torch.nn.Conv1d(in_channels, 4, kernel_size)

    @config
    def forward(self, x: torch.Tensor):
        if x.shape[-1] % 8 != 0:
            x = F.pad(x, (0, 8 - x.shape[-1] % 8))
        return self.conv(x)
"""
PROGRAM = Path(__file__).with_name("run_edited.py")


def said(frames: int, breaks: int, wrong: int = 0, total: float = 1.0) -> dict[str, Any]:
    return {"status": "called", "frames": frames, "breaks": breaks, "wrong": wrong, "sums": [total]}


@pytest.mark.parametrize(
    ("before", "after", "became"),
    [
        (said(3, 0), said(1, 0), "fewer"),
        (said(3, 1), said(3, 1), "as many"),
        (said(3, 1), said(3, 2), "MORE BREAKS"),
        (said(3, 0), said(1, 0, wrong=1), "OTHER COMPILED"),
        (said(3, 0, wrong=1), said(1, 0, wrong=1), "fewer"),
        (said(3, 0), said(1, 0, total=2.0), "OTHER IN EAGER"),
        (said(3, 0), {"status": "not made"}, "NOT MADE AFTER"),
    ],
)
def test_what_became_of_a_function(before: dict[str, Any], after: dict[str, Any], became: str) -> None:
    assert verdict(before, after) == became


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_a_module_is_made_and_called_by_guess(tmp_path: Path) -> None:
    package = tmp_path / "padded" / "padded"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .model import Padded\n")
    (package / "model.py").write_text(MODEL)
    done = subprocess.run([sys.executable, PROGRAM, tmp_path], capture_output=True, text=True, check=False)
    function, counts = done.stdout.splitlines()
    assert function.startswith("fewer          padded padded/model.py Padded.forward: frames ")
    assert counts == "1 fewer"
    assert done.returncode == 0


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_memory_that_is_not_written_to_makes_no_difference(tmp_path: Path) -> None:
    (tmp_path / "fakes.py").write_text(
        "import torch\n\n\ndef shaped(x: torch.Tensor):\n    held = torch.rand(64, 64)\n    del held\n"
        "    return x.new_empty(4096), x.new_empty(64, dtype=torch.int64)\n"
    )
    guessing = str(PROGRAM.with_name("corpus_guessing.py"))
    command = [sys.executable, "-W", "ignore", guessing, str(tmp_path), "fakes.py", "", "shaped"]
    ends = [json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(2)]
    assert [(end["status"], end["wrong"]) for end in ends] == [("called", 0)] * 2
    assert ends[0]["sums"] == ends[1]["sums"]
