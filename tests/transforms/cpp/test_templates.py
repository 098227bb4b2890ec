"""What is decided about C++ that is a template."""

from __future__ import annotations

from pathlib import Path

from codemod.model.findings import Level
from tests.transforms.cpp.snippets import converted, findings

HEAD = "{# a template #}\n"
FILL = """{% for kind in kinds %}
Tensor fill_{{ kind }}(const Tensor& x, const Tensor& y) {
  {% if flat %}
  int64_t n = x.numel();
  {% else %}
  int64_t n = y.numel() - 1;
  {% endif %}
  return USE;
}
TORCH_LIBRARY_IMPL(more, Meta, m) { m.impl("fill_{{ kind }}", fill_{{ kind }}); }
{% endfor %}
"""


def test_code_around_the_marks_is_converted_for_review(tmp_path: Path) -> None:
    source = FILL.replace("USE", "x.view({n, {{ width }}})")
    assert {finding.level for finding in findings(tmp_path, source, register=False) if finding.edits} == {Level.REVIEW}
    assert (
        converted(tmp_path, source).split("TORCH_LIBRARY")[0]
        == (
            source.replace("int64_t", "c10::SymInt")
            .replace("numel", "sym_numel")
            .replace("x.view(", "x.view_symint(")
            .split("TORCH_LIBRARY")[0]
        )
    )


def test_a_value_that_one_branch_needs_concrete_is_concrete_in_all(tmp_path: Path) -> None:
    source = FILL.replace("USE", "x.reshape({at::takes_int(n)})")
    found = findings(tmp_path, source, register=False)
    assert {finding.refusal for finding in found} == {"callee-takes-int"}
    assert len(found) == 2


def test_the_branches_of_the_preprocessor_agree_too(tmp_path: Path) -> None:
    head = "Tensor f(const Tensor& x, const Tensor& y) {\n#ifdef FLAT\n  int64_t n = x.numel();\n#else\n"
    source = head + "  int64_t n = y.numel();\n#endif\n  return x.reshape({at::takes_int(n)});\n}"
    assert [finding.refusal for finding in findings(tmp_path, source)] == ["callee-takes-int"] * 2


def test_a_mark_is_no_value_that_is_known(tmp_path: Path) -> None:
    source = HEAD + "Tensor f(const Tensor& x) {\n  return {{ call }}(x.size(0), 1);\n}"
    (finding,) = findings(tmp_path, source)
    assert finding.refusal == "callee-unknown"
    assert "`{{ call }}`" in finding.reason


def test_checks_are_named_in_the_words_of_the_template(tmp_path: Path) -> None:
    source = HEAD + 'Tensor f(const Tensor& x) {\n  TORCH_CHECK({{ input }}.sym_size(0) > 1, "no");\n  return x;\n}'
    source = source.replace("{\n  TORCH", "{\n  const Tensor& {{ input }} = x;\n  TORCH")
    (finding,) = findings(tmp_path, source)
    assert finding.rule == "size-check"
    assert finding.message.startswith("`{{ input }}.sym_size(0) > 1`")


def test_a_function_with_code_that_is_not_read_is_left(tmp_path: Path) -> None:
    source = (
        HEAD + "Tensor f(const Tensor& x) {\n  return x.view({{% if a %}x.size(0){% else %}x.size(1){% endif %}});\n}"
    )
    (finding,) = findings(tmp_path, source.replace("({{%", "({ {%"))
    assert finding.refusal == "template"
    assert "line 3" in finding.reason


def test_no_fake_is_written_for_operators_that_are_known_when_it_is_rendered(tmp_path: Path) -> None:
    body = "{ auto out = at::empty({x.size(0)}, x.options()); out.data_ptr<float>()[0] = 1; return out; }"
    block = 'TORCH_LIBRARY(lib, m) { m.def("{{ op }}(Tensor x) -> Tensor"); m.impl("{{ op }}", KEY, op); }'
    source = HEAD + f"Tensor op(const Tensor& x) {body}\n" + block.replace("KEY", "c10::DispatchKey::CPU")
    (finding,) = [f for f in findings(tmp_path, source, register=False) if f.rule == "missing-fake"]
    assert not finding.edits
    assert "written in a template" in finding.reason
