"""What goes to stdout and stderr: bytes as they are, colour only on a terminal, and no fuss over a closed pipe."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import IO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
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
    return f"\x1b[{';'.join(_CODES[name] for name in names)}m{text}\x1b[0m"


def width() -> int:
    """The columns to write in: the terminal's, at least 60; 100 where there is none."""
    return max(60, shutil.get_terminal_size((100, 24)).columns)


def write(content: bytes | str) -> None:
    """Write to stdout and flush. Ends the program quietly where the reader has closed the pipe."""
    rest = memoryview(encode(content) if isinstance(content, str) else content)
    try:
        sys.stdout.flush()
        while rest:  # unbuffered, as with python -u, a pipe takes a part at a time
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(_CLOSED_PIPE) from None


def note(text: str) -> None:
    """One line to stderr."""
    print(encode(text).decode("utf-8", "replace"), file=sys.stderr, flush=True)


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


def one_line(text: str) -> str:
    """`text` with a single space for any white space: what quotes source may span lines."""
    return visible(" ".join(text.split()))


def visible(text: str) -> str:
    """`text` with its control characters escaped: names of files and source are never orders to a terminal or a log."""
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def shorten(text: str, columns: int) -> str:
    """`text` on at most `columns` columns, cut at the end."""
    return text if len(text) <= columns else text[: max(1, columns - 1)] + "…"


def shorten_path(path: str, columns: int) -> str:
    """`path` on at most `columns` columns, cut at the front, where it says least, and between folders if it can be."""
    while len(path) > columns and "/" in path.removeprefix("…/"):
        path = "…/" + path.removeprefix("…/").partition("/")[2]
    return path if len(path) <= columns else "…" + path[len(path) - max(1, columns - 1) :]
