"""`symfix probe` over a real torch: a program's guards, recompilations, assumptions and errors, with their lines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

PROGRAM = """
import torch


def branch(x):
    if x.size(0) > 5:
        return x + 1
    return x - 1


def assumed(x):
    return torch.cat([x, x]).sum() if guard_or_false(x.size(0) == 3) else x.sum()


def failing(x):
    positive = x[x > 0]
    if positive.shape[0] == 2:
        return positive
    return positive + 1


from torch.fx.experimental.symbolic_shapes import guard_or_false

compiled = torch.compile(branch, backend="eager")
for size in (4, 7):
    compiled(torch.ones(size))
x = torch.ones(4)
torch._dynamo.decorators.mark_unbacked(x, 0)
torch.compile(assumed, backend="eager")(x)
torch._dynamo.config.capture_dynamic_output_shape_ops = True
try:
    torch.compile(failing, backend="eager", fullgraph=True)(torch.ones(4))
except Exception as error:
    print("failed")
"""


def test_each_answer_names_its_line(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    command = [
        sys.executable,
        "-m",
        "codemod.cli",
        "probe",
        "--format",
        "json",
        "--no-source",
        "--",
        sys.executable,
        "program.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "failed" in done.stderr
    report = json.loads(done.stdout)
    asked = {
        (
            answer["kind"],
            answer["function"].partition(" ")[0],
            answer["text"],
            answer["place"] and answer["place"]["text"],
        )
        for answer in report["answers"]
        if answer["owner"] in ("your code", "")
    }
    assert ("guard", "branch", "x.size(0) > 5", "if x.size(0) > 5:") in asked
    assert ("recompiled", "branch", "tensor 'x' size mismatch at index 0. expected 4, actual 7", None) in asked
    error = next(answer for answer in report["answers"] if answer["kind"] == "error")
    assert error["text"].startswith("Could not guard on data-dependent expression Eq(u0, 2)")
    assert error["place"]["line"] == PROGRAM.splitlines().index("    if positive.shape[0] == 2:") + 1
    assumed = next(
        answer for answer in report["answers"] if answer["kind"] == "assumed" and answer["owner"] == "your code"
    )
    assert (assumed["text"], assumed["place"]["function"]) == ("u0 == 3 is False", "assumed")
    assert {c["function"]: c["count"] for c in report["compilations"]}["branch"] == 2
