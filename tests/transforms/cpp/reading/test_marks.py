"""Templates of C++: what their marks are read as."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.cpp.reading.marks import is_template, masked, unread_accessor
from transforms.cpp.reading.syntax import count_errors, parse

PARTS = (
    "{% if a %}", "{%- else %}", "{% elif b %}", "{% endif %}", "{% for x in y %}", "{% endfor %}", "{# no #}",
    "{{ name }}", "{{ f(x) | join(', ') }}", "{{ a\n  .b }}", "int n = x.size(0);", "f(x", ", y", ")", "{", "}",
    '"{{ s }}"', "\n", "${type}", "${,args}",
)  # fmt: skip


@pytest.mark.parametrize(
    ("template", "source"),
    [
        ("{% set a = 1 %}\nint f();", "               \nint f();"),
        ("{# a\n b #}int f();", "    \n     int f();"),
        ("{% if a %}{% endif %}Tensor {{ a }}_meta();", "                     Tensor ___a____meta();"),
        ("{% if a %}{% endif %}\nint f() {\n  {{ g(x) }}\n}", "                     \nint f() {\n            \n}"),
        ('{% if a %}{% endif %}m.def("{{ a }}(Tensor x)");', '                     m.def("___a___(Tensor x)");'),
        ("{% if a %}f(x,{% else %}g(x,{% endif %}1)", "          f(x,                         1)"),
        ("{% if a %}x, {% else %}y, {% endif %}z", "          x,           y,            z"),
        ("{% if a %}x{% else %}y{% endif %}", "          x                      "),
        ("int x = {% if a %}1;{% else %}y;{% endif %}", "int x =           1;" + " " * 23),
        ("f(x) {% if a %}+ 1;{% else %}* 2;{% endif %}", "f(x)           + 1;" + " " * 25),
        ("#if A\n{% if a %}f();{% else %}g();{% endif %}", "#if A\n          f();          g();           "),
        ("{% if a %}if (x) { {% else %}if (y) { {% endif %}}", "          if (x) {                               }"),
        ("{% if a %}int x; // a, {% else %}int y;{% endif %}", "          int x; // a,           int y;           "),
        ("${type} f(${args}) {\n  ${body}\n}", "__type_ f(__args_) {\n         \n}"),
        ("f(x${,args})", "f(x,__args_)"),
        ("f(${args,}x)", "f(__args_,x)"),
    ],
)  # fmt: skip
def test_marks_become_as_many_bytes_of_cpp(template: str, source: str) -> None:
    assert is_template(template.encode())
    assert masked(template.encode()).source.decode() == source


@pytest.mark.parametrize(
    "source",
    [
        "std::vector<std::vector<int>> v = {{1, 2}, {3}};",
        'asm("{%0, %1};" : "=r"(x));',
        'const auto code = R"(${type} f(${args}))";',
        "// ${name}\nint x;",
        "#define TEXT(a, b) {#a, #b}",
    ],
)
def test_plain_cpp_is_no_template(source: str) -> None:
    assert not is_template(source.encode())
    assert masked(source.encode()).source == source.encode()


@given(st.lists(st.sampled_from(PARTS), max_size=12))
def test_every_byte_and_line_keeps_its_place(parts: list[str]) -> None:
    source = " ".join(parts).encode()
    text = masked(source).source
    assert len(text) == len(source)
    assert [i for i, byte in enumerate(text) if byte == 10] == [i for i, byte in enumerate(source) if byte == 10]


def test_names_give_their_marks_back() -> None:
    template = masked(b"{% if a %}{% endif %}int {{ a }} = {{ a_ }} + f({{ g('x') }});")
    assert template.restored(template.source.decode().strip()) == "int {{ a }} = {{ a_ }} + f({{ g('x') }});"


def test_what_is_not_read_is_told() -> None:
    source = b"{% if a %}f(x.size(0){% else %}f(y.size(0){% endif %});"
    offset = unread_accessor(source, 0, len(source))
    assert offset is not None
    assert source[offset:].startswith(b"size(0){% endif")
    assert unread_accessor(source, 0, 20) is None
    assert unread_accessor(b"{% if a %}x{% else %}f(y.dim(), y.size()){% endif %}", 0, 60) is None


def test_macros_are_read_where_they_are_called() -> None:
    inner = b"{% macro inner(x) %}if ({{ x }}.numel() > 0) { f(); }{% endmacro %}"
    head = inner + b"{% macro outer() %}{{ inner(1) }}{% endmacro %}"
    source = head + b"void f() { {{ outer() }} }void g() { {{ dim() }} }"
    assert not masked(source).source[: len(head)].strip()
    assert source[unread_accessor(source, len(head), len(head) + 20) or 0 :].startswith(b"numel()")
    assert unread_accessor(source, source.index(b"void g"), len(source)) is None


def test_an_edit_keeps_the_marks_in_its_span_or_is_none() -> None:
    source = b"int {{ a }} -= 1 {# one #};"
    template, name = masked(source), source.index(b"{{")
    assert not template.deletes(name, name + 7, "___a___ = ___a___")
    assert template.deletes(name, name + 7, "b")
    assert template.deletes(name + 1, name + 2, "___a___")
    assert not template.deletes(name + 7, name + 10, "=")
    assert template.deletes(name + 7, len(source) - 1, "= 1")


def test_branches_begin_at_their_marks() -> None:
    source = b"a {% if x %}b{% if y %}c{% endif %}d{% else %}e{% endif %}f {% set z = 1 %}{% endfor %}g"
    where = {letter: masked(source).branch(source.index(letter)) for letter in (b"a", b"f ", b"g")}
    assert set(where.values()) == {-1}
    inside = [masked(source).branch(source.index(place)) for place in (b"b{", b"c{", b"d{", b"e{")]
    opened = [source.index(mark) for mark in (b"{% if x", b"{% if y", b"{% if x", b"{% else")]
    assert inside == opened


def test_a_template_parses() -> None:
    tree, _ = parse(
        b"{% for a in b %}\nTensor {{ a }}(const Tensor& x) {\n  {{ body }}\n  return x;\n}\n{% endfor %}\n"
    )
    assert count_errors(tree.root_node) == 0


def test_hostile_files_take_no_time() -> None:
    deep = b"{% if a %}" * 20_000 + b"x{% else %}y{% endif %}" * 20_000
    deep_calls = b"{% macro m() %}x{% endmacro %}" + b"{{ m() }}{{ 'a' }}" * 5_000
    for source in (deep_calls, b"{% if a " * 100_000, b"{{ a " * 100_000 + b"{# #}", deep):
        assert len(masked(source).source) == len(source)
