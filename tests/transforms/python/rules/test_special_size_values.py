"""What a shortcut for empty tensors gives, beside what the path in general does."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("test", "special", "general", "same"),
    [
        ("x.numel() == 0", "y", "y @ x", False),
        ("x.numel() == 0", "x", "x @ y", False),
        ("x.size(0) == 0 or y.size(0) == 0", "x.new_zeros(0)", "torch.cat([x, y])", False),
        ("x.size(0) == 0 and y.size(0) == 0", "x.new_zeros(0)", "torch.cat([x, y])", True),
        ("x.size(0) == 0", "(x, y)", "(x.neg(), y[: x.size(0)])", False),
        ("x.size(0) == 0", "(x, y)", "(x.neg(), y)", True),
        ("x.size(0) == 0", "x.new_zeros(1, x.size(1))", "x.clone()", False),
        ("x.size(0) == 0", "x.new_zeros(0, x.size(1))", "x.clone()", True),
        ("x.size(0) == 0", "x.new_zeros(x.size(1) + 1)", "x.new_empty(x.shape[1])", False),
        ("n == 0", "x.new_zeros(n)", "x.new_empty(2 * n + 1)", False),
        ("n == 0", "x.new_zeros(n, k)", "x.new_empty((2 * x.size(0), k))", True),
        ("x.numel() == 0", "y.new_zeros((y.size(0), 1))", "y.new_empty(y.shape[0], 1)", True),
        ("x.numel() == 0", "y.new_zeros((y.size(0), 1))", "y.new_ones(y.shape[0], 1)", False),
        ("x.size(0) == 0 or y.size(0) == 0", "k.new_empty(0)", "k.new_empty(x.size(0) + y.size(0))", False),
    ],
)
def test_the_path_in_general_gives_what_the_shortcut_gives(
    look: Any, test: str, special: str, general: str, same: bool
) -> None:
    head = "def f(x: Tensor, y: Tensor, k: int):\n    n = x.size(0)\n"
    (finding,) = look(f"{head}    if {test}:\n        return {special}\n    return {general}\n")
    assert bool(finding.edits) == same
    assigned = f"    if {test}:\n        z = {special}\n    else:\n        z = {general}\n    return z\n"
    (finding,) = look(head + assigned)
    assert bool(finding.edits) == same


@pytest.mark.parametrize(
    ("special", "general"),
    [
        ("x.new_zeros(x.size(1))", "x.mean(0)"),
        ("x.new_ones(x.size(0))", "x.sum(1)"),
        ("x.mean(0)", "x.new_zeros(x.size(1))"),
    ],
)
def test_values_are_asked_of_what_computes_them(look: Any, special: str, general: str) -> None:
    body = f"def f(x: Tensor):\n    if x.numel() == 0:\n        return {special}\n    return {general}\n"
    (computed,) = look(f"@register_decomposition(aten.f)\n{body}")
    (predicted,) = look(f"@register_meta(aten.f)\n{body}")
    assert not computed.edits
    assert predicted.edits


@pytest.mark.parametrize(
    ("lines", "refused"),
    [
        ("s = 1.0\n    if n == 0:\n        s = 2.0\n    return y * s", True),
        ("s = 1\n    if n > 0:\n        s = n\n    return y * s", True),
        ("s = n\n    if not n:\n        s = 1\n    return x.sum() + s", True),
        ("if n > 0:\n        s = n\n    else:\n        s = 1\n    return y * s", True),
        ("s = 1\n    if n == 0:\n        s = 2\n    return x * s", False),  # nothing is multiplied
        ("if x.numel() == 0:\n        n, m = m, n\n    return y * n", True),
        ("s = [n, m]\n    if n == 0:\n        s[0] = 1\n    return y * s[0]", True),
        ("if x.numel() == 0:\n        [n, (m, _)] = m, (n, n)\n    return y * m", True),
        ("if n == 0:\n        for m in (1, 2):\n            pass\n    return y * m", True),
        ("if x.numel() == 0:\n        n, m = m, n\n    return x * n", False),
    ],
)
def test_a_number_that_is_another_for_what_is_empty_is_no_part_of_values(look: Any, lines: str, refused: bool) -> None:
    head = "@register_decomposition(aten.f)\ndef f(x: Tensor, y: Tensor):\n    n, m = x.shape\n    "
    (finding,) = look(f"{head}{lines}\n")
    assert bool(finding.edits) != refused


@pytest.mark.parametrize(("called", "kept"), [("op(x, dim=0)", True), ("x.sum(0)", False)])
def test_a_function_that_is_given_may_need_elements(look: Any, called: str, kept: bool) -> None:
    lines = (
        f"    if x.size(0) == 0:\n        x = x.new_zeros(x.size(1))\n    else:\n        x = {called}\n    return x\n"
    )
    (finding,) = look(f"def f(x: Tensor, op):\n{lines}")
    assert bool(finding.edits) != kept


@pytest.mark.parametrize(
    ("special", "general", "same"),
    [
        ("x.sum() * 0.0", "return F.smooth_l1_loss(x, y)", False),
        ("x.sum() * 0.0", "z = (x - y) ** 2\n    if k == 1:\n        return z.mean()\n    return z.sum()", False),
        ("x.sum()", "return (x - y).abs().sum().div(x.size(0))", False),
        ("x.sum()", "return (x - y).abs().sum() * x.size(0) ** -1", False),
        ("x.sum()", "z = (x - y).abs().sum()\n    z /= x.size(0)\n    return z", False),
        ("x.sum()", "return x.sum() + 1", False),
        ("x.sum()", "return x.sum().exp()", False),
        ("x.sum()", "return helper(x)", False),
        ("x.sum()", "z = y.sum()\n    z += x.sum()\n    return z", False),
        ("x.sum() * 0.0", "return (x - y).abs().sum() / 4", True),
        ("x.sum()", "z = x.exp().sum()\n    z += (x * 2).sum()\n    return -z", True),
        ("x.new_zeros(x.size(1))", "return x.exp().sum(0)", True),
        ("x.new_zeros(n, k)", "return helper(x)", True),
        ("torch.empty_like(x)", "return helper(x)", True),
        ("x.clone()", "z = torch.fmod(torch.arange(n), n)\n    return x.index_select(0, z)", True),
        ("x", "for i in range(k):\n        x = helper(x, i).amax(1)\n    return x", False),
    ],
)
def test_what_is_computed_of_nothing_is_what_the_shortcut_gives(
    look: Any, special: str, general: str, same: bool
) -> None:
    head = "@register_decomposition(aten.f)\ndef f(x: Tensor, y: Tensor, k: int):\n    n = x.size(0)\n"
    found = look(f"{head}    if n == 0:\n        return {special}\n    {general}\n")
    assert [bool(finding.edits) for finding in found if finding.rule == "special-size-branch"] == [same]


@pytest.mark.parametrize(
    ("special", "general", "same"),
    [
        ("x.new_empty(x.shape, dtype=torch.int64)", "x.new_empty(x.shape)", False),
        ("x.new_empty(x.shape, dtype=torch.int64)", "x.new_empty(x.shape, dtype=torch.int32)", False),
        ("x.new_empty(x.shape, dtype=torch.int64)", "x.new_empty(x.shape, dtype=torch.int64)", True),
        ("x.new_empty(x.shape, dtype=y.dtype)", "x.new_empty(x.shape)", True),
        ("x", "x.float()", False),
        ("x.float()", "x.float().clone()", True),
        ("x.new_empty(x.shape, dtype=torch.bool)", "x > 0", True),
        ("x.new_empty(x.shape)", "helper(x)", True),
    ],
)
@pytest.mark.parametrize("registered", ["register_meta", "register_decomposition"])
def test_what_names_a_dtype_gives_no_other_one(
    look: Any, registered: str, special: str, general: str, same: bool
) -> None:
    body = f"    if x.numel() == 0:\n        return {special}\n    return {general}\n"
    (finding,) = look(f"@{registered}(aten.f)\ndef f(x: Tensor, y: Tensor):\n{body}")
    assert bool(finding.edits) == same


@pytest.mark.parametrize(
    ("path", "same"),
    [
        ("x = x.to(torch.float64)", False),
        ("x = x.double()", False),
        ("x = x.to(torch.float64) if k else x", False),
        ("x = x.to(y.device)", True),
        ("x = x.clone()", True),
        ("x = x.double()\n    else:\n        return x", True),
    ],
)
def test_what_an_empty_tensor_keeps_is_not_converted(look: Any, path: str, same: bool) -> None:
    body = f"    if x.numel() > 0:\n        {path}\n    return x\n"
    found = look(f"@register_meta(aten.f)\ndef f(x: Tensor, y: Tensor, k: int):\n{body}")
    assert any(finding.edits for finding in found) == same


@pytest.mark.parametrize(
    ("general", "kept"),
    [
        ("helper(x, x[0])", False),
        ("helper(x, x[-1, :])", False),
        ("x - x.topk(1, 0).values", False),
        ("x[:1] * 2", True),
        ("x[mask] * x.shape[0]", True),
        ("x * y[0]", True),
    ],
)
def test_a_row_of_what_is_empty_is_not_read(look: Any, general: str, kept: bool) -> None:
    body = f"    if x.size(0) == 0:\n        return torch.empty_like(x)\n    return {general}\n"
    found = look(f"@register_decomposition(aten.f)\ndef f(x: Tensor, y: Tensor, mask: Tensor):\n{body}")
    assert any(finding.edits for finding in found) == kept


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("if x.size(0) == 0: raise ValueError", True),
        ("if x.size(0) < 2:\n        raise ValueError('two')", True),
        ("if x.size(0) != 2:\n        raise ValueError('two')", True),
        ("if x.size(0) > 2:\n        pass\n    else:\n        raise ValueError('more')", True),
        ("if x.size(0) == 3:\n        raise ValueError('three')", False),
        ("if x.size(1) != 2:\n        raise ValueError('other')", True),
        ("if x.dim() != 2:\n        raise ValueError('no matrix')", False),
    ],
)
def test_what_the_path_in_general_raises_for_is_no_shortcut(rewrite: Any, condition: str, kept: bool) -> None:
    """The branch that raises becomes a check, which holds for sizes that are not known as well."""
    source = f"def f(x: Tensor):\n    if x.size(0) == 0:\n        return x\n    {condition}\n    return x\n"
    assert ("guard_or_false(x.size(0) == 0)" not in rewrite(source)) is kept


def test_a_check_of_unpacked_truths_is_read(look: Any) -> None:
    shortcut = "    if x.size(0) == 0:\n        return x\n"
    check = "    torch._check(sym_and(True, *(size != 0 for size in y.shape)))\n"
    (finding,) = look(f"def f(x: Tensor, y: Tensor):\n{shortcut}{check}    return x.clone()\n")
    assert (bool(finding.edits), finding.refusal) == (False, "undecided")


def test_who_is_told_to_ask_the_compiler_is_traced_by_it(look: Any) -> None:
    source = "def f(x: Tensor):\n    if x.numel() == 0:\n        return x.clone()\n    return x - 1\n"
    (traced,) = look(source, eager=True, inlined=True, home=None)
    (run,) = look(source, eager=True, home=None)
    assert "torch.compiler.is_compiling()" in traced.reason
    assert run.reason == traced.reason.partition(":")[0]


def test_an_empty_tensor_is_joined_to_what_the_path_in_general_changes(look: Any) -> None:
    head = "@register_decomposition(aten.f)\ndef f(x: Tensor, y: Tensor):\n    n, m = x.shape\n"
    branch = (
        "    if y.numel() > 0:\n        return {}\n    x = x.reshape(-1, m)\n    return torch.cat([x, y], dim=-1)\n"
    )
    (finding,) = look(head + branch.format("x.neg()"))
    assert not finding.edits


ROWS, WHOLE = "rows = x[mask]\n    if rows.shape[0] == 0:", "if x.numel() == 0:"


@pytest.mark.parametrize(
    ("head", "special", "general", "same"),
    [
        (ROWS, "rows", "rows - 2", True),
        (ROWS, "rows", "rows * 2", False),
        (ROWS, "rows * 0", "rows * 2", True),
        (ROWS, "rows * 0.0", "rows * 2 * 0.5", True),
        (ROWS, "rows * 0.0", "rows / 2", True),
        (ROWS, "rows * 0", "rows + rows * 2", True),
        (ROWS, "rows * 0.0", "rows * 2 + rows / 2", True),
        (ROWS, "rows", "rows + rows * 2", False),
        (ROWS, "rows * 0.0", "rows.div(2, rounding_mode='floor')", False),
        (ROWS, "rows * 0.0", "rows * x.size(0) ** -1", False),
        (ROWS, "rows.softmax(-1)", "rows.softmax(-1) * 2", True),
        (ROWS, "rows", "rows.abs()", False),
        (ROWS, "rows.abs()", "rows.abs().clone()", True),
        (ROWS, "rows", "rows.square()", False),
        (ROWS, "rows", "rows.detach()", False),
        (ROWS, "rows.detach()", "rows.detach().neg()", True),
        (ROWS, "torch.zeros_like(rows)", "rows.detach()", True),
        (ROWS, "rows", "torch.zeros_like(rows)", False),
        (ROWS, "rows", "rows.view(torch.int32)", False),
        (ROWS, "rows", "rows.view(rows.shape)", False),
        (ROWS, "rows.clone()", "F.relu(rows)", True),
        (ROWS, "torch.zeros_like(rows)", "rows % x.size(1)", True),
        (ROWS, "rows.sum()", "rows.square().sum()", True),
        (ROWS, "rows.bool()", "rows > 0", True),
        (ROWS, "torch.zeros(1, x.shape[1])", "rows", False),
        (ROWS, "torch.zeros(0, x.shape[1])", "helper(rows)", False),
        (ROWS, "rows.new_zeros((0, 1))", "rows * 2", False),
        (ROWS, "rows", "rows.double()", False),
        (ROWS, "rows", "rows > 0", False),
        (ROWS, "rows", "rows.t().contiguous()", False),
        (ROWS, "rows", "rows.flatten()", False),
        (ROWS, "rows", "F.pad(rows, (0, 1))", False),
        (ROWS, "rows.sum()", "rows.sum(0)", False),
        (ROWS, "x.new_zeros(1)", "rows.sum()", False),
        (WHOLE, "x.clone()", "x.mul(2).neg()", False),
        (WHOLE, "x.mul(2)", "x.mul(2).neg()", True),
        ("if x.size(0) == 0:", "x.new_zeros(0, x.size(1))", "x.clone()", True),
        (WHOLE, "x", "F.pad(x, (0, 0, 1, 0), value=1.0)", False),
        (WHOLE, "x", "helper(x)", False),
        (WHOLE, "x.clone()", "x * w", False),
        (WHOLE, "x.clone()", "x * 0.5", False),
        (WHOLE, "x.clone()", "x / w.size(0)", False),
        (WHOLE, "x.clone()", "x.unflatten(1, (2, 2))", False),
        (WHOLE, "torch.empty(x.shape, device=x.device)", "x * 2", False),
        (WHOLE, "x.new_zeros(x.shape, dtype=torch.uint8)", "x > 0", False),
        (WHOLE, "x.new_zeros(0)", "torch.bincount(x, minlength=w.size(0))", False),
    ],
)
def test_what_a_program_makes_of_nothing_has_the_same_shape_and_dtype(
    look: Any, head: str, special: str, general: str, same: bool
) -> None:
    source = f"def f(x: Tensor, w: Tensor, mask: Tensor):\n    {head}\n        return {special}\n"
    found = [*look(f"{source}    return {general}\n", inlined=True, home=None)]
    found += look(f"{source}    y = {general}\n    return y\n", inlined=True, home=None)
    assert [bool(finding.edits) for finding in found if finding.rule == "special-size-branch"] == [same, same]


@pytest.mark.parametrize(
    "between", ["rows = rows.flatten()", "for _ in range(2): rows = rows[1:]", "rows = pick(rows)"]
)
def test_what_a_variable_is_given_since_may_have_another_shape(look: Any, between: str) -> None:
    head = f"def f(x: Tensor, mask: Tensor):\n    {ROWS}\n        return rows\n"
    found = look(f"{head}    {between}\n    return rows\n", inlined=True, home=None)
    assert not any(finding.edits for finding in found)
