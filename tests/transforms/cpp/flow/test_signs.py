"""Quotients and remainders of sizes: where an operand may be negative, a graph rounds otherwise than C++."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codemod.model.findings import Level
from tests.conftest import drawn
from tests.transforms.cpp.snippets import converted, findings

HEAD = "Tensor f(const Tensor& x, const Tensor& y, int64_t k, IntArrayRef given, size_t u)"
SAFE = [
    "return x.view({x.size(0) / 2, x.numel() % 4, -1});",
    "auto n = x.size(0); return x.view({n * 2 / y.dim(), (n + 3) / 4 * 4, n / 2 - 1});",
    "auto n = x.size(0); auto m = y.size(0); return x.view({(n + m - 1) / m, (n - 1 + 8) / 8});",
    "auto n = x.sizes()[1]; n /= 2; n += 3; n *= y.size(0); return x.view({n % 3});",
    "return x.view({std::min(x.size(0), y.size(0)) / 2, std::max<int64_t>(x.size(0) - k, 0) / 2});",
    'TORCH_CHECK(k > 0, "k"); return x.view({x.size(0) / k, (x.size(0) + k - 1) / k});',
    'TORCH_CHECK(k != 0 && k >= 0); TORCH_CHECK(k <= x.size(0), "k"); return x.view({(x.size(0) - k) / 2});',
    'auto n = x.size(0); TORCH_CHECK(n + 2 * k >= 5, "small"); return x.view({(n + 2 * k - 5) / 3 + 1});',
    "auto n = x.size(0); if (n < k) { return x; } return x.view({(n - k) / 2});",
    "auto n = x.size(0); return x.view({n > k ? (n - k) / 2 : 1});",
    "auto n = x.size(0); if (n > k && (n - k) % 3 > 1) { return x.view({n}); } return x;",
    "auto n = x.size(0) - k; TORCH_CHECK(n % 2 == 0); return n % 3 != 0 ? x : x.view({n / 2});",
    "int64_t n = 1; for (auto s : c10::irange(x.dim())) { n *= x.size(s); } return x.view({n / 2});",
    "int64_t n = b(x) ? x.size(0) : 7; n = n + 1; return x.view({n / 2});",
    "auto n = x.size(0) * u; return x.view({n / 2});",
    "auto s = x.sizes().vec(); s[1] = y.size(0) / 2; s.push_back(4); return x.view({s[0] / 2, -1});",
    "TORCH_CHECK(k > 0); auto s = x.sizes().vec(); s[k - 1] = 3; return x.view({x.size(0) / k, s[0] / 2});",
    "std::vector<int64_t> s = {x.size(0), 2}; return x.view({s[0] / 2, -1});",
    'auto n = x.numel(); TORCH_CHECK(n != 0, "none"); return x.view({(n - 1) / 4});',
    "return x.mul((x.size(0) - k) / 2.);",
    "auto s = x.sizes().vec(); return x.view({c10::multiply_integers(s) / 2, -1});",
    "auto s = x.sizes(); return x.view({c10::multiply_integers(s.begin() + 1, s.end()) / 2, -1});",
    "auto s = x.sizes(); return x.view({std::accumulate(s.begin(), s.end(), int64_t{1}, std::plus<int64_t>()) / 2});",
    "auto s = x.sizes().vec(); int64_t t = 0; for (const auto& d : s) { t += d; } return x.view({s[0] / 2, -1});",
]
REVIEW = [
    "return x.view({(x.size(0) - 3) / 2});",
    "return x.view({x.size(0) / k});",
    "return x.view({(k - x.size(0)) % 4});",
    "return x.view({-x.size(0) / 2});",
    "auto n = k + x.size(0); n /= 2; return x.view({n});",
    "auto n = x.size(0); n -= 4; return x.view({n % 3});",
    "auto n = x.size(0); --n; return x.view({n / 3});",
    "auto n = x.size(0); n = k; return x.view({n / 2 + x.size(0)});",
    "auto n = x.size(0); int64_t m = 0; std::tie(n, m) = both(k); return x.view({n / 2, x.size(1)});",
    'auto n = x.size(0); TORCH_CHECK(n >= k, "k"); k = 9; return x.view({(n - k) / 2});',
    "auto n = x.size(0); if (k < n) { k = 2; } return x.view({(n - k) / 2});",
    "auto n = x.size(0); TORCH_INTERNAL_ASSERT_DEBUG_ONLY(n >= k); return x.view({(n - k) / 2});",
    "auto n = x.size(0); return x.view({n > k ? 1 : (n - k) / 2});",
    "auto n = x.size(0); auto m = std::min(n, k); return x.view({m / 2});",
    "auto n = x.size(0) - k; TORCH_CHECK(n % 2 == 0); return x.view({n / 3});",
    "auto s = x.sizes().vec(); s[1] = k; return x.view({s[0] / 2, -1});",
    "auto s = x.sizes().vec(); s[0] -= 5; return x.view({s[0] / 2, -1});",
    "auto n = x.size(0); auto& m = n; m = k; return x.view({n / 2, x.size(1)});",
    "auto s = x.sizes().vec(); s[0] = k; return x.view({c10::multiply_integers(s) / 2, -1});",
    "auto s = x.sizes().vec(); s[0] = k; return x.view({c10::multiply_integers(s.begin(), s.end()) / 2, -1});",
    "auto s = x.sizes(); return x.view({std::accumulate(s.begin(), s.end(), int64_t{1}, std::minus<int64_t>()) / 2});",
    "auto s = x.sizes().vec(); for (auto& d : s) { d -= 4; } return x.view({s[0] / 2, -1});",
    "auto s = x.sizes().vec(); auto it = s.begin(); *it -= 4; return x.view({s[0] / 2, -1});",
    "auto half = [](int64_t n) { return n / 2; }; return x.view({half(x.size(0) - k)});",
]
EXPRESSIONS = st.recursive(
    st.sampled_from(["x.size(0)", "x.size(1)", "1", "3"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+*-/%"), inner).map(lambda parts: f"({' '.join(parts)})"),
        st.tuples(st.sampled_from(["std::min<int64_t>", "std::max<int64_t>"]), inner, inner).map(
            lambda parts: f"{parts[0]}({parts[1]}, {parts[2]})"
        ),
    ),
    max_leaves=6,
)


class Number(int):
    """An integer of a graph, or of C++ where it `truncates`."""

    truncates = False

    def _made(self, value: int) -> Number:
        return type(self)(value)

    def __add__(self, other: int) -> Number:
        return self._made(int(self) + int(other))

    def __sub__(self, other: int) -> Number:
        return self._made(int(self) - int(other))

    def __mul__(self, other: int) -> Number:
        return self._made(int(self) * int(other))

    def __truediv__(self, other: int) -> Number:
        down = int(self) // int(other)
        return self._made(down + (self.truncates and down < 0 and int(self) % int(other) != 0))

    def __mod__(self, other: int) -> Number:
        return self - (self / other) * self._made(other)


class Truncated(Number):
    """An int64_t."""

    truncates = True


@pytest.mark.parametrize("body", SAFE)
def test_what_is_never_negative_is_safe(tmp_path: Path, body: str) -> None:
    source = f"{HEAD} {{ {body} }}"
    assert "x.sym_" in converted(tmp_path, source, Level.SAFE)
    assert not [finding.reason for finding in findings(tmp_path, source) if finding.edits and finding.reason]


@pytest.mark.parametrize("body", REVIEW)
def test_what_may_be_negative_is_for_review_and_says_so(tmp_path: Path, body: str) -> None:
    source = f"{HEAD} {{ {body} }}"
    assert converted(tmp_path, source, Level.SAFE) == source
    assert "x.sym_" in converted(tmp_path, source)
    edited = [finding for finding in findings(tmp_path, source) if finding.edits]
    assert any("in a graph, and C++ rounds toward zero: see `" in finding.reason for finding in edited)


@settings(max_examples=drawn(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EXPRESSIONS)
def test_what_is_safe_is_the_same_number(tmp_path: Path, expression: str) -> None:
    source = f"Tensor f(const Tensor& x) {{ return x.view({{x.size(0), {expression}}}); }}"
    if converted(tmp_path, source, Level.SAFE) == source:
        return
    code = re.sub(r"std::|<int64_t>", "", expression).replace("x.size(0)", "a").replace("x.size(1)", "b")
    code = re.sub(r"\b([13])\b", r"N(\1)", code)
    for first, second in itertools.product(range(5), repeat=2):
        values = set()
        for number in (Number, Truncated):
            names = {"N": number, "min": min, "max": max, "a": number(first), "b": number(second)}
            try:
                values.add(int(eval(code, names)))
            except ZeroDivisionError:
                values.add(0)
        assert len(values) == 1, (expression, first, second, values)
