"""Kernels of which no fake is written, and why."""

from __future__ import annotations

import re

import pytest

from tests.transforms.cpp.test_fakes_written import fake
from transforms.cpp.coverage.values import Underivable


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
