"""One logical line as the formatter of the tree writes it."""

from __future__ import annotations

import ast

import pytest

from transforms.python.writing.style import Style, logical_lines, longest

NARROW = Style(limit=40)


@pytest.mark.parametrize(
    "text",
    [
        'message = """one\ntwo and a line that is long, long"""',
        "total = first_summand + second_summand \\\n    + third_summand",
        "total = (",
        "if first_condition and second_condition: return None",
        "@decorator(first_argument, second_argument, third)",
        "case first_condition, second_condition, third:",
        "value = " + "[" * 60 + "]" * 60,
        "value = " + " + ".join(["summand"] * 600),
    ],
)
def test_what_is_no_line_of_its_own_is_not_formatted(text: str) -> None:
    assert NARROW.statement(text) is None


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("    x = f(  1,'a' )", "    x = f(1, 'a')"),
        ("    return first_summand + second_summand(1)",
         "    return (\n        first_summand\n        + second_summand(1)\n    )"),
        ("if first_condition and other_condition(1):", "if first_condition and other_condition(\n    1\n):"),
        ("elif first_condition and second_condition:  # why",
         "elif (\n    first_condition and second_condition\n):  # why"),
        ("\twhile first_condition and call_it(third, 1):",
         "\twhile first_condition and call_it(\n\t    third, 1\n\t):"),
        ("call(first_argument, # why\n  second_argument)",
         "call(\n    first_argument,  # why\n    second_argument,\n)"),
        ("x = f(\n    1,\n)", "x = f(\n    1,\n)"),
    ],
)  # fmt: skip
def test_a_statement_or_header_is_written_as_black_does(text: str, written: str) -> None:
    assert NARROW.statement(text) == written


def test_a_line_that_type_checkers_ignore_is_divided_and_its_comment_stays_for_the_whole() -> None:
    written = NARROW.statement("    return call(first_argument, second=2)  # type: ignore[arg-type]")
    assert written == "    return call(\n        first_argument, second=2\n    )  # type: ignore[arg-type]"
    short = "    return call(1)  # type: ignore[arg-type]"
    assert NARROW.statement(short) == short  # cannot be divided
    quoted = '    return call("first  # type: ignore", 2, 3)'
    assert NARROW.statement(quoted) == '    return call(\n        "first  # type: ignore", 2, 3\n    )'


def test_levels_are_those_of_the_file() -> None:
    assert NARROW.statement("\tcall(first_argument, second_argument)", "\t") == (
        "\tcall(\n\t\tfirst_argument, second_argument\n\t)"
    )
    assert NARROW.statement("call(first_argument, # why\n  second_argument)", "  ") == (
        "call(\n  first_argument,  # why\n  second_argument,\n)"
    )


def test_a_trailing_comma_counts_where_the_tree_says_so() -> None:
    assert Style(magic_trailing_comma=False).statement("x = f(\n    1,\n)") == "x = f(1)"


def test_what_the_oldest_python_does_not_have_is_not_written() -> None:
    header = "with open(first_file) as first, open(second) as second:"
    assert Style(limit=40, python=8).statement(header) == (
        "with open(first_file) as first, open(\n    second\n) as second:"
    )
    assert Style(limit=40, python=9).statement(header) == (
        "with (\n    open(first_file) as first,\n    open(second) as second,\n):"
    )


@pytest.mark.parametrize(
    "message", ["'said \"so\" of a size that is much too long'", "f'{x}, of which {y} is {len(y)} too long'"]
)
def test_strings_are_taken_apart_only_where_asked_and_keep_their_value(message: str) -> None:
    text = f"    torch._check(x == y, lambda: {message})"
    whole, divided = NARROW.statement(text), NARROW.statement(text, strings=0)
    assert whole is not None
    assert divided is not None
    assert longest(divided) <= 40 < longest(whole)
    assert ast.dump(ast.parse(divided.strip())) == ast.dump(ast.parse(text.strip()))


def test_strings_stay_whole_up_to_a_width() -> None:
    text = "    torch._check(x == y, lambda: 'of a size that is much too long')"
    whole = NARROW.statement(text)
    assert whole is not None
    assert NARROW.statement(text, strings=longest(whole)) == whole
    assert NARROW.statement(text, strings=longest(whole) - 1) == NARROW.statement(text, strings=0) != whole


def test_strings_taken_apart_are_what_the_formatter_leaves() -> None:
    message = "(\n        f'of a size {x} that is much too long ' + f'to be {y}'\n    )"
    divided = NARROW.statement(f"    torch._check(x == y, lambda: {message})", strings=0)
    assert divided is not None
    assert longest(divided) <= 40
    assert NARROW.statement(divided) == divided


def test_what_passes_over_a_length_stands_behind_the_line_that_has_it() -> None:
    directive = "  # noqa: B950"
    assert NARROW.statement(f"call(condition, 'a message that is much too long for the line'){directive}") == (
        f"call(\n    condition,\n    'a message that is much too long for the line',{directive}\n)"
    )
    assert NARROW.statement(f"call(condition_of, 'one of the messages'){directive}") == (
        f"call(\n    condition_of, 'one of the messages'\n){directive}"
    )


def test_logical_lines_are_statements_headers_comments_and_blank_lines() -> None:
    lines = ["    if (a\n", "\n", "            and b):\n", "  # note\n", "\n", "x = '''\n", "#'''; y = 1\n", "z = 1"]
    assert list(logical_lines(lines)) == [(0, 3), (3, 4), (4, 5), (5, 7), (7, 8)]
    assert list(logical_lines(["a = (\n", "1\n"])) == [(0, 2)]
