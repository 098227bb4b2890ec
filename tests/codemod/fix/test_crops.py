"""Branches that only crop."""

from __future__ import annotations

import pytest

from codemod.fix.crops import crop_at
from codemod.model.edits import apply_edits


def cropped(branch: str, line: int = 3) -> str | None:
    source = f"import torch\ndef f(x, n):\n{branch}    return x\n"
    edits = crop_at("case.py", source.encode(), line)
    return apply_edits(source.encode(), edits).decode().splitlines()[2].strip() if edits else None


@pytest.mark.parametrize(
    ("test", "part"),
    [
        ("x.shape[0] > 4", "x[:4]"),
        ("x.shape[1] > n", "x[:, :n]"),
        ("x.size(1) >= self.most", "x[:, :self.most, :]"),
        ("n < x.shape[-1]", "x[..., :n]"),
        ("x.shape[-2] != n", "x[..., -n:, :]"),
        ("x.shape[1] > n", "x[:, -n:]"),
    ],
)
def test_a_slice_to_the_number_that_the_size_is_compared_with_serves_all_sizes(test: str, part: str) -> None:
    written = cropped(f"    if {test}:\n        x = {part}\n")
    assert written == f"if torch.compiler.is_compiling() or {test}:"


@pytest.mark.parametrize(
    "branch",
    [
        "    if x.shape[0] > n:\n        x = x[:n + 1]\n",
        "    if x.shape[0] > n:\n        x = x[:, :n]\n",
        "    if x.shape[-1] > n:\n        x = x[:, :n]\n",  # of how many dimensions x is is not known
        "    if x.shape[1] > n:\n        x = x[..., :n]\n",
        "    if x.shape[0] < n:\n        x = x[:n]\n",
        "    if n > x.shape[0]:\n        x = x[:n]\n",
        "    if x.shape[0] > n:\n        x = x[n:]\n",
        "    if x.shape[0] > n:\n        x = x[:n:2]\n",
        "    if x.shape[0] > n:\n        x = x[1:n]\n",
        "    if x.shape[0] > n:\n        x = x[n]\n",
        "    if x.shape[0] > n:\n        y = x[:n]\n",
        "    if x.shape[0] > n:\n        x = y[:n]\n",
        "    if y.shape[0] > n:\n        x = x[:n]\n",
        "    if x.shape[0] > n:\n        x = x[:n, :n]\n",
        "    if x.shape[0] > f():\n        x = x[:f()]\n",
        "    if x.shape[0] > n:\n        x = x[:n]\n        n = 0\n",
        "    if x.shape[0] > n:\n        x = x[:n]\n    else:\n        n = 0\n",
        "    if x.shape[0] > n > 1:\n        x = x[:n]\n",
        "    if len(x) > n:\n        x = x[:n]\n",
    ],
)
def test_what_is_no_plain_crop_is_left(branch: str) -> None:
    assert all(cropped(branch, line) is None for line in range(3, 6))


def test_both_ways_give_the_same_elements() -> None:
    torch = pytest.importorskip("torch")
    for size in range(5):
        x = torch.arange(2 * size).reshape(size, 2)
        for n in range(-3, 7):
            for part in (slice(None, n), slice(-n, None)):
                for taken in (size > n, size >= n, size != n):
                    assert (x[part] if taken else x).tolist() == x[part].tolist()
