"""Branches on whether sizes are equal: which paths do nothing where they are, and who would see a copy."""

from __future__ import annotations

from typing import Any

import pytest

from codemod.model.findings import Finding


def _is_rewritten(look: Any, source: str) -> bool:
    findings = look(f"def f(x: Tensor, y: Tensor, m: int):\n{source}")
    return any(finding.rule in ("size-branch", "shape-branch") and finding.edits for finding in findings)


@pytest.mark.parametrize(
    ("value", "same"),
    [
        ("x.expand(y.shape)", True), ("x.bool().expand(y.shape)", False), ("x.to(y.dtype).expand(y.shape)", False),
        ("x.to(torch.bool, copy=m).expand(y.shape)", False), ("x.to(torch.device(m)).expand(y.shape)", False),
        ("x.to_dense().expand(y.shape)", False), ("torch.broadcast_to(x, y.shape)", True),
        ("torch.broadcast_to(x, z.shape)", False), ("x.expand(size=z.shape)", False), ("x.expand_as(y)", True),
        ("x.expand(size=y.shape)", True),
    ],
)  # fmt: skip
def test_what_converts_or_has_another_shape_is_not_neutral(look: Any, value: str, same: bool) -> None:
    source = f"    if x.shape != y.shape:\n        x = {value}\n    return x * y\n"
    assert _is_rewritten(look, source) is same


@pytest.mark.parametrize(
    ("body", "general"),
    [
        ("    if n % m == 0:\n        return x.view(n // m, m)\n    return NotImplemented\n", "false"),
        ("    if n % m == 0:\n        return x\n    else:\n        return NotImplemented\n", "false"),
        ("    if n % m != 0:\n        return NotImplemented\n    return x.view(n // m, m)\n", "true"),
        ("    if m > 2:\n        if n % m == 0:\n            return x\n    return NotImplemented\n", "false"),
        ("    if n % m == 0:\n        return x\n    m = h(x)\n    return NotImplemented\n", ""),
        ("    if n % m == 0:\n        return x\n    return None\n", ""),
        ("    for _ in range(m):\n        if n % m == 0:\n            return x\n    return NotImplemented\n", ""),
        ("    if n % m == 0:\n        return x\n", ""),
    ],
)
def test_a_decomposition_may_leave_the_operator(look: Any, rewrite: Any, body: str, general: str) -> None:
    source = f"def f(x: Tensor, m: int):\n    n = x.size(0)\n{body}"
    decomposition = f"@register_decomposition(aten.f)\n{source}"
    assert not _edited(look(source))
    assert _edited(look(decomposition)) is bool(general)
    assert (f"guard_or_{general}(n % m " in rewrite(decomposition)) is bool(general)


def _edited(findings: list[Finding]) -> bool:
    return any(finding.rule == "size-branch" and finding.edits for finding in findings)


_CONVERTS = """    if x.shape != y.shape:
        if x.layout == torch.strided:
            x = torch.broadcast_to(x.clone(), y.shape).to(dtype=torch.bool)
        elif x.layout == torch.sparse_coo:
            x = torch._sparse_broadcast_to(x, y.shape)
        else:
            raise ValueError(m)
"""


def test_what_converts_serves_equal_sizes_of_the_dtype_and_layout_that_it_gives(look: Any, rewrite: Any) -> None:
    source = "import torch\n\n\ndef f(x: Tensor, y: Tensor, m: int):\n{}    return x * y\n"
    path = "        x = torch.broadcast_to(x, y.shape).to(torch.int32)\n"
    rewritten = " ".join(rewrite(source.format(f"    if x.shape != y.shape:\n{path}")).split())
    assert "not guard_or_false(sym_eq(x.shape, y.shape)) if x.dtype == torch.int32 else x.shape != y.shape" in rewritten
    rewritten = " ".join(rewrite(source.format(_CONVERTS)).split())
    assert "if x.dtype == torch.bool and x.layout == torch.strided else x.shape != y.shape" in rewritten
    assert not _is_rewritten(look, "    x = m(x)\n" + _CONVERTS.replace("x.layout == torch.strided", "x.is_cuda"))


@pytest.mark.parametrize(
    ("head", "test", "same"),
    [
        ("x: Tensor, y: Tensor", "x.shape != y.shape", True),
        ("x: Tensor | None, y: Tensor", "x is not None and x.shape != y.shape", False),
        ("x: Tensor, y: Tensor", "(x := x.mT).shape != y.shape", False),
    ],
)
def test_no_dtype_is_read_of_what_may_be_none(look: Any, head: str, test: str, same: bool) -> None:
    body = f"    if {test}:\n        x = x.to(torch.bool).expand(y.shape)\n    return y if x is None else x * y\n"
    findings = look(f"def f({head}):\n{body}")
    assert any(finding.rule == "shape-branch" and finding.edits for finding in findings) is same


def test_what_converts_is_left_where_its_dtype_was_another_before(look: Any) -> None:
    path = "        x = x.to(torch.int8).to(torch.bool).expand(y.shape)\n"
    assert not _is_rewritten(look, f"    if x.shape != y.shape:\n{path}")


def test_what_both_ways_convert_is_the_same(look: Any) -> None:
    source = "    x = {0} if x.shape == y.shape else x.bool().expand(y.shape)\n    return x * y\n"
    assert _is_rewritten(look, source.format("x.bool()"))
    assert not _is_rewritten(look, source.format("x"))


@pytest.mark.parametrize(
    ("above", "test", "value", "same"),
    [
        ("", "x.size(0) != y.size(0)", "x.expand(y.size(0))", False),
        ("", "x.size(0) != m", "x.view(m)", False),
        ("    assert x.ndim == 1\n", "x.size(0) != y.size(0)", "x.expand(y.size(0))", True),
        ("    if x.dim() != 2:\n        return x\n", "x.size(0) != y.size(0)", "x.expand(y.size(0), -1)", True),
        ("    assert x.ndim == 2\n", "x.size(0) != y.size(0)", "x.expand(y.size(0))", False),
        ("    b, n = x.shape\n", "b != y.size(0)", "x.expand(y.size(0), n)", True),
        ("    b, n = x.shape\n", "b != y.size(0)", "x.expand(n, y.size(0))", False),
        ("    b, n = x.shape\n", "n != y.size(0)", "x.expand(y.size(0), y.size(0))", False),
        ("    b, n = x.shape\n", "n != y.size(-1)", "x.expand(b, y.size(-1))", True),
        ("    b, n = x.shape\n    x = x.sum(0)\n", "n != y.size(0)", "x.expand(b, y.size(0))", False),
        ("    b, *n = x.shape\n", "b != y.size(0)", "x.expand(y.size(0), -1)", False),
        ("    b, n = x.shape\n", "b != y.size(0) or n != y.size(1)", "x.expand(y.size(0), y.size(1))", True),
        ("    b, n = x.shape\n", "b != y.size(0) and n != y.size(1)", "x.expand(y.size(0), y.size(1))", False),
        ("", "x.ndim == 1 and x.size(0) != y.size(0)", "x.expand(y.size(0))", True),
        ("    z = x.shape\n", "z != y.shape", "x.expand(y.shape)", True),
        ("    z = m.shape\n", "z != y.shape", "x.expand(y.shape)", False),
        ("", "x.shape != (y.size(1), y.size(0))", "x.expand(y.size(1), y.size(0))", True),
    ],
)
def test_as_many_sizes_as_a_tensor_has_are_given(look: Any, above: str, test: str, value: str, same: bool) -> None:
    assert _is_rewritten(look, f"{above}    if {test}:\n        x = {value}\n    return x + y\n") is same


@pytest.mark.parametrize(
    ("value", "below", "seen"),
    [
        ("x.expand(y.shape).clone()", "x.add_(y)", True),
        ("x.expand(y.shape).clone()", "y.add_(x)", False),
        ("x.reshape(y.shape)", "x.view(-1)[0] = 1", True),
        ("x.expand(y.shape)", "x.add_(y)", False),
        ("x.expand(y.shape)", "x.unsqueeze_(0)", True),
        ("x.expand(y.shape)", "x.requires_grad_()", True),
        ("x.expand(y.shape)", "x.requires_grad = True", True),
    ],
)
def test_another_tensor_is_given_where_nobody_sees_it(look: Any, value: str, below: str, seen: bool) -> None:
    source = f"    if x.shape != y.shape:\n        x = {value}\n    {below}\n    return x * y\n"
    assert _is_rewritten(look, source) is not seen


_COPIES = "    assert x.ndim == 1\n    if x.size(0) != y.size(0):\n        x = x.expand(y.size(0)).clone()\n"


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        ("    z = h(f(x, y, m))\n    return z + x\n", True),
        ("    if m:\n        return h(f(x, y, m))\n    else:\n        return h(x)\n", False),
        ("    if m:\n        z = h(f(x, y, m))\n    else:\n        z = y\n    return z + x\n", True),
        ("    for i in m:\n        if i:\n            y = h(f(x, y, m))\n        else:\n            h(x)\n", True),
        ("    return h(f(x, y, m), bool(x.sum()))\n", False),
        ("    return h(f(x, y, m), x)\n", True),
        ("    return h(f(x, y, m)) + x\n", True),
        ("    return h(x, h(f(x, y, m)))\n", True),
    ],
)  # fmt: skip
def test_what_a_caller_does_with_both_is_seen(look: Any, body: str, seen: bool) -> None:
    source = f"{_COPIES}    return x\n\n\n"
    below = f"def h(x, *others):\n    return x\n\n\ndef g(x: Tensor, y: Tensor, m: int):\n{body}"
    findings = look(f"def f(x: Tensor, y: Tensor, m: int):\n{source}{below}", inlined=True)
    assert _edited(findings) is not seen


@pytest.mark.parametrize(
    ("call", "seen"),
    [
        ("f(x, *z, **k)", True), ("f(x, y=y, **k)", True), ("f(x, *z, y=y)", False), ("f(x, y, *z)", False),
        ("f(*z, y=y)", False), ("f(x, o=k, y=y)", True), ("f(x, r=z, y=y, o=x)", True), ("f(x, y=y, o=x)", False),
    ],
)  # fmt: skip
def test_what_a_call_passes_may_be_the_tensor_that_is_copied(look: Any, call: str, seen: bool) -> None:
    source = f'    x = k["o"]\n{_COPIES}    return x\n\n\n'
    below = f"def h(x, *others):\n    return x\n\n\ndef g(x: Tensor, y: Tensor, z: Tensor, k):\n    w = h({call})\n"
    findings = look(
        f"def f(w: Tensor, y: Tensor, **k):\n{source}{below}    return w + (k['o'] if k else z)\n", inlined=True
    )
    assert _edited(findings) is not seen
