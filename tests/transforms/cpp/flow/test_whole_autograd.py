"""Functions of an autograd function, and objects of the file, whose kernels stop symbols."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import converted


@pytest.mark.parametrize(
    ("forward", "converts"),
    [
        ("return run(x);", False),
        ("x.data_ptr<float>(); return x;", False),
        ("\n#pragma omp parallel for\nfor (int i = 0; i < 2; i++) { x.add_(i); } return x;", False),
        ("if (x.dim() > 2) { return x; } return run(x);", True),
        ("return at::add(x, x);", True),
    ],
)
def test_a_librarys_backward_is_left_where_its_forward_runs_a_kernel(
    tmp_path: Path, forward: str, converts: bool
) -> None:
    """`run` picks a kernel for the device, as spmm_fw of torch-sparse does."""
    source = f"""
Tensor spin_cpu(const Tensor& x) {{ auto p = x.data_ptr<float>(); return x; }}
Tensor run(const Tensor& x) {{ if (x.is_cuda()) {{ AT_ERROR("no CUDA"); }} else {{ return spin_cpu(x); }} }}
struct Spin : public torch::autograd::Function<Spin> {{
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {{ {forward} }}
  static Tensor backward(AutogradContext* ctx, const Tensor& grad) {{ return grad.view(grad.sizes()); }}
}};
Tensor spin(const Tensor& x) {{ return Spin::apply(x); }}
TORCH_LIBRARY(lib, m) {{ m.def("spin(Tensor x) -> Tensor", spin); }}
"""
    assert ("grad.view_symint(grad.sym_sizes())" in converted(tmp_path, source)) is converts


@pytest.mark.parametrize(
    ("forward", "converts"),
    [
        ("return run(x);", False),
        ("x.data_ptr<float>(); return x;", False),
        ("auto n = x.size(0); takes_int(x.stride(0)); return run(x.view({n}));", False),
        ("if (x.dim() > 2) { return x; } return run(x);", True),
    ],
)
def test_what_calls_an_autograd_function_is_left_where_its_forward_runs_a_kernel(
    tmp_path: Path, forward: str, converts: bool
) -> None:
    """`outer` calls a caller of it: a dead end is one for all who come to it."""
    source = f"""
Tensor run(const Tensor& x) {{ auto p = x.data_ptr<float>(); return x; }}
struct Spin : public torch::autograd::Function<Spin> {{
  static Tensor forward(AutogradContext* ctx, const Tensor& x) {{ {forward} }}
  static Tensor backward(AutogradContext* ctx, const Tensor& grad) {{ return grad; }}
}};
Tensor spin(const Tensor& x) {{ auto y = x.view(x.sizes()); return Spin::apply(y); }}
Tensor outer(const Tensor& x) {{ return spin(x.expand(x.sizes())); }}
TORCH_LIBRARY(lib, m) {{ m.def("spin(Tensor x) -> Tensor", spin); m.def("outer(Tensor x) -> Tensor", outer); }}
"""
    text = converted(tmp_path, source)
    assert ("x.view_symint(x.sym_sizes())" in text) is converts
    assert ("x.expand_symint(x.sym_sizes())" in text) is converts


@pytest.mark.parametrize(
    ("method", "call", "converts"),
    [
        ("Tensor Press::print(const Tensor& x) { x.data_ptr<float>(); return x; }", "press->print(y)", False),
        ("Tensor Press::print(const Tensor& x) { return run(x); }", "press->print(y)", False),
        ("Tensor Press::print(const Tensor& x) { return x.exp(); }", "press->print(y)", True),
        ("Tensor Press::expand(const Tensor& x) { x.data_ptr<float>(); return x; }", "press->expand(y)", True),
        ("Tensor Press::print(const Tensor& x) { x.data_ptr<float>(); return x; }", "press->other(y)", True),
    ],
)
def test_a_method_of_an_object_of_this_file_may_be_a_kernel(
    tmp_path: Path, method: str, call: str, converts: bool
) -> None:
    """An encoder of torchvision is such an object; `expand` is a Tensor's as far as is known."""
    source = f"""
struct Press {{ Tensor print(const Tensor& x); Tensor expand(const Tensor& x); }};
static std::unique_ptr<Press> press;
Tensor run(const Tensor& x) {{ auto p = x.data_ptr<float>(); return x; }}
{method}
Tensor f(const Tensor& x) {{ auto y = x.view(x.sizes()); return {call}; }}
TORCH_LIBRARY(lib, m) {{ m.def("f(Tensor x) -> Tensor", f); }}
"""
    assert ("x.view_symint(x.sym_sizes())" in converted(tmp_path, source)) is converts
