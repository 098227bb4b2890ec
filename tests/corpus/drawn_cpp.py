"""C++ functions drawn at random, of branches on sizes and of shapes that are built: every seed is another one."""

from __future__ import annotations

import random
import textwrap
from collections.abc import Sequence

from drawn_functions import parts

HEAD = """#include <torch/library.h>
#include <ATen/ATen.h>
#include <c10/util/irange.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>
using at::Tensor;
namespace {
"""
_SIZES = """auto n = x.size(0); auto m = x.size(1)
int64_t n = x.size(0), m = x.size(1)
int64_t n = x.sizes()[0]; int64_t m = x.sizes()[1]
const auto sizes = x.sizes(); int64_t n = sizes[0]; int64_t m = sizes[1]
int64_t n = x.size(0); int64_t m = x.size(-1)""".splitlines()
_CONDITIONS = """x.size(0) == 0; x.numel() == 0; n == 0; !n; m == 0; x.size(1) <= 1; x.size(0) < 1; n > 0; n == 1
n != 1; n > 1; n >= 2; n == m; n != m; x.sizes() == y.sizes(); x.sizes().equals(y.sizes()); x.sizes() != y.sizes()
x.size(0) == y.size(0); x.size(0) != y.size(0); x.size(1) != y.size(-1); y.size(0) == 1; y.size(0) != 1
y.numel() == 0; y.numel() > 0; y.numel() == 1; y.numel() != x.numel(); n % 2 == 0; n % k != 0; n % k; n < k; n > k
n * m > 64; n == 0 || m == 0; n == 0 && m == 0; n == 1 && m == 1; n == 1 || m == 1; x.dim() == 2 && n == 1; n > m
std::max(n, m) > 4; std::min(n, m) == 0; 0 < n && n < k; !(n > 0 && m > 0); !(n == m); n - 1 == 0; n + m == 0
n * m == 0; x.numel() == 1; k > 2 && n > k; k > 5 || n == 0; n / k == 0; (n + m) % 2; x.stride(0) == m; n == k
x.is_contiguous() && n > 0; y.dim() == 2 && y.size(1) == 1; x.dim() != y.dim() || x.size(0) != y.size(0); bool(n)
x.size(0) - y.size(0) > 0; n && m; n || m; x.defined() && n == 0; x.numel() < k; y.dim() == 1 && y.size(0) == m
x.sizes().empty(); x.numel() == n * m; n == 0 ? true : m == 0; c10::multiply_integers(x.sizes()) == 0
x.is_same_size(y)"""
_ENDS = """return x.clone(); return x.neg(); return at::zeros({n, m}, x.options()); return at::zeros_like(x)
return x + y; return at::empty({0}, x.options()); return x.new_zeros({m, n}); return x.new_zeros({n})
return x.new_zeros({1, m}); return at::zeros({0, m}, x.options()); return x.new_zeros({n, k}); return at::zeros({m})
return at::ones({n, m}); return y.clone(); return x.expand({n, m}).clone(); return x.reshape({m, n}).clone()
return x.sum(1); return x.new_zeros({k}); TORCH_CHECK(false, "bad"); TORCH_CHECK(false, "bad ", n)
TORCH_CHECK(m > 0, "no columns ", n)
TORCH_CHECK(n == y.size(0), "rows ", n, " ", y.size(0)); return x.mean(0); TORCH_CHECK_VALUE(n != m, "square")
return x.new_zeros(x.sizes()); TORCH_INTERNAL_ASSERT(n >= 0)"""
_STEPS = """z = z.contiguous(); z = z.clone(); z = z.expand({n, m}); z = z.expand({y.size(0), m}); z = z.reshape({n, m})
z = z.expand({-1, y.size(-1)}); z = z.reshape({-1, m}); z = z.view({n, m}); z = z.view({-1, 1}); z = z.narrow(0, 0, k)
z = z.narrow(0, 0, n); z = z.slice(0, 0, k); z = z.slice(0, 0, y.size(0)); z = z.select(0, 0); z = z.slice(0, 1)
z = z.sum(0, true); z = z.mean(1, true); z = z.transpose(0, 1); z = z * 2; z = z + y; z = z * n; z = z / m; n = 1
n = 0; n = std::max<int64_t>(n, 1); n = k; n = n + 1; n -= 1; n = std::min(n, k); n = n / 2; n /= 2; m = 1; m *= k
n = y.size(0); z = at::constant_pad_nd(z, {0, 0, 0, k}); z = at::constant_pad_nd(z, {0, 0, 0, k - n % k})
z = at::constant_pad_nd(z, {0, n - m}); z = at::cat({z, y}); z = at::cat({z, z.new_zeros({k, m})}); n++; ++m
z = z.repeat({2, 1}); z = z.flip(0); z = z.new_zeros({n, m}); std::swap(n, m); z = z - z.mean(0); z = z.amax(0, true)
z = z.view_as(x); z = z.reshape(x.sizes()); z = z.unflatten(0, {n, 1}); z = z.unsqueeze(0); z = z.expand_as(x)"""
_BUILT = """std::vector<int64_t> s(x.sizes().begin(), x.sizes().end()); s.back() = k => at::zeros(s, x.options())
auto s = x.sizes().vec(); s[0] = k => at::zeros(s, x.options())
auto s = x.sizes().vec(); s.insert(s.begin(), k) => z.expand(s).clone()
auto s = x.sizes().vec(); s.pop_back() => at::zeros(s, x.options())
auto s = x.sizes().vec(); std::reverse(s.begin(), s.end()) => z.reshape(s).clone()
int64_t a = 1; for (auto d : x.sizes()) { a *= d; } => z.reshape({a}).clone()
int64_t a = 0; for (const auto i : c10::irange(x.dim())) { a += x.size(i); } => at::zeros({a}, x.options())
int64_t a = 0; for (int64_t i = 0; i < x.dim(); ++i) { a = std::max(a, x.size(i)); } => at::zeros({a}, x.options())
const int64_t q = (n + k - 1) / k => at::zeros({q * k, m}, x.options())
const int64_t half = n / 2 => z.narrow(0, 0, half).clone()
double r = n / 2.0 => z.mul(r)
float r = 1.0 / m => z.mul(r)
const bool wide = n > m => wide ? z.clone() : z.neg()
const auto p = n > m ? n : m => at::zeros({p}, x.options())
int64_t p = n != 0 ? n : m => at::zeros({p}, x.options())
const auto rest = x.sizes().slice(1) => z.reshape(rest.vec()).clone()
c10::IntArrayRef t = x.sizes() => at::zeros(t, x.options())
auto t = at::infer_size(x.sizes(), y.sizes()) => z.expand(t).clone()
at::DimVector t(x.sizes()); t[0] = 1 => at::zeros(t, x.options())
auto last = x.sizes().back(); auto first = x.sizes().front() => at::zeros({last, first}, x.options())
std::array<int64_t, 2> t = {m, n} => at::zeros(t, x.options())
auto [a, b] = std::make_tuple(x.size(0), x.size(1)) => at::zeros({b, a}, x.options())
int a = x.size(0) => at::zeros({a, 2}, x.options())
const auto a = x.numel() / std::max<int64_t>(n, 1) => at::zeros({a}, x.options())
int64_t a = -1; if (n > m) { a = n; } => a < 0 ? z.neg() : z.clone()
std::vector<Tensor> v = {z, z} => at::stack(v).reshape({2 * n, m}).clone()
auto a = n; while (a > k) { a -= k; } => at::zeros({a}, x.options())""".splitlines()
_COUNTED = """double s = k > 2 ? 0.5 : n => z.mul(s)
auto s = k > 2 ? n : 0.5 => z.mul(s)
double s = n; s *= 0.5 => z.mul(s)
double s = n; s += m; s -= 0.5; s /= k => z.mul(s)
n *= 0.5 => at::zeros({n}, x.options())
n += 1.5 => at::zeros({n}, x.options())
n /= 2 => z.narrow(0, 0, n).clone()
n -= n / 2 => z.narrow(0, 0, n).clone()
int64_t p = n * 0.5 => at::zeros({p}, x.options())
int64_t p = std::ceil(n / 2.0) => at::zeros({p}, x.options())
int64_t p = static_cast<int64_t>(std::floor(n / 2.0)) => at::zeros({p}, x.options())
int64_t p = static_cast<int64_t>(n * 1.5) => at::zeros({p}, x.options())
const auto p = static_cast<double>(n) / (m + 1) => z.mul(p)
const double p = 1.0 / std::max<int64_t>(n, 1) => z.mul(p)
const auto p = std::sqrt(static_cast<double>(n)) => z.mul(p)
auto p = n / (m + 1); auto q = n % (m + 1) => z.mul(p) + q
auto p = 1 / (n + 1) => z.mul(p)
auto p = 1. / (n + 1) => z.mul(p)
auto p = -n => at::zeros({p + 2 * n}, x.options())
auto p = n * n - m * m => z.mul(p)
auto p = n << 1 => at::zeros({p}, x.options())
auto p = n >> 1 => at::zeros({p}, x.options())
auto p = n ^ 1 => at::zeros({p}, x.options())
auto p = (n + 1) & ~1 => at::zeros({p}, x.options())
int p = static_cast<int>(n) => at::zeros({p, 2}, x.options())
uint64_t p = n => at::zeros({static_cast<int64_t>(p)}, x.options())
size_t p = n; size_t q = x.dim() => at::zeros({static_cast<int64_t>(p * q)}, x.options())
float p = n; float q = p / 3 => z.mul(q)
bool p = n => z.mul(p)
bool p = n > 2; int64_t q = p + 1 => z.mul(q)
int64_t p = (n > 2) + (m > 2) => z.mul(p)
int64_t p = n > 2 ? 1 : 0 => z.mul(p)
int64_t p = n++ => z.mul(p).add(n)
int64_t p = ++n => z.mul(p).add(n)
int64_t p = 0; while (n > k) { n /= 2; ++p; } => z.mul(p)
int64_t p = 0; for (int64_t i = 0; i < n; i += 2) { p += i; } => z.mul(p)
int64_t p = std::abs(n - m) => at::zeros({p}, x.options())
int64_t p = std::min({n, m, k}) => at::zeros({p}, x.options())
auto p = std::max(n, m) - std::min(n, m) => at::zeros({p}, x.options())
auto p = std::minmax(n, m) => at::zeros({p.first, p.second}, x.options())
auto p = std::pow(n, 2) => z.mul(p)
auto p = std::gcd(n, m) => at::zeros({p}, x.options())
auto p = std::div(n, k) => at::zeros({p.quot}, x.options())
at::Scalar p = n => z.mul(p)
at::Scalar p = n / 2.0 => z.mul(p)
c10::optional<int64_t> p = n => at::zeros({p.value_or(1)}, x.options())
c10::optional<double> p; if (k > 2) { p = n; } => z.mul(p.value_or(1.5))
std::optional<int64_t> p = k > 2 ? std::optional<int64_t>(n) : std::nullopt => at::zeros({*p}, x.options())
std::pair<int64_t, double> p = {n, 0.5} => z.mul(p.first * p.second)
std::tuple<int64_t, int64_t> p{n, m} => at::zeros({std::get<1>(p), std::get<0>(p)}, x.options())
std::array<double, 2> p = {0.5, static_cast<double>(n)} => z.mul(p[1])
std::vector<double> p = {0.5, 1.0 * n} => z.mul(p[1])
std::vector<int64_t> p(2, n) => at::zeros(p, x.options())
std::vector<int64_t> p{n, m}; std::sort(p.begin(), p.end()) => at::zeros(p, x.options())
auto p = [&](int64_t a) { return a * n; } => at::zeros({p(2)}, x.options())
auto p = [n](double a) { return a * n; } => z.mul(p(0.5))
auto p = std::accumulate(x.sizes().begin(), x.sizes().end(), 1, std::multiplies<int64_t>()) => z.mul(p)
auto p = at::scalar_tensor(n, x.options()) => z.mul(p)
auto p = at::full({}, n, x.options()) => z.mul(p)
auto p = at::arange(0, n, 1, x.options()) => p.sum() + z
auto p = at::linspace(0, 1, n, x.options()) => p.sum() + z
auto p = std::to_string(n) => z.mul(static_cast<int64_t>(p.size()))
const auto& p = n => z.mul(p)
int64_t& p = n; p = 2 * p => at::zeros({n}, x.options())
int64_t p; p = n => at::zeros({p}, x.options())
int64_t p = n, q = 1; q *= p => at::zeros({q}, x.options())
unsigned p = 3 => at::zeros({n * p}, x.options())
double p = 0.5; p += n => z.mul(p)
double p = n == 0 ? 1 : n => z.div(p)
double p = n / 2 => z.mul(p)
double p = n / 2 * 0.5 + (m - 1) / 2.0 => z.mul(p)
double p = (n - m) * (1.0 / 3) => z.mul(p)
double p = n * 0.1f => z.mul(p)""".splitlines()
_TAILS = """z.clone(); z * 2; z.sum(0); z.sum(1, true); z.mean(1); z.sum(); at::zeros({n, m}, x.options())
x.new_zeros({n + m}); at::zeros({n}, x.options()); at::zeros({n * m}, x.options())
at::zeros({std::max<int64_t>(n, 1), m}, x.options())
at::zeros({std::max<int64_t>(n - k, 0)}, x.options()); at::zeros({n / k, m}, x.options()); z.amax(1); z.softmax(-1)
at::zeros({x.size(0), y.size(-1)}, x.options()); z + y; z - y.sum(); z.matmul(y); at::cat({z, y}); at::cat({z, y}, -1)
z.t().clone(); z.reshape({-1}).clone(); z.view({m, n}).clone(); z.select(0, 0).clone(); z.flip(0); z.cumsum(0)
z.reshape({n * m}).clone(); z.slice(0, 0, n).clone(); z.slice(0, 0, n / 2).clone(); at::stack({z, z}); z / n; z.mul(m)
z.expand({2, n, m}).clone(); z.narrow(0, 0, n).clone(); at::arange(n); at::full({n, m}, 2.0); at::full({2}, n)
at::constant_pad_nd(z, {0, 1}).clone(); z.repeat({2, 1}); z.argmax(0); z.unsqueeze(1).expand({-1, k, -1}).clone()
z.view({n, m, 1}).clone(); z.reshape_as(x).clone(); at::linspace(0, 1, n); z.div(x.numel())"""
_NUMBERS = ("n", "m", "k", "x.size(0)", "y.size(0)", "n + 1", "n / k", "std::max(n, m)", "n * 2")


CONDITIONS, ENDS, STEPS, TAILS = map(parts, (_CONDITIONS, _ENDS, _STEPS, _TAILS))


def source(seeds: Sequence[int], library: str, counts: bool = False) -> str:
    """A file with the functions of all seeds, registered as operators of a library; with `counts`, of `counting`.

    What belongs to a seed stands between `// drawn` and `// end`.
    """
    functions = "".join(f"// drawn {seed}\n{(counting if counts else function)(seed)}// end\n" for seed in seeds)
    defined = "".join(f'  m.def("f{seed}(Tensor x, Tensor y, int k) -> Tensor", &f{seed});\n' for seed in seeds)
    return f"{HEAD}{functions}}}\nTORCH_LIBRARY({library}, m) {{\n{defined}}}\n"


def function(seed: int) -> str:
    """The source of `Tensor fSEED(const Tensor& x, const Tensor& y, int64_t k)`."""
    draw = random.Random(seed)
    statements, tail = [*draw.choice(_SIZES).split("; "), "Tensor z = x"], draw.choice(TAILS)
    if draw.random() < 0.35:
        statements += [_branch(draw)] if draw.random() < 0.5 else []
        built, _, tail = draw.choice(_BUILT).partition(" => ")
        statements.append(built)
    else:
        statements += [_branch(draw) for _ in range(draw.choice((1, 1, 1, 2, 2)))]
    body = _indented(*statements, f"return {tail}")
    return f"Tensor f{seed}(const Tensor& x, const Tensor& y, int64_t k) {{\n{body}}}\n"


def counting(seed: int) -> str:
    """The same, of a function that computes with sizes."""
    draw = random.Random(seed)
    built, _, tail = draw.choice(_COUNTED).partition(" => ")
    body = _indented(*draw.choice(_SIZES[:2]).split("; "), "Tensor z = x", built, f"return {tail}")
    return f"Tensor f{seed}(const Tensor& x, const Tensor& y, int64_t k) {{\n{body}}}\n"


def _condition(draw: random.Random) -> str:
    condition, kind = draw.choice(CONDITIONS), draw.random()
    if kind < 0.1:
        return f"({condition}) {draw.choice(('&&', '||'))} ({draw.choice(CONDITIONS)})"
    return f"!({condition})" if kind > 0.95 else condition


def _branch(draw: random.Random, nested: bool = False) -> str:
    condition, kind = _condition(draw), draw.random()
    head = f"if ({condition}) {{\n"
    if kind < 0.4:
        return f"{head}{_indented(draw.choice(ENDS))}}}"
    if kind < 0.64:
        return f"{head}{_indented(draw.choice(STEPS))}}}"
    if kind < 0.74:
        return f"{head}{_indented(draw.choice(STEPS))}}} else {{\n{_indented(draw.choice(STEPS + ENDS))}}}"
    if kind < 0.78:
        other = f"}} else if ({_condition(draw)}) {{\n{_indented(draw.choice(STEPS + ENDS))}}}"
        return f"{head}{_indented(draw.choice(STEPS))}{other}"
    if kind < 0.82 and not nested:
        return f"{head}{_indented(_branch(draw, nested=True))}}}"
    if kind < 0.88:
        first, second = draw.sample(_NUMBERS, 2)
        return f"n = ({condition}) ? {first} : {second}"
    if kind < 0.93:
        taken = draw.choice(("z", "z * 2", "z.expand({n, m})", "z.contiguous()"))
        return f"z = ({condition}) ? {taken} : {draw.choice(('z', 'z.clone()', 'x'))}"
    if kind < 0.97:
        return f'TORCH_CHECK({condition}, "no ", n)'
    return f"if (({condition}) || k < 0) {{\n{_indented(draw.choice(ENDS))}}}"


def _indented(*statements: str) -> str:
    ends = (
        statement if statement.endswith("}") and "{\n" in statement else f"{statement};" for statement in statements
    )
    return textwrap.indent("".join(f"{statement}\n" for statement in ends), "  ")
