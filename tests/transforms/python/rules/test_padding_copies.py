"""Where it would be seen that what is padded by nothing is a copy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.transforms.cpp.snippets import MemoryProject
from tests.transforms.python.rules.test_padding_branch import HEAD
from transforms.python.transform import PythonTransform


def _is_rewritten(root: Path, source: str) -> bool:
    head = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"
    project = MemoryProject(root, {"m.py": head + source}, root / "none.yaml")
    found = PythonTransform().analyse(project)
    return any(finding.rule == "padding-branch" and finding.edits for finding in found)


PADS = "pad = -n % m\n    if pad > 0:\n        x = F.pad(x, (0, pad))\n    "


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("", "z = x.view(-1, m)\n    z.mul_(2)\n"),
        ("", "x.view(-1, m).mul_(2)\n"),
        ("", "torch.relu_(x)\n"),
        ("", "torch.nn.init.zeros_(x.T)\n"),
        ("", "x = F.relu(x, inplace=flag)\n"),
        ("", "x = F.dropout(x, 0.5, flag, True)\n"),
        ("", "torch.add(y, y, out=x)\n"),
        ("", "x = F.dropout(x)\n    x += 1\n"),
        ("", "x = other(x)\n    x += 1\n"),
        ("", "for part in x.chunk(2):\n        part[0] = 1\n"),
        ("", "parts = [x]\n    parts += [y]\n    parts[0].zero_()\n"),
        ("", "parts = []\n    parts.append(x)\n    parts[0].zero_()\n"),
        ("", "z, _ = x, y\n    z[0] = 1\n"),
        ("", "z = x.float()\n    z += 1\n"),
        ("", "z = max([x, y], key=other)\n    z += 1\n"),
        ("", "def g():\n        x.zero_()\n    g()\n"),
        ("", "self.kept = x\n"),
        ("", "mask.append(x)\n"),
        ("", "x.requires_grad = True\n"),
        ("", "with other() as z:\n        z = x\n    z.zero_()\n"),
        ("", "(z := x).zero_()\n"),
        ("", "z = x if flag else y\n    z.zero_()\n"),
        ("", "other(x, y)\n"),
        ("", "kernel[(1,)](x, BLOCK=m)\n"),
        ("", "ops.rms_norm(x, y)\n"),
        ("", "_ = ops.rotate(x, y)\n"),
        ("", "zero = x.zero_\n    zero()\n"),
        ("", "setattr(y, 'kept', x)\n"),
        ("", "kept.append(x)\n"),
        ("", "list(map(other, (x, y)))\n"),
        ("", "[other(z) for z in (x, y)]\n"),
        ("", "flag and other(x)\n"),
        ("", "def g():\n        other(x)\n    g()\n"),
        ("z = x\n    ", "other(z)\n"),
        ("z = x\n    ", "z += 1\n"),
        ("z = x.T\n    ", "x = self.act(x)\n    y = y + z\n"),
        ("z = x\n    ", "y = self.act(z)\n"),
    ],
)
def test_what_is_padded_is_left_where_a_copy_would_be_seen(look: Any, above: str, below: str) -> None:
    findings = look(f"{HEAD}    {above}{PADS}{below}    return x + y\n".replace("(x: Tensor", "(self, x: Tensor"))
    assert not [finding for finding in findings if finding.rule == "padding-branch" and finding.edits]


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("z = x\n    ", "x = self.act(x) + z.size(0)\n"),
        ("z = x\n    x = self.norm(x)\n    ", "x = self.act(x) + z\n"),
        ("x.add_(1)\n    ", "y = y + n\n"),
        ("", "x = x + 1\n    x += 1\n"),
        ("", "z = x.new_zeros(n)\n    z.copy_(x)\n    z[0] = 1\n"),
        ("", "n += x.size(0)\n"),
        ("", "k = max(x.size(0), n)\n    k += 1\n"),
        ("", "k = float(x.sum())\n    k += 1\n"),
        ("", "z = x.max()\n    z += 1\n"),
        ("", "x = F.relu(x, inplace=False)\n    x.mul_(2)\n"),
        ("", "parts = [part + 1 for part in x.chunk(2)]\n    parts[0].zero_()\n"),
        ("", "x = self.act(x.view(-1, m))\n    return x\n"),
        ("", "print(x)\n    torch._check(x.size(0) > 0)\n    other(x.shape, y, f'{x}')\n"),
        ("", "parts = []\n    parts.append(x)\n"),
        ("", "_ = other(y)\n    kept.append(y)\n"),
        ("", "return x.view(-1, m)\n"),
        ("", "yield [x]\n"),
    ],
)
def test_what_is_padded_may_be_used(look: Any, above: str, below: str) -> None:
    findings = look(f"{HEAD}    {above}{PADS}{below}    return x + y\n".replace("(x: Tensor", "(self, x: Tensor"))
    assert [finding for finding in findings if finding.rule == "padding-branch" and finding.edits]


@pytest.mark.parametrize(
    ("above", "below", "padded"),
    [
        ("", "x = self.act(x)", True),
        ("", "x = self.act(x, y)", True),
        ("", "x = self.act(x, out=x.shape)", True),
        ("z = x", "x = self.act(x, z)", False),
        ("z = x", "x = self.act([x, z])", False),
        ("z = x", "x = self.act(x) + z", False),
        ("z = x.T", "y = self.act(y, k=z, x=x)", False),
    ],
)
def test_a_call_gets_either_what_is_padded_or_what_is_not(look: Any, above: str, below: str, padded: bool) -> None:
    taken = "if flag:\n        if n % m:\n            x = F.pad(x, (0, 0, 0, -n % m))\n    "
    findings = look(
        f"{HEAD.replace('(x', '(self, x')}    {above or 'y = y + 1'}\n    {taken}{below}\n    return x + y\n"
    )
    assert bool([f for f in findings if f.rule == "padding-branch" and f.edits]) is padded


@pytest.mark.parametrize(("default", "padded"), [("=None", False), (": Tensor | None = None", False), ("", True)])
def test_what_need_not_be_given_is_padded_where_eager_pads_it(look: Any, default: str, padded: bool) -> None:
    source = f"def f(self, x: Tensor, m: int, mask{default}):\n    pad = -x.shape[0] % m\n    if pad > 0:\n"
    source += "        x = F.pad(x, (0, 0, 0, pad))\n        mask = F.pad(mask, (0, pad))\n    return x + 1, mask + 1\n"
    found = look(f"@torch.compile\n{source}")
    assert any(finding.rule == "padding-branch" and bool(finding.edits) for finding in found) is padded


@pytest.mark.parametrize(
    ("layers", "seen"),
    [
        ("self.conv, self.act = nn.Conv1d(1, 1, 1), nn.ReLU()", False),
        ("self.act = nn.ReLU(inplace=True)", True),
        ("self.conv = nn.Conv1d(1, 1, 1)\n        self.act = nn.ReLU(inplace=True)", False),
        ("self.conv = nn.Identity()\n        self.act = nn.ReLU(inplace=True)", True),
        ("self.conv = nn.Sequential(nn.ReLU(inplace=True))", True),
        ("self.act = nn.ReLU(inplace=False)", False),
    ],
)
def test_a_layer_writes_where_its_class_says_so(tmp_path: Path, layers: str, seen: bool) -> None:
    body = f"        n, c = x.shape\n        {PADS.replace('    ', '        ')}return self.act(self.conv(x)) + 1\n"
    assert (
        _is_rewritten(
            tmp_path,
            f"class M(nn.Module):\n    def __init__(self):\n        {layers}\n    def forward(self, x, m):\n{body}",
        )
        is not seen
    )


@pytest.mark.parametrize(
    ("base", "layers", "seen"),
    [
        ("Above", "self.act = nn.ReLU()", False),
        ("Above", "self.act = nn.ReLU(inplace=True)", True),
        ("Above[int]", "self.act = nn.ReLU(inplace=True)", True),
        ("nn.Module", "self.act = nn.ReLU(inplace=True)", False),
        ("Elsewhere", "self.act = nn.ReLU()", True),
    ],
)
def test_layers_of_a_base_are_asked_too(tmp_path: Path, base: str, layers: str, seen: bool) -> None:
    above = f"class Above(nn.Module):\n    def __init__(self):\n        {layers}\n\n\n"
    body = f"        n, c = x.shape\n        {PADS.replace('    ', '        ')}return self.act(x) + 1\n"
    source = f"{above}class M({base}, nn.Module):\n    def forward(self, x, m):\n{body}"
    assert _is_rewritten(tmp_path, source) is not seen


@pytest.mark.parametrize(
    ("helpers", "call", "seen"),
    [
        ("def first(z):\n    return z[:, 0]\n", "first(x)", False),
        ("def first(z):\n    z[:, 0] = 0\n    return z\n", "first(x)", True),
        ("def first(z, other):\n    other += 1\n    return z\n", "first(x, m)", False),
        ("def first(z, other):\n    other += 1\n    return z\n", "first(m, other=x)", True),
        ("def first(*z):\n    z[0].zero_()\n    return z\n", "first(m, x)", True),
        ("def second(z):\n    z.mul_(2)\n    return z\ndef first(z):\n    return second(z.T)\n", "first(x)", True),
        ("def first(z):\n    return first(z)\n", "first(x)", False),
    ],
)
def test_what_a_function_of_the_file_writes_is_seen(tmp_path: Path, helpers: str, call: str, seen: bool) -> None:
    body = f"    n, c = x.shape\n    {PADS}return {call} + 1\n"
    assert _is_rewritten(tmp_path, f"{helpers}@torch.compile\ndef f(x, m):\n{body}") is not seen


@pytest.mark.parametrize(
    ("methods", "seen"),
    [
        ("def g(self, z):\n        z += 1\n        return z", True),
        ("def g(self, z):\n        return self.h(z.T)\n    def h(self, z):\n        return z.mul_(2)", True),
        ("@staticmethod\n    def g(z):\n        z += 1\n        return z", True),
        ("def g(self, z, w=1):\n        w += 1\n        return z + w", False),
    ],
)
def test_what_a_method_writes_is_seen(tmp_path: Path, methods: str, seen: bool) -> None:
    body = f"        n, c = x.shape\n        {PADS.replace('    ', '        ')}return self.g(x) + 1\n"
    source = f"class M(nn.Module):\n    {methods}\n    def forward(self, x, m):\n{body}"
    assert _is_rewritten(tmp_path, source) is not seen


HELPER = f"def padded(x, m):\n    n = x.shape[0]\n    {PADS}return x.view(-1, m)\n"


@pytest.mark.parametrize(
    ("caller", "seen"),
    [
        ("def f(x, m):\n    y = padded(x, m)\n    return y + 1\n", False),
        ("def f(x, m):\n    y = padded(x, m)\n    y.mul_(2)\n    return y + 1\n", True),
        ("def f(x, m):\n    z = x\n    y = padded(x, m)\n    z.mul_(2)\n    return y + 1\n", True),
        ("def f(x, m):\n    return padded(m=m, x=x)\n", False),
        ("def f(x, m):\n    return g(x, m) + 1\ndef g(x, m):\n    return padded(x, m)\n", False),
        ("def f(x, m):\n    g = padded\n    return padded(x, m) + 1\n", False),
        ("def f(x, m):\n    y = padded(x, m)\n    return h(y) + m\n", False),
    ],
)
def test_a_helper_that_gives_back_what_it_pads_is_asked_of_its_callers(tmp_path: Path, caller: str, seen: bool) -> None:
    assert _is_rewritten(tmp_path, HELPER + caller.replace("def f", "@torch.compile\ndef f")) is not seen


APPLIED = f"""class P(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, m):
        n = x.shape[0]
        {PADS.replace("    ", "        ")}return x
padded = P.apply
@torch.compile
def f(x, m):
"""


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ("    return P.apply(x, m) + 1\n", False),
        ("    y = P.apply(x, m)\n    return y.mul_(2)\n", True),
        ("    y = padded(x, m)\n    y += 1\n    return y\n", True),
        ("    y = padded(x, m)\n    x.mul_(2)\n    return y + 1\n", True),
    ],
)
def test_what_an_autograd_function_pads_is_asked_of_who_applies_it(tmp_path: Path, body: str, seen: bool) -> None:
    assert _is_rewritten(tmp_path, APPLIED + body) is not seen


@pytest.mark.parametrize(
    ("first", "tensor", "padded"),
    [
        ("", "grad", True),
        ("mask, = ctx.saved_tensors", "mask", False),
        ("mask, = ctx.saved_tensors\n        mask = mask * 2", "mask", False),
        ("ctx.set_materialize_grads(False)", "grad", True),
        ("ctx.set_materialize_grads(False)", "other", False),
    ],
)
def test_backward_pads_no_tensor_that_may_be_none(tmp_path: Path, first: str, tensor: str, padded: bool) -> None:
    source = f"""class P(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1
    @staticmethod
    def backward(ctx, grad, other=None):
        {first or "pass"}
        pad = -grad.shape[0] % 8
        if pad > 0:
            {tensor} = F.pad({tensor}, (0, pad))
        return {tensor}
@torch.compile
def f(x):
    return P.apply(x)
"""
    assert _is_rewritten(tmp_path, source) is padded


def test_a_method_of_that_name_in_another_class_is_another_one(tmp_path: Path) -> None:
    method = "class M(nn.Module):\n    def padded(self, x, m):\n" + HELPER.partition("\n")[2].replace(
        "    ", "        "
    )
    method += "    def forward(self, x, m):\n        return self.padded(x, m) + 1\n"
    assert _is_rewritten(tmp_path, method)
    namesake = "class N(nn.Module):\n    def padded(self, x):\n        return x\n    def g(self, x):\n"
    assert _is_rewritten(tmp_path, f"{method}\n\n{namesake}        return self.padded(x).zero_()\n")
    writing = method.replace("self.padded(x, m) + 1", "self.padded(x, m).zero_()")
    assert not _is_rewritten(tmp_path, writing)
