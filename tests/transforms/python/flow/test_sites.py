"""Which places ask for a size while Python is traced."""

from __future__ import annotations

import pytest

from tests.transforms.python.conftest import find

ASKS = "    return x if x.stride(-1) == 1 else x.contiguous()\n"
COMPILING = "    if torch.compiler.is_compiling():\n        return x.contiguous()\n"


@pytest.mark.parametrize(
    "before",
    [
        COMPILING,
        "    if not torch.compiler.is_compiling():\n        x = x + 1\n    else:\n        return x\n",
        "    if torch.compiler.is_compiling() or x.dim() > 3:\n        raise ValueError('x')\n",
        "    if torch.compiler.is_compiling():\n        y = x + 1\n        return y\n    x = x - 1\n",
    ],
)
def test_what_stands_behind_a_return_of_the_compiler_asks_for_nothing(before: str) -> None:
    assert find(f"def f(x: Tensor):\n{before}{ASKS}", inlined=True) == []


@pytest.mark.parametrize(
    "before",
    [
        "",
        "    if torch.compiler.is_compiling():\n        x = x.contiguous()\n",
        "    if torch.compiler.is_compiling():\n        if x.dim() > 2:\n            return x\n",
        "    if torch.compiler.is_compiling() and x.dim() > 2:\n        return x\n",
        "    if not torch.compiler.is_compiling():\n        return x\n",
        "    if torch.jit.is_scripting():\n        return x\n",
        "    for _ in range(2):\n        if torch.compiler.is_compiling():\n            continue\n        x = x + 1\n",
        "    if x.dim() > 2:\n        if torch.compiler.is_compiling():\n            return x\n",
    ],
)
def test_what_the_compiler_comes_to_asks(before: str) -> None:
    assert len(find(f"def f(x: Tensor):\n{before}{ASKS}", inlined=True)) == 1


def test_a_return_of_the_compiler_leaves_what_stands_before_it_and_around_its_block() -> None:
    inner = "".join(f"    {line}\n" for line in f"{COMPILING}{ASKS}".splitlines())
    source = f"def f(x: Tensor):\n    if x.size(0) == 7:\n        x = x + 1\n    if x.dim() > 2:\n{inner}{ASKS}"
    assert [finding.line for finding in find(source, inlined=True)] == [2, 8]
