"""What is decided about C++ that is a template."""

from __future__ import annotations

import re
from pathlib import Path

import jinja2
import pytest

from codemod.model.findings import Level
from tests.transforms.cpp.snippets import converted, findings
from transforms.cpp.reading.syntax import count_errors, parse

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


MARK = re.compile(r"\{%.*?%\}|\{#.*?#\}|\{\{.*?\}\}", re.S)
TENSORS = HEAD + "Tensor f(const Tensor& x, const Tensor& y, int64_t k) {\n  const int64_t n = x.size(0);\n  "


@pytest.mark.parametrize(
    "statement",
    [
        'TORCH_CHECK(n == y.size(0) {% if a %} && y.size(1) == 4 {% endif %}, "m");',
        'TORCH_CHECK({% if a %}n > 1 && {% endif %}n < 9, "m");',
        'TORCH_CHECK(n > 1 {% if a %}+ k{% endif %}, "m");',
        'TORCH_CHECK(k + {% if a %}k || {% endif %}n == 2, "m");',
        'TORCH_CHECK(n == {% if a %} 2 {% else %} 3 {% endif %}, "m");',
        'TORCH_CHECK(n {# rows #} == 4, "m");',
        'TORCH_CHECK(n {% if a %} > 2 {% else %} > 3 {% endif %}, "m");',
        "if (n {# none #} == 0) { return x.clone(); }",
        "if (n {% if a %} == 0 {% endif %}) { return x; }",
        "if ({% if a %} ! {% endif %} x.numel()) { return x; }",
        'if (n != {% if a %} 2 || {% endif %} y.size(0)) { TORCH_CHECK(false, "m"); }',
        "int64_t m = n {% if a %} > 2 {% else %} > 3 {% endif %} ? n + 1 : n;",
        "auto m = std::max<int64_t>({# one #} 1, {% if a %} 2 + {% endif %} n);",
        "auto m = std::min(n, k {% if a %}+ 1{% endif %});",
        "int64_t m = y.size(0); m -= 1 {% if a %}+ 1{% endif %};",
        "int64_t m = y.size(0); m -= {# one #} 1;",
        "int64_t m = {% if a %} 1; {% else %} n; {% endif %}",
        "auto m = {% if a %}n + {% endif %} 1; m -= 2;",
        "y.narrow(0, 0, {% if a %}k, {% endif %} n);",
    ],
)  # fmt: skip
def test_no_mark_is_lost_and_every_rendering_reads(tmp_path: Path, statement: str) -> None:
    source = f"{TENSORS}{statement}\n  return x.exp().narrow(0, 0, n);\n}}"
    after = converted(tmp_path, source)
    assert MARK.findall(after) == MARK.findall(source)
    for chosen in (True, False):
        whole, before = (jinja2.Template(text).render(a=chosen) for text in (after, source))
        trees = [parse(text.encode())[0].root_node for text in (whole, before)]
        assert count_errors(trees[0]) == count_errors(trees[1]), whole
        # What asks is left as it is, or asked of the same operands in the same order.
        assert "sym_and" not in whole
        assert "GUARD_OR" not in whole


@pytest.mark.parametrize(
    "statement",
    [
        'TORCH_CHECK(n == y.size(0) {% if a %} && y.size(1) == 4 {% endif %}, "m");',
        'TORCH_CHECK(n == {% if a %} 2 {% else %} 3 {% endif %}, "m {{ a }}", {% if a %}"b"{% else %}"c"{% endif %});',
        "if (n {# none #} == 0) { return x.clone(); }",
        "int64_t m = {% if a %}y.size(0){% else %}3{% endif %}; m -= 1;",
        "auto o = at::empty({n {% if a %}, k{% endif %}}, x.options());",
        "auto o = at::empty({n}, x.options().dtype({% if a %}at::kInt{% else %}at::kLong{% endif %}));",
        "// Rows.\n  {% if a %}\n  int64_t m = n + 1;\n  {% else %}\n  int64_t m = n;\n  {% endif %}",
        "{% if a %}for (int i = 0; i < 2; i++) { {% else %}for (int i = 0; i < k; i++) { {% endif %} y.add_(1); }",
        "{{ one() }}",
    ],
)  # fmt: skip
def test_sizes_around_marks_are_symbolic_where_every_rendering_takes_them(tmp_path: Path, statement: str) -> None:
    macro = "{% macro one() %}\n  int64_t one = 1;\n{% endmacro %}\n"
    body = TENSORS.removeprefix(HEAD)
    source = f"{HEAD}{macro}{body}{statement}\n  return x.exp().narrow(0, 0, n);\n}}"
    after = converted(tmp_path, source)
    assert "const c10::SymInt n = x.sym_size(0);" in after
    assert MARK.findall(after) == MARK.findall(source)


def test_a_check_away_from_the_marks_is_asked_later(tmp_path: Path) -> None:
    source = TENSORS + 'TORCH_CHECK(n == k, "m");\n  {% if a %}y.add_(1);{% endif %}\n  return x.narrow(0, 0, n);\n}'
    assert 'TORCH_SYM_CHECK(n.sym_eq(k), "m");' in converted(tmp_path, source)


def test_a_path_with_branches_of_the_template_decides_no_shortcut(tmp_path: Path) -> None:
    source = TENSORS + "if (n == 0) { return x.clone(); }\n  HERE\n  return x.exp();\n}"
    assert "TORCH_GUARD_OR_FALSE" in converted(tmp_path, source.replace("HERE", ""))
    assert "TORCH_GUARD_OR_FALSE" not in converted(tmp_path, source.replace("HERE", "{% if a %}run(x);{% endif %}"))


@pytest.mark.parametrize(
    "unread",
    [
        "{% if a %}while (k < 1) { {% else %}while (k < twice(n)) { {% endif %} y.add_(1); }",
        "{{ named() }}",
        '{{ given("n") }}',
        'at::takes_int({{ "n" }});',
        '{% set number = "n" %}\n  at::takes_int({{ number }});',
        '{% call given("k") %}\n  {% endcall %}\n  {{ named() }}',
        "{{ imported.macro() }}",
        "{{ body }}",
        "{% include 'more.cpp' %}",
        "k += {% if a %} 1 {% else %} twice(n) {% endif %};",
    ],
)  # fmt: skip
def test_what_unread_code_may_use_stays_an_integer(tmp_path: Path, unread: str) -> None:
    named = "{% macro named() %}\n  at::takes_int(n);\n{% endmacro %}\n"
    given = "{% macro given(v) %}\n  f({{ v }});\n{% endmacro %}\n"
    source = f"{HEAD}{named}{given}{TENSORS.removeprefix(HEAD)}{unread}\n  return x.narrow(0, 0, n);\n}}"
    assert converted(tmp_path, source) == source
    (finding,) = findings(tmp_path, source)
    assert finding.refusal == "template"
    assert "`n`" in finding.reason


def test_a_lambda_that_unread_code_may_call_returns_an_integer(tmp_path: Path) -> None:
    loop = "{% if a %}for (;;) { {% else %}for (int i = 0; i < rows(); i++) { {% endif %} y.add_(1); }"
    body = f"  auto rows = [&] {{ return x.size(0); }};\n  {loop}\n  return x.narrow(0, 0, rows());\n}}"
    (finding,) = findings(tmp_path, f"{HEAD}Tensor f(const Tensor& x, Tensor y) {{\n{body}")
    assert finding.refusal == "template"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        ("", "int64_t"),
        ("{% macro m() %}\n  int64_t k = twice(3);\n{% endmacro %}\n", "int64_t"),
        ("", "{% if a %}int64_t{% else %}int32_t{% endif %}"),
    ],
)
def test_a_helper_of_a_template_changes_where_all_calls_are_read(tmp_path: Path, head: str, kind: str) -> None:
    body = "return 2 * n; }\nTensor f(const Tensor& x) { return x.narrow(0, 0, twice(x.size(0))); }"
    source = f"{HEAD}{head}static int64_t twice({kind} n) {{ {body}"
    changes = not head and "{" not in kind
    assert ("c10::SymInt twice(c10::SymInt n)" in converted(tmp_path, source)) == changes
    assert (converted(tmp_path, source) == source) != changes
