"""Chunks that are unpacked at once are split without counting them; known sizes are chunked as before."""

from __future__ import annotations

import types
from typing import Any

import pytest

from transforms.python.writing.helpers import SOURCE

PLAIN = "def f(x: Tensor):\n    a, b, c = x.chunk(3{})\n    return a\n"


@pytest.mark.parametrize("who", [{"eager": True}, {"scripted": True}])
@pytest.mark.parametrize("dimension", ["", ", 1", ", -1"])
def test_the_helper_is_called(rewrite: Any, who: dict[str, bool], dimension: str) -> None:
    after = rewrite(PLAIN.format(dimension), **who)
    assert f"    a, b, c = torch._prims_common.sym_chunk(x, 3{dimension})\n" in after
    assert rewrite(after, **who) == after


@pytest.mark.parametrize(
    "line",
    [
        "a, b, c = x.chunk(n)",
        "a, b, c = x.chunk(2)",
        "a, *b = x.chunk(2)",
        "a, b = c = x.chunk(2), 1",
        "a[0], a[1] = x.chunk(2)",
        "a, b = x.chunk(chunks=2)",
        "a, b = n.chunk(2)",
        "a = x.chunk(2)",
    ],
)
def test_what_is_left(look: Any, line: str) -> None:
    assert not look(f"def f(x: Tensor, n: Store):\n    {line}\n    return a\n", eager=True)


def test_without_a_place_for_helpers_nothing_is_said(look: Any) -> None:
    assert not look(PLAIN.format(""), eager=True, home=None)
    assert not look(PLAIN.format(""))


class Rows:
    """Stands for a Tensor of one dimension, whose parts are their lengths."""

    def __init__(self, size: int) -> None:
        self._size = size

    def size(self, dimension: int) -> int:
        """The size of its only dimension."""
        return self._size

    def chunk(self, chunks: int, dimension: int) -> tuple[int, ...]:
        """The lengths that ATen's chunk gives (aten/src/ATen/native/TensorShape.cpp)."""
        length = (self._size + chunks - 1) // chunks
        if length == 0:
            return (0,) * chunks
        return tuple(min(length, self._size - start) for start in range(0, self._size, length))

    def split(self, lengths: list[int], dimension: int) -> tuple[int, ...]:
        """The lengths asked for, which have to be those of all rows."""
        assert sum(lengths) == self._size
        assert min(lengths) >= 0
        return tuple(lengths)


def helper(dynamo: bool) -> Any:
    torch = types.SimpleNamespace(
        SymInt=type("SymInt", (), {}),
        SymBool=type("SymBool", (), {}),
        Tensor=Rows,
        jit=types.SimpleNamespace(is_scripting=lambda: False),
        compiler=types.SimpleNamespace(is_dynamo_compiling=lambda: dynamo),
    )
    names: dict[str, Any] = {"torch": torch, "TYPE_CHECKING": False}
    exec(compile(SOURCE, "helpers", "exec"), names)
    return names["sym_chunk"]


@pytest.mark.parametrize("chunks", [1, 2, 3, 5])
@pytest.mark.parametrize("size", range(14))
def test_the_parts_are_those_of_chunk_or_an_error_as_before(size: int, chunks: int) -> None:
    expected = Rows(size).chunk(chunks, 0)
    assert helper(False)(Rows(size), chunks) == expected
    if len(expected) == chunks:
        assert helper(True)(Rows(size), chunks) == expected
    else:
        with pytest.raises(ValueError, match=rf"expected {chunks} chunks of a dimension of size {size}"):
            helper(True)(Rows(size), chunks)
