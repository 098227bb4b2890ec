"""What of C++ is no code of its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.cpp.reading.literals import without_defines, without_literals


@given(st.text(alphabet="ab \"'/*\n\\R(){}é"))
def test_blanking_keeps_length_and_lines(text: str) -> None:
    source = text.encode()
    blanked = without_defines(without_literals(source))
    assert [i for i, c in enumerate(blanked) if c == 10] == [i for i, c in enumerate(source) if c == 10]
    assert len(blanked) == len(source)


@pytest.mark.parametrize(
    "text", ["uR'x' \"a\"", 'aR"(\\")"', 'R"(a")" b', "1'000'000", "'\\''", '"a\\\nb"', "// a\\\nb\nc"]
)
def test_literals_begin_where_a_word_does_not_go_on(text: str) -> None:
    blanked = without_literals(f"{text};".encode())
    assert len(blanked) == len(text) + 1
    assert blanked.endswith(b";")


@pytest.mark.parametrize("opening", ["/*", 'R"x(', 'R"('])
def test_what_is_never_closed_goes_on_to_the_end(opening: str) -> None:
    assert without_literals(f"a; {opening} b;\n}}".encode()).split() in ([b"a;"], [b"a;", b"R"])


@pytest.mark.parametrize("opening", [b"/*", b'R"x( ', b'R"('])
def test_literals_without_end_take_no_time(opening: bytes) -> None:
    source = opening * 200_000
    assert len(without_literals(source)) == len(source)
