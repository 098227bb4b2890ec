"""Which operators run a change, and what is built for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.transform import Override, Provable
from codemod.tree.cache import Cache
from codemod.tree.checkout import Checkout
from codemod.tree.project import CheckoutProject
from transforms.cpp import transform
from transforms.cpp.overrides.prover import CppProver

NATIVE = "aten/src/ATen/native/"
YAML = """\
- func: fade(Tensor self) -> Tensor
- func: fade.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
- func: fade_(Tensor(a!) self) -> Tensor(a!)
- func: dim_all(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: dim_all_symint
- func: dim_all.by(Tensor self, int by) -> Tensor
  dispatch:
    CompositeExplicitAutograd: dim_all_symint
- func: cudnn_fade(Tensor self) -> Tensor
- func: glow(Tensor self) -> Tensor
  dispatch:
    CPU: glow
- func: glow_backward(Tensor grad) -> Tensor
  dispatch:
    CPU: glow_backward
"""
DERIVATIVES = """\
- name: glow(Tensor self) -> Tensor
  self: glow_grad(grad)
  result: glow_jvp(self_t)
- name: glow_backward(Tensor grad) -> Tensor
  grad: glow_grad_twice(grad)
"""
FADE = """\
#include <ATen/native/Helper.h>
namespace at { namespace native {
Tensor fade(const Tensor& self) { return self.view({self.numel()}); }
Tensor& fade_out(const Tensor& self, Tensor& out) { out.numel(); return out; }
Tensor& fade_(Tensor& self) { self.numel(); return self; }
Tensor dim_all_symint(const Tensor& self) { return half(self, self.size(0)); }
Tensor dim_all_symint(const Tensor& self, int64_t by) { return self; }
Tensor cudnn_fade(const Tensor& self) { return helper(self); }
}}
"""
HELPER = """\
namespace at { namespace native {
inline Tensor half(const Tensor& self, int64_t n) { return self.view({n, self.numel()}); }
}}
"""
OTHER = """\
namespace at { namespace native {
Tensor helper(const Tensor& self) { self.numel(); return self; }
static Tensor lonely(const Tensor& self) { self.numel(); return self; }
}}
"""
BATCH = """\
namespace at { namespace functorch {
template <typename F> Tensor rule_helper(const Tensor& self) { self.numel(); return self; }
struct Rule { static Tensor apply(const Tensor& self) { return rule_helper<int>(self); } };
#define VMAP(op) m.impl(#op, Rule::apply)
#define POINTWISE(op) VMAP(op)
Tensor glow_batch_rule(const Tensor& self) { self.numel(); return self; }
TORCH_LIBRARY_IMPL(aten, FuncTorchBatched, m) {
  m.impl("glow", glow_batch_rule);
  POINTWISE(fade);
}
}}
"""
MANUAL = """\
namespace torch { namespace autograd { namespace generated { namespace details {
Tensor glow_grad(const Tensor& grad) { grad.numel(); return grad; }
Tensor glow_jvp(const Tensor& grad) { grad.numel(); return grad; }
Tensor glow_grad_twice(const Tensor& grad) { grad.numel(); return grad; }
}}}}
"""
# Writes what tools/autograd/gen_autograd.py of PyTorch writes, for the operators above.
GENERATOR = '''\
import pathlib, sys
out = pathlib.Path(sys.argv[3])
(out / "Functions.cpp").write_text("""#include <head>
namespace torch::autograd::generated {
variable_list GlowBackward0::apply(variable_list&& grads) {
  return {glow_grad(grads[0])};
}
variable_list GlowBackwardBackward0::apply(variable_list&& grads) {
  return {glow_grad_twice(grads[0])};
}
}
""")
(out / "VariableType_0.cpp").write_text("""#include <kernels>
namespace torch::autograd {
at::Tensor glow(c10::DispatchKeySet ks, const at::Tensor & self) {
  return glow_jvp(self);
}
TORCH_LIBRARY_IMPL(aten, Autograd, m) {
m.impl("glow",
       TORCH_FN(VariableType::glow)
);
}
}
""")
'''
PYTORCH = {
    f"{NATIVE}native_functions.yaml": YAML,
    f"{NATIVE}Fade.cpp": FADE,
    f"{NATIVE}Helper.h": HELPER,
    f"{NATIVE}Other.cpp": OTHER,
    "aten/src/ATen/functorch/BatchRules.cpp": BATCH,
    "tools/autograd/derivatives.yaml": DERIVATIVES,
    "tools/autograd/gen_autograd.py": GENERATOR,
    "torch/csrc/autograd/FunctionsManual.cpp": MANUAL,
    "version.txt": "2.6.0a0\n",
}


def make_prover(folder: Path, files: Mapping[str, str]) -> CppProver:
    root = folder / "tree"
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    project = CheckoutProject(Checkout(root, None), Cache(None))
    assert isinstance(transform(), Provable)
    prover = transform().prover(project, folder / "scratch")
    assert isinstance(prover, CppProver)
    return prover


def change(files: Mapping[str, str], path: str, *places: str) -> list[Finding]:
    """Findings that edit the first `numel` or `size` after each of `places`."""
    found = []
    for place in places:
        start = files[path].index(place)
        start = min(at for word in ("numel", "size(0)") if (at := files[path].find(word, start)) >= 0)
        edits = (Edit(path, start, start + 4, files[path][start : start + 4].encode(), b"sym_"),)
        found.append(
            Finding(path, start, start + 4, 1, 1, Mode.DIRECT_THROW, "r", Level.SAFE, place, (), "m", edits=edits)
        )
    return found


@pytest.fixture
def overrides(tmp_path: Path) -> CppProver:
    return make_prover(tmp_path, PYTORCH)


def of(prover: CppProver, path: str, *places: str) -> list[Override]:
    return list(prover.overrides(change(PYTORCH, path, *places)))


def test_what_no_operator_runs_says_so(overrides: CppProver) -> None:
    (found,) = of(overrides, f"{NATIVE}Other.cpp", "lonely")
    assert (found.operators, found.parts) == ((), ())
    assert found.reason == "no operator is known to run lonely"


def test_a_kernel_is_registered_again(overrides: CppProver) -> None:
    (found,) = of(overrides, f"{NATIVE}Fade.cpp", "Tensor fade(")
    assert (found.operators, found.pieces, found.preload) == (("aten::fade",), ("forward",), False)
    (part,) = found.parts
    assert part.path == f"{NATIVE}Fade.cpp"
    assert "TORCH_LIBRARY_IMPL(aten, CompositeImplicitAutograd, library)" in part.after
    assert 'library.impl("fade", TORCH_FN(at::native::fade));' in part.after
    assert "fade.out" not in part.after


def test_variants_are_pieces_of_their_operator(overrides: CppProver) -> None:
    found = of(overrides, f"{NATIVE}Fade.cpp", "fade_out", "Tensor& fade_(")
    assert [(override.operators, override.pieces) for override in found] == [
        (("aten::fade",), ("out",)),
        (("aten::fade",), ("inplace",)),
    ]
    assert 'library.impl("fade.out", TORCH_FN(at::native::fade_out));' in found[0].parts[0].after
    assert 'library.impl("fade_", TORCH_FN(at::native::fade_));' in found[1].parts[0].after


def test_an_overloaded_kernel_is_named_with_its_type(overrides: CppProver) -> None:
    (found,) = of(overrides, f"{NATIVE}Fade.cpp", "dim_all_symint")
    (part,) = found.parts
    assert 'library.impl("dim_all", static_cast<Tensor (*)(const Tensor&)>(&at::native::dim_all_symint));' in part.after
    assert "dim_all.by" not in part.after


def test_overloads_of_as_many_parameters_are_told_apart_by_type(tmp_path: Path) -> None:
    files = {
        **PYTORCH,
        f"{NATIVE}native_functions.yaml": "- func: cut(Tensor self, int at) -> Tensor\n"
        "- func: cut.name(Tensor self, Dimname at) -> Tensor\n- func: cut.list(Tensor self, SymInt[] at) -> Tensor\n"
        "- func: cut.tensors(Tensor self, Tensor[] at) -> Tensor\n"
        "- func: cut.scalar(Tensor self, Scalar at) -> Tensor\n"
        "- func: cut.optional(Tensor self, Scalar? at) -> Tensor\n- func: cut.flag(Tensor self, bool at) -> Tensor\n",
        f"{NATIVE}Cut.cpp": "namespace at { namespace native {\n"
        "Tensor cut(const Tensor& self, int64_t at) { self.numel(); return self; }\n"
        "Tensor cut(const Tensor& self, Dimname at) { self.numel(); return self; }\n"
        "Tensor cut(const Tensor& self, IntArrayRef at) { self.numel(); return self; }\n"
        "Tensor cut(const Tensor& self, TensorList at) { self.numel(); return self; }\n"
        "Tensor cut(const Tensor& self, const Scalar& at) { self.numel(); return self; }\n"
        "Tensor cut(const Tensor& self, const std::optional<Scalar>& at) { self.numel(); return self; }\n"
        "Tensor cut(const Tensor& self, bool at) { self.numel(); return self; }\n}}\n",
    }
    prover = make_prover(tmp_path, files)
    for name, kind in (
        ("cut", "int64_t"), ("cut.list", "IntArrayRef"), ("cut.tensors", "TensorList"), ("cut.flag", "bool"),
        ("cut.scalar", "const Scalar&"), ("cut.optional", "const std::optional<Scalar>&"),
    ):  # fmt: skip
        (found,) = prover.overrides(change(files, f"{NATIVE}Cut.cpp", f"{kind} at"))
        (part,) = found.parts
        assert part.after.count("library.impl") == 1
        assert f'"{name}", static_cast<Tensor (*)(const Tensor&, {kind})>(&at::native::cut)' in part.after


def test_a_helper_in_a_header_is_run_by_the_kernels_that_call_it(overrides: CppProver) -> None:
    (found,) = of(overrides, f"{NATIVE}Helper.h", "half")
    assert found.operators == ("aten::dim_all",)
    assert [part.path for part in found.parts] == [f"{NATIVE}Fade.cpp"]


def test_of_many_operators_those_that_are_named_are_run(tmp_path: Path) -> None:
    names = ("soak", "rinse", "wring")
    files = {
        **PYTORCH,
        f"{NATIVE}native_functions.yaml": "".join(f"- func: {name}(Tensor self) -> Tensor\n" for name in names),
        f"{NATIVE}Wash.cpp": "namespace at { namespace native {\nint64_t drops(const Tensor& x) { return x.numel(); }\n"
        + "".join(f"Tensor {name}(const Tensor& self) {{ drops(self); return self; }}\n" for name in names)
        + "}}\n",
    }
    prover = make_prover(tmp_path, files)
    helper = change(files, f"{NATIVE}Wash.cpp", "int64_t drops")
    chosen = [
        [operator for override in prover.overrides(helper, named) for operator in override.operators]
        for named in ((), ("aten::wring",))
    ]
    assert chosen == [["aten::soak", "aten::rinse"], ["aten::wring", "aten::soak"]]


def test_a_helper_in_another_source_is_built_with_the_kernel(overrides: CppProver) -> None:
    (found,) = of(overrides, f"{NATIVE}Other.cpp", "helper")
    assert found.operators == ("aten::cudnn_fade",)
    assert [part.path for part in found.parts] == [f"{NATIVE}Fade.cpp", f"{NATIVE}Other.cpp"]
    assert [bool(part.after) for part in found.parts] == [True, False]


def test_a_batch_rule_s_file_registers_itself(overrides: CppProver) -> None:
    (found,) = of(overrides, "aten/src/ATen/functorch/BatchRules.cpp", "glow_batch_rule")
    assert (found.operators, found.pieces) == (("aten::glow",), ("vmap",))
    assert [(part.path, part.after) for part in found.parts] == [("aten/src/ATen/functorch/BatchRules.cpp", "")]


def test_macros_and_templates_lead_to_the_operator(overrides: CppProver) -> None:
    (found,) = of(overrides, "aten/src/ATen/functorch/BatchRules.cpp", "rule_helper")
    assert (found.operators, found.pieces) == (("aten::fade",), ("vmap",))


def test_formulas_are_run_by_the_code_generated_for_them(overrides: CppProver) -> None:
    manual = "torch/csrc/autograd/FunctionsManual.cpp"
    (backward,) = of(overrides, manual, "glow_grad(")
    assert (backward.operators, backward.pieces, backward.preload) == (("aten::glow",), ("backward",), True)
    assert "#include <head>" in backward.parts[0].after
    assert "GlowBackward0::apply" in backward.parts[0].after
    assert "GlowBackwardBackward0" not in backward.parts[0].after
    (twice,) = of(overrides, manual, "glow_grad_twice")
    assert (twice.operators, twice.pieces, twice.preload) == (("aten::glow",), ("double_backward",), True)
    (forward,) = of(overrides, manual, "glow_jvp")
    assert (forward.operators, forward.pieces, forward.preload) == (("aten::glow",), ("jvp",), False)
    assert 'm.impl("glow", TORCH_FN(VariableType::glow));' in forward.parts[0].after
    assert "TORCH_LIBRARY_IMPL(aten, Autograd, m)" in forward.parts[0].after


def test_a_generator_that_fails_is_the_reason(tmp_path: Path) -> None:
    files = {**PYTORCH, "tools/autograd/gen_autograd.py": "raise SystemExit('no yaml here')\n"}
    prover = make_prover(tmp_path, files)
    (found,) = prover.overrides(change(files, "torch/csrc/autograd/FunctionsManual.cpp", "glow_grad("))
    assert found.reason == "tools/autograd/gen_autograd.py fails: no yaml here"


def test_a_library_outside_pytorch_is_built_as_a_whole(tmp_path: Path) -> None:
    files = {
        "ops.cpp": 'TORCH_LIBRARY(fades, m) { m.def("fade(Tensor x) -> Tensor"); }',
        "meta.cpp": "Tensor fade_meta(const Tensor& x) { return x.view({x.numel()}); }\n"
        'TORCH_LIBRARY_IMPL(fades, Meta, m) { m.impl("fade", fade_meta); }',
        "tests/test_ops.cpp": "int main() {}",
        "include/fades.h": "#pragma once",
        "source/src/lib/detail/fades.h": "#pragma once",
    }
    prover = make_prover(tmp_path, files)
    (found,) = prover.overrides(change(files, "meta.cpp", "fade_meta"))
    assert found.operators == ("fades::fade",)
    assert [(part.path, part.required) for part in found.parts] == [("meta.cpp", True), ("ops.cpp", False)]
    assert list(prover.include) == ["", "include", "source/src"]
    assert prover.version == ""


def test_the_version_is_that_of_the_release(overrides: CppProver) -> None:
    assert overrides.version == "2.6.0"


def test_a_changed_header_is_checked_by_what_is_built(overrides: CppProver) -> None:
    assert list(overrides.checked([f"{NATIVE}Helper.h", f"{NATIVE}Other.cpp"], {f"{NATIVE}Fade.cpp"})) == [
        f"{NATIVE}Other.cpp",
        f"{NATIVE}Fade.cpp",
    ]


def test_what_a_kernel_s_source_registers_itself_is_not_registered_twice(tmp_path: Path) -> None:
    fade = f"{NATIVE}Fade.cpp"
    block = 'TORCH_LIBRARY_FRAGMENT(aten, m) { m.def("bleach(Tensor self) -> Tensor"); }\n'
    files = {**PYTORCH, fade: PYTORCH[fade] + block}
    (plain,) = make_prover(tmp_path / "plain", PYTORCH).overrides(change(PYTORCH, fade, "Tensor fade("))
    (found,) = make_prover(tmp_path / "defines", files).overrides(change(files, fade, "Tensor fade("))
    assert "#define TORCH_LIBRARY_FRAGMENT" not in plain.parts[0].before
    assert "#define TORCH_LIBRARY_FRAGMENT" in found.parts[0].before
    # What registers the kernel again needs torch's own macro.
    assert found.parts[0].after.index("pop_macro") < found.parts[0].after.index("TORCH_LIBRARY_IMPL(aten")


def test_an_operator_that_exists_in_place_only_keeps_its_name(tmp_path: Path) -> None:
    natives, fade = f"{NATIVE}native_functions.yaml", f"{NATIVE}Fade.cpp"
    bleach = "Tensor& bleach_(Tensor& self) { self.numel(); return self; }\n"
    files = {
        **PYTORCH,
        natives: PYTORCH[natives] + "- func: bleach_(Tensor(a!) self) -> Tensor(a!)\n  variants: method\n",
        fade: PYTORCH[fade].replace("Tensor& fade_(", f"{bleach}Tensor& fade_("),
    }
    prover = make_prover(tmp_path, files)
    found = prover.overrides(change(files, fade, "Tensor& bleach_(", "Tensor& fade_("))
    assert [(override.operators, override.pieces) for override in found] == [
        (("aten::bleach_",), ("inplace",)),
        (("aten::fade",), ("inplace",)),
    ]


def test_a_backward_that_belongs_to_no_operator_is_differentiated_itself(tmp_path: Path) -> None:
    derivatives, manual = "tools/autograd/derivatives.yaml", "torch/csrc/autograd/FunctionsManual.cpp"
    natives, generator = f"{NATIVE}native_functions.yaml", "tools/autograd/gen_autograd.py"
    files = {
        **PYTORCH,
        natives: PYTORCH[natives].replace("glow_backward", "shine_backward"),
        derivatives: PYTORCH[derivatives].replace("glow_backward", "shine_backward"),
        generator: PYTORCH[generator].replace("GlowBackwardBackward0", "ShineBackwardBackward0"),
    }
    (twice,) = make_prover(tmp_path, files).overrides(change(files, manual, "glow_grad_twice"))
    assert (twice.operators, twice.pieces) == (("aten::shine_backward",), ("backward",))


LIBRARY = {
    "csrc/ops.cpp": """\
namespace own { Tensor fold(const Tensor& self) { self.numel(); return self; } }
TORCH_LIBRARY(own, m) { m.def("fold(Tensor self) -> Tensor", own::fold); m.def("other(Tensor self) -> Tensor"); }
""",
    "csrc/cpu/other.cpp": 'TORCH_LIBRARY_IMPL(own, CPU, m) { m.impl("other", other); }\n',
    "csrc/cpu/plain.cpp": "namespace own { int plain() { return 1; } }\n",
    "third_party/apart.cpp": "namespace apart { int plain() { return 1; } }\n",
}


def test_a_library_is_built_as_it_stands_or_laid_over_the_installed_one(tmp_path: Path) -> None:
    (found,) = make_prover(tmp_path, LIBRARY).overrides(change(LIBRARY, "csrc/ops.cpp", "Tensor fold("))
    assert [(part.path, part.required) for part in found.parts] == [
        ("csrc/ops.cpp", True), ("csrc/cpu/other.cpp", False), ("csrc/cpu/plain.cpp", False),
    ]  # fmt: skip
    assert found.again is not None
    (again,) = found.again
    assert "#define TORCH_LIBRARY(" in again.before
    assert "TORCH_LIBRARY_IMPL(own, CompositeImplicitAutograd, library)" in again.after
    assert 'library.impl("fold", TORCH_FN(::own::fold));' in again.after


def test_what_python_registers_for_has_the_cpp_of_its_namespace(tmp_path: Path) -> None:
    prover = make_prover(tmp_path, LIBRARY)
    (found,) = prover.companions(["own::third", "elsewhere::fold", "own.module.function"])
    assert (found.operators, found.again) == (("own::third",), ())
    assert [part.path for part in found.parts if part.required] == ["csrc/cpu/other.cpp", "csrc/ops.cpp"]
    assert make_prover(tmp_path / "torch", PYTORCH).companions(["aten::fade"]) == ()
