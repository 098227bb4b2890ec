"""What macro calls stand for."""

from __future__ import annotations

import pytest

from transforms.cpp.reading.preprocessor import Expander, read_macros


def expanded(defines: str, text: str) -> str:
    macros = read_macros(defines.encode())
    return Expander(macros.get).expand(text.encode()).decode()


@pytest.mark.parametrize(
    ("defines", "text", "expected"),
    [
        ("", "F(a, b)", "F(a, b)"),
        ("#define F(x) <x>", "F", "F"),
        ("#define F(x) <x>", '"F(1)"', '"F(1)"'),
        ("#define F(x) <x>", "GF(1) F1(2)", "GF(1) F1(2)"),
        ("#define F(x) <x>", "F(a) + F(b)", "<a> + <b>"),
        ("#define N (m)", "N", "(m)"),
        ("#define N (m)", "N(1)", "(m)(1)"),
        ("#define F(x) x", "F(F(F(a)))", "a"),
        ("#define F F", "F", "F"),
        ("#define F(x) G(x)\n#define G(x) F(x)", "F(a)", "F(a)"),
        ("#define C(a, b) a##b", "C(x, y)", "xy"),
        ("#define N lib\n#define C(a, b) a##b", "C(N, _x)", "N_x"),
        ("#define N lib\n#define C_(a, b) a ## b\n#define C(a, b) C_(a, b)", "C(N, _x)", "lib_x"),
        ("#define S(a) #a", "S(lib)", '"lib"'),
        ("#define S(a) #a", 'S("x")', '"\\"x\\""'),
        ("#define N lib\n#define S_(a) #a\n#define S(a) S_(a)", "S(N)", '"lib"'),
        ("#define F(a, ...) a: __VA_ARGS__", "F(x, y, z)", "x: y, z"),
        ("#define F(a) [a // why\n]", "F(x)", "[x"),
        ("#define F(a) [a \\\n  ]", "F(x)", "[x    ]"),
        ("#ifdef X\n#define F(a)\n#else\n#define F(a) <a>\n#endif", "F(x)", "<x>"),
        ("#define F(a) <a>\n#define F(a) [a]", "F(x)", "<x>"),
        ("#define F(a) <a>", "F(", "<a>"),
    ],
)
def test_expansion(defines: str, text: str, expected: str) -> None:
    assert expanded(defines, text) == expected


def test_what_grows_without_end_is_left() -> None:
    doubling = "".join(f"#define A{n} A{n + 1} A{n + 1}\n" for n in range(40))
    assert expanded(doubling, "A0") == "A0"
