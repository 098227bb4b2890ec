"""Metas that are drawn from what kernels show: first those that are not. Needs torch."""

from __future__ import annotations

import importlib.util
import itertools
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch

from codemod.runner import drawing, hypotheses, observing, schema
from codemod.runner.forks import survive

NUMBERS = itertools.count()


def drawn(kernel: Any, arguments: str = "Tensor x", returns: str = "Tensor", calls: Any = None) -> list[str]:
    """The body of the meta for an operator with that kernel."""
    name = f"symfix_drawn::op{next(NUMBERS)}"
    torch.library.define(name, f"({arguments}) -> {returns}")
    torch.library.impl(name, "CPU", kernel)
    (each,) = schema.schemas(name)
    overload = schema.overload_of(name, each)
    made = list(observing.calls(overload, each, ()))
    made = made[:60] + made[60 :: max(1, len(made) // 60)]
    seen = zip(made, observing.outcomes(overload, each, made), strict=True)
    accepted = [
        (observing.bound(each, call), outcome) for call, outcome in seen if outcome and "refused" not in outcome
    ]
    return hypotheses.body(each, accepted)


def refuse(x: Any) -> Any:
    raise RuntimeError("never")


def in_a_row(x: Any) -> Any:
    """A copy of what has its elements in a row: nothing says how others would lie."""
    if sum(size > 1 for size in x.shape) > 1:
        raise RuntimeError("in a row, please")
    return x.clone()


def test_no_meta_where_part_of_the_tensors_has_another_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "DRAWN", 5)
    with pytest.raises(hypotheses.NoRule, match="no rule gives"):
        drawn(lambda x, y: x.to(torch.float16, copy=True) if x.dtype != y.dtype else x.clone(), "Tensor x, Tensor y")


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (refuse, "eager accepts 0 of the calls"),
        (lambda x: x.nonzero(), "no rule gives"),
        (lambda x: x.t() if x.dim() == 2 else x.clone(), "shares the memory of an argument at times"),
        (lambda x: x[..., :1], "a view of an argument"),
        (lambda x: x.clone() if x.numel() > 20 else x.new_empty(3), "no rule gives"),
        (lambda x: x.clone() if x.dtype != torch.float64 else x.float(), "no rule gives"),
        (lambda x: x.to_sparse(), "no dense tensor"),
        (in_a_row, "no call shows which strides"),
    ],
)
def test_no_meta(kernel: Any, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "DRAWN", 5)
    with pytest.raises(hypotheses.NoRule, match=reason):
        drawn(kernel)


@pytest.mark.parametrize(
    ("kernel", "arguments", "body"),
    [
        (torch.clone, "Tensor x", "torch.empty_like(x)"),
        (lambda x: x, "Tensor(a) x", "x"),
        (lambda x: x.new_empty(x.shape), "Tensor x", "torch.empty_like(x, memory_format=torch.contiguous_format)"),
        (lambda x: x > 0, "Tensor x", "torch.empty_like(x, dtype=torch.bool)"),
        (lambda x: x.sum(), "Tensor x", None),  # of whole numbers it is of another dtype
        (lambda x: x.new_zeros(()), "Tensor x", "x.new_empty(())"),
        (lambda x, n: x.new_zeros((n + 1, 2)), "Tensor x, int n", "x.new_empty((n + 1, 2))"),
        (lambda x: x.new_zeros((x.numel(),)), "Tensor x", "x.new_empty((x.numel(),))"),
        (
            lambda x, dim, keepdim: x.amax(dim, keepdim).contiguous(),
            "Tensor x, int dim, bool keepdim",
            "x.new_empty(_compute_reduction_shape(x, utils.reduction_dims(x.shape, (dim,)), keepdim))",
        ),
    ],
)
def test_what_is_drawn(kernel: Any, arguments: str, body: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "DRAWN", 5)
    returns = "Tensor(a)" if "(a)" in arguments else "Tensor"
    if body is None:
        with pytest.raises(hypotheses.NoRule):
            drawn(kernel, arguments, returns)
    else:
        assert drawn(kernel, arguments, returns) == [f"return {body}"]


def halves(x: Any, mask: Any) -> Any:
    return x.clone() if mask[0] else None, x.new_zeros(x.shape) if mask[1] else None


def test_each_of_several_results_has_its_own_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "DRAWN", 6)
    first = "(torch.empty_like(x) if mask[0] else None)"
    second = "(torch.empty_like(x, memory_format=torch.contiguous_format) if mask[1] else None)"
    assert drawn(halves, "Tensor x, bool[2] mask", "(Tensor, Tensor)") == [f"return {first}, {second}"]


def test_no_meta_where_two_flags_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    each, argument = torch._C.parse_schema("f::g(Tensor x, bool a, bool b) -> Tensor"), torch.rand(3)
    seen = [({"x": argument, "a": flag, "b": flag}, None if not flag else 1) for flag in (True, False)]
    with pytest.raises(hypotheses.NoRule, match="as a and b say"):
        hypotheses.result(each, seen, 0)


def in_windows(x: Any, kernel_size: Any, stride: Any, padding: Any) -> Any:
    if x.dim() != 2 or min(stride) < 1:
        raise RuntimeError("matrices, please")
    return x.new_zeros((x.shape[0], (x.shape[1] + 2 * padding[0] - kernel_size[0]) // stride[0] + 1))


def test_windows_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "DRAWN", 6)
    count = "(x.shape[-1] + 2 * padding[0] - (kernel_size[0] - 1) - 1) // stride[0] + 1"
    arguments = "Tensor x, int[1] kernel_size, int[1] stride, int[1] padding"
    assert drawn(in_windows, arguments, calls=None) == [f"return x.new_empty((x.shape[0], {count}))"]


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_a_kernel_that_makes_what_it_resizes() -> None:
    each = torch._C.parse_schema("f::g(Tensor x, Tensor y) -> Tensor")
    plain, permuted = torch.rand(3, 4), torch.rand(4, 3).t()
    seen = []
    for x, y in ((plain, plain), (permuted, permuted), (torch.rand(4), permuted), (torch.rand(1, 4), plain)):
        made = torch.add(x, y, out=torch.empty(x.shape))
        value = {"shape": list(made.shape), "stride": list(made.stride()), "dtype": str(made.dtype)}
        seen.append(({"x": x, "y": y}, value))
    said = hypotheses._elementwise(each, seen)
    assert said.startswith("(torch.empty_like(x, memory_format=torch.contiguous_format) if utils.same_shape(x.shape, ")


class NoSamples:
    """An index of PyTorch's samples without any."""

    def callers(self, operator: str, piece: str) -> list[Any]:
        """No entry."""
        return []


def test_a_meta_that_differs_on_a_call_is_left_with_that_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "SECONDS", 0.5)
    monkeypatch.setattr(observing, "DRAWN", 4)
    monkeypatch.setattr(observing, "LONG", 0.5)
    monkeypatch.setattr(hypotheses, "body", lambda *_: ["return self.new_empty(())"])
    index: Any = NoSamples()

    def work(first: int) -> Any:  # in a process of its own, for what is drawn is registered there
        if not first:
            torch.set_num_threads(1)  # threads do not live on in its children
            yield 0, drawing.drawn("aten::_logcumsumexp", index)

    ((functional, out),) = survive(work)
    assert functional["reason"].startswith("return self.new_empty(()): differs from the kernel for (")
    assert ": shape (), not (" in functional["reason"]
    assert out == {"overload": "_logcumsumexp.out", "reason": "_logcumsumexp.default has no meta"}
