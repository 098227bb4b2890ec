"""Parameters that a function makes plain numbers of, and calls that give it a size all the same."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from codemod.model.findings import Finding
from tests.transforms.cpp.snippets import SCHEMAS, MemoryProject
from transforms.python.flow.made import made_numbers
from transforms.python.transform import PythonTransform


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("return g(int(n), m)", [("n", 2)]),
        ("k = int(n)\n    return float(m) + k", [("n", 2), ("m", 3)]),
        (f"return int(n){' + m' * 1500}", [("n", 2)]),
        ('"""n."""\n    if m:\n        m = 2\n    return int(n) + int(m)', [("n", 5)]),
        ("if m:\n        return n\n    return int(n)", []),
        ("return int(n) if m else n", []),
        ("return m and int(n)", []),
        ("return [int(n) for _ in m]", []),
        ("n = n + 1\n    return int(n)", []),
        ("return int(n, 2), int(n + 1), round(n)", []),
        ("def inner():\n        return 1\n    return int(n)", []),
    ],
)
def test_numbers_on_every_way(body: str, made: list[tuple[str, int]]) -> None:
    (function,) = ast.parse(f"def f(n, m):\n    {body}\n").body
    assert isinstance(function, ast.FunctionDef)
    assert list(made_numbers(function, ("n", "m"))) == made


PROFILE = """\
import torch


def profile(channels: int, rank: int) -> int:
    return int(channels) * 2 + rank


def of(x: torch.Tensor) -> int:
    return profile(x.shape[0], 2)
"""
FAKE = """\
import torch
from lib.profile import profile


@torch.library.register_fake("lib::op")
def _(x: torch.Tensor, rank: int) -> torch.Tensor:
    return x.new_empty(CALL)


class Layer(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.new_empty(profile(x.shape[1], 2))
"""


def casts(root: Path, call: str, profile: str = PROFILE) -> list[Finding]:
    files = {"lib/__init__.py": "", "lib/profile.py": profile, "lib/ops.py": FAKE.replace("CALL", call)}
    (root / "schemas.yaml").write_text(SCHEMAS)
    found = PythonTransform().analyse(MemoryProject(root, files, root / "schemas.yaml"))
    return [finding for finding in found if finding.rule == "sym-cast" and finding.path == "lib/ops.py"]


@pytest.mark.parametrize("call", ["profile(int(x.shape[1]), rank)", "profile(rank=2, channels=int(x.shape[1]))"])
def test_a_size_that_the_callee_makes_a_number_is_left(tmp_path: Path, call: str) -> None:
    (finding,) = casts(tmp_path, call)
    assert (finding.refusal, finding.edits) == ("half", ())
    assert finding.reason == "`profile` makes a number of it all the same (lib/profile.py:5)"


@pytest.mark.parametrize(
    ("call", "profile"),
    [
        ("profile(2, int(x.shape[1]))", PROFILE),
        ("int(x.shape[1])", PROFILE),
        ("profile(int(x.shape[1]), rank)", PROFILE.replace("int(channels)", "channels")),
    ],
)
def test_a_size_that_goes_on_as_it_is_is_rewritten(tmp_path: Path, call: str, profile: str) -> None:
    (finding,) = casts(tmp_path, call, profile)
    assert finding.edits
