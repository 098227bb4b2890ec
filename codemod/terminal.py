"""Output to stdout and stderr, neutralised so that no text is a command to a terminal or the log of a CI service.

`show` and `note` neutralise each line they print, whatever it is made of; `style` alone reaches the terminal's codes.
`write` is for documents that programs read, `write_exact` for those that quote a tree byte for byte.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import IO

from codemod.errors import SymfixError

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
# What `style` writes in place of an escape character: no text that is printed can know it.
_STYLE = f"\x1b{os.urandom(8).hex()}"
_STYLED = re.compile(_STYLE + r"(\[[\d;]*m)")
# Letters and marks that are drawn as nothing; what Unicode calls control or format characters is known by category.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\U000e0100-\U000e01ef]")
# A GitHub runner takes `::error::` after white space, and the older `##[error]` anywhere in a line; Azure Pipelines
# reads `##vso[`, TeamCity `##teamcity[`.
_COMMAND = re.compile(r"^((?:\s|\x1b\[[\d;]*m)*)::")
_OLD_COMMAND = re.compile(r"##(?=\w*\[)")
_CLOSED_PIPE = 141  # what a shell reports of a program that SIGPIPE ends


def encode(text: str) -> bytes:
    """UTF-8; lone surrogates become the bytes they stand for."""
    return text.encode("utf-8", "surrogateescape")


def decode(source: bytes) -> str:
    """The inverse of `encode`, for any bytes."""
    return source.decode("utf-8", "surrogateescape")


def colours(stream: IO[str] | None = None) -> bool:
    """Whether `stream` (stdout) shows colour: a terminal, and no $NO_COLOR."""
    return (stream or sys.stdout).isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style(text: str, *names: str) -> str:
    """`text` in colour where stdout shows it."""
    if not names or not text or not colours():
        return text
    return f"{_STYLE}[{';'.join(_CODES[name] for name in names)}m{text}{_STYLE}[0m"


def unstyled(text: str) -> str:
    """`text` without what `style` did to it."""
    return _STYLED.sub("", text)


def width() -> int:
    """The columns to write in: the terminal's, at least 60; 100 where there is none."""
    return max(60, shutil.get_terminal_size((100, 24)).columns)


def write(content: bytes) -> None:
    """Write to stdout and flush. Ends the program quietly where the reader has closed the pipe.

    The bytes go out as they are: for documents whose format keeps text harmless, such as `quoting.json_text`.
    """
    rest = memoryview(content)
    try:
        sys.stdout.flush()
        while rest:  # unbuffered, as with python -u, a pipe takes a part at a time
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(_CLOSED_PIPE) from None


def show(lines: Iterable[str]) -> None:
    """Write lines to stdout, each kept on its own, so that none is an order to a terminal or a CI service."""
    write("".join(f"{harmless(line)}\n" for line in lines).encode())


def write_exact(content: bytes, colour: Callable[[str], str] = str, skippable: bool = False) -> None:
    """Write a document that quotes a tree byte for byte, such as a diff.

    A terminal shows its lines, in the `colour` of each, as `show` does. In the log of a GitHub workflow no line of it
    is a command: where the reader passes over lines around it (`skippable`) commands are switched off for its length.
    Raises SymfixError for another document there that holds one.
    """
    if sys.stdout.isatty():
        show(map(colour, decode(content).removesuffix("\n").split("\n")) if content else ())
        return
    if _is_log() and holds_command(decode(content)):
        if not skippable:
            raise SymfixError("a line of the output would be read as a workflow command; send it to a file: > FILE")
        token = os.urandom(16).hex().encode()
        content = b"::stop-commands::%s\n%s::%s::\n" % (token, content, token)
    write(content)


def _is_log() -> bool:
    """Whether stdout may be read by a GitHub runner: in its environment, all that is no file."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return False
    try:
        return not stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):
        return True


def holds_command(text: str) -> bool:
    """Whether a GitHub runner could take a line of `text` for a command; a carriage return ends a line too."""
    return any(map(_is_command, text.replace("\r", "\n").split("\n")))


def _is_command(line: str) -> bool:
    before, colons, _ = line.partition("::")
    return bool(_OLD_COMMAND.search(line) or (colons and all(c.isspace() or _is_hidden(c) for c in before)))


def note(text: str) -> None:
    """One line to stderr, whatever `text` holds."""
    print(harmless(text), file=sys.stderr, flush=True)


def harmless(line: str) -> str:
    """`line` on one line, as a terminal or the log of a CI service shows and does not obey it. Tabs and styles stay."""
    parts = _STYLED.split(line)
    parts[::2] = ("\t".join(map(visible, part.split("\t"))) for part in parts[::2])
    parts[1::2] = ("\x1b" + code for code in parts[1::2])
    return without_command("".join(parts))


def without_command(line: str) -> str:
    """`line` with the mark of a workflow command escaped."""
    line = _OLD_COMMAND.sub(r"#\\x23", line) if "##" in line else line
    return _COMMAND.sub(r"\1\\x3a:", line) if "::" in line else line


def table(rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Lines of aligned columns, two spaces between; the columns in `right` are flush right."""
    cells = [list(row) for row in rows]
    if not cells:
        return []
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = []
    for row in cells:
        parts = [c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(parts).rstrip())
    return lines


def and_more(count: int) -> str:
    """` and 1,975 more`, what follows the first of many names; "" where no more are left."""
    return f" and {count:,} more" if count > 0 else ""


def listed(names: Iterable[str], most: int = sys.maxsize) -> str:
    """`names` in a sentence, no more than `most` of them: `a`, `a and b`, `a, b and 3 more`."""
    shown = list(names)
    if len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def one_line(text: str) -> str:
    """`text` with a single space for any white space: what quotes source may span lines."""
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    """`text` with an escape (`\\x1b`, `\\u202e`) for each character that is not seen.

    Those are the control and format characters, zero-width and bidirectional ones among them, what ends lines, what
    Unicode has not assigned; a byte that was no UTF-8 (see `decode`) becomes `\\x80` to `\\xff`. Never longer than one
    line; doing it twice is doing it once.
    """
    if text.isprintable() and (text.isascii() or not _UNSEEN.search(text)):
        return text
    return "".join(map(_escaped, text))


@functools.cache
def _escaped(character: str) -> str:
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return ascii(character)[1:-1] if _is_hidden(character) else character


def _is_hidden(character: str) -> bool:
    """Whether a terminal or a page draws nothing for `character`, or takes it for an order."""
    category = unicodedata.category(character)
    return category[0] == "C" or category in ("Zl", "Zp") or bool(_UNSEEN.match(character))


def without_hidden(text: str, mark: Callable[[str], str]) -> str:
    """`text` with `mark` of each character that is not seen, line feeds and tabs aside."""
    marks = {ord(c): mark(c) for c in set(text) if c not in "\n\t" and _is_hidden(c)}
    return text.translate(marks) if marks else text


def shorten(text: str, columns: int) -> str:
    """`text` on at most `columns` columns, cut at the end."""
    return text if len(text) <= columns else text[: max(1, columns - 1)] + "…"


def shorten_path(path: str, columns: int) -> str:
    """`path` on at most `columns` columns, cut at the front, where it says least, and between folders if it can be."""
    while len(path) > columns and "/" in path.removeprefix("…/"):
        path = "…/" + path.removeprefix("…/").partition("/")[2]
    return path if len(path) <= columns else "…" + path[len(path) - max(1, columns - 1) :]
