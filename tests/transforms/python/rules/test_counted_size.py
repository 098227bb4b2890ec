"""A number that is read from a tensor and added to: only in what tracing runs for an operator."""

from __future__ import annotations

from typing import Any

import pytest

REGISTERED = "@aten.f.default.py_impl(DispatchKey.CompositeImplicitAutograd)\n"
SUM = "torch.sym_int(x.max().item()) + 1"


def rules(look: Any, source: str, **how: bool) -> list[str]:
    """The rules that edit a function."""
    return [finding.rule for finding in look(source, **how) if finding.edits]


@pytest.mark.parametrize("decorator", [REGISTERED, "@register_decomposition(aten.f)\n"])
@pytest.mark.parametrize("whole", ["torch.sym_int", "int"])
def test_the_sum_is_made_in_the_tensor(look: Any, rewrite: Any, decorator: str, whole: str) -> None:
    source = f"{decorator}def f(x: Tensor):\n    n = {whole}(x.max().item()) + 2\n    return x.new_zeros(n)\n"
    assert "    n = (x.max().to(torch.int64) + 2).item()\n" in rewrite(source)


@pytest.mark.parametrize(
    "value",
    [
        "torch.sym_int(x.max().item()) + 1.0",
        "torch.sym_int(x.max().item()) + k",
        "torch.sym_int(x.max().item()) - 1",
        "torch.sym_int(k.item()) + 1",
        "torch.sym_int(x.item(0)) + 1",
        "round(x.max().item()) + 1",
        "torch.sym_int(x.max().item() + 1)",
        "1 + x.max().item()",
    ],
)
def test_other_numbers_are_left(look: Any, value: str) -> None:
    source = f"{REGISTERED}def f(x: Tensor, k):\n    n = {value}\n    return x.new_zeros(n)\n"
    assert "counted-size" not in rules(look, source)


@pytest.mark.parametrize("how", [{"inlined": True}, {"eager": True}])
def test_what_is_traced_or_run_as_it_is_stays(look: Any, how: dict[str, bool]) -> None:
    source = f"{REGISTERED}def f(x: Tensor):\n    n = {SUM}\n    return x.new_zeros(n)\n"
    assert "counted-size" in rules(look, source)
    assert "counted-size" not in rules(look, source, **how)
    assert "counted-size" not in rules(look, source.removeprefix(REGISTERED))


@pytest.mark.parametrize("tensor", ["x.max() - x.min()", "-x.max() if x.dim() else x.max()"])
def test_all_of_the_tensor_is_converted(rewrite: Any, tensor: str) -> None:
    source = f"{REGISTERED}def f(x: Tensor):\n    n = int(({tensor}).item()) + 1\n    return x.new_zeros(n)\n"
    assert f"(({tensor}).to(torch.int64) + 1).item()" in rewrite(source)
