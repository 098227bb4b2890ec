"""Fakes that are read from kernels: first those that cannot be, then what is written."""

from __future__ import annotations

from collections import defaultdict

import pytest

from transforms.cpp.coverage.kernel import body_of
from transforms.cpp.coverage.placing import lines_of
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
