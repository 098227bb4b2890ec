"""What a file calls torch: a file that never names it is not given the name."""

from __future__ import annotations

import pytest

from tests.transforms.python.conftest import Rewrite

EXTREMUM = "def f(x: Tensor, y: Tensor):\n    return x.new_empty((min(x.shape[0], y.shape[0]),))\n"


@pytest.mark.parametrize(
    ("head", "written"),
    [
        ("import torch\n", "torch.sym_min"),
        ("import torch as t\n", "t.sym_min"),
        ("from helpers import *\n", "torch.sym_min"),
        ("try:\n    import torch\nexcept ImportError:\n    pass\n", "torch.sym_min"),
        ("import os\n", "(min("),
        ("from torch import Tensor\n", "(min("),
    ],
)
def test_what_the_file_names_is_used(rewrite: Rewrite, head: str, written: str) -> None:
    assert written in rewrite(head + EXTREMUM, torch=False)
