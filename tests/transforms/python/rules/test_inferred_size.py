"""A size that follows from the tensor's own shape is computed only where nothing else may use it."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "import math\n\n\ndef f(x: Tensor, y: Tensor, k: int):\n"
SIZES = "    sizes = [-1] + list(x.shape[k:])\n"


@pytest.mark.parametrize(
    "body",
    [
        f"{SIZES}    x = x.reshape(sizes)\n    y = y.reshape(sizes)\n    return x, y\n",
        f"{SIZES}    return [x.reshape(sizes) for x in (x, y)]\n",
        f"{SIZES}    return g(lambda x: x.reshape(sizes))\n",
        f"{SIZES}    for x in (x, y):\n        x = x.reshape(sizes)\n    return x\n",
        f"{SIZES}    x = x.reshape(sizes)\n    def inner():\n        return sizes\n    return x, inner\n",
        f"{SIZES}    x = x.reshape(sizes)\n    sizes[0] = g(sizes)\n    return x\n",
        f"{SIZES}    x = x.reshape(sizes)\n    if k:\n        sizes[0] = 2\n    return x, sizes\n",
        f"{SIZES}    x = x.reshape(sizes)\n    sizes[1] = 2\n    return x, sizes\n",
        "    return g(y).reshape(-1, *g(y).shape[k:])\n",
    ],
)
def test_what_may_fit_another_tensor_is_left(look: Any, body: str) -> None:
    assert not any(finding.edits for finding in look(HEAD + body))


@pytest.mark.parametrize(
    "use", ["x = x.view(sizes)", "return x.reshape(sizes)", "y += x.reshape(sizes) * 2", "g(x.view(sizes))"]
)
def test_what_serves_one_tensor_is_computed(rewrite: Any, use: str) -> None:
    assert "math.prod(x.shape[:k])" in rewrite(f"{HEAD}{SIZES}    {use}\n    return x\n")


def test_what_is_set_at_once_is_read_by_nobody(rewrite: Any) -> None:
    body = "    x = x.reshape(sizes)\n    sizes[0] = x.size(0)\n    return x, list(sizes)\n"
    assert "math.prod(x.shape[:k])" in rewrite(f"{HEAD}{SIZES}{body}")


def test_what_dynamo_traces_is_not_asked(look: Any) -> None:
    source = "import math\n\n\ndef f(x: Tensor):\n    return x.reshape(-1, *x.shape[2:])\n"
    assert look(source)[0].edits
    assert not look(source, inlined=True)


@pytest.mark.parametrize("who", [{"eager": True}, {"scripted": True}, {"sympy": True}])
def test_fx_traces_what_others_run_too(look: Any, who: dict[str, bool]) -> None:
    (finding,) = look("import math\n\n\ndef f(x: Tensor):\n    return x.reshape(-1, *x.shape[2:])\n", **who)
    assert (finding.edits, "torch.fx does not trace" in finding.reason) == ((), True)
