"""Fakes that are read from kernels: first those that cannot be, then what is written."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from codemod.model.edits import apply_edits
from codemod.model.findings import Level
from tests.transforms.cpp.test_coverage import missing
from transforms.cpp.coverage.kernel import body_of
from transforms.cpp.coverage.placing import lines_of
from transforms.cpp.coverage.values import Underivable
from transforms.cpp.reading.extract import extract
from transforms.schema.schema import Schema, parse_schema

SCHEMA = "f(Tensor x, Tensor? w, int k, int[] sizes) -> Tensor"
HEAD = "Tensor f(const Tensor& x, const std::optional<Tensor>& w, int64_t k, at::IntArrayRef sizes) {\n"
SCHEMAS = """
t_(Tensor(a!) self) -> Tensor(a!)
t(Tensor(a) self) -> Tensor(a)
fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)
fill.Scalar(Tensor self, Scalar value) -> Tensor
fill.Scalar_out(Tensor self, Scalar value, *, Tensor(a!) out) -> Tensor(a!)
zero_(Tensor(a!) self) -> Tensor(a!)
resize_(Tensor(a!) self, SymInt[] size) -> Tensor(a!)
squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)
squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)
unsqueeze(Tensor(a) self, int dim) -> Tensor(a)
flip(Tensor self, int[] dims) -> Tensor
cat(Tensor[] tensors, int dim=0) -> Tensor
cat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)
slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)
sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
mul.Tensor(Tensor self, Tensor other) -> Tensor
mul.Scalar(Tensor self, Scalar other) -> Tensor
transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)
to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False) -> Tensor(a)
max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
view(Tensor(a) self, SymInt[] size) -> Tensor(a)
contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)
to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None) -> Tensor(a)
result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType
result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType
"""
ATEN = defaultdict[str, list[Schema]](list)
for line in SCHEMAS.strip().splitlines():
    ATEN[parse_schema(line).name].append(parse_schema(line))


def fake(body: str, schema: str = SCHEMA, head: str = HEAD) -> list[str]:
    """The lines of the fake for a kernel of that body, without decorator and head."""
    source = f"{head}{body}\n}}\n".encode()
    (function,) = extract("f.cpp", source).functions
    parsed = parse_schema(schema)
    return [line.strip() for line in lines_of("lib::f", parsed, body_of(function, source, parsed, ATEN))[2:]]


@pytest.mark.parametrize(
    "body",
    [
        "if (x.size(0) == 0) { return x; } return at::empty_like(x);",  # a branch on a size
        "if (x.size(0) == 0) { return at::empty_like(x); } auto y = x.clone(); return y;",
        "auto y = at::empty_like(x); if (x.size(0) == 0) { return at::empty_like(x); } y.unsqueeze_(0); return y;",
        "auto s = x.sizes().vec(); if (x.numel() == 0) { return x.new_empty(s); } s.back() = 3; return x.new_empty(s);",
        "auto n = k; if (x.numel() == 0) { return x.new_empty({n}); } n = 2; return x.new_empty({n});",
        "std::vector<int64_t> s(x.sizes().begin(), x.sizes().end() - 1); return x.new_empty(s);",
        "std::vector<int64_t> s(x.sizes().begin() + 1, x.sizes().end()); return x.new_empty(s);",
        "std::vector<int64_t> s(x.sizes().begin(), sizes.end()); return x.new_empty(s);",
        "std::vector<int64_t> s(2, k); return x.new_empty(s);",
        "auto s = x.sizes().vec(); s.back() += k; return x.new_empty(s);",
        "return x.new_empty({k >> 1});",
        "auto o = at::empty_like(x); if (x.size(0) == 0) { return o; } o = at::empty({k}, x.options()); return o;",
        "auto o = at::empty_like(x); if (x.size(0) == 0) { return o; } else { return x; }",
        "auto o = at::empty_like(x); if (x.size(0) == 0) { o = x; return o; } return o;",
        "auto o = at::empty_like(x); if (x.size(0) == 0) { fill(o); return o; } return o;",
        "auto o = at::empty_like(x); if (x.size(0) == 0) { [&] { o = x; }(); return o; } return o;",
        "auto o = at::empty_like(x); if (x.size(0) == 0) { for (;;) { return x; } return o; } return o;",
        "auto o = at::empty_like(x); if (x.size(0) == 0) { o.t_(); } return o;",
        "auto o = at::empty_like(x); if (k) { if (x.size(0) == 0) { o.t_(); } } return o;",
        "auto o = at::empty_like(x); auto p = o; [&] { p.t_(); }(); return o;",
        "auto o = at::empty_like(x); auto& p = o; p = at::empty({k}, x.options()); return o;",
        "Tensor o; if (k) { fill(o); } return o;",
        "Tensor o; if (k) { o = at::empty_like(x); } return o.view({k});",  # of what may be undefined
        "if (k) { return at::empty_like(x); }",
        "for (int i = 0; i < k; ++i) { if (k == i) { return x; } } return at::empty_like(x);",
        "auto n = k; if (x.size(0) == 0) { n = 3; } return at::empty({n}, x.options());",
        "if (k) { n = 3; } return at::empty({n}, x.options());",
        "auto o = w.has_value() ? *w : x; o = helper(o); return o;",
        "return x.resize(k);",
        "auto o = at::empty({0}, x.options()); fill_out(o, x); return o;",
        "auto o = x.new_empty({k, 0}); auto p = o; fill_out(p, x); return o;",
        "Tensor o; if (k) { o = at::empty({0}, x.options()); } fill_out(o, x); return o;",
        'TORCH_CHECK(false, "not built");',
        "return x.max(1);",  # two tensors
        "return at::empty({(x.size(0) + k - 1) / 2}, x.options());",
        "TORCH_CHECK(k >= 0); return at::empty({(x.size(0) + k - 1) / 2}, x.options());",
        "TORCH_CHECK(k > 0); return at::empty({(x.size(0) + k - 2) / k}, x.options());",
        "TORCH_CHECK(k > 0); int64_t n = 1; if (w.has_value()) { n = k - 1; } return x.new_empty({(n * k - 1) / 2});",
        "return at::empty({k / 2 + 1}, x.options());",  # -1 gives 1 in C++, and 0 in Python
        "if (k == 3) { return x.new_empty({k}); } return at::empty({k, k / 2}, x.options());",
        "auto n = x.size(0); for (int i = 0; i < k; ++i) { ++n; } return at::empty({n}, x.options());",
        "auto out = at::empty_like(x); [&] { out = other(x); }(); return out;",
        "auto n = helper(x); return at::empty({n}, x.options());",
        "auto n = x.max().item<int64_t>(); return at::empty({n}, x.options());",
        "return at::empty({(x.size(0) - k) / 2}, x.options());",  # C++ rounds to 0, Python down
        "return at::empty({x.size(0) / k}, x.options());",
        "return at::full({k}, 3);",  # its dtype is that of the number
        "Tensor out; fill(out); return out;",
        "auto out = at::empty_like(x); out.resize_({k}); return out;",
        "auto y = x.contiguous(); y.unsqueeze_(0); return x;",
        "auto y = x.contiguous(); auto z = k > 1 ? y : x; x.squeeze_(0); return z;",
        "auto a = at::empty({k}, x.options()); auto b = a.contiguous(); b.resize_({2}); return a;",
        "auto out = at::empty({k}, x.options().device(at::kCUDA)); return out;",
        "auto s = x.sizes().vec(); for (auto& n : s) { s[0] = 1; } return at::empty(s, x.options());",
        "auto s = x.sizes().vec(); s.insert(s.begin(), 1); return at::empty(s, x.options());",
        "auto [a, b] = both(x); return a;",
        "int64_t s[2] = {x.size(0), k}; return at::empty(at::IntArrayRef(s, 2), x.options());",
        "int64_t n = 2; if (k) { int64_t n[1] = {k}, m = 0; return x.new_empty({n}); } return x.new_empty({n});",
        "if (k) { int64_t sizes[2]; return x.new_empty(sizes); } return x.new_empty(sizes);",
        "int64_t n = k; int64_t s[2] = {n++, 1}; return x.new_empty({n});",
        "Tensor (*x)(int) = make; return at::empty_like(x);",
        "return std::make_tuple(at::empty_like(x), k);",
        *(  # of other types they are other numbers
            f"{declared} return at::empty({{{size}}}, x.options());"
            for declared, size in (
                ("const double h = x.size(0);", "static_cast<int64_t>(h / 2 * 3)"),
                ("float h; h = x.size(0);", "static_cast<int64_t>(h / 2 * 3)"),
                ("uint8_t n = x.size(0);", "n"),
                ("bool n = k + 1;", "n"),
                ("int64_t n = 2; { int8_t n = 3; } bool m; m = n;", "m"),
                ("size_t n = k;", "n / 2"),
                ("auto n = (int8_t)x.size(0);", "n"),
                ("auto n = bool(k);", "n"),
                ("auto n = (int64_t)(x);", "n"),
                ("auto n = (unsigned)k;", "n"),
                ("std::vector<int64_t> n(k);", "n"),
                ("std::vector<double> n = {k, 2};", "n[0]"),
                ("std::optional<int64_t> n = k; int64_t m = 1; if (n) { m = 2; }", "m"),
            )
        ),
        "std::vector<Tensor> y = {x}; return y[0].view({y});",
        "auto a = at::empty_like(x); std::vector<Tensor> l = {a}; a.resize_({k}); return l;",
        "auto a = at::empty_like(x); std::vector<Tensor> l = {a}; auto b = l[0]; b.resize_({k}); return a;",
        *(
            f"if (k) {{ {statement}; }} return x;"
            for statement in ("throw", "throw e", 'throw "no"', 'throw std::overflow_error("no")', 'throw Other("no")')
        ),
        "return;",
        "other(x);",
    ],
)
def test_what_is_not_shown_is_not_written(body: str) -> None:
    with pytest.raises(Underivable):
        fake(body)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("return at::empty_like(x);", ["return torch.empty_like(x)"]),
        ("return torch::zeros({x.size(0), k}, x.options());", ["return x.new_zeros((x.shape[0], k))"]),
        ("return x.new_empty({x.numel() / 2 + 1});", ["return x.new_empty(((x.numel() // 2) + 1,))"]),
        (
            "return at::empty(sizes, x.options().dtype(at::kLong));",
            ["return x.new_empty(sizes, dtype=torch.int64)"],
        ),
        (
            "return at::empty({k}, at::TensorOptions().dtype(x.scalar_type()).device(x.device()));",
            ["return torch.empty((k,), dtype=x.dtype, device=x.device)"],
        ),
        # C++ knows no default device.
        ("return at::zeros({k}, at::kLong);", ['return torch.zeros((k,), dtype=torch.int64, device="cpu")']),
        # A device is no text.
        (
            (
                'TORCH_CHECK(x.device() == torch::kCPU, "on CPU"); auto d = at::kCPU;'
                "if (d != w->device()) { return x; } return at::zeros_like(x, at::TensorOptions().device(d));"
            ),
            [
                'torch._check(x.device == torch.device("cpu"), lambda: "on CPU")',
                'd = torch.device("cpu")',
                "if d != w.device:",
                "return x",
                "return torch.zeros_like(x, device=d)",
            ],
        ),
        ("return at::empty({k}, at::kCPU);", ['return torch.empty((k,), device="cpu")']),
        ("auto out = at::empty_like(x); out.fill_(1); out.zero_(); return out;", ["return torch.empty_like(x)"]),
        (
            "auto out = at::empty_like(x); run([&] { out[0] = 1; }); return std::make_tuple(out, out);",
            ["out = torch.empty_like(x)", "return out, out"],
        ),
        (
            "auto s = x.sizes().vec(); s[k] = x.size(0) * 2; s.push_back(3); return at::empty(s, x.options());",
            ["s = x.shape", "s = list(s)", "s[k] = x.shape[0] * 2", "s = [*s, 3]", "return x.new_empty(s)"],
        ),
        (
            'TORCH_CHECK(x.dim() == 2 && w.has_value(), "f: a matrix, got ", k); return at::empty_like(*w);',
            [
                'torch._check(x.dim() == 2, lambda: "f: a matrix")',
                'torch._check(w is not None, lambda: "f: a matrix")',
                "return torch.empty_like(w)",
            ],
        ),
        (
            "TORCH_CHECK(x.sizes() == w->sizes()); TORCH_CHECK(x.is_contiguous()); return at::empty_like(x);",
            [
                "from torch.fx.experimental.symbolic_shapes import sym_eq",
                "",
                "torch._check(sym_eq(x.shape, w.shape))",
                "return torch.empty_like(x)",
            ],
        ),
        # Branches that no size decides.
        (
            (
                "auto y = x.contiguous(); if (x.dim() == 2) { y = y.unsqueeze(0); } else if (k > 3) y = y.t();"
                "auto o = at::empty({y.size(0), k}, y.options()); if (x.dim() == 2) o.squeeze_(0); return o;"
            ),
            [
                "y = x.contiguous()",
                "if x.dim() == 2:",
                "y = y.unsqueeze(0)",
                "elif k > 3:",
                "y = y.t()",
                "o = y.new_empty((y.shape[0], k))",
                "if x.dim() == 2:",
                "o.squeeze_(0)",
                "return o",
            ],
        ),
        # What is done in place, also to what may be the same tensor.
        (
            (
                "auto a = at::empty({2, k}, x.options()), b = a.t(); if (x.dim() > 1) { b = a.contiguous(); }"
                "auto c = at::empty({k, 3}, x.options()), d = c.contiguous(), e = at::empty({k}, x.options());"
                "a.t_(); d.t_(); e.unsqueeze_(0); return std::make_tuple(b, c);"
            ),
            [
                "a = x.new_empty((2, k))",
                "b = a.t()",
                "if x.dim() > 1:",
                "b = a.contiguous()",
                "c = x.new_empty((k, 3))",
                "d = c.contiguous()",
                "a.t_()",
                "d.t_()",
                "return b, c",
            ],
        ),
        (
            (
                "Tensor o; if (w.has_value()) { TORCH_CHECK(w->dim() == 2); o = at::empty_like(*w); }"
                "return std::make_tuple(x.new_empty({k}), o);"
            ),
            [
                "o = None",
                "if w is not None:",
                "torch._check(w.dim() == 2)",
                "o = torch.empty_like(w)",
                "return x.new_empty((k,)), o",
            ],
        ),
        (
            (
                'if (k == 1) { return at::empty_like(x); } if (k == 2) { AT_ERROR("two"); } else { k = 3; }'
                "auto n = k; k = 4; return at::empty({n, k}, x.options());"
            ),
            [
                "if k == 1:",
                "return torch.empty_like(x)",
                "if k == 2:",
                'torch._check(False, lambda: "two")',
                "return x.new_empty((3, 4))",
            ],
        ),
        (
            "int64_t n = k + 1; int64_t m = 0; if (k) { m = n; n = 2; } return at::empty({n, m}, x.options());",
            [
                "n = k + 1",
                "n_ = n",
                "m = 0",
                "if k != 0:",
                "n_ = 2",
                "m = n",
                "return x.new_empty((n_, m))",
            ],
        ),
        # What is declared of the type that it has, or one that holds the same.
        (
            (
                "int64_t n{k}; const long long m = x.size(0); size_t l{m}; { double n = 2.5; } n = l;"
                "std::vector<int64_t> s{n}; c10::SmallVector<int64_t, 4> t = {m, k}; at::ScalarType d{at::kLong};"
                "const auto& y = at::empty(s, d); bool b = k > 2; torch::Scalar f = 3;"
                "std::optional<at::Tensor> v = w; if (v.has_value() && b) { return y.mul(f); } return y.view(t);"
            ),
            [
                "m = x.shape[0]",
                'y = torch.empty((m,), dtype=torch.int64, device="cpu")',
                "if (w is not None) and (k > 2):",
                "return y.mul(3)",
                "return y.view((m, k))",
            ],
        ),
        ("auto a = at::empty_like(x); std::vector<Tensor> l = {a}; return l;", ["return [torch.empty_like(x)]"]),
        ("auto a = at::empty_like(x); std::vector<at::Tensor> l{a, x}; return l;", ["return [torch.empty_like(x), x]"]),
        # Casts to integers, however they are spelled.
        (
            "int n = (int)x.size(0); auto m = (int64_t)(n + 1) * size_t(x.dim()); return x.new_empty({int64_t(m), n});",
            ["n = x.shape[0]", "return x.new_empty((((n + 1) * x.dim()), n))"],
        ),
        # What Python raises for what is thrown.
        *(
            (
                f'if (x.dim() != 2) {{ throw {kind}("a matrix, got " + s); }} return at::empty_like(x);',
                [
                    "if x.dim() != 2:",
                    f'torch._check{check}(False, lambda: "a matrix, got")',
                    "return torch.empty_like(x)",
                ],
            )
            for kind, check in {
                "std::runtime_error": "",
                "std::invalid_argument": "_value",
                "std::out_of_range": "_index",
                "c10::NotImplementedError": "_not_implemented",
            }.items()
        ),
        # No local has the name of what the fake calls.
        (
            "int64_t len = x.size(0) * 2; return x.new_zeros({len, len, static_cast<int64_t>(sizes.size())});",
            ["len_ = x.shape[0] * 2", "return x.new_zeros((len_, len_, len(sizes)))"],
        ),
        (
            "auto list = x.sizes().vec(); list[0] = k; auto torch = k * 2; return x.view({torch, torch, list[1]});",
            [
                "list_ = x.shape",
                "list_ = list(list_)",
                "list_[0] = k",
                "torch_ = k * 2",
                "return x.view((torch_, torch_, list_[1]))",
            ],
        ),
        # An early return of what is returned in any case.
        (
            "auto o = at::empty({x.size(0)}, x.options()); if (x.size(0) == 0) { o.zero_(); return o; } return o;",
            ["return x.new_empty((x.shape[0],))"],
        ),
        (
            (
                "auto o = at::empty({x.size(0)}, x.options());"
                'if (o.numel() == 0) { AT_CUDA_CHECK(cudaGetLastError()); LOG(INFO) << "empty"; return o; }'
                "run<<<1, 2>>>(x.data_ptr(), o.data_ptr()); AT_CUDA_CHECK(cudaGetLastError()); return o;"
            ),
            ["return x.new_empty((x.shape[0],))"],
        ),
        # What is done with tensors before.
        (
            "auto y = at::cat({x.flip(1), x}, -1).contiguous(); return y.slice(1, k, y.size(1)).sum(0).mul(2) + x;",
            [
                "y = torch.cat([x.flip((1,)), x], -1).contiguous()",
                "return torch.ops.aten.slice(y, 1, k, y.shape[1]).sum((0,)).mul(2) + x",
            ],
        ),
        (
            (
                "auto y = at::transpose(x, 0, 1).to(at::kFloat); auto z = y; y = y.unsqueeze(0);"
                "return z.new_zeros({y.size(0)});"
            ),
            [
                "y = torch.ops.aten.transpose(x, 0, 1).to(torch.float32)",
                "return y.new_zeros((y.unsqueeze(0).shape[0],))",
            ],
        ),
        # A number that a tensor is made with, or that is checked, is not negative behind that.
        ("return at::empty({k, k / 2 + 1}, x.options());", ["return x.new_empty((k, (k // 2) + 1))"]),
        (
            "TORCH_CHECK(k > 0); return at::empty({(x.size(0) + k - 1) / k, (k * 2 - 2) / k}, x.options());",
            ["torch._check(k > 0)", "return x.new_empty((((x.shape[0] + k) - 1) // k, ((k * 2) - 2) // k))"],
        ),
        ("return x.new_empty({(x.size(0) + 7) / 8 * 8});", ["return x.new_empty((((x.shape[0] + 7) // 8) * 8,))"]),
        (
            "TORCH_CHECK(k > 0); return at::empty({x.size(0) / k}, x.options());",
            ["torch._check(k > 0)", "return x.new_empty((x.shape[0] // k,))"],
        ),
        (
            "auto n = std::max(x.size(0), k), m = w.has_value() ? x.size(1) : k; return at::ones({n, m}, x.options());",
            ["return x.new_ones((torch.sym_max(x.shape[0], k), (x.shape[1] if w is not None else k)))"],
        ),
        (
            "auto s = x.sizes().vec(); s.back() = k; s.front() = s.back(); return at::empty(s, x.options());",
            ["s = x.shape", "s = list(s)", "s[-1] = k", "s = list(s)", "s[0] = s[-1]", "return x.new_empty(s)"],
        ),
        (
            "std::vector<int64_t> s(x.sizes().cbegin(), x.sizes().cend()); return at::empty(s, x.options());",
            ["return x.new_empty(x.shape)"],
        ),
        ("return at::empty(at::IntArrayRef({x.size(0), k}), x.options());", ["return x.new_empty((x.shape[0], k))"]),
        ("return at::empty({x.size(0) >> 2}, x.options());", ["return x.new_empty((x.shape[0] // 4,))"]),
        (
            "return at::zeros({k}, at::kLong).to(x.device());",
            ['return torch.zeros((k,), dtype=torch.int64, device="cpu").to(x.device)'],
        ),
        (
            "if (x.numel() == 0) { return at::zeros_like(x); } auto y = at::empty_like(x); return y;",
            ["return torch.empty_like(x)"],
        ),
        # A local that would make a line too long keeps its name.
        (
            (
                "auto rows = std::max(x.size(0), k) + x.size(1), columns = std::max(x.size(1), k) + x.size(0);"
                "return at::empty({rows, columns}, x.options());"
            ),
            [
                "columns = torch.sym_max(x.shape[1], k) + x.shape[0]",
                "return x.new_empty(((torch.sym_max(x.shape[0], k) + x.shape[1]), columns))",
            ],
        ),
    ],
)
def test_what_is_written(body: str, lines: list[str]) -> None:
    assert fake(body) == lines


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


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("auto n = helper(x); auto out = at::empty({n}, x.options()); return out;", "`n` is made of `helper(x)`"),
        ("auto out = helper(x).to(at::kLong); auto y = out; return y;", "`out` is made of `helper(x)`"),
        ("double h = x.size(0); auto out = x.new_empty({h}); return out;", "`h`, declared as `double`"),
        ("auto n = helper(x); n = k; for (;;) { ++n; } return x.new_empty({n});", "`n`, which `++n;` may change"),
        ("int64_t n; { auto n = helper(x); } auto out = x.new_empty({n}); return out;", "`out` is made of `n`"),
        ("auto n = k; if (k) { n = helper(x); } return x.new_empty({n});", "`n` is made of `helper(x)`"),
        ("Tensor out = at::empty_like(x); [&] { out.t_(); }(); return out;", "`out`, which `out.t_()` may change"),
        ("auto n = k; if (k) { n = helper(x); throw; } return x;", "what Python raises for `throw;` is not known"),
    ],
)
def test_the_reason_names_what_is_not_read(body: str, reason: str) -> None:
    with pytest.raises(Underivable, match=f"^{re.escape(reason)}$"):
        fake(body)


CPP = """\
Tensor fold_cpu(const Tensor& x, int64_t n) { return at::empty({n, x.size(0)}, x.options()); }
Tensor lift_cpu(const Tensor& x) { return at::empty_like(x); }
TORCH_LIBRARY(lib, m) { m.def("fold(Tensor x, SymInt n=2) -> Tensor"); m.def("lift(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(lib, CPU, m) { m.impl("fold", fold_cpu); m.impl("lift", lift_cpu); }
"""
LOADS = "import os\n\nfrom other import x\n\ntorch.ops.load_library(x)\n"
LOADED = LOADS.replace("torch.ops", "import torch\ntorch.ops")


def test_fakes_go_to_the_module_that_loads_the_library(tmp_path: Path) -> None:
    findings = missing(tmp_path, c=CPP, p=LOADED)
    assert [finding.level for finding in findings] == [Level.REVIEW] * 2
    edits = {edit for finding in findings for edit in finding.edits}
    source = LOADED
    assert apply_edits(source.encode(), edits).decode() == source + (
        '\n\n@torch.library.register_fake("lib::fold")\n'
        "def _(x: torch.Tensor, n: int = 2) -> torch.Tensor:\n    return x.new_empty((n, x.shape[0]))\n"
        '\n\n@torch.library.register_fake("lib::lift")\n'
        "def _(x: torch.Tensor) -> torch.Tensor:\n    return torch.empty_like(x)\n"
    )


def test_torch_is_imported_above_what_a_decorator_begins(tmp_path: Path) -> None:
    source = "import os\n\n\n@cache\ndef f():\n    pass\n\n\nimport torch.ops\n\ntorch.ops.load_library('x')\n"
    edits = {edit for finding in missing(tmp_path, c=CPP, p=source) for edit in finding.edits}
    written = apply_edits(source.encode(), edits).decode()
    assert written.startswith("import os\n\n\nimport torch\n\n@cache\ndef f():\n")


def test_without_such_a_module_nothing_is_written(tmp_path: Path) -> None:
    findings = missing(tmp_path, c=CPP, p="import torch\n")
    assert {(finding.level, finding.edits) for finding in findings} == {(Level.MANUAL, ())}
    assert all("no module of Python is known to load it" in finding.reason for finding in findings)


def test_kernels_that_differ_have_no_fake(tmp_path: Path) -> None:
    cuda = "Tensor lift_cuda(const Tensor& x) { return at::empty({3}, x.options()); }\n"
    cuda += 'TORCH_LIBRARY_IMPL(lib, CUDA, m) { m.impl("lift", lift_cuda); }\n'
    findings = missing(tmp_path, c=CPP + cuda, p="import torch\n\ntorch.ops.load_library('x')\n")
    assert {finding.operators[0]: finding.level for finding in findings} == {
        "lib::fold": Level.REVIEW,
        "lib::lift": Level.MANUAL,
    }


@pytest.mark.parametrize(
    ("name", "made", "called"),
    [
        ("len", "at::zeros({len, static_cast<int64_t>(s.size())}, x.options())", "len"),
        ("torch", "x.new_zeros({torch})", "torch"),
        ("len", "x.new_zeros({len})", ""),
    ],
)
def test_an_argument_named_as_what_the_fake_calls_has_none(tmp_path: Path, name: str, made: str, called: str) -> None:
    cpp = f"Tensor f_cpu(const Tensor& x, int64_t {name}, at::IntArrayRef s) {{ return {made}; }}\n"
    cpp += f'TORCH_LIBRARY(lib, m) {{ m.def("f(Tensor x, int {name}, int[] s) -> Tensor"); }}\n'
    cpp += 'TORCH_LIBRARY_IMPL(lib, CPU, m) { m.impl("f", f_cpu); }\n'
    (finding,) = missing(tmp_path, c=cpp, p=LOADED)
    assert bool(finding.edits) is not bool(called)
    assert (f"its argument `{called}` hides Python's" in finding.reason) is bool(called)


@pytest.mark.parametrize(
    ("cpu", "cuda", "lines", "left"),
    [
        (
            'TORCH_CHECK(x.is_cpu(), "CPU"); TORCH_CHECK(x.dim() == 2, "rank"); TORCH_CHECK(x.dtype() == at::kFloat);',
            'TORCH_CHECK(x.is_cuda(), "CUDA"); auto d = x.dim(); TORCH_CHECK(d == 2, "rank"); TORCH_CHECK(strange(x));',
            ['torch._check(x.dim() == 2, lambda: "rank")'],
            "4 checks of the kernels, which a fake cannot make or which not all of them make, stay there alone",
        ),
        # The same text of another number; another message; behind a branch; behind a result.
        (
            "auto n = x.size(0); TORCH_CHECK(n > 2 && n < 9);",
            "auto n = x.size(1); TORCH_CHECK(n > 2 && n < 9);",
            [],
            "4 ",
        ),
        ('TORCH_CHECK(x.dim() == 2, "one");', 'TORCH_CHECK(x.dim() == 2, "two");', [], "2 "),
        ("TORCH_CHECK(x.dim() == 2);", "if (x.is_floating_point()) { TORCH_CHECK(x.dim() == 2); }", [], "2 "),
        ("if (x.dim() > 3) { TORCH_CHECK(x.is_cpu()); }", "TORCH_CHECK(x.is_cuda());", [], "2 "),
        # Nothing is made where all refuse.
        (
            'if (x.dim() == 3) { AT_ERROR("three"); }',
            'if (x.dim() == 3) { AT_ERROR("3"); }',
            ["if x.dim() == 3:", '    torch._check(False, lambda: "three")'],
            "",
        ),
    ],
)
def test_a_fake_makes_the_checks_that_all_kernels_make(
    tmp_path: Path, cpu: str, cuda: str, lines: list[str], left: str
) -> None:
    source = "".join(
        f"Tensor lift_{key}(const Tensor& x) {{ {code} return at::empty_like(x); }}\n"
        f'TORCH_LIBRARY_IMPL(lib, {key}, m) {{ m.impl("lift", lift_{key}); }}\n'
        for key, code in (("CPU", cpu), ("CUDA", cuda))
    )
    source += 'TORCH_LIBRARY(lib, m) { m.def("lift(Tensor x) -> Tensor"); }\n'
    (finding,) = missing(tmp_path, c=source, p=LOADED)
    written = apply_edits(LOADED.encode(), finding.edits).decode().partition("def _(")[2].splitlines()[1:]
    assert written == [f"    {line}" for line in (*lines, "return torch.empty_like(x)")]
    assert left in finding.reason if left else "stay there" not in finding.reason


@pytest.mark.parametrize(
    ("cpp", "python"),
    [
        (CPP, LOADS.replace("torch.ops", "import torch\n\n\ndef load():\n    torch.ops")),
        (CPP.replace("TORCH_LIBRARY(", "#ifdef LIFT\nTORCH_LIBRARY(", 1) + "#endif\n", LOADED),
        (CPP.replace("CPU", "CUDA"), LOADED),
        (CPP, "from .ops import *\n"),
    ],
)
def test_what_may_not_be_there_gets_no_fake(tmp_path: Path, cpp: str, python: str) -> None:
    findings = missing(tmp_path, c=cpp, p=python)
    assert {(finding.level, finding.edits) for finding in findings} == {(Level.MANUAL, ())}
    assert len(findings) == 2


@pytest.mark.parametrize(
    "python",
    [
        LOADS.replace("torch.ops", "import torch\nif x:\n    torch.ops"),
        LOADS.replace("torch.ops", "import torch\ntry:\n    torch.ops") + "except OSError:\n    pass\n",
        LOADS.replace("torch.ops", "import torch\nfor p in x:\n    if p:\n        torch.ops"),
    ],
)
def test_where_the_library_may_not_be_loaded_the_fake_asks(tmp_path: Path, python: str) -> None:
    findings = missing(tmp_path, c=CPP, p=python)
    assert [finding.level for finding in findings] == [Level.REVIEW] * 2
    (lift,) = (f.edits for f in findings if f.operators == ("lib::lift",))
    assert apply_edits(python.encode(), lift).decode() == python + (
        '\n\nif hasattr(torch.ops.lib, "lift"):\n'
        '    @torch.library.register_fake("lib::lift")\n'
        "    def _(x: torch.Tensor) -> torch.Tensor:\n        return torch.empty_like(x)\n"
    )


LOADER = "import torch\n\n\ndef load(x):\n    torch.ops.load_library(x)\n"


@pytest.mark.parametrize(
    ("python", "guard"),
    [
        ("from .inner.u import load\n\nload(1)\n", ""),
        ("from .inner.u import load as first\n\nif first:\n    first(1)\n", "if hasattr(torch.ops.lib, "),
        ("from .inner.u import load\n\nfound = load(1)\n", ""),
        (
            "from .inner.u import load\n\nfound: object = None\ntry:\n    found = load(1)\nexcept OSError:\n    pass\n",
            "if hasattr(torch.ops.lib, ",
        ),
        ("from .inner import u\n\n\ndef load(x):\n    u.load(x)\n", None),
        ("from .inner.u import load\n\nfound = [load]\nloads = load.__name__\n", None),
    ],
)
def test_a_function_that_loads_the_library_counts_where_it_is_called(
    tmp_path: Path, python: str, guard: str | None
) -> None:
    edits = {edit for finding in missing(tmp_path, c=CPP, p=python, u=LOADER, i="") for edit in finding.edits}
    assert {edit.path for edit in edits} == (set() if guard is None else {"lib/p.py"})
    if guard is not None:
        assert (f'\n\n{guard}"lift"' if guard else "\n\n@torch") in apply_edits(python.encode(), edits).decode()


def test_what_lies_beside_the_library_is_no_place_for_its_fakes(tmp_path: Path) -> None:
    reasons = [finding.reason for finding in missing(tmp_path, c=CPP, e=LOADED)]
    assert reasons
    assert all("no module of Python is known to load it" in reason for reason in reasons)
    edits = {edit for finding in missing(tmp_path, c=CPP, e=LOADED, p=LOADED) for edit in finding.edits}
    assert {edit.path for edit in edits} == {"lib/p.py"}


@pytest.mark.parametrize(
    ("package", "is_compiled"),
    [
        ("", True),
        ("def __getattr__(name):\n    return name\n", False),
        ("import sys\n\nsys.modules[__name__] = object()\n", False),
    ],
)
def test_a_package_that_has_any_name_imports_no_compiled_module(
    tmp_path: Path, package: str, is_compiled: bool
) -> None:
    edits = {e for f in missing(tmp_path, c=CPP, i=package, p="from lib import fast\n") for e in f.edits}
    assert bool(edits) == is_compiled


def test_a_library_that_is_loaded_comes_before_a_module_that_is_imported(tmp_path: Path) -> None:
    loads = LOADS.replace("torch.ops", "import torch\ntry:\n    torch.ops") + "except OSError:\n    pass\n"
    edits = {e for f in missing(tmp_path, c=CPP, i="", p="from lib import fast\n", u=loads) for e in f.edits}
    assert {edit.path for edit in edits} == {"lib/inner/u.py"}


def test_a_guard_of_the_whole_file_is_no_condition(tmp_path: Path) -> None:
    guarded = f"#ifndef LIB\n#define LIB\n{CPP}#endif\n"
    findings = missing(tmp_path, c=guarded, p=LOADED)
    assert {finding.level for finding in findings} == {Level.REVIEW}
