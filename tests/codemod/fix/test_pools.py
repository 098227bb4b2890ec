"""What pools in one dimension."""

from __future__ import annotations

import pytest

from codemod.fix.pools import pool_at
from codemod.model.edits import apply_edits

HEAD = "import torch.nn.functional as F\nfrom torch import nn\n"
LAYER = "class A(nn.Module):\n    def __init__(self):\n        self.pool = {made}\n    def forward(self, x):\n"


def pooled(source: str, line: int) -> str:
    edits = pool_at("case.py", f"{HEAD}{source}".encode(), line)
    return apply_edits(f"{HEAD}{source}".encode(), list(edits)).decode().removeprefix(HEAD)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y = F.max_pool1d(x, 3, stride=2)\n", "y = F.max_pool1d_with_indices(x, 3, stride=2)[0]\n"),
        ("y = 1 + torch.max_pool1d(x, 3).relu()\n", "y = 1 + torch.max_pool1d_with_indices(x, 3)[0].relu()\n"),
        (
            "y = nn.functional.max_pool1d(\n    x,\n    3,\n)\n",
            "y = nn.functional.max_pool1d_with_indices(\n    x,\n    3,\n)[0]\n",
        ),
        ("y = nn.MaxPool1d(3, stride=n)(x)\n", "y = nn.MaxPool1d(3, stride=n, return_indices=True)(x)[0]\n"),
    ],
)
def test_the_first_of_two_results(old: str, new: str) -> None:
    assert pooled(old, 3) == new


@pytest.mark.parametrize(
    "source",
    [
        "y = F.max_pool1d(x, 3, return_indices=True)[0]\n",
        "y = F.max_pool1d(x, 3, 2, 0, 1, False, True)\n",
        "y = F.max_pool1d(*given)\n",
        "y = F.max_pool1d(x, **given)\n",
        "y = F.max_pool2d(x, 3)\n",
        "y = self.max_pool1d(x, 3)\n",
        "y = other(x)\n",
        "y = nn.MaxPool1d(3)\n",
        "y = nn.MaxPool2d(3)(x)\n",
        "y = nn.MaxPool1d(3, return_indices=True)(x)[0]\n",
    ],
)
def test_what_gives_both_or_is_something_else_is_left(source: str) -> None:
    assert pooled(source, 3) == source


@pytest.mark.parametrize("made", ["nn.MaxPool1d(2)", "nn.MaxPool1d(kernel_size=3, stride=2)"])
def test_a_layer_gives_both_wherever_the_class_calls_it(made: str) -> None:
    calls = "        x = self.pool(x)\n        return self.pool(x + 1)\n"
    new = LAYER.format(made=made[:-1] + ", return_indices=True)") + calls.replace("(x)", "(x)[0]").replace(
        "1)", "1)[0]"
    )
    assert pooled(LAYER.format(made=made) + calls, 7) == new
    assert pooled(LAYER.format(made=made) + calls, 4) == LAYER.format(made=made) + calls


@pytest.mark.parametrize(
    ("made", "calls"),
    [
        ("nn.MaxPool1d(2)", "        y = nn.Sequential(self.pool)\n        return self.pool(x)\n"),
        ("nn.MaxPool1d(2, return_indices=True)", "        return self.pool(x)[0]\n"),
        ("nn.AvgPool1d(2)", "        return self.pool(x)\n"),
        ("nn.MaxPool1d(*sizes)", "        return self.pool(x)\n"),
    ],
)
def test_a_layer_that_is_used_otherwise_is_left(made: str, calls: str) -> None:
    source = LAYER.format(made=made) + calls
    assert [pooled(source, line) for line in (7, 8)] == [source, source]
