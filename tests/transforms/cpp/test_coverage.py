"""Operators that symbols cannot pass: first those that they can, then what is said of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.findings import Finding, Level, Mode
from tests.transforms.cpp.snippets import HEADER, SCHEMAS, MemoryProject
from transforms.cpp.analyse import analyse_tree
from transforms.cpp.coverage.sketch import made
from transforms.cpp.reading.extract import extract

KERNEL = """\
Tensor fold_cpu(const Tensor& x, int64_t n) {
  auto out = torch::empty({n, 2}, x.options());
  auto scratch = torch::zeros({n}, x.options());
  out.data_ptr<float>()[0] = 1;
  return out;
}
"""
DEFINED = 'TORCH_LIBRARY(lib, m) { m.def("fold(Tensor x, int n=2, *, bool exact=False) -> Tensor"); }\n'
ON_CPU = 'TORCH_LIBRARY_IMPL(lib, CPU, m) { m.impl("fold", fold_cpu); }\n'
ALONE = KERNEL + DEFINED + ON_CPU
COMPOSITE = "Tensor fold(const Tensor& x, int64_t n) { return fold_cpu(x, n); }\n"


def missing(root: Path, **files: str) -> list[Finding]:
    """The findings of the rule in files named by a letter: `c` is C++, `k` one of a backend's, `p` Python."""
    suffixes = {"c": "c.cpp", "o": "o.cpp", "k": "cpu/k.cpp", "g": "cuda/g.cu", "t": "tests/t.py", "p": "lib/p.py"}
    suffixes |= {"e": "examples/e.py", "i": "lib/__init__.py", "u": "lib/inner/u.py"}
    (root / "schemas.yaml").write_text(SCHEMAS)
    contents = {suffixes[name]: text for name, text in files.items()} | {"c10.h": HEADER}
    project = MemoryProject(root, contents, root / "schemas.yaml")
    return [finding for finding in analyse_tree(project) if finding.rule == "missing-fake"]


@pytest.mark.parametrize(
    "further",
    [
        'TORCH_LIBRARY_IMPL(lib, Meta, m) { m.impl("fold", fold_meta); }',
        'TORCH_LIBRARY_IMPL(lib, CompositeExplicitAutograd, m) { m.impl("fold", fold_meta); }',
        'TORCH_LIBRARY_IMPL(lib, CompositeImplicitAutograd, m) { m.impl("fold", fold_meta); }',
    ],
)
def test_a_kernel_for_symbols_is_enough(tmp_path: Path, further: str) -> None:
    meta = "Tensor fold_meta(const Tensor& x, int64_t n) { return x.new_empty({n}); }\n"
    assert missing(tmp_path, c=ALONE + meta + further) == []


@pytest.mark.parametrize(
    "python",
    [
        '@torch.library.register_fake("lib::fold")\ndef _(x, n):\n    return x\n',
        '@torch.library.impl_abstract("lib::fold")\ndef _(x, n):\n    return x\n',
        '@torch.library.impl("lib::fold", "Meta")\ndef _(x, n):\n    return x\n',
        'def meta(x, n):\n    return x\n\nlib = torch.library.Library("lib", "IMPL", "Meta")\nlib.impl("fold", meta)\n',
        (
            "def fake(name):\n    return torch.library.register_fake(name)\n\n"
            '@fake("lib::fold")\ndef _(x, n):\n    return x\n'
        ),
        'torch.library.register_fake("lib::fold")(lambda x, n: x)\n',
        'for name in ("fold", "other"):\n    torch.library.register_fake(f"lib::{name}")(lambda x, n: x)\n',
    ],
)
def test_a_fake_in_python_is_enough(tmp_path: Path, python: str) -> None:
    assert missing(tmp_path, c=ALONE, p="import torch\n\n\n" + python) == []


@pytest.mark.parametrize(
    "source",
    [
        # Another library's operator.
        KERNEL + 'TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("fold", fold_cpu); }\n',
        # No tensor goes in.
        'int64_t v() { return 1; }\nTORCH_LIBRARY(lib, m) { m.def("v() -> int"); m.impl("v", torch::kCPU, v); }\n',
        # torch makes a fake of what writes and returns nothing.
        KERNEL + 'TORCH_LIBRARY(lib, m) { m.def("fold(Tensor(a!) x, int n) -> ()"); }\n' + ON_CPU,
        KERNEL + 'TORCH_LIBRARY(lib, m) { m.def("fold(Tensor! x, int n) -> ()"); }\n' + ON_CPU,
        KERNEL + 'TORCH_LIBRARY(lib, m) { m.def("fold(Tensor !x, int n) -> ()"); }\n' + ON_CPU,
        # The kernel is registered elsewhere.
        DEFINED,
        # Composites of operators.
        'Tensor f(const Tensor& x) { return x.mul(2); }\nTORCH_LIBRARY(lib, m) { m.def("f", &f); }\n',
        'TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor", [](const Tensor& x) { return x.mul(2); }); }\n',
        # A pybind function is no operator.
        KERNEL + 'PYBIND11_MODULE(lib, m) { m.def("fold", &fold_cpu); }\n',
    ],
)
def test_nothing_is_missing(tmp_path: Path, source: str) -> None:
    assert missing(tmp_path, c=source) == []


def test_backends_alone(tmp_path: Path) -> None:
    (finding,) = missing(tmp_path, c=ALONE, t='@torch.library.register_fake("lib::fold")\ndef _(x, n): return x\n')
    assert (finding.mode, finding.level, finding.refusal) == (Mode.TENSOR_ITERATOR, Level.MANUAL, "no-fake")
    assert (finding.operators, finding.function, finding.edits) == (("lib::fold",), "fold_cpu", ())
    assert finding.message == "lib::fold has kernels for CPU, and no Meta kernel or fake was found"
    assert finding.reason == (
        'register a fake: @torch.library.register_fake("lib::fold") def _(x, n=2, *, exact=False): ...  # -> Tensor'
        "; `fold_cpu` makes what it returns: `out = torch::empty({n, 2}, x.options())`"
        "; not written by symfix: its parameters are not those of the schema"
    )
    assert [step.text for step in finding.reach] == ["lib::fold is registered for CPU"]


@pytest.mark.parametrize(
    ("kernel", "schema", "why"),
    [
        (
            "Tensor cut(const Tensor& x) { x.data_ptr<float>(); return at::empty({rows()}, x.options()); }",
            "cut(Tensor x) -> Tensor",
            "what `rows()` is in Python is not known",
        ),
        (
            "Tensor cut(const Tensor& x) {\n  x.data_ptr<float>();\n  return turned(\n      x,\n      {1, 0});\n}",
            "cut(Tensor x) -> Tensor",
            "what `turned( x, {1, 0})` is in Python is not known",
        ),
        (
            "Tensor cut(const Tensor& x) { if (*x.data_ptr<int>()) { return x.clone(); } return at::empty_like(x); }",
            "cut(Tensor x) -> Tensor",
            "whether it returns at `return x.clone();` is not for a fake to ask",
        ),
        (
            "Tensor cut(const Tensor& x) { for (int i = x.data_ptr<int>()[0]; i > 0; --i) return x; return x + 1; }",
            "cut(Tensor x) -> Tensor",
            "whether it returns at `return x;` is not for a fake to ask",
        ),
        (
            "void cut(const Tensor& x) { x.data_ptr<float>(); }",
            "cut(Tensor x) -> ()",
            "it gives no result, and what it does instead is not known",
        ),
    ],
)
def test_why_a_fake_is_not_written_is_said_in_words(tmp_path: Path, kernel: str, schema: str, why: str) -> None:
    source = f'{kernel}\nTORCH_LIBRARY(lib, m) {{ m.def("{schema}"); }}\n'
    source += 'TORCH_LIBRARY_IMPL(lib, CPU, m) { m.impl("cut", cut); }\n'
    (finding,) = missing(tmp_path, c=source)
    assert finding.reason.endswith(f"; not written by symfix: {why}")


@pytest.mark.parametrize(
    "registered",
    [
        'TORCH_LIBRARY(lib, m) { m.def("fold(Tensor x, int n) -> Tensor", &fold); }',
        'TORCH_LIBRARY(lib, m) { m.def("fold(Tensor x, int n) -> Tensor"); m.impl("fold", fold); }',
        'static auto registry = torch::RegisterOperators().op("lib::fold", &fold);',
    ],
)
def test_a_composite_around_a_kernel_of_a_backend(tmp_path: Path, registered: str) -> None:
    (finding,) = missing(tmp_path, c=COMPOSITE + registered, k=KERNEL)
    assert finding.refusal == "composite-kernel"
    assert finding.message == "lib::fold is a composite that calls `fold_cpu` (cpu/k.cpp:1), which reads memory"
    assert "register_fake" in finding.reason
    assert finding.reach[-1].text == "fold calls fold_cpu"


def test_a_composite_that_returns_nothing_needs_a_schema_alone(tmp_path: Path) -> None:
    source = "void fill(const Tensor& x, Tensor& out) { out.data_ptr<float>()[0] = x.data_ptr<float>()[0]; }\n"
    (finding,) = missing(tmp_path, c=source + 'TORCH_LIBRARY(lib, m) { m.def("fill", &fill); }\n')
    assert finding.reason == (
        "define it with a schema that marks what it writes to, as `Tensor(a!) out`, register its kernels for their "
        "backends, its derivative, if any, for Autograd: what writes and returns nothing needs no fake"
    )
    said = 'TORCH_LIBRARY(lib, m) { m.def("fill(Tensor x, Tensor(a!) out) -> ()", &fill); }\n'
    (finding,) = missing(tmp_path, c=source + said)
    assert finding.reason == (
        "register its kernels for their backends, its derivative, if any, for Autograd: what writes and returns "
        "nothing needs no fake"
    )
    (finding,) = missing(tmp_path, c=source + said.replace("(a!)", ""))
    assert "and a fake" in finding.reason


FAKED = 'import torch\n\n\n@torch.library.register_fake("lib::fold")\ndef _(x, n):\n    return x\n'
REPLACED = """\
import torch


@torch.library.impl("lib::fold", "CompositeImplicitAutograd")
def fold(x, n):
    return x.new_empty(n, 2)
"""


def test_the_fake_of_a_composite_is_refused_by_torch(tmp_path: Path) -> None:
    source = COMPOSITE + 'TORCH_LIBRARY(lib, m) { m.def("fold", &fold); }'
    (finding,) = missing(tmp_path, c=source, k=KERNEL, p=FAKED)
    assert finding.reason == (
        "torch refuses its fake while it is one: define it with a schema, register its kernels for their backends, "
        "its derivative, if any, for Autograd"
    )
    assert missing(tmp_path, c=source, k=KERNEL, p=REPLACED) == []
    # Of what is no literal no more is known than that it may be this operator.
    named = 'import torch\n\nNAMES = ("fold",)\n\ntorch.library.register_fake("lib::" + NAMES[i])(lambda x, n: x)\n'
    assert missing(tmp_path, c=source, k=KERNEL, p=named) == []


@pytest.mark.parametrize(
    ("returns", "shown"),
    [
        ("at::Tensor", "Tensor"),
        ("std::tuple<torch::Tensor, std::optional<at::Tensor>, int64_t>", "Tensor, Tensor?, int"),
        ("std::vector<std::vector<double>>", "float[][]"),
        ("c10::List<std::string>", "str[]"),
        ("torch::autograd::variable_list", "Tensor[]"),
        ("Shapes", "Shapes"),
        ("std::map<Tensor, int64_t>", "map<Tensor, int64_t>"),
    ],
)
def test_the_sketch_has_the_types_of_a_schema(tmp_path: Path, returns: str, shown: str) -> None:
    kernel = f"{returns} cut(const Tensor& x) {{ x.data_ptr<float>(); return {{}}; }}\n"
    (finding,) = missing(tmp_path, c=kernel + 'TORCH_LIBRARY(lib, m) { m.def("cut", &cut); }\n')
    assert finding.reason.endswith(f"def _(x): ...  # -> {shown}")


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        ("return at::empty({rows()}, x.options());", "what `rows()` is in Python is not known (`g`, cuda/g.cu:1)"),
        ("return x.new_empty({2});", "its kernels return different things: `f` and `g` do"),
        ("return at::empty({x.size(0)} x.options());", "its kernel cannot be parsed (`g`, cuda/g.cu:1)"),
    ],
)
def test_of_several_kernels_the_one_is_named_that_stops_the_fake(tmp_path: Path, kernel: str, why: str) -> None:
    source = "Tensor f(const Tensor& x) { x.data_ptr<float>(); return at::empty({3}, x.options()); }\n"
    source += 'TORCH_LIBRARY(lib, m) { m.def("cut(Tensor x) -> Tensor"); }\n'
    source += 'TORCH_LIBRARY_IMPL(lib, CPU, m) { m.impl("cut", f); }\n'
    other = f"Tensor g(const Tensor& x) {{ x.data_ptr<float>(); {kernel} }}\n"
    other += 'TORCH_LIBRARY_IMPL(lib, CUDA, m) { m.impl("cut", g); }\n'
    (finding,) = missing(tmp_path, c=source, g=other)
    assert finding.reason.endswith(f"; not written by symfix: {why}")


@pytest.mark.parametrize(
    ("body", "does"),
    [
        ("auto p = x.data_ptr<float>(); at::parallel_for(0, 2, 1, run);", "reads memory itself"),
        ('AT_DISPATCH_ALL_TYPES(x.scalar_type(), "f", run);', "is written for one scalar type at a time (AT_DISPATCH)"),
        ("at::parallel_for(0, 2, 1, run);", "shares its work among threads, where nothing is traced"),
    ],
)
def test_what_stops_a_composite_is_said(tmp_path: Path, body: str, does: str) -> None:
    source = f"Tensor f(const Tensor& x) {{ {body} return x; }}\n"
    (finding,) = missing(tmp_path, c=source + 'TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor", &f); }\n')
    assert finding.message == f"lib::f is a composite that {does}"


def test_a_composite_that_reads_memory_itself(tmp_path: Path) -> None:
    source = "Tensor f(const Tensor& x) { return x.mul(x.data_ptr<float>()[0] * x.size(0)); }\n"
    (finding,) = missing(tmp_path, c=source + 'TORCH_LIBRARY(lib, m) { m.def("f(Tensor x) -> Tensor", &f); }\n')
    assert finding.message == "lib::f is a composite that reads memory itself"


def test_through_an_autograd_function_the_kernel_of_the_processor_is_named_first(tmp_path: Path) -> None:
    source = """\
static Tensor pick(const Tensor& x, int64_t n) { return x.is_cuda() ? fold_cuda(x, n) : fold_cpu(x, n); }
struct Fold : torch::autograd::Function<Fold> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int64_t n) { return pick(x, n); }
};
Tensor fold(const Tensor& x, int64_t n) { return Fold::apply(x, n); }
static auto registry = torch::RegisterOperators().op("lib::fold", &fold);
"""
    (finding,) = missing(tmp_path, c=source, k=KERNEL, g=KERNEL.replace("fold_cpu", "fold_cuda"))
    assert finding.reach[-1].text == "fold calls fold_cpu"


ON_AUTOGRAD = 'TORCH_LIBRARY_IMPL(lib, Autograd, m) { m.impl("fold", fold_autograd); }\n'
STUB = """\
Tensor fold(const Tensor& x, int64_t n) {
  static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("lib::fold", "").typed<decltype(fold)>();
  return op.call(x, n, false);
}
"""
APPLIED = """\
struct Fold : torch::autograd::Function<Fold> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int64_t n) {
    at::AutoDispatchBelowADInplaceOrView below;
    return FORWARD(x, n);
  }
};
Tensor fold_autograd(const Tensor& x, int64_t n) { return Fold::apply(x, n); }
"""


def test_an_objects_forward_is_no_autograd_functions(tmp_path: Path) -> None:
    source = """\
struct Computer { Tensor forward(const Tensor& x) { x.data_ptr<float>(); return x; } };
"""
    other = """\
struct Fold : torch::autograd::Function<Fold> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, int64_t n) { return x; }
};
Tensor run(const Tensor& x, Computer& computer) { return computer.forward(x); }
TORCH_LIBRARY(lib, m) { m.def("run", run); }
"""
    (finding,) = missing(tmp_path, c=other, o=source)
    assert finding.message == "lib::run is a composite that calls `forward` (o.cpp:1), which reads memory"


def test_a_kernel_for_autograd_that_calls_the_operator_leaves_it_to_the_fake(tmp_path: Path) -> None:
    around = STUB + APPLIED.replace("FORWARD", "fold") + ON_AUTOGRAD
    assert missing(tmp_path, c=around + DEFINED, k=KERNEL + ON_CPU, p=FAKED) == []
    (finding,) = missing(tmp_path, c=around + DEFINED, k=KERNEL + ON_CPU)
    assert finding.refusal == "no-fake"


def test_a_kernel_for_autograd_that_comes_to_memory_is_run_before_any_fake(tmp_path: Path) -> None:
    past = APPLIED.replace("FORWARD", "fold_cpu") + ON_AUTOGRAD
    (finding,) = missing(tmp_path, c=past + DEFINED, k=KERNEL + ON_CPU, p=FAKED)
    assert (finding.refusal, finding.level, finding.edits) == ("autograd-kernel", Level.MANUAL, ())
    assert (
        finding.message == "lib::fold has a kernel for Autograd that calls `fold_cpu` (cpu/k.cpp:1), which reads memory"
    )
    assert finding.reason == (
        "tracing runs it before any fake: call the operator there, below Autograd "
        "(at::AutoDispatchBelowADInplaceOrView)"
    )
    (finding,) = missing(tmp_path, c=past + DEFINED, k=KERNEL)
    assert ", register its kernels for their backends, and register a fake: @torch" in finding.reason
    own = "Tensor fold_autograd(const Tensor& x, int64_t n) { x.data_ptr<float>(); return x; }\n"
    (finding,) = missing(tmp_path, c=own + ON_AUTOGRAD.replace("Autograd,", "AutogradCPU,") + DEFINED, p=FAKED)
    assert finding.message == "lib::fold has a kernel for Autograd that reads memory itself"


def test_torch_stable_has_no_symbols(tmp_path: Path) -> None:
    kernel = "torch::stable::Tensor fold(const torch::stable::Tensor& x) { return x; }\n"
    defined = 'STABLE_TORCH_LIBRARY(lib, m) { m.def("fold(Tensor x) -> Tensor"); }\n'
    meta = 'STABLE_TORCH_LIBRARY_IMPL(lib, Meta, m) { m.impl("fold", TORCH_BOX(&fold)); }\n'
    (finding,) = missing(tmp_path, c=kernel + defined + meta)
    assert finding.refusal == "stable-kernel"
    assert "in Python" in finding.reason
    plain = meta.replace("STABLE_", "")
    assert missing(tmp_path, c=kernel + defined + plain) == []
    fake = 'import torch\n@torch.library.register_fake("lib::fold")\ndef _(x): return x\n'
    assert missing(tmp_path, c=kernel + defined + meta, p=fake) == []


def test_a_namespace_that_is_a_macro_may_be_any(tmp_path: Path) -> None:
    source = ALONE.replace("(lib,", "(TORCH_EXTENSION_NAME,")
    (finding,) = missing(tmp_path, c=source)
    assert 'register_fake("…::fold")' in finding.reason
    fake = 'import torch\n@torch.library.register_fake("_C::fold")\ndef _(x, n): return x\n'
    assert missing(tmp_path, c=source, p=fake) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return x;", ""),
        ("auto out = torch::empty({n}, o); return x;", ""),
        ("auto out = torch::empty({n}, o); return out;", "out = torch::empty({n}, o)"),
        ("Tensor a = at::zeros_like(x), b; return {a, b};", "a = at::zeros_like(x)"),
        ("Tensor a; if (n) { a = at::full(f(n), 1); } return std::make_tuple(a, a);", "a = at::full(f(n), 1)"),
        ("auto out = torch::empty({n}, o); // return out;\nreturn x;", ""),
    ],
)
def test_how_outputs_are_made(body: str, expected: str) -> None:
    source = f"Tensor f(const Tensor& x, int64_t n) {{ {body} }}".encode()
    (function,) = extract("a.cpp", source).functions
    assert made(function, source) == expected
