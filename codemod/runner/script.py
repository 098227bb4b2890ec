"""The text of a repro: plain torch that a person would paste into an issue, and that the runner itself executes.

A repro defines `operator(*tensors)` and `inputs(n)`; optionally `sizes`, the values of n to run with;
`results(function, n)`, what is compared where that is more than the operator's result; and `symbolic(n)`, what runs
with symbolic sizes where that is not `torch.compile`. The repro a user hands over has the same form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import backends

PIECES = ("forward", "backward", "inplace", "out", "vmap", "jvp", "double_backward")

BACKWARD = """

def results(function, n):
    tensors = inputs(n)
    value = function(*tensors)
    leaves = [value] if isinstance(value, torch.Tensor) else value
    loss = sum(leaf.abs().sum() for leaf in leaves if leaf.requires_grad)
    wanted = [tensor for tensor in tensors if tensor.requires_grad]
    return value, torch.autograd.grad(loss, wanted, allow_unused=True)
"""

TWICE = """

def operator(*tensors):
    value = function(*tensors)
    leaves = [value] if isinstance(value, torch.Tensor) else value
    loss = sum(leaf.abs().sum() for leaf in leaves if leaf.requires_grad)
    wanted = [tensor for tensor in tensors if tensor.requires_grad]
    first = torch.autograd.grad(loss, wanted, create_graph=True)
    loss = sum(gradient.square().sum() for gradient in first if gradient.requires_grad)
    return torch.autograd.grad(loss, wanted, allow_unused=True)


def symbolic(n):
    return make_fx(operator, tracing_mode="symbolic")(*inputs(n))
"""


@dataclass(frozen=True)
class Parts:
    """What a repro is put together from. `makers` are the expressions of the tensors, in terms of n."""

    operator: str
    """The qualified operator that the repro is about."""
    call: str
    """The expression in terms of `names` that calls it."""
    names: Sequence[str]
    makers: Sequence[str]
    sizes: Sequence[int]
    preface: str = ""
    """Lines that `call` or `makers` need."""
    mutated: str = ""
    """The parameter that the call writes to, which is then the result."""
    batched: Sequence[bool] = ()
    """For `vmap`: which of the tensors have the batch as their first dimension."""


def render(piece: str, parts: Parts) -> str:
    """The whole text of the repro of one piece of an operator (one of PIECES)."""
    imports = "import sys\n\nimport torch\n"
    if piece == "double_backward":
        imports += "from torch.fx.experimental.proxy_tensor import make_fx\n"
    head = f'"""{parts.operator} with symbolic sizes: {piece.replace("_", " ")}."""\n\n{imports}'
    preface = f"\n{parts.preface}\n" if parts.preface else ""
    sizes = f"\nsizes = ({', '.join(map(str, parts.sizes))},)\n"
    return head + preface + sizes + _inputs(piece, parts) + _operator(piece, parts) + _main(piece)


def _inputs(piece: str, parts: Parts) -> str:
    lines = "".join(f"        {maker},\n" for maker in parts.makers)
    if piece != "out":
        return f"\n\ndef inputs(n):\n    torch.manual_seed(0)\n    return (\n{lines}    )\n"
    return (
        f"\n\ndef inputs(n):\n    torch.manual_seed(0)\n    tensors = (\n{lines}    )\n    value = function(*tensors)\n"
        "    leaves = [value] if isinstance(value, torch.Tensor) else value\n"
        "    return (*tensors, *(torch.empty_like(leaf) for leaf in leaves))\n"
    )


def _define(name: str, names: Sequence[str], body: str) -> str:
    return f"\n\ndef {name}({', '.join(names)}):\n{body}"


def _operator(piece: str, parts: Parts) -> str:
    body = f"    return {parts.call}\n"
    if parts.mutated:
        body = f"    {parts.call}\n    return {parts.mutated}\n"
    names = list(parts.names)
    if piece == "backward":
        return _define("operator", names, body) + BACKWARD
    if piece == "double_backward":
        return _define("function", names, body) + TWICE
    if piece == "out":
        out = parts.call[:-1] + ("" if parts.call.endswith("()") else ", ") + "out=out[0] if len(out) == 1 else out)"
        return _define("function", names, body) + _define("operator", [*names, "*out"], f"    return {out}\n")
    if piece == "vmap":
        dims = ", ".join("0" if batched else "None" for batched in parts.batched)
        mapped = f'    return torch.vmap(function, in_dims=({dims},), randomness="different")({", ".join(names)})\n'
        return _define("function", names, body) + _define("operator", names, mapped)
    if piece == "jvp":
        floats = "tuple(tensor for tensor in tensors if tensor.is_floating_point())"
        moved = (
            f"    moving = {floats}\n\n"
            "    def along(*moved):\n"
            "        rest = iter(moved)\n"
            "        return function(*(next(rest) if tensor.is_floating_point() else tensor for tensor in tensors))\n\n"
            "    return torch.func.jvp(along, moving, tuple(torch.ones_like(tensor) for tensor in moving))\n"
        )
        return _define("function", names, body) + _define("operator", ["*tensors"], moved)
    return _define("operator", names, body)


def _main(piece: str) -> str:
    """The part that runs alone. A `make_fx` graph holds only for sizes that satisfy its guards, so each is traced."""
    compiled, eager = ("results(compiled, n)", "results(operator, n)") if piece == "backward" else (
        "compiled(*inputs(n))", "operator(*inputs(n))")  # fmt: skip
    compiling = f'compiled = torch.compile(operator, dynamic=True, fullgraph=True, backend="{backends.chosen()}")'
    setup = "" if piece == "double_backward" else f"    {compiling}\n"
    retrace = "        compiled = symbolic(n)\n" if piece == "double_backward" else ""
    return (
        '\n\nif __name__ == "__main__":\n    for library in sys.argv[1:]:\n        torch.ops.load_library(library)\n'
        f"{setup}    for n in sizes:\n{retrace}"
        f"        torch.testing.assert_close({compiled}, {eager}, equal_nan=True)\n"
        '    print("passes for the sizes", *sizes)\n'
    )
