"""Checks that are drawn from what kernels refuse, and calls that a kernel itself does not survive. Needs torch."""

from __future__ import annotations

import importlib.util
import itertools
import os
import signal
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch

from codemod.runner import comparing, drawing, fakes, hypotheses, observing, refusing, schema
from codemod.runner.uncovered import uncovered

NUMBERS = itertools.count()

torch.set_num_threads(1)  # as in the processes that draw: threads of other tests do not live on in forked children


def operator(kernel: Any, arguments: str) -> tuple[Any, Any]:
    """(overload, schema) of an operator with that kernel."""
    name = f"symfix_refusing::op{next(NUMBERS)}"
    torch.library.define(name, f"({arguments}) -> Tensor")
    torch.library.impl(name, "CPU", kernel)
    (each,) = schema.schemas(name)
    return schema.overload_of(name, each), each


def checks(kernel: Any, arguments: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that are drawn for an operator with that kernel."""
    monkeypatch.setattr(refusing, "DRAWS", 100)
    return refusing.checks(*operator(kernel, arguments), [])


def by_value(x: Any) -> Any:
    if x.numel() and float(x.flatten()[0]) > 0.5:
        raise RuntimeError("rows: the first is too large")
    return x.clone()


def of_one_dtype(x: Any) -> Any:
    if x.dtype != torch.float32:
        raise RuntimeError('"rows" not implemented for this dtype')
    return x.clone()


def about_another(x: Any, other: Any) -> Any:
    if x.dim() != 2:
        raise RuntimeError("rows: other has to be a matrix")
    return other.clone()


def of_other_ranks(x: Any) -> Any:
    if x.dim() < 2:
        raise RuntimeError("rows: x has to be 2D or 3D, no more was read")
    return x.clone()


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [
        (by_value, "Tensor x"),
        (of_one_dtype, "Tensor x"),
        (about_another, "Tensor x, Tensor other"),
        (torch.clone, "Tensor x"),
    ],
)
def test_no_check(kernel: Any, arguments: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks(kernel, arguments, monkeypatch) == []


def test_a_check_refuses_no_rank_that_eager_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert all("in (2, 3)" not in line for line in checks(of_other_ranks, "Tensor x", monkeypatch))


def paired(x: Any, other: Any) -> Any:
    if x.dim() != 2:
        raise RuntimeError(f"rows: x has to be a matrix, but got {x.dim()} dimensions")
    if x.shape[0] != other.numel():
        raise RuntimeError("rows: x and other have to be of one length")
    return x.clone()


def test_what_a_kernel_refuses_by_shapes_is_checked_with_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = checks(paired, "Tensor x, Tensor other", monkeypatch)
    assert lines[0] == 'torch._check(x.dim() == 2, lambda: "rows: x has to be a matrix")'


def test_a_message_is_cut_where_it_differs() -> None:
    assert refusing._said(["rows: of these there are 3", "rows: of these there are 4"]) == "rows: of these there are"
    assert refusing._said(["rows: want another length, but got 3"] * 2) == "rows: want another length"
    assert refusing._said(["a: got 3", "b: got 4"]) == ""


@pytest.mark.parametrize(
    ("text", "message", "meant"),
    [
        ("weight.dim() >= 4", "a 2D or 4D weight is expected", False),
        ("weight.dim() >= 4", "a 4D weight is expected", True),
        ("weight.dim() in (2, 4)", "a 2D or 4D weight is expected", True),
        ("x.dim() == 4", "a 4D weight is expected", False),
        ("sym_eq(x.shape, weight.shape)", "for kind 2 weight has to have the same shape as x", False),
        ("x.dtype == weight.dtype", "weight is to be a floating point type", False),
        ("x.shape[0] == weight.shape[0]", "x and weight have to match", True),
        ("kind > 0", "kind must be positive", True),
        ("kind > 0", "weight must be positive", False),
    ],
)
def test_a_message_means_what_it_names_and_no_more(text: str, message: str, meant: bool) -> None:
    each = torch._C.parse_schema("f::g(Tensor x, Tensor weight, int kind) -> Tensor")
    assert refusing._is_said(refusing.Condition(text, None), each, message) is meant


def beyond(x: Any, other: Any) -> Any:
    torch.as_strided(other, (other.numel() + 1,), (1,)).fill_(7)
    return x.clone()


def test_a_call_that_writes_outside_of_its_tensors_shows_nothing() -> None:
    overload, each = operator(beyond, "Tensor x, Tensor(a!) other")
    assert observing.outcomes(overload, each, [([torch.rand(3), torch.rand(3)], {})]) == [None]


def fatal(x: Any) -> Any:
    if x.numel() == 20:
        os.kill(os.getpid(), signal.SIGKILL)
    return x.clone()


CALLS: list[Any] = [([torch.rand(number, 4)], {}) for number in range(3, 8)]


def test_a_call_that_the_kernel_does_not_survive_costs_that_call_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hypotheses, "ENOUGH", 4)
    overload, _ = operator(fatal, "Tensor x")
    torch.library.register_fake(overload.name(), torch.empty_like)
    assert comparing.compared(overload, overload, CALLS, ()) == comparing.Comparison(fakes.PASSES, 4, 1)


def test_a_fake_that_ends_the_process_does_not_pass() -> None:
    overload, _ = operator(torch.clone, "Tensor x")

    def fake(x: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)

    torch.library.register_fake(overload.name(), fake)
    assert comparing.compared(overload, overload, CALLS, ()).end == "a call ends the process: SIGKILL"


def test_a_single_out_argument_of_another_name_is_a_parameter() -> None:
    (each,) = (s for s in schema.schemas("aten::multi_margin_loss_backward") if s.overload_name == "grad_input")
    assert drawing.parameters(each, ["grad_input"])[-3:] == ["reduction=1", "*", "grad_input"]
    assert drawing.parameters(each)[-1] == "reduction=1"


def test_what_fake_tensors_know_themselves_has_a_way_to_trace() -> None:
    names = {str(overload) for _, overload in uncovered()}
    assert "aten._aminmax.default" in names
    assert "aten._unique2.default" not in names
