"""Fakes read from kernels of the stable ABI."""

from __future__ import annotations

import pytest

from tests.transforms.cpp.test_fakes_written import fake
from transforms.cpp.coverage.values import Underivable

STABLE_HEAD = (
    "torch::stable::Tensor f(const torch::stable::Tensor& x, const std::optional<torch::stable::Tensor>& w, int64_t k,"
    " torch::headeronly::IntHeaderOnlyArrayRef sizes) {\n"
)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("return torch::stable::new_empty(x, {x.size(0), k});", ["return x.new_empty((x.shape[0], k))"]),
        (
            (
                "auto y = torch::stable::new_zeros(x, sizes, torch::headeronly::ScalarType::Long);"
                "torch::stable::zero_(y); y.mutable_data_ptr<int64_t>()[0] = 1; return y;"
            ),
            ["return x.new_zeros(sizes, dtype=torch.int64)"],
        ),
        (
            (
                'STD_TORCH_CHECK(x.dim() == 2, "two, not ", x.dim());'
                "auto y = torch::stable::empty({k, x.size(1)}, x.scalar_type(), std::nullopt, x.device());"
                "return y;"
            ),
            [
                'torch._check(x.dim() == 2, lambda: "two")',
                "return torch.empty((k, x.shape[1]), dtype=x.dtype, device=x.device)",
            ],
        ),
        ("return torch::stable::empty({k});", ['return torch.empty((k,), device="cpu")']),
        (
            (
                "auto cpu = torch::stable::Device(torch::headeronly::DeviceType::CPU);"
                "return torch::stable::full({k}, 1.5, torch::headeronly::kLong, std::nullopt, cpu, false);"
            ),
            ['return torch.full((k,), 0, dtype=torch.int64, device=torch.device("cpu"))'],
        ),
        (
            "auto c = torch::stable::contiguous(w.has_value() ? *w : x); return torch::stable::empty_like(c);",
            ["return torch.empty_like(torch.ops.aten.contiguous(w if w is not None else x))"],
        ),
        (
            (
                "auto c = torch::stable::to(x, torch::headeronly::ScalarType::Float, std::nullopt, x.device());"
                "return torch::stable::transpose(torch::stable::empty_like(c), 0, 1);"
            ),
            [
                "c = torch.ops.aten.to(x, dtype=torch.float32, device=x.device)",
                "return torch.ops.aten.transpose(torch.empty_like(c), 0, 1)",
            ],
        ),
    ],
)
def test_kernels_of_the_stable_abi_are_read(body: str, lines: list[str]) -> None:
    assert fake(body, head=STABLE_HEAD) == lines


@pytest.mark.parametrize(
    "body",
    [
        "auto y = torch::stable::new_empty(x, {k}); torch::stable::resize_(y, sizes); return y;",
        "return torch::stable::from_blob(x.mutable_data_ptr(), {k}, {1}, x.device(), x.scalar_type());",
        "return torch::stable::empty({k}, x.scalar_type(), torch::headeronly::Layout::Sparse);",
        "return torch::stable::empty({k}, x.scalar_type(), std::nullopt, torch::stable::Device(cuda, 1));",
    ],
)
def test_of_the_stable_abi_what_is_not_known_is_not_written(body: str) -> None:
    with pytest.raises(Underivable):
        fake(body, head=STABLE_HEAD)


def test_a_dtype_that_two_tensors_come_to_is_asked_for() -> None:
    body = "auto type = at::result_type(x, k); auto y = x.to(type); return at::empty_like(y);"
    assert fake(body) == ["return torch.empty_like(x.to(torch.result_type(x, k)))"]
