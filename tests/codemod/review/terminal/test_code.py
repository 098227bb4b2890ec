from __future__ import annotations

from rich.text import Text

from codemod.model.edits import Edit, apply_edits
from codemod.review.terminal.code import diff_rows, differing, highlighted, shown


def edit(source: bytes, old: bytes, new: bytes) -> Edit:
    start = source.index(old)
    return Edit("a.cpp", start, start + len(old), old, new)


def marked(line: str, spans: list[tuple[int, int]]) -> list[str]:
    return [line[start:end] for start, end in spans]


def test_rows_hold_the_change_its_context_and_a_gap() -> None:
    source = b"".join(b"line %d;\n" % number for number in range(1, 31))
    rows = diff_rows("a.cpp", source, [edit(source, b"line 5;", b"row 5;"), edit(source, b"line 25;", b"a;\nb;")])
    assert [(row.sign, row.line) for row in rows] == [
        (" ", 2), (" ", 3), (" ", 4), ("-", 5), ("+", 5), (" ", 6), (" ", 7), (" ", 8), ("@", 22),
        (" ", 22), (" ", 23), (" ", 24), ("-", 25), ("+", 25), ("+", 26), (" ", 26), (" ", 27), (" ", 28),
    ]  # fmt: skip
    assert [row.text.plain for row in rows if row.sign in "-+"] == ["line 5;", "row 5;", "line 25;", "a;", "b;"]


def test_a_gap_stands_for_two_lines_at_least() -> None:
    source = b"".join(b"line %d;\n" % number for number in range(1, 31))
    for distance, gaps in ((7, 0), (8, 0), (9, 1)):
        second = b"line %d;" % (5 + distance)
        rows = diff_rows("a.cpp", source, [edit(source, b"line 5;", b"x"), edit(source, second, b"y")])
        assert [row.sign for row in rows].count("@") == gaps, distance


def test_rows_say_what_is_written() -> None:
    source = b"a\nb b\nc\nd\n"
    edits = [edit(source, b"b b", b"x\ny"), edit(source, b"d\n", b"")]
    rows = diff_rows("a.cpp", source, edits)
    assert "\n".join(row.text.plain for row in rows if row.sign in " +") + "\n" == apply_edits(source, edits).decode()
    assert "\n".join(row.text.plain for row in rows if row.sign in " -") + "\n" == source.decode()


def test_words_that_differ_are_marked_whole_and_on_their_line() -> None:
    old, new = ["auto n = x.size(0);", "return n;"], ["auto n = x.sym_size(0);", "return n + 1;"]
    before, after = differing(old, new)
    assert [marked(line, spans) for line, spans in zip(old, before, strict=True)] == [["size"], []]
    assert [marked(line, spans) for line, spans in zip(new, after, strict=True)] == [["sym_size"], ["+ 1"]]


def test_lines_that_have_little_in_common_are_not_marked() -> None:
    assert differing(["alpha(beta);"], ["if x == 3 then return 12345 + y"]) == ([[]], [[]])


def test_a_comment_is_one_up_to_the_last_line() -> None:
    code, comment = highlighted("a.cpp", ["int x = 3;", "// 3 is not a number here"])
    assert [span.style for span in comment.spans] == ["italic bright_black"]
    assert "cyan" in [span.style for span in code.spans]
    assert highlighted("unknown.zzz", ["x", ""]) == [Text("x"), Text("")]
    assert highlighted("a.cpp", []) == []


def test_what_a_terminal_would_obey_is_shown_as_text() -> None:
    assert shown(b"a\tb\x1b[31m\x07\r\n") == "a   b\\x1b[31m\\x07"
    assert shown("caf\xe9 \u202e".encode()) == "caf\xe9 \\u202e"
    assert shown(b"latin \xe9") == "latin \\xe9"
