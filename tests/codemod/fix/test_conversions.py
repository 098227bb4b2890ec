"""Conversions that keep a size symbolic where Python runs itself."""

from __future__ import annotations

import pytest

from codemod.fix.conversions import conversions_at
from codemod.model.edits import apply_edits


def converted(expression: str, head: str = "") -> str | None:
    signature = "def f(x: torch.Tensor, n, z: list[torch.Tensor])"
    source = f"import math\nimport torch\n{head}{signature}:\n    é = {expression}\n".encode()
    edits = conversions_at("case.py", source, source[: source.index("é".encode())].count(b"\n") + 1)
    return apply_edits(source, list(edits)).decode().partition("é = ")[2].rstrip() if edits else None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int(x.shape[0] * 0.5)", "torch.sym_int(x.shape[0] * 0.5)"),
        ("int(x.max())", "torch.sym_int(x.max().item())"),
        ("float((x > int(n)).sum())", "torch.sym_float((x > torch.sym_int(n)).sum().item())"),
        ("int(x.max(0)[0])", "torch.sym_int(x.max(0)[0])"),
        ("x / math.sqrt(x.shape[-1])", "x / torch.sym_sqrt(x.shape[-1])"),
        ("int(math.sqrt(float(n)))", "torch.sym_int(torch.sym_sqrt(torch.sym_float(n)))"),
        ("torch.arange(len(x))", "torch.arange(x.size(0))"),
        ("torch.zeros((2 * len(x), 3))", "torch.zeros((2 * x.size(0), 3))"),
        ("x.view(*map(int, x.shape))", "x.view(*map(torch.sym_int, x.shape))"),
        ("[int(size) for size in x.shape]", "[torch.sym_int(size) for size in x.shape]"),
        ("int(\n        n\n    )", "torch.sym_int(\n        n\n    )"),
    ],
)
def test_what_converts_a_size_keeps_it(expression: str, expected: str) -> None:
    assert converted(expression) == expected


@pytest.mark.parametrize(
    ("expression", "head"),
    [
        ("int(n, 16)", ""),
        ("int(*n)", ""),
        ("x.fill_(float('-inf'))", ""),
        ("len(x.shape[1:])", ""),
        ("len(n)", ""),  # may be a list, where something else calls the function
        ("len(z)", ""),
        ("[len(x) for x in z]", ""),
        ("n[len(x)]", ""),  # where torch.jit.trace would have a Tensor
        ("torch.split(n, len(x))", ""),
        ("sqrt(n)", "from math import sqrt\n"),
        ("int(n)", "from numbers import int\n"),
        ("int(n)", "def int(n):\n    return n\n"),
        ("map(str, x.shape)", ""),
        ("int(n)", "scripted = torch.jit.script\n"),
        ("int(n)", "import mine as torch\n"),
        ("n + 1", ""),
    ],
)
def test_what_else_is_left(expression: str, head: str) -> None:
    assert converted(expression, head) is None


def test_torch_exports_with_them_and_eager_has_the_same_numbers() -> None:
    torch = pytest.importorskip("torch")
    import math

    written = converted("torch.zeros(int(n * 0.5), len(x), int((x > 0).sum())) / math.sqrt(x.shape[0])")
    namespace: dict[str, object] = {"torch": torch, "math": math}
    exec(
        f"class M(torch.nn.Module):\n    def forward(self, x):\n        n = x.shape[0]\n        return {written}\n",
        namespace,
    )
    module = namespace["M"]()  # type: ignore[operator]
    program = torch.export.export(
        module, (torch.ones(8),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},), strict=False
    )
    for rows in (5, 12):
        assert program.module()(torch.ones(rows)).shape == module(torch.ones(rows)).shape == (rows // 2, rows, rows)
