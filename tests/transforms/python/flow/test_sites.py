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


@pytest.mark.parametrize(
    ("parameters", "size", "found"),
    [
        ("x: Tensor", "x.size(0)", 0),
        ("x: Tensor", "x.shape[-1]", 0),
        ("x: Tensor, n", "n", 1),
        ("x: Tensor, n: Union[int, Tensor]", "n", 1),
        ("x: Tensor, n: Optional[Tensor]", "n", 1),
        ("x: Tensor, n", "n if n is not None else x.size(0)", 1),
    ],
)
def test_where_a_size_is_a_tensor_only_torch_jit_trace_comes(parameters: str, size: str, found: int) -> None:
    source = f"def f({parameters}):\n    n = {size}\n    if isinstance(n, torch.Tensor):\n    {ASKS}    return x\n"
    assert len(find(source, inlined=True)) == found
    conditional = (
        f"def f({parameters}):\n    n = {size}\n    return torch.as_tensor(x.size(1)) if isinstance(n, Tensor) else x\n"
    )
    assert len(find(conditional, inlined=True)) == found
    other = source.replace("torch.Tensor)", "int)")
    assert len(find(other, inlined=True)) == 1
