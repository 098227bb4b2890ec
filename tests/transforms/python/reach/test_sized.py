"""A file is read for sizes where it holds any question that a rule knows."""

from __future__ import annotations

import pytest

from transforms.python.reading.extract import extract

HEAD = "from torch import Tensor\n\n\ndef f(x: Tensor, y: Tensor):\n"


@pytest.mark.parametrize(
    "question",
    [
        "len(x)", "x.nelement()", "x.storage_offset()", "x.nbytes", "int(x.item())", "x.chunk(2)", "x.stride()",
        "x.size(0)", "x.numel()", "x.shape",
    ],
)  # fmt: skip
def test_whatever_asks_for_a_size_is_read(question: str) -> None:
    assert extract("a.py", f"{HEAD}    return {question}\n".encode()).sized


@pytest.mark.parametrize("source", [f"{HEAD}    return x + y\n", "def f(x):\n    return len(x)\n"])
def test_what_asks_for_none_is_not(source: str) -> None:
    assert not extract("a.py", source.encode()).sized
