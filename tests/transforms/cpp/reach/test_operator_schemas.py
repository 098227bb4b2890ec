"""Operators that C++ defines with a schema: their integer arguments become SymInts with all that has to follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.edits import apply_edits
from tests.transforms.cpp.snippets import findings

SOURCE = """\
Tensor cut_cpu(const Tensor& x, int64_t rows, at::IntArrayRef shape) { return x.clone(); }
Tensor cut_meta(const Tensor& x, int64_t rows, at::IntArrayRef shape) { return at::zeros({rows}); }
Tensor cut(const Tensor& x, int64_t rows, at::IntArrayRef shape) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("my::cut", "")
      .typed<Tensor(const Tensor&, int64_t, at::IntArrayRef)>();
  return op.call(x, rows, shape);
}
struct Cut : torch::autograd::Function<Cut> {
  static variable_list forward(AutogradContext* ctx, const Tensor& x, int64_t rows, at::IntArrayRef shape) {
    ctx->saved_data["rows"] = x.size(0);
    ctx->saved_data["shape"] = x.sizes();
    return {cut(x, rows, shape)};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    auto rows = ctx->saved_data["rows"].toInt();
    auto shape = ctx->saved_data["shape"].toIntVector();
    return {cut(grads[0], rows, shape), Tensor(), Tensor()};
  }
};
Tensor cut_autograd(const Tensor& x, int64_t rows, at::IntArrayRef shape) { return Cut::apply(x, rows, shape)[0]; }
TORCH_LIBRARY(my, m) { m.def("cut(Tensor x, int rows, int[] shape) -> Tensor"); }
TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("cut", TORCH_FN(cut_cpu)); }
TORCH_LIBRARY_IMPL(my, Meta, m) { m.impl("cut", TORCH_FN(cut_meta)); }
TORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("cut", TORCH_FN(cut_autograd)); }
"""
REPLACED = (
    ("int64_t", "c10::SymInt"),
    ("at::IntArrayRef", "c10::SymIntArrayRef"),
    ("x.size", "x.sym_size"),
    ("zeros(", "zeros_symint("),
    ("toInt()", "toSymInt()"),
    ("toIntVector", "toSymIntVector"),
    ("toIntList", "toSymIntList"),
    ("int rows", "SymInt rows"),
    ("int[] shape", "SymInt[] shape"),
)
LISTS = {"at::IntArrayRef", "toIntVector", "toIntList", "int[] shape"}
EXPLICIT = "typed<Tensor(const Tensor&, int64_t, at::IntArrayRef)>"
# A backend's kernel that nothing makes concrete before, and a composite operator that is given a size.
COMPOSITE = """\
Tensor cut_cpu(const Tensor& x, int64_t rows) { return x.clone(); }
Tensor cut(const Tensor& x, int64_t rows) {
  auto op = c10::Dispatcher::singleton().findSchemaOrThrow("my::cut", "").typed<decltype(cut)>();
  return op.call(x, rows);
}
Tensor half(const Tensor& x) { return cut(x, x.size(0) / 2); }
TORCH_LIBRARY(my, m) {
  m.def("cut(Tensor x, int rows) -> Tensor");
  m.def("half(Tensor x) -> Tensor", half);
}
TORCH_LIBRARY_IMPL(my, CPU, m) { m.impl("cut", cut_cpu); }
"""


def test_a_whole_operator_migrates_in_one_group(tmp_path: Path) -> None:
    edited = [finding for finding in findings(tmp_path, SOURCE, register=False) if finding.edits]
    assert {finding.group for finding in edited} == {edited[0].group}
    schemas = [finding for finding in edited if finding.rule == "schema-symint"]
    assert [finding.message for finding in schemas] == ["the schema of my::cut: `int` → `SymInt`"] * 2
    assert all(finding.reach and finding.operators == ("my::cut",) for finding in schemas)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (EXPLICIT, EXPLICIT),
        (EXPLICIT, "typed<decltype(cut)>"),
        (EXPLICIT, "typed<Tensor(const Tensor& x, int64_t rows, at::IntArrayRef shape)>"),
        (".toIntVector()", ".toIntList()"),
        ('("my::cut", "")', '( "my::cut" , "" )'),
        ('"cut(Tensor x, int rows, int[] shape) -> Tensor"', '"cut(Tensor x, int rows, int[] shape) -> Tensor", {}'),
        ('"cut(Tensor x, int', '"my::cut(Tensor x, int'),
    ],
)
def test_whichever_way_it_is_written(tmp_path: Path, old: str, new: str) -> None:
    source = SOURCE.replace(old, new)
    assert migrated(tmp_path, source) == symbolic(source)


def symbolic(source: str, *, lists: bool = True) -> str:
    """`source` with SymInts throughout, but for the kernel of a backend, and lists where those are not asked for."""
    lines = source.splitlines(keepends=True)
    for old, new in (pair for pair in REPLACED if lists or pair[0] not in LISTS):
        lines = [line if "cut_cpu" in line else line.replace(old, new) for line in lines]
    return "".join(lines)


REDISPATCH = """\
Tensor cut_tracked(c10::DispatchKeySet keys, const Tensor& x, int64_t rows) {
  auto op = c10::Dispatcher::singleton().findSchemaOrThrow("my::cut", "").typed<SIGNATURE>();
  return op.redispatch(keys & c10::after_autograd_keyset, x, rows);
}
TORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("cut", cut_tracked); }
"""


def migrated(root: Path, source: str) -> str:
    """`source` after every edit for review; it is registered by itself."""
    edits = [edit for finding in findings(root, source, register=False) for edit in finding.edits]
    return apply_edits(source.encode(), edits).decode()


META = 'm.impl("cut", TORCH_FN(cut_meta));'
SCHEMA = 'm.def("cut(Tensor x, int rows, int[] shape) -> Tensor");'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (META, 'm.impl("cut", [](const Tensor& x, int64_t rows, at::IntArrayRef shape) { return x.clone(); });'),
        (META, 'm.impl("cut", TORCH_BOX(&cut_meta));'),
        (META, f'{META} m.impl("cut", elsewhere);'),
        ("TORCH_LIBRARY(my", 'PYBIND11_MODULE(name, m) { m.def("cut", &cut_meta); }\nTORCH_LIBRARY(my'),
        ("TORCH_LIBRARY(my", "auto* pointer = &cut_autograd;\nTORCH_LIBRARY(my"),
        (SCHEMA, SCHEMA * 2),
        (SCHEMA, f'{SCHEMA} m.def("trim(Tensor x, int rows, int[] shape) -> Tensor", cut_meta);'),
        (SCHEMA, f'{SCHEMA} m.impl("trim", cut_autograd);'),
        (SCHEMA, 'm.def("cut(Tensor x, " ROWS ", int[] shape) -> Tensor");'),
        ('["rows"] = x.size(0)', '["rows"] = rows'),
    ],
)
def test_an_operator_whose_kernels_cannot_all_follow_stays(tmp_path: Path, old: str, new: str) -> None:
    source = SOURCE.replace('["shape"] = x.sizes()', '["shape"] = shape').replace(old, new)
    assert old in SOURCE
    assert migrated(tmp_path, source) == source


def test_only_the_arguments_that_a_size_comes_to_change(tmp_path: Path) -> None:
    source = SOURCE.replace('["shape"] = x.sizes()', '["shape"] = shape')
    assert migrated(tmp_path, source) == symbolic(source, lists=False)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('["rows"].toInt()', '["rows"].toOptional<int64_t>().value()'),
        ('["rows"].toInt()', '["rows"].to<int64_t>()'),
        (
            'auto rows = ctx->saved_data["rows"].toInt()',
            'auto& kept = ctx->saved_data["rows"]; auto rows = kept.toInt()',
        ),
        ('["rows"] = x.size(0)', '["rows"] = x.size(0) > 1'),
        ('auto rows = ctx->saved_data["rows"].toInt()', 'auto rows = at::takes_int(ctx->saved_data["rows"].toInt())'),
    ],
)
def test_what_is_saved_and_read_as_something_else_stays(tmp_path: Path, old: str, new: str) -> None:
    assert old in SOURCE
    source = SOURCE.replace('["shape"] = x.sizes()', '["shape"] = shape').replace(old, new)
    assert "toSymInt" not in migrated(tmp_path, source)


def test_a_composite_operator_gives_a_size_through_the_dispatcher(tmp_path: Path) -> None:
    assert migrated(tmp_path, COMPOSITE) == (
        COMPOSITE.replace("cut(const Tensor& x, int64_t", "cut(const Tensor& x, c10::SymInt")
        .replace("x.size", "x.sym_size")
        .replace("int rows", "SymInt rows")
    )


@pytest.mark.parametrize("signature", ["decltype(cut)", "Tensor(const Tensor&, int64_t)"])
def test_a_kernel_calls_the_next_one_by_the_keys_that_are_left(tmp_path: Path, signature: str) -> None:
    kernel = REDISPATCH.replace("SIGNATURE", signature)
    expected = kernel.replace("int64_t", "c10::SymInt")
    assert migrated(tmp_path, COMPOSITE + kernel).endswith(expected)
    # A signature that is a name of its own is not seen through.
    named = kernel.replace(signature, "Signature")
    assert migrated(tmp_path, COMPOSITE + named) == COMPOSITE + named


def test_a_kernel_that_is_given_less_than_the_schema_stays(tmp_path: Path) -> None:
    source = COMPOSITE.replace("int rows) -> Tensor", "int rows, int columns) -> Tensor")
    assert "SymInt" not in migrated(tmp_path, source)


def test_a_kernel_that_no_symbolic_tensor_gets_through_stays(tmp_path: Path) -> None:
    kernel = "Tensor cut_meta(const Tensor& x, int64_t rows) { return at::zeros({int(x.size(0) * 0.5), rows}); }\n"
    source = COMPOSITE.replace("TORCH_LIBRARY(", f"{kernel}TORCH_LIBRARY(", 1)
    source += 'TORCH_LIBRARY_IMPL(my, Meta, m) { m.impl("cut", cut_meta); }\n'
    assert migrated(tmp_path, source) == source
    assert "SymInt rows" in migrated(tmp_path, source.replace("int(x.size(0) * 0.5)", "2"))


def test_what_a_kernel_passes_to_a_helper_that_gains_a_twin_migrates_in_the_same_run(tmp_path: Path) -> None:
    helper = "static int64_t left(int64_t n, int64_t k) { return n - k; }\n"
    meta = "Tensor cut_meta(const Tensor& x, int64_t rows) { return at::zeros({left(x.size(0), rows)}); }\n"
    source = COMPOSITE.replace("return x.clone();", "for (int i = 0; i < left(9, rows); i++) {} return x.clone();")
    source = helper + source.replace("TORCH_LIBRARY(", f"{meta}TORCH_LIBRARY(", 1)
    source += 'TORCH_LIBRARY_IMPL(my, Meta, m) { m.impl("cut", cut_meta); }\n'
    result = migrated(tmp_path, source)
    assert 'm.def("cut(Tensor x, SymInt rows) -> Tensor");' in result
    assert "static c10::SymInt left_symint(c10::SymInt n, c10::SymInt k) { return n - k; }" in result
    assert "left_symint(x.sym_size(0), rows)" in result
    assert migrated(tmp_path, result) == result


def test_what_a_kernel_passes_through_another_helper_to_one_with_a_twin_migrates_in_the_same_run(
    tmp_path: Path,
) -> None:
    helpers = (
        "static int64_t left(int64_t n) { return n - 1; }\nstatic const int64_t kLeft = left(3);\n"
        "static int64_t most(const Tensor& x, int64_t k) { return left(k); }\n"
        "Tensor use(const Tensor& x) { return at::zeros({left(x.size(0))}); }\n"
    )
    meta = "Tensor cut_meta(const Tensor& x, int64_t rows) { return at::zeros({most(x, rows)}); }\n"
    source = helpers + COMPOSITE.replace("TORCH_LIBRARY(", f"{meta}TORCH_LIBRARY(", 1)
    source += 'TORCH_LIBRARY_IMPL(my, Meta, m) { m.impl("cut", cut_meta); m.impl("use", use); }\n'
    result = migrated(tmp_path, source)
    assert 'm.def("cut(Tensor x, SymInt rows) -> Tensor");' in result
    assert "left_symint(x.sym_size(0))" in result
    assert migrated(tmp_path, result) == result
