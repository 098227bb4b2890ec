"""Kernels drawn at random, and the fakes that symfix reads from them, run beside each other.

    python tests/corpus/fuzz_fakes.py --kernels 150 --seed 1

All kernels are operators of one library, which is built with $CXX or g++. For what the kernel takes, its fake has to
give the same shapes, dtypes and strides: for inputs of every rank, with sizes 0 and 1, permuted, with and without the
optional argument, and with sizes that are symbols. Printed is each fake that does not, with its kernel, then how many
there are of each. Needs torch.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from corpus_trees import apply_in
from fuzz_cpp import load, refused
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

_HEAD = """#include <torch/library.h>
#include <ATen/ATen.h>
#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>
using at::Tensor;
static void fill(const Tensor& t) { t.zero_(); }
static int64_t helper(int64_t n) { return n / 2; }
"""
_SCHEMA = "(Tensor x, Tensor? w, int k, bool b, int[] q) -> (Tensor, Tensor)"
_PARAMETERS = "const Tensor& x, const std::optional<Tensor>& w, int64_t k, bool b, at::IntArrayRef q"


def _split(text: str, between: str) -> list[str]:
    return [part for line in text.splitlines() for part in line.split(between) if part]


_CONDITIONS = _split(
    """b; !b; k > 1; k == 2; k; x.dim() == 2; x.dim() > 1 && b; w.has_value(); b || k < 2
x.scalar_type() == at::kFloat; w.has_value() && w->dim() == 1; !w.has_value(); q.size() == 2; x.is_floating_point()
@i == 0; @t.size(0) == 0; @t.numel() == 0; @i > 2; @t.dim() == 1; @t.dim() < 3 && !b""",
    "; ",
)
_INTEGERS = _split(
    """@t.size(0); @t.size(-1); @t.numel(); @t.dim(); k; k + 1; @i + 1; @i * 2; @i / 2; @i / 2 + 1; @i % 2
std::max(@i, k); std::min<int64_t>(@i, 3); b ? @i : k; @i - 1; q[0]; q[0] / 2 + 1; q.size(); helper(@i); 3
w.has_value() ? w->size(0) : k; (@i + k) / 2; static_cast<int64_t>(@i)
@i >> 1; x.sizes().back(); q.front()""",
    "; ",
)
_TENSORS = _split(
    """x.contiguous(); @t.unsqueeze(0); @t.unsqueeze(-1); @t.flatten(); @t.clone(); @t * 2; @t + @t; at::empty_like(@t)
at::cat({@t, @t}, 0); at::cat({@t, @t.clone()}, -1); at::empty({@i, k}, x.options()); @t.new_zeros({@i}); @t.t(); @t
at::zeros({@i, @t.size(0)}, @t.options().dtype(at::kLong)); at::full({k, @i}, 2, @t.options()); @t.to(at::kDouble)
@t.transpose(0, -1); @t.slice(0, 0, k); @t.flip(0); @t.select(0, 0); @t.sum(0); at::stack({@t, @t}, 1)
@t.expand({2, -1})
at::empty(@l, x.options()); at::ones(q, x.options()); b ? @t : x; w.has_value() ? *w : @t; @t.view({-1}); @t.squeeze(0)
at::zeros_like(@t, at::kInt); @t.permute({1, 0}); @t.narrow(0, 0, k); @t[0]; at::tensor({1, 2}); @t.reshape({@i, -1})
@t.mean(-1, true); at::empty({k, k / 2}, x.options()); @t.type_as(x); @t.detach(); @t.repeat({2, 1}); @t.diagonal()
@t.to(x.device()); @t.to(at::result_type(@t, @t)); at::empty(at::IntArrayRef({@i, k}), x.options())""",
    "; ",
)
_LISTS = [
    "x.sizes().vec()",
    "q.vec()",
    "@t.sizes().vec()",
    "std::vector<int64_t>{@i, k}",
    "std::vector<int64_t>(x.sizes().begin(), x.sizes().end())",
]
_EFFECTS = _split(
    """@t.zero_();  @t.unsqueeze_(0);  @t.squeeze_(0);  @t.t_();  fill(@t);  @t.transpose_(0, -1)
@t.mul_(2);  @i += 2;  @i++
std::swap(@i, @j);  std::swap(@t, @u);  @l.push_back(@i);  @l[0] = @i;  std::reverse(@l.begin(), @l.end())
@l.pop_back();  s0.push_back(2); s0.back() = @i;  s0.push_back(k); s0.front() = @i
[&] { @i = 4; }();  [&] { @t.t_(); }();  auto f@n = [&] { @t.t_(); }; f@n();  std::tie(@i, @j) = std::make_tuple(k, @i);
auto& r@n = @i; r@n = 7;  auto& r@n = @t; r@n = @u;  auto r@n = @t; r@n.unsqueeze_(0);  @t.resize_({2, 3})
@t.squeeze_()
for (int64_t j = 0; j < 2; ++j) { @i = @i + j; }  for (auto& d : @l) { d = d + 1; }  { @i = 3; }  { auto @i = k; }
TORCH_CHECK(@i >= 0, "no ", @i);  TORCH_CHECK(@t.dim() > 0 && k < 9);  TORCH_CHECK(@t.sizes() == @u.sizes());
if (@t.numel() == 0) { return std::make_tuple(@t, @u); }  if (b) return std::make_tuple(@t, x.clone());
if (@t.numel() == 0) return std::make_tuple(at::zeros_like(@t), at::empty_like(@t));
if (@t.dim() > 4) { AT_ERROR("rank"); }  @t.set_(@u);  @i = @j, @j = k;  Tensor v@n; if (b) v@n = @t; fill(x);
switch (k) { case 1: @i = 2; break; default: @t = @u; }  while (@i > 9) { @i = @i / 2; }  @t = @u = @t.clone();
""",
    "  ",
)


class Drawn(NamedTuple):
    """A kernel: what it is called, and its definition."""

    name: str
    text: str


class _Writer:
    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        self.count = 0
        self.held: dict[str, list[str]] = {"i": ["n0", "n1"], "t": ["t0", "t1"], "l": ["s0"]}

    def filled(self, text: str) -> str:
        """A template with names of its kinds put in."""
        number = self.count

        def name(match: re.Match[str]) -> str:
            kind = {"j": "i", "u": "t"}.get(match[1], match[1])
            return str(number) if kind == "n" else self.pick.choice(self.held[kind])

        return re.sub(r"@(\w)", name, text)

    def statement(self, depth: int) -> str:
        self.count += 1
        roll = self.pick.random()
        if roll < 0.22 and depth < 3:
            condition = self.filled(self.pick.choice(_CONDITIONS))
            text = f"if ({condition}) {{ {self.block(depth + 1)} }}"
            return text + (f" else {{ {self.block(depth + 1)} }}" if self.pick.random() < 0.5 else "")
        if roll < 0.45:
            kind = self.pick.choice("iittt")
            target, options = self.filled(f"@{kind}"), _INTEGERS if kind == "i" else _TENSORS
            return f"{target} = {self.filled(self.pick.choice(options))};"
        if roll < 0.75:
            return self.declared(depth)
        return self.filled(self.pick.choice(_EFFECTS)) + ";"

    def declared(self, depth: int) -> str:
        kind = self.pick.choice("itttl")
        options = {"i": _INTEGERS, "t": _TENSORS, "l": _LISTS}[kind]
        value, name = self.filled(self.pick.choice(options)), f"{'n' if kind == 'i' else kind}{self.count + 1}"
        spelled = {"i": ["int64_t"], "t": ["auto", "Tensor", "Tensor"], "l": ["auto"]}[kind]
        if depth == 0:
            self.held[kind].append(name)
        return f"{self.pick.choice(spelled)} {name} = {value};"

    def block(self, depth: int) -> str:
        return " ".join(self.statement(depth) for _ in range(self.pick.randint(1, 3)))


def draw(seed: int) -> Drawn:
    """The kernel of a seed."""
    writer = _Writer(seed)
    lines = ["Tensor t0 = x.contiguous(), t1 = at::empty({2, k}, x.options());", "int64_t n0 = x.size(0), n1 = k;"]
    lines += ["auto s0 = x.sizes().vec();"]
    lines += [writer.statement(0) for _ in range(writer.pick.randint(2, 7))]
    first, second = writer.filled("@t"), writer.filled(writer.pick.choice(_TENSORS))
    lines.append(f"return std::make_tuple({first}, {second});")
    body = "\n".join(f"  {line}" for line in lines)
    return Drawn(f"k{seed}", f"std::tuple<Tensor, Tensor> k{seed}({_PARAMETERS}) {{\n{body}\n}}\n")


def source(kernels: Sequence[Drawn]) -> str:
    """The library of some kernels."""
    defined = "".join(f'  m.def("{kernel.name}{_SCHEMA}");\n' for kernel in kernels)
    kept = "".join(f'  m.impl("{kernel.name}", {kernel.name});\n' for kernel in kernels)
    text = "".join(f"// drawn {kernel.name[1:]}\n{kernel.text}// end\n" for kernel in kernels)
    return (
        f"{_HEAD}{text}TORCH_LIBRARY(drawn_kernels, m) {{\n{defined}}}\n"
        f"TORCH_LIBRARY_IMPL(drawn_kernels, CPU, m) {{\n{kept}}}\n"
    )


def fakes(text: str, folder: Path) -> dict[str, str]:
    """The fakes that symfix writes for a library, by operator."""
    folder.mkdir()
    (folder / "ops.cpp").write_text(text)
    module = folder / "ops.py"
    module.write_text("import torch\n\ntorch.ops.load_library('ops.so')\n")
    apply_in(folder, "review", paths=("--mode", "3"))
    parts = module.read_text().split("\n\n\n@torch.library.register_fake(")
    return {name: part for part in parts[1:] if (name := part.split('"')[1].partition("::")[2])}


def inputs() -> Iterator[tuple[Any, ...]]:
    """The arguments that kernels and fakes are called with."""
    shapes = [(3,), (0,), (1,), (2, 3), (0, 2), (2, 0), (1, 1), (4, 4), (2, 3, 4), (1, 0, 2), (2, 1, 2, 2)]
    for shape, optional, (k, b), permuted in itertools.product(
        shapes, (None, (2,), (3, 2)), ((0, False), (1, True), (2, True), (3, False)), (False, True)
    ):
        x = torch.ones(shape, dtype=torch.float64 if permuted else torch.float32)
        x = x.transpose(0, -1).contiguous().transpose(0, -1) if permuted and len(shape) > 1 else x
        yield x, None if optional is None else torch.ones(optional), k, b, [2, k]


def described(results: Any) -> list[Any]:
    """Shapes, dtypes and strides, those of symbols as what they stand for; strides that say something alone."""
    return [_described(result) if isinstance(result, torch.Tensor) else None for result in results]


def _described(tensor: torch.Tensor) -> tuple[Any, ...]:
    shape = tuple(map(int, tensor.shape))
    strides = [int(stride) for size, stride in zip(shape, tensor.stride(), strict=True) if size > 1]
    return shape, tensor.dtype, strides if 0 not in shape else []


def differing(operator: Any, *, symbolic: bool) -> str:
    """The first call whose fake is not like the kernel, "" where there is none."""
    for arguments in inputs():
        try:
            expected = described(operator(*(a.clone() if isinstance(a, torch.Tensor) else a for a in arguments)))
        except (RuntimeError, IndexError):
            continue
        mode = FakeTensorMode(shape_env=ShapeEnv(), static_shapes=not symbolic)
        with mode:
            faked = [mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in arguments]
            try:
                given = described(operator(*faked))
            except Exception as error:  # whatever a fake raises
                return f"{[getattr(a, 'shape', a) for a in arguments]}: {str(error).splitlines()[0][:150]}"
        if given != expected:
            return f"{[getattr(a, 'shape', a) for a in arguments]}: {given} for {expected}"
    return ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Draws, builds, reads, compares, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    kinds = Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        drawn = [draw(seed) for seed in range(options.seed, options.seed + options.kernels)]
        broken = refused(source(drawn), folder)
        kernels = [kernel for kernel in drawn if int(kernel.name[1:]) not in broken]
        written = fakes(source(kernels), folder / "tree")
        load(source(kernels), "drawn_kernels", folder)
    for kernel in kernels:
        if kernel.name not in written:
            kinds["left"] += 1
            continue
        exec(f"import torch\n@torch.library.register_fake({written[kernel.name]}", {})
        operator = getattr(torch.ops.drawn_kernels, kernel.name)
        shown = differing(operator, symbolic=False) or differing(operator, symbolic=True)
        kinds["wrong" if shown else "right"] += 1
        if shown:
            print(f"{shown}\n{kernel.text}{written[kernel.name]}\n", flush=True)
    print(", ".join(f"{kind}: {count}" for kind, count in kinds.most_common()))


if __name__ == "__main__":
    main()
