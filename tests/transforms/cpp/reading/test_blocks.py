"""Functions are found by their braces, whatever macros and `#if` lines stand around them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.cpp.reading.blocks import argument_counts, arguments, read_blocks
from transforms.cpp.reading.literals import without_defines, without_literals


def found(source: str) -> list[str]:
    text = without_defines(without_literals(source.encode()))
    return [block.signature.name for block in read_blocks(text)[0] if block.body >= 0]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("int a = f({1, 2});", []),
        ("enum class Kind { one, two };", []),
        ("static const int table[] = {1, 2};", []),
        ("#define BODY(x) int f() { return x; }\n", []),
        ('// int f() { }\n/* int g() { } */ const char* s = "int h() { }";', []),
        ('const char* s = R"x(int f() { )x"; int g() { return 1; }', ["g"]),
        ("int f() { auto g = [](int x) { return x; }; return g(1); }", ["f"]),
        ("namespace a::b { namespace { int f() {} } class C : public B<int> { int g() const {} }; }", ["f", "g"]),
        ('extern "C" { int f() {} }', ["f"]),
        ("REGISTER_KERNEL(a, b)\n\nTensor f(const Tensor& x) { return x; }", ["f"]),
        ("LONE_MACRO\nTensor f() {}", ["f"]),
        ("API_MACRO(1) static inline Tensor f() {}", ["f"]),
        ("template <typename T, std::enable_if_t<(sizeof(T) > 4), int> = 0>\nT f(T x) { return x; }", ["f"]),
        ("C::C(int a) : a_(a), b_{a} { run(); }", ["C"]),
        ("C::C(int a) noexcept : a_{a} {}", ["C"]),
        ("C::C(int a) : run_([=](int b) { return b; }) { run_(a); }", ["C"]),
        ("template <class T> struct C <T, std::enable_if_t<(N<T> > 1)>> : B<T> { int f() { return 1; } };", ["f"]),
        ("int a = [] { int b = 1; return b; }();\nint f() {}", ["a", "f"]),
        ("void f(std::vector<int> x = {}, Options o = {1}) { }", ["f"]),
        ("auto f(int a) -> decltype(g(a)) { return g(a); }", ["f"]),
        ("bool C::operator==(const C& o) const { return true; }", ["operator=="]),
        ("void C::operator()(int a) { }", ["operator()"]),
        ("C::operator bool() const { return true; }", ["operator bool"]),
        ("TORCH_META_FUNC(add)(const Tensor& a) { }", ["META__add"]),
        ("KERNEL_OF(sub)(const Tensor& a) { }", ["sub"]),
        ("static auto registry = [](int a) { return a; };", ["registry"]),
        ("#if A\nint f(int a) {\n#else\nint f() {\n#endif\n  return 1;\n}\nint g() {}", ["f", "g"]),
        ("int f() {\n#if A\n  if (a) {\n#else\n  if (b) {\n#endif\n  }\n}\nint g() {}", ["f", "g"]),
        ("int f() { char c = '{'; int n = 1'000; return n; } int g() {}", ["f", "g"]),
    ],
)
def test_definitions(source: str, names: list[str]) -> None:
    assert found(source) == names


def test_an_unclosed_function_is_kept_to_the_end() -> None:
    text = b"int f() { if (a) {"
    (block,) = read_blocks(text)[0]
    assert (block.signature.name, block.end) == ("f", len(text))


@given(
    st.lists(
        st.sampled_from(["{", "}", ";", "(", ")", "#if A\n", "#else\n", "#endif\n", "f", " ", "::", "\n", '"', "'"])
    )
)
def test_any_text_is_read(parts: list[str]) -> None:
    source = "".join(parts).encode()
    text = without_defines(without_literals(source))
    assert len(text) == len(source)
    for block in read_blocks(text)[0]:
        assert 0 <= block.signature.start < block.end <= len(text)
        assert block.body < 0 or text[block.body : block.body + 1] == b"{"


def test_arguments() -> None:
    text = b"f(a, g(b, c), {d, e}, h[1, 2])"
    assert [text[a:b].strip() for a, b in arguments(text, 1)] == [b"a", b"g(b, c)", b"{d, e}", b"h[1, 2]"]
    assert list(arguments(b"f( )", 1)) == []


@given(st.text(alphabet="(([{)]},, \na", max_size=30))
def test_the_arguments_of_every_list_are_counted_as_they_are_read_one_by_one(text: str) -> None:
    code = f"({text})".encode()
    for opening, count in argument_counts(code).items():
        # What no bracket closes has no end; its arguments are those that a comma ends.
        assert count == len(list(arguments(code, opening)))
