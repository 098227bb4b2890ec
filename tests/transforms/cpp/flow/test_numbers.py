"""Numbers beside sizes: what a SymInt or a SymFloat would make otherwise stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import converted, refusals

STOPPED = [
    ("float", "return x.mul(x.size(0) * 0.1f);"),
    ("float", "return x.mul(1 + x.size(0) * 0.1f + 2);"),
    ("float", "return x.mul(3 / (0.5f * x.size(0)));"),
    ("float", "return x.mul(b ? x.numel() : 0.5f);"),
    ("float", "return x.size(0) > 1.5f ? x : x.sum();"),
    ("stored", "float s = 1. / x.size(0); return x.mul(s);"),
    ("float", "float s = 1; s *= x.size(0); return x.mul(s);"),
    ("cast", "const auto s = 1. / static_cast<float>(x.size(0)); return x.mul(s);"),
    ("cast", "const auto s = 1. / (float)x.size(0); return x.mul(s);"),
    ("size_t", 'auto room = x.size(0) - ys.size(); TORCH_CHECK(room >= 0, "many"); return x;'),
    ("size_t", "if (x.size(0) - ys.size() > 0) { return x; } return x.sum();"),
    ("size_t", "auto n = x.size(0) - 1; return n < ys.size() ? x : x.sum();"),
    ("size_t", "auto n = x.size(0) - 1; return x.view({n / ys.size()});"),
    ("size_t", "auto n = x.size(0); n -= 3; return x.view({n % ys.size(), -1});"),
    ("size_t", "auto n = x.size(0) - 3; n /= ys.size(); return x.view({n});"),
    ("size_t", "auto n = x.numel() * x.itemsize(); auto m = n - 5; return m > 0 ? x : x.sum();"),
    ("size_t", "return x.mul((x.size(0) - 3) * sizeof(int) / 2.);"),
    ("size_t", "return x.view({std::min<size_t>(x.size(0) - 3, ys.size())});"),
    ("size_t", "return x.view({std::max<size_t>({x.size(0) - 3, 1})});"),
    ("callee-takes-int", "return x.mul(1 / std::max<double>(x.size(0), 1));"),
    ("callee-takes-int", "return x.mul(1 / std::max<double>({x.size(0), x.size(1)}));"),
    ("cast", "return x.mul(static_cast<int64_t>(x.size(0) * M_PI_2));"),
    ("cast", "return x.mul(static_cast<int64_t>(x.size(0) * unknown));"),
    ("cast", "auto n = 1 + x.size(0) * unknown(b); n = 2 * n; return x.mul((int64_t)n);"),
    ("callee-takes-int", "auto n = x.size(0), m = x.dim(); const auto& p = std::max(n, m); return x.view({p});"),
    ("increment", "double s = x.size(0); return x.mul(s++);"),
    ("long-long", "return x.view({x.size(0) * 2LL});"),
    ("long-long", "auto n = x.size(0); return n > 2ULL ? x : x.view({n + 1ull});"),
    ("long-long", "long long k = 3; return x.view({x.size(0) - k});"),
]
CONVERTED = [
    ("return x.mul(x.size(0) * 0.1);", "return x.mul(x.sym_size(0) * 0.1);"),
    ("double s = 3. / x.size(0); return x.mul(s);", "c10::SymFloat s = 3. / x.sym_size(0); return x.mul(s);"),
    (
        "return x.mul(0.5f * static_cast<double>(x.size(0)));",
        "return x.mul(c10::SymFloat(0.5f) * static_cast<c10::SymFloat>(x.sym_size(0)));",
    ),
    (
        "auto n = x.numel() * sizeof(int); return at::zeros({n + ys.size()});",
        "auto n = x.sym_numel() * sizeof(int); return at::zeros_symint({n + ys.size()});",
    ),
    (
        "const auto n = x.size(0); return n < ys.size() ? x : x.narrow(0, 0, n / ys.size());",
        "const auto n = x.sym_size(0); return n < ys.size() ? x : x.narrow_symint(0, 0, n / ys.size());",
    ),
    (
        "double s = x.size(0); s++; --s; return x.mul(s);",
        "c10::SymFloat s = x.sym_size(0); s = s + 1; s = s - 1; return x.mul(s);",
    ),
    (
        "return x.view({std::min<int64_t>({x.size(0), 3, ys.size()})});",
        "return x.view_symint({std::min<c10::SymInt>({x.sym_size(0), 3, ys.size()})});",
    ),
    (
        "auto n = x.size(0), m = x.size(1); n -= m -= 1; return x.view({n, m});",
        "auto n = x.sym_size(0), m = x.sym_size(1); n = n - (m = m - 1); return x.view_symint({n, m});",
    ),
    (
        "auto n = x.size(0), m = x.size(1); const auto& p = std::max(n, m); n = 9; return x.view({p});",
        "const auto& p = std::max(n, m); n = 9;",
    ),
    (
        'double s = x.size(0) / 2.; TORCH_CHECK(s, "zero"); return !s && b ? x : x.mul(s);',
        'c10::SymFloat s = x.sym_size(0) / 2.; TORCH_CHECK(s != 0, "zero"); return s == 0 && b ? x : x.mul(s);',
    ),
    ("double s = x.size(0) - 1; if (s) { return x; } return x.mul(s);", "if (s != 0) { return x; }"),
    ("auto n = x.size(0); n -= ys.size(); return x.view({n});", None),
    ("const int64_t n = b ? x.size(0) : 1LL; return x.view({n});", None),
    ("auto n = x.size(0) - 2u; return x.view({n * 2l, -1});", None),
    ("auto n = x.size(0) - 1; return n == ys.size() ? x : x.view({n});", None),
]


@pytest.mark.parametrize(("refusal", "body"), STOPPED)
def test_what_would_be_another_number_stays(tmp_path: Path, refusal: str, body: str) -> None:
    source = f"Tensor f(const Tensor& x, TensorList ys, bool b) {{ {body} }}"
    assert converted(tmp_path, source) == source
    assert refusal in refusals(tmp_path, source)


@pytest.mark.parametrize(("body", "wanted"), CONVERTED)
def test_the_same_numbers_convert(tmp_path: Path, body: str, wanted: str | None) -> None:
    result = converted(tmp_path, f"Tensor f(const Tensor& x, TensorList ys, bool b) {{ {body} }}")
    assert (wanted or "sym_size(0)") in result


@pytest.mark.parametrize(
    ("constant", "refused"),
    [
        ("static constexpr float kScale = 0.1f;", True),
        ("const float kScale{0.1f};", True),
        ("#define kScale 0.1f", True),
        ("#define kScale 2ll", True),
        ("constexpr double kScale = 0.1;", False),
        ("#define kScale 2", False),
    ],
)
def test_constants_of_the_file_are_numbers_of_their_types(tmp_path: Path, constant: str, refused: bool) -> None:
    source = f"{constant}\nTensor f(const Tensor& x) {{ return x.mul(x.size(0) * kScale); }}"
    after = source if refused else source.replace("size", "sym_size")
    assert converted(tmp_path, source) == after


@pytest.mark.parametrize(
    ("kind", "refused"), [("double", "cast"), ("float", "float"), ("size_t", "size_t"), ("int", ""), ("int64_t", "")]
)
@pytest.mark.parametrize("scope", ["Config", "outer::Config"])
def test_constants_of_classes_are_numbers_of_their_types(tmp_path: Path, kind: str, refused: str, scope: str) -> None:
    source = f"struct Config {{\n  static constexpr {kind} kBlock = 2;\n}};\n"
    source += f"Tensor f(const Tensor& x) {{ return x.mul(static_cast<int64_t>((x.size(0) - 3) / {scope}::kBlock)); }}"
    assert (converted(tmp_path, source) == source) == bool(refused)
    assert (refused in refusals(tmp_path, source)) == bool(refused)


STEPPED = "Tensor f(const Tensor& x, IntArrayRef k, int d) {{ auto s = x.{api}().vec(); {step} return x.{view}(s); }}"


@pytest.mark.parametrize(
    "step",
    [
        "s[d++] -= 2;",
        "s[next()] %= 2;",
        "--s[--d];",
        "s[d = d + 1]--;",
        "s[d] -= k[d++];",
        "auto next = [&] { return k[d++]; }; s[d] -= next();",
    ],
)
def test_an_element_that_would_be_named_twice_stays_where_the_second_may_be_another(tmp_path: Path, step: str) -> None:
    source = STEPPED.format(api="sizes", step=step, view="view")
    assert converted(tmp_path, source) == source
    assert refusals(tmp_path, source) == ["increment"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("s[d + 1] -= k[d];", "s[d + 1] = s[d + 1] - k[d];"),
        ("s[x.dim() - 1] %= k.at(d);", "s[x.dim() - 1] = s[x.dim() - 1] % k.at(d);"),
        ("s.back() -= 1;", "s.back() = s.back() - 1;"),
        ("*s.begin() -= k[d++];", "*s.begin() = *s.begin() - k[d++];"),
        ("--s[static_cast<size_t>(d)];", "s[static_cast<size_t>(d)] = s[static_cast<size_t>(d)] - 1;"),
    ],
)
def test_an_element_that_is_the_same_again_is_named_twice(tmp_path: Path, before: str, after: str) -> None:
    source = STEPPED.format(api="sizes", step=before, view="view")
    assert converted(tmp_path, source) == STEPPED.format(api="sym_sizes", step=after, view="view_symint")
