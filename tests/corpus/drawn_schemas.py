"""Libraries drawn at random whose schemas take sizes as integers: every seed is another operator and a caller of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

HEAD = """#include <torch/library.h>
#include <torch/csrc/autograd/custom_function.h>
#include <ATen/ATen.h>
#include <c10/util/irange.h>
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>
using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
namespace @library@ {
"""
_RESULTS = """int64_t h = p + 1; => {h, x.size(1)}
const auto h = p * 2; => {h}
int64_t h = p / 2; => {h + 1, x.size(0)}
std::vector<int64_t> s{p, x.size(0)}; => s
std::vector<int64_t> s(q.begin(), q.end()); s.push_back(p); => s
auto s = q.vec(); s.back() = p; => s
auto s = q.vec(); s.insert(s.begin(), p); => s
std::array<int64_t, 2> s{p, q[0]}; => s
c10::SmallVector<int64_t, 4> s; s.push_back(p); s.push_back(q.back()); => s
int64_t t = 1; for (auto d : q) { t *= d; } => {t, p}
int64_t t = 1; for (const auto i : c10::irange(q.size())) { t *= q[i]; } => {t}
auto t = c10::multiply_integers(q); => {t, p}
const int64_t t = std::accumulate(q.begin(), q.end(), int64_t{1}, std::multiplies<int64_t>()); => {t}
int64_t h = std::max(p, x.size(0)); => {h}
int64_t h = std::max<int64_t>(p, 3); => {h, q.front()}
int64_t h = std::min(p, q[1]); => {h, h}
auto h = p > 3 ? p : p + 1; => {h}
int h = p; => {h, 2}
auto h = static_cast<int>(p); => {h}
int64_t h = p; h -= 1; h = h + 2; => {h, x.size(1)}
int64_t h = p; if (h < 2) { h = 2; } => {h}
double r = 1.5 * p; => {static_cast<int64_t>(r) + 1}
bool odd = p % 2; => {odd ? p : p + 2}
auto [a, b] = std::make_tuple(p, q[0]); => {a, b}
std::string text = std::to_string(p); => {p, static_cast<int64_t>(1)}
size_t u = p; => {static_cast<int64_t>(u)}
auto s = q.slice(0, 1); => s
auto next = [&](int64_t v) { return v + 1; }; => {next(p)}
std::vector<int64_t> s(q.size(), p); => s
auto s = x.sizes().vec(); s[0] = p; => s
auto s = x.sizes().vec(); s.resize(1); s.push_back(p); => s
uint32_t v = p; => {p}
=> {p, q[0], q[1]}
=> q
=> {p}
=> {p, x.size(0) + p}
=> {(p + 3) / 4 * 4}
=> at::IntArrayRef({p, q[0]})""".splitlines()
_CHECKS = """TORCH_CHECK(p > 0, "p ", p);
TORCH_CHECK(p >= 0 && q[0] >= 0, "got ", p, " and ", q);
TORCH_CHECK(q.size() == 2, "two, not ", q.size());
TORCH_CHECK(p < 1000000, c10::str("p is ", p));
TORCH_INTERNAL_ASSERT(p != -1);
TORCH_CHECK_VALUE(p <= x.size(0) * 100 + 100, "large");
if (p < 0) { return x.clone(); }""".splitlines()
_SIZES = """n; m; n * 2; n + m; n / 2 + 1; k; n + k; y.size(0); x.numel(); x.size(-1); std::max(n, m); n - m + 8
x.stride(0); (n + 1) / 2; 3""".replace("\n", "; ").split("; ")
_LISTS = ["{n, m}", "{m, k}", "{n, 2}", "x.sizes()", "s", "{n + 1, y.size(0)}", "{2, 3}", "x.sizes().slice(0)"]
_SAVED = (
    ('ctx->saved_data["sizes"] = x.sizes();', 'auto sizes = ctx->saved_data["sizes"].toIntVector();',
     "sum.expand(sizes)"),
    ('ctx->saved_data["a"] = x.size(0);\n    ctx->saved_data["b"] = x.size(1);',
     'const int64_t a = ctx->saved_data["a"].toInt(), b = ctx->saved_data["b"].toInt();', "sum.expand({a, b})"),
    ('ctx->saved_data["p"] = p;\n    ctx->saved_data["sizes"] = x.sizes();', 'auto p = ctx->saved_data["p"].toInt();',
     '(sum * p / (p + 1)).expand(ctx->saved_data["sizes"].toIntVector())'),
)  # fmt: skip


class Drawn(NamedTuple):
    """The functions of one operator and its caller, its schemas, and which kernel it has under which key."""

    functions: str
    schemas: tuple[str, ...]
    kernels: dict[str, str]


def draw(seed: int) -> Drawn:
    """The operator `g{seed}`, which `f{seed}` calls as `Tensor f(Tensor x, Tensor y, int k)` with sizes."""
    pick = random.Random(seed)
    code, shape = (part.strip() for part in f" {pick.choice(_RESULTS)}".split("=>"))
    check = pick.choice(_CHECKS) if pick.random() < 0.5 else ""
    listed = "q" in f"{code} {shape} {check}" or pick.random() < 0.4
    given: list[tuple[str, str, str, str]] = [("int64_t", "p", "int p", pick.choice(_SIZES))]
    if listed:
        given.append(("at::IntArrayRef", "q", "int[] q", pick.choice(_LISTS)))
    extra = pick.random()
    if extra < 0.25:
        given.append(("int64_t", "extra", "int extra", pick.choice(["2", "k", "m"])))
    elif extra < 0.4:
        given.append(("std::optional<int64_t>", "extra", "int? extra", pick.choice(["std::nullopt", "m", "k"])))
    constant = pick.choice(["", "const "])
    parameters = ", ".join(
        ["const Tensor& x", *(f"{constant if k == 'int64_t' else ''}{k} {n}" for k, n, _, _ in given)]
    )
    types = ", ".join(["const Tensor&", *(kind for kind, _, _, _ in given)])
    names = ", ".join(name for _, name, _, _ in given)
    made = pick.choice([f"at::empty({shape}, x.options())", f"x.new_empty({shape})"])
    typed = pick.choice([f"typed<decltype(g{seed})>()", f"typed<Tensor({types})>()"])
    own_check = check if pick.random() < 0.7 else ""
    text = f"""Tensor g{seed}_cpu({parameters}) {{
  {check}
  {code}
  return at::ones({shape}, x.options()) * x.sum();
}}
Tensor g{seed}_meta({parameters}) {{
  {own_check}
  {code}
  return {made};
}}
Tensor g{seed}({parameters}) {{
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("@library@::g{seed}", "").{typed};
  return op.call(x, {names});
}}
"""
    kernels = {"CPU": f"g{seed}_cpu", "Meta": f"g{seed}_meta"}
    if pick.random() < 0.35:
        kernels["Autograd"] = f"g{seed}_autograd"
        saved, read, gradient = pick.choice(_SAVED)
        text += f"""class G{seed} : public torch::autograd::Function<G{seed}> {{
 public:
  static Tensor forward(AutogradContext* ctx, {parameters}) {{
    at::AutoDispatchBelowADInplaceOrView guard;
    {saved}
    return g{seed}(x, {names});
  }}
  static variable_list backward(AutogradContext* ctx, variable_list grads) {{
    const Tensor sum = grads[0].sum();
    {read}
    return {{{gradient}, {", ".join(["Tensor()"] * len(given))}}};
  }}
}};
Tensor g{seed}_autograd({parameters}) {{
  return G{seed}::apply(x, {names});
}}
"""
    sizes = pick.choice(["int64_t n = x.size(0), m = x.size(1);", "auto n = x.size(0); const auto m = x.size(1);"])
    vector = " auto s = x.sizes().vec();" if any(value == "s" for _, _, _, value in given) else ""
    text += f"""Tensor f{seed}(const Tensor& x, const Tensor& y, int64_t k) {{
  {sizes}{vector}
  auto z = g{seed}(x, {", ".join(value for _, _, _, value in given)});
  return {pick.choice(["z", "z + 1"])};
}}
"""
    schema = ", ".join(["Tensor x", *(written for _, _, written, _ in given)])
    caller = f'"f{seed}(Tensor x, Tensor y, int k) -> Tensor", @library@::f{seed}'
    return Drawn(text, (f'"g{seed}({schema}) -> Tensor"', caller), kernels)


def source(seeds: Sequence[int], library: str) -> str:
    """A library of these operators, in one file; what belongs to a seed stands between `// drawn` and `// end`."""
    drawn = {seed: draw(seed) for seed in seeds}
    text = HEAD + "".join(f"// drawn {seed}\n{each.functions}// end\n" for seed, each in drawn.items()) + "}\n"
    schemas = "".join(f"  m.def({schema});\n" for each in drawn.values() for schema in each.schemas)
    text += f"TORCH_LIBRARY(@library@, m) {{\n{schemas}}}\n"
    for key in ("CPU", "Meta", "Autograd"):
        lines = (
            f'  m.impl("g{seed}", @library@::{e.kernels[key]});\n' for seed, e in drawn.items() if key in e.kernels
        )
        text += f"TORCH_LIBRARY_IMPL(@library@, {key}, m) {{\n{''.join(lines)}}}\n"
    return text.replace("@library@", library)
