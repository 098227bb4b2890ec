"""What a kernel does with what its fake rests on: first all that may change it, then what only reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.findings import Level
from tests.transforms.cpp.test_coverage import missing
from tests.transforms.cpp.test_fakes_placed import LOADED
from tests.transforms.cpp.test_fakes_written import fake
from transforms.cpp.coverage.values import Underivable

LIST, NUMBER = "auto s = x.sizes().vec(); {} return x.new_zeros(s);", "int64_t n = 1; {} return x.new_zeros({{n}});"
TENSOR = "auto out = at::empty_like(x); {} return out;"


@pytest.mark.parametrize(
    "body",
    [
        *(
            LIST.format(code)
            for code in (
                "s.back() += k;",
                "s.at(0) = k;",
                "*s.begin() = k;",
                "for (auto& d : s) { d = (d + 1) / 2; }",
                "for (auto& d : s) { halve(d); }",
                "int64_t& last = s[0]; last = k;",
                "auto& last = s.back(); s = sizes.vec(); last = k;",
                "int64_t* p = s.data(); p[0] = k;",
                "auto it = s.begin(); *it = k;",
                "auto it = s.begin(); it[1] = k;",
                "unknown(s);",
                "unknown(s.back());",
                "std::sort(s.begin(), s.end());",
                "std::fill(s.begin(), s.end(), 1);",
                "s.front()++;",
                "if (x.size(0) > 2) { (s[0]) = k; }",
                "TORCH_CHECK(made(x, s));",
                "if (made(x, s)) { return x.new_zeros(s); }",
                "s.push_back(k);  int64_t b[1] = {s[0]++};",
                "auto& t = s; t[0] = k;",
                "s[k] = helper(s);",
                "[t = &s] { (*t)[0] = 1; }();",
                "auto set = [](auto& t) { t[0] = 3; }; set(s);",
                "auto set = [&] { s[0] = 3; }; s = sizes.vec(); set();",
            )
        ),
        *(
            NUMBER.format(code)
            for code in (
                "int64_t* p = &n; *p = k;",
                "int64_t* p = &n; n = 3; *p = k;",
                "int64_t& m = n; n = 3; m = k;",
                "count(x, &n);",
                "count(x, n);",
                "std::memcpy(&n, x.data_ptr(), 8);",
                "std::cin >> n;",
                "auto set = [](int64_t& v, int64_t w) { v = w; }; set(n, k);",
                "Counter counter(n); counter.run(k);",
                "Counter counter{n}; counter.run(n);",
                "if (x.size(0) > 1) { auto& m = n; m += 2; }",
                "while (next(&n)) {}",
            )
        ),
        *(
            TENSOR.format(code)
            for code in (
                "trim(out);",
                "at::native::resize_output(out, {k});",
                "out.set_data(x.to(at::kDouble));",
                "at::cat_out(out, {x, x}, 0);",
                "[&] { auto p = out; p.t_(); }();",
                "[&] { auto& p = out; p = x; }();",
                "[&] { out.contiguous().t_(); }();",
                "for (auto& t : {out}) { t.t_(); }",
                "Tensor* p = &out; *p = x;",
                "auto q = out; auto& p = out; p.t_(); out = q;",
            )
        ),
        "const auto& n = k; k = 3; return x.new_zeros({n});",
        "auto s = x.sizes().vec(); at::IntArrayRef r = s; s[0] = k; return x.new_zeros(r);",
    ],
)
def test_what_may_be_changed_is_not_known(body: str) -> None:
    with pytest.raises(Underivable):
        fake(body)


@pytest.mark.parametrize(
    "body",
    [
        *(
            LIST.format(code)
            for code in (
                "auto m = std::accumulate(s.begin(), s.end(), 1); run<<<1, 2>>>(s.data(), s.back() + 1);",
                "for (auto d : s) { d = 3; }",
                "for (const auto& d : s) { unknown(d + 1); }",
                "int64_t last = s.back(); last = helper(k);",
                "const auto* p = s.data(); unknown(p[0] + 1);",
                "auto t = s; std::vector<int64_t> u(s.begin(), s.end()); t = helper(u);",
                "if (s[0] > s.at(1)) { std::cout << s[0]; }",
                "at::parallel_for(0, s[0], 1, [&](int64_t b, int64_t e) { f((e - b) * s[1]); });",
                "auto size = [](const std::vector<int64_t>& t) { return t[0]; }; unknown(size(s) * 2);",
                "auto p = std::max(s[0], s[1]) + helper(static_cast<int>(s[0]), (int)s[1], int(s[0]));",
            )
        ),
        *(
            TENSOR.format(code)
            for code in (
                'CHECK_INPUT(out); AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "f", [&] { out[0] = 1; });',
                "auto a = out.accessor<float, 2>(); for (int i = 0; i < k; ++i) { a[i][0] = out.size(0); }",
                "auto p = out.data_ptr<float>(); [&] { auto q = out; q.fill_(1); q[0] = 2; out += 1; }();",
                "dim3 grid(k), block(k + 1); OptionalCUDAGuard guard(at::device_of(x)); Other other(x);",
                'at::TensorArg a{x, "x", 1}, b{out, "out", 2}; at::checkAllSameGPU("f", {a, b});',
                "unknown(x, *w); [=] { auto y = x; y = y.contiguous(); }();",
                "auto fill = [](Tensor& t) { t.fill_(1); t[0].zero_(); }; fill(out);",
                "for (int i = 0; i < 3; ++i) { out.t().flip(0).fill_(3); }",
            )
        ),
        "const int64_t n = k; unknown(n); return x.new_zeros({n});",
        "auto n = x.size(0); auto m = n; [&] { run<<<n, m, m * sizeof(int)>>>(x, n, m); }(); return x.new_zeros({n});",
        "const auto& n = k; unknown(n + 1); return x.new_zeros({n});",
    ],
)
def test_what_is_only_read_is_known(body: str) -> None:
    assert fake(body)[-1].startswith("return ")


HELPERS = """\
static void halve(std::vector<int64_t>& s) { s[0] /= 2; }
static int64_t count(const std::vector<int64_t>& s, int64_t n) { return s[0] * n; }
static void trim(Tensor& t) { t = t.slice(0, 0, 1); }
static void shrink(Tensor t) { t.resize_({1}); }
static void fill(Tensor& t) { inner(t); t.data_ptr(); }
static void inner(Tensor t) { if (t.size(0) > 2) { fill(t); } auto p = t.data_ptr<float>(); p[0] = 1; }
"""


@pytest.mark.parametrize(
    ("code", "is_written"),
    [
        ("halve(s);", False),
        ("auto m = count(s, n);", True),
        ("trim(out);", False),
        ("shrink(out);", False),
        ("fill(out);", True),
        ("inner(out); s[0] = 3;", True),
    ],
)
def test_functions_of_the_tree_say_what_they_change(tmp_path: Path, code: str, is_written: bool) -> None:
    source = f"""{HELPERS}
Tensor made_cpu(const Tensor& x, int64_t n) {{
  auto s = x.sizes().vec(); auto out = at::empty_like(x); {code} return out + x.new_zeros(s); }}
TORCH_LIBRARY(lib, m) {{ m.def("made(Tensor x, int n) -> Tensor"); }}
TORCH_LIBRARY_IMPL(lib, CPU, m) {{ m.impl("made", made_cpu); }}
"""
    (finding,) = missing(tmp_path, c=source, p=LOADED)
    assert (finding.level is Level.REVIEW) is is_written, finding.reason
