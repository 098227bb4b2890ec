"""What reaches a terminal and the log of a CI service."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given

from codemod import terminal
from codemod.errors import SymfixError
from tests.hostile import ATTACKS, runs_a_command, texts, unseen

_PRINTS = re.compile(r"print|(click\.)?s?echo\w*|(sys\.)?(stdout|stderr)(\.buffer)?\.write\w*")
DIFF = b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n ::error::INJ\n-\x1b[2J \xff\r\n+x\ty\n"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> None:
    """stdout as a runner of workflows reads it."""
    monkeypatch.setattr(terminal, "_is_log", lambda: True)


@given(texts)
def test_what_is_visible_is_one_line_that_gives_no_orders(text: str) -> None:
    shown = terminal.visible(text)
    assert not unseen(shown)
    assert not set(shown) & set("\n\t")
    shown.encode()
    assert terminal.visible(shown) == shown
    if text.isascii() and text.isprintable():
        assert shown == text


@given(texts)
def test_a_line_of_a_log_is_no_command(text: str) -> None:
    line = terminal.harmless(text)
    assert not unseen(line)
    assert "\n" not in line
    assert not runs_a_command(line)
    assert terminal.harmless(line) == line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[0m\x07\x7f\x9b", r"\x1b[0m\x07\x7f\x9b"),
        ("a\u202eb\u2069\u200b\u00ad\u3164", r"a\u202eb\u2069\u200b\xad\u3164"),
        ("\udcff\udc80\ud800", r"\xff\x80\ud800"),
        ("é ⋯ \U0001f600 \\x", "é ⋯ \U0001f600 \\x"),
        ("::error::x", r"\x3a:error::x"),
        ("  ::error::x ::y", r"  \x3a:error::x ::y"),
        ("at::native ##[error]", r"at::native #\x23[error]"),
        ("## [x]", "## [x]"),
    ],
)
def test_escapes(text: str, shown: str) -> None:
    assert terminal.harmless(text) == shown


def test_styles_alone_reach_the_terminal(monkeypatch: pytest.MonkeyPatch, capfdbinary: object) -> None:
    monkeypatch.setattr(terminal, "colours", lambda stream=None: True)
    line = f"\x1b[31m{terminal.style('x', 'red')}\x1b[0m"
    assert terminal.harmless(line) == "\\x1b[31m\x1b[31mx\x1b[0m\\x1b[0m"
    assert terminal.unstyled(line) == "\x1b[31mx\x1b[0m"


def test_lines_stay_lines(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    terminal.show(["a\n::error::b", "\tc"])
    terminal.note("d\n::error::e")
    out, err = capfdbinary.readouterr()
    assert (out, err) == (b"a\\n::error::b\n\tc\n", b"d\\n::error::e\n")


def test_a_document_is_exact_where_no_one_reads_it(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    terminal.write_exact(DIFF)
    assert capfdbinary.readouterr().out == DIFF


def test_a_diff_in_a_log_gives_the_runner_nothing(log: None, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    terminal.write_exact(DIFF, skippable=True)
    first, *middle, last = capfdbinary.readouterr().out.split(b"\n")[:-1]
    token = first.removeprefix(b"::stop-commands::")
    assert last == b"::%s::" % token
    assert len(token) == 32
    assert b"\n".join(middle) + b"\n" == DIFF
    harmless = DIFF.replace(b"::", b":")
    terminal.write_exact(harmless, skippable=True)
    assert capfdbinary.readouterr().out == harmless


def test_another_document_in_a_log_that_holds_a_command_is_refused(log: None) -> None:
    with pytest.raises(SymfixError, match="send it to a file"):
        terminal.write_exact(DIFF)


def test_a_terminal_shows_a_document(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    terminal.write_exact(DIFF)
    assert capfdbinary.readouterr().out == (
        b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n \\x3a:error::INJ\n-\\x1b[2J \\xff\\r\n+x\ty\n"
    )
    terminal.write_exact(b"")
    assert capfdbinary.readouterr().out == b""


@pytest.mark.parametrize("name", ["command", "command after a return", "leading command", "old command"])
def test_commands_are_known(name: str) -> None:
    assert terminal.holds_command(ATTACKS[name])
    assert not terminal.holds_command(terminal.harmless(ATTACKS[name]))
    assert not terminal.holds_command("at::native\n## [x]\n+ ::x")


def test_a_log_is_what_a_workflow_reads_of_a_pipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = f"from codemod import terminal; terminal.write_exact({DIFF!r}, skippable=True)"
    for value, to_log in (("", False), ("true", True)):
        monkeypatch.setenv("GITHUB_ACTIONS", value)
        piped = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True).stdout
        assert (piped == DIFF) is not to_log
        with (tmp_path / "out").open("wb") as file:
            subprocess.run([sys.executable, "-c", script], stdout=file, check=True)
        assert (tmp_path / "out").read_bytes() == DIFF


def test_nothing_else_prints() -> None:
    root = Path(__file__).parents[2]
    printing = []
    for path in (*root.glob("codemod/**/*.py"), *root.glob("transforms/**/*.py")):
        if "runner" in path.parts or path.name == "terminal.py":  # the runner speaks to symfix, not to people
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call) and _PRINTS.fullmatch(ast.unparse(node.func)):
                printing.append(f"{path}:{node.lineno}")
    assert printing == []


def test_what_follows_the_first_of_many_names() -> None:
    assert list(map(terminal.and_more, (-1, 0, 1, 1975))) == ["", "", " and 1 more", " and 1,975 more"]
