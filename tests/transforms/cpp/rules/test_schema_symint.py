"""Entries of native_functions.yaml and derivatives.yaml, which no example of one C++ source can show."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.edits import apply_edits
from codemod.model.findings import Level
from tests.transforms.cpp.snippets import MemoryProject
from transforms.cpp.analyse import analyse_tree
from transforms.cpp.flow.answers import emit
from transforms.cpp.flow.events import Event
from transforms.cpp.flow.settled import SymbolicDerivative, SymbolicDispatch, SymbolicSchema
from transforms.cpp.reading.lines import Lines
from transforms.cpp.rules import load_rewrites

ORIGINS = frozenset({-1})
DISPATCHED = """\
- func: crop(Tensor self, int rows) -> Tensor
  dispatch:
    CompositeExplicitAutograd: crop  # on any backend
    CPU: crop_cpu
"""
FORMULA = """\
- name: crop(Tensor self, int rows) -> Tensor
  self: crop_backward(grad, self.sizes(), myself.sizes())
"""
FAMILY = {
    "aten/src/ATen/native/native_functions.yaml": """\
- func: crop(Tensor self, int dim, int rows) -> Tensor
  variants: function

- func: narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)
""",
    "tools/autograd/derivatives.yaml": """\
- name: crop(Tensor self, int dim, int rows) -> Tensor
  self: crop_backward(grad, dim, rows)
""",
    "aten/src/ATen/native/Crop.cpp": """\
namespace at::native {
Tensor crop(const Tensor& self, int64_t dim, int64_t rows) { return self.narrow(dim, 0, rows); }
}
""",
    "torch/csrc/autograd/FunctionsManual.cpp": """\
namespace torch::autograd::generated::details {
Tensor crop_backward(const Tensor& grad, int64_t dim, int64_t rows) { return grad.narrow(dim, 0, rows); }
}
""",
}
LOOP = (
    "Tensor crop(const Tensor& self, int64_t dim, int64_t rows) { for (int64_t i = 0; i < rows; i++) {} return self; }"
)


def rewritten(source: str, event: Event) -> str:
    """`source` after what the rules make of `event`."""
    raw = source.encode()
    for emission in sorted(emit(load_rewrites(), event), key=lambda e: -e.start):
        assert emission.rule == "schema-symint"
        raw = raw[: emission.start] + emission.new.encode() + raw[emission.end :]
    return raw.decode()


@pytest.mark.parametrize(
    "entry",
    [
        "- func: crop(Tensor self, SymInt rows) -> Tensor\n",
        "- func: crop(Tensor self, int rows_of, point rows) -> Tensor\n",
        "- func: crop(Tensor self)\n  doc: (int rows)\n",
        "- func: crop(Tensor self)\n- func: pad(Tensor self, int rows)\n",
    ],
)
def test_all_but_the_named_integer_of_the_entry_stays(entry: str) -> None:
    assert rewritten(entry, SymbolicSchema(ORIGINS, Lines(entry.encode()), 1, "rows")) == entry


@pytest.mark.parametrize("kind", ["int", "int[]", "int[2]", "int?", "int[]?"])
def test_an_argument_takes_symints(kind: str) -> None:
    first = f"- func: pad(Tensor self, {kind} rows) -> Tensor\n"
    entry = f"- func: crop(Tensor self, {kind} rows, int dim) -> Tensor\n"
    symbolic = kind.replace("int", "SymInt")
    after = rewritten(first + entry, SymbolicSchema(ORIGINS, Lines((first + entry).encode()), 2, "rows"))
    assert after == first + f"- func: crop(Tensor self, {symbolic} rows, int dim) -> Tensor\n"


def test_only_the_named_kernels_of_a_dispatch_table_are_renamed() -> None:
    after = rewritten(DISPATCHED, SymbolicDispatch(ORIGINS, Lines(DISPATCHED.encode()), 1, ["crop"]))
    assert after == DISPATCHED.replace("crop  #", "crop_symint  #")


@pytest.mark.parametrize(
    "rest",
    [
        "\n",
        "",
        "\n\n- func: pad(Tensor self) -> Tensor\n",
        "\n# the next\n",
        "\n- func: pad(Tensor self)\n  dispatch:\n",
    ],
)
def test_an_entry_without_a_dispatch_table_gains_one(rest: str) -> None:
    entry = f"- func: crop(Tensor self, int rows) -> Tensor\n  variants: function{rest}"
    after = rewritten(entry, SymbolicDispatch(ORIGINS, Lines(entry.encode()), 1, ["crop"]))
    table = "\n  dispatch:\n    CompositeImplicitAutograd: crop_symint\n"
    assert after == entry.removesuffix(rest) + table + rest.removeprefix("\n")


def test_an_accessor_in_a_formula_becomes_symbolic() -> None:
    after = rewritten(FORMULA, SymbolicDerivative(ORIGINS, Lines(FORMULA.encode()), 1, "self.sizes()"))
    assert after == FORMULA.replace("self.sizes()", "self.sym_sizes()", 1)


def test_without_origins_nothing_changes() -> None:
    assert rewritten(FORMULA, SymbolicDerivative(frozenset(), Lines(FORMULA.encode()), 1, "self.sizes()")) == FORMULA


def converted(root: Path, files: dict[str, str], newer: str = "") -> dict[str, str]:
    """A PyTorch tree after every edit, where another version has the schemas `newer`, or `crop` takes SymInt rows."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    target = root / "target.yaml"
    schemas = files["aten/src/ATen/native/native_functions.yaml"]
    target.write_text(newer or schemas.replace("int rows", "SymInt rows"))
    findings = list(analyse_tree(MemoryProject(root, files, target)))
    edits = [edit for finding in findings if finding.level <= Level.REVIEW for edit in finding.edits]
    return {
        path: apply_edits(text.encode(), [edit for edit in edits if edit.path == path]).decode()
        for path, text in files.items()
    }


def test_a_schema_its_kernel_and_its_formula_change_together(tmp_path: Path) -> None:
    yaml, derivatives, kernel, formula = converted(tmp_path, FAMILY).values()
    assert yaml.startswith(
        "- func: crop(Tensor self, int dim, SymInt rows) -> Tensor\n"
        "  variants: function\n"
        "  dispatch:\n"
        "    CompositeImplicitAutograd: crop_symint\n\n"
    )
    assert derivatives.startswith("- name: crop(Tensor self, int dim, SymInt rows) -> Tensor\n")
    signature = "(const Tensor& self, int64_t dim, c10::SymInt rows) { return self.narrow_symint(dim, 0, rows); }"
    assert f"Tensor crop_symint{signature}" in kernel
    assert f"Tensor crop_backward{signature.replace('self', 'grad')}" in formula


def test_an_out_kernel_is_called_in_yaml_what_its_definition_is_called(tmp_path: Path) -> None:
    first, rest = FAMILY["aten/src/ATen/native/native_functions.yaml"].split("\n\n", 1)
    out = "- func: crop.out(Tensor self, int dim, int rows, *, Tensor(a!) out) -> Tensor(a!)"
    kernel = "Tensor& crop_out(const Tensor& self, int64_t dim, int64_t rows, Tensor& out) { return out; }"
    files = {
        **FAMILY,
        "aten/src/ATen/native/native_functions.yaml": f"{first}\n\n{out}\n\n{rest}",
        "aten/src/ATen/native/Out.cpp": f"namespace at::native {{\n{kernel}\n}}\n",
    }
    yaml, _, _, _, written = converted(tmp_path, files).values()
    assert (
        f"{out.replace('int rows', 'SymInt rows')}\n  dispatch:\n    CompositeImplicitAutograd: crop_symint_out\n"
        in yaml
    )
    assert "Tensor& crop_symint_out(const Tensor& self, int64_t dim, c10::SymInt rows, Tensor& out)" in written


CALLER = "namespace at::native {\nTensor rows_cuda(const Tensor& x) { return at::native::crop(x, 0, 1); }\n}\n"


def test_a_kernel_that_device_code_calls_by_name_keeps_it(tmp_path: Path) -> None:
    files = {**FAMILY, "aten/src/ATen/native/cuda/Rows.cu": CALLER}
    assert converted(tmp_path, files) == files


def test_a_backends_kernel_calls_a_renamed_one_with_its_integers(tmp_path: Path) -> None:
    files = {**FAMILY, "aten/src/ATen/native/cuda/Rows.cpp": CALLER}
    assert converted(tmp_path, files)["aten/src/ATen/native/cuda/Rows.cpp"] == CALLER.replace("crop(", "crop_symint(")
    assert "Tensor crop_symint(" in converted(tmp_path, files)["aten/src/ATen/native/Crop.cpp"]


REGISTRATIONS = """\
#define DECOMPOSE(op)  m.impl(#op, static_cast<decltype(&ATEN_FN(op))>(native::op));
#define DECOMPOSE2(op, overload)  m.impl(#op"."#overload, static_cast<decltype(&ATEN_FN2(op, overload))>(native::op));
TORCH_LIBRARY_IMPL(aten, FuncTorchBatchedDecomposition, m) {
  DECOMPOSE(narrow);
  DECOMPOSE(crop);
  DECOMPOSE2(crop, Tensor);
  m.impl("crop", native::crop);
  m.impl("crop", native::crop_elsewhere);
}
"""
REGISTERED = """\
  m.impl("crop", static_cast<decltype(&ATEN_FN(crop))>(native::crop_symint));
  m.impl("crop.Tensor", static_cast<decltype(&ATEN_FN2(crop, Tensor))>(native::crop_symint));
  m.impl("crop", native::crop_symint);
"""


def test_registrations_that_name_a_kernel_follow_its_name(tmp_path: Path) -> None:
    files = {**FAMILY, "aten/src/ATen/functorch/Decompositions.cpp": REGISTRATIONS}
    before, after = REGISTRATIONS, converted(tmp_path, files)["aten/src/ATen/functorch/Decompositions.cpp"]
    first, last = before.index("  DECOMPOSE(crop)"), before.index('  m.impl("crop", native::crop_elsewhere)')
    assert after == before[:first] + REGISTERED + before[last:]


def test_a_registered_name_that_another_kernel_has_too_is_kept(tmp_path: Path) -> None:
    kernel = FAMILY["aten/src/ATen/native/Crop.cpp"].replace("}\n}\n", f"}}\n{OVERLOAD}\n}}\n")
    files = {
        **FAMILY,
        "aten/src/ATen/native/Crop.cpp": kernel,
        "aten/src/ATen/functorch/Decompositions.cpp": REGISTRATIONS,
    }
    assert converted(tmp_path, files) == files


OVERLOAD = "Tensor crop(const Tensor& self, int64_t dim, const Tensor& rows) { return self; }"


def test_of_two_kernels_of_a_name_the_one_of_the_schemas_types_changes(tmp_path: Path) -> None:
    kernel = FAMILY["aten/src/ATen/native/Crop.cpp"].replace("}\n}\n", f"}}\n{OVERLOAD}\n}}\n")
    files = {**FAMILY, "aten/src/ATen/native/Crop.cpp": kernel}
    changed = converted(tmp_path, files)["aten/src/ATen/native/Crop.cpp"]
    assert "Tensor crop_symint(const Tensor& self, int64_t dim, c10::SymInt rows)" in changed
    assert OVERLOAD in changed


def test_two_kernels_that_both_fit_a_schema_stay(tmp_path: Path) -> None:
    again = FAMILY["aten/src/ATen/native/Crop.cpp"].replace("self.narrow", "self.clone().narrow")
    files = {**FAMILY, "aten/src/ATen/native/Again.cpp": again}
    assert converted(tmp_path, files) == files


def test_the_formula_of_an_operator_that_backends_alone_have_follows_its_schema(tmp_path: Path) -> None:
    first, rest = FAMILY["aten/src/ATen/native/native_functions.yaml"].split("\n\n", 1)
    files = {
        **FAMILY,
        "aten/src/ATen/native/native_functions.yaml": f"{first}\n  dispatch:\n    CPU: crop_cpu\n\n{rest}",
    }
    yaml, derivatives, kernel, formula = converted(tmp_path, files).values()
    assert "SymInt rows) -> Tensor\n  variants: function\n  dispatch:\n    CPU: crop_cpu\n" in yaml
    assert derivatives.startswith("- name: crop(Tensor self, int dim, SymInt rows) -> Tensor\n")
    assert kernel == files["aten/src/ATen/native/Crop.cpp"]
    assert "Tensor crop_backward(const Tensor& grad, int64_t dim, c10::SymInt rows)" in formula


def test_a_schema_stays_where_its_kernel_cannot_follow(tmp_path: Path) -> None:
    files = {**FAMILY, "aten/src/ATen/native/Crop.cpp": f"namespace at::native {{\n{LOOP}\n}}\n"}
    assert converted(tmp_path, files) == files


def test_a_formula_means_the_overload_that_takes_as_many_arguments(tmp_path: Path) -> None:
    backward = (
        "Tensor crop_backward(const Tensor& grad, IntArrayRef sizes) { return grad.expand(sizes); }\n"
        "Tensor crop_backward(const Tensor& grad, int64_t dim, IntArrayRef sizes) { return grad.sum(dim); }\n"
    )
    files = {
        **FAMILY,
        "aten/src/ATen/native/native_functions.yaml": "- func: expand(Tensor self, SymInt[] size) -> Tensor\n",
        "tools/autograd/derivatives.yaml": "- name: crop(Tensor self) -> Tensor\n"
        "  self: crop_backward(grad, self.sizes())\n",
        "torch/csrc/autograd/FunctionsManual.cpp": f"namespace torch::autograd {{\n{backward}}}\n",
    }
    _, derivatives, _, formula = converted(tmp_path, files).values()
    assert "crop_backward(grad, self.sym_sizes())" in derivatives
    first, second = backward.splitlines()
    assert first.replace("IntArrayRef", "c10::SymIntArrayRef").replace("expand(", "expand_symint(") in formula
    assert second in formula


STRIDED = """\
- func: spread(Tensor self, int[] stride) -> Tensor
  dispatch:
    CPU: spread_cpu
- func: spread_back(Tensor self, {kind} stride) -> Tensor
  dispatch:
    CPU: spread_back_cpu
- func: expand(Tensor self, SymInt[] size) -> Tensor
"""
SPREAD = """\
namespace torch::autograd {
Tensor spread_backward(const Tensor& grad, IntArrayRef stride) { return grad.expand(stride); }
}
"""


@pytest.mark.parametrize(
    ("kind", "given", "becomes"),
    [
        ("int[]", "std::vector<int64_t>(stride.size(), 1)", "std::vector<c10::SymInt>(stride.size(), 1)"),
        ("int[]", "self.sym_sizes()", "self.sym_sizes()"),
        ("int[]", "{1, 1}", "{1, 1}"),
        ("SymInt[]", "stride", "stride"),
        ("int[]", "stride", None),  # stays a list of integers, which becomes none of SymInts by itself
        ("int[]", "reversed(stride)", None),
        ("int[]", "std::vector<int64_t>(reversed(stride))", None),
    ],
)
def test_what_formulas_share_changes_where_each_gives_it_symbols(
    tmp_path: Path, kind: str, given: str, becomes: str | None
) -> None:
    files = {
        "aten/src/ATen/native/native_functions.yaml": STRIDED.format(kind=kind),
        "tools/autograd/derivatives.yaml": "- name: spread(Tensor self, int[] stride) -> Tensor\n"
        "  self: spread_backward(grad, stride)\n\n"
        f"- name: spread_back(Tensor self, {kind} stride) -> Tensor\n"
        f'  self: "spread_backward(grad, {given})"\n',
        "torch/csrc/autograd/FunctionsManual.cpp": SPREAD,
    }
    newer = STRIDED.format(kind=kind).replace("spread(Tensor self, int[]", "spread(Tensor self, SymInt[]")
    _, derivatives, formula = converted(tmp_path, files, newer).values()
    if becomes is None:
        assert (derivatives, formula) == tuple(files.values())[1:]
    else:
        assert "spread(Tensor self, SymInt[] stride)" in derivatives
        assert f"spread_backward(grad, {becomes})" in derivatives
        assert "spread_backward(const Tensor& grad, c10::SymIntArrayRef stride)" in formula
