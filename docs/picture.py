"""Make the pictures of the manual: run a command on a terminal, and draw what it prints, for light pages and dark ones.

    python docs/picture.py docs/images/fix TREE -- symfix fix cross_entropy --until prove

writes docs/images/fix-light.svg and fix-dark.svg. What the command prints is kept as it is, but for stderr.
"""

from __future__ import annotations

import argparse
import io
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

LIGHT = TerminalTheme(
    (255, 255, 255), (31, 35, 40),
    [(31, 35, 40), (207, 34, 46), (17, 99, 41), (125, 78, 0), (9, 105, 218), (130, 80, 223), (27, 124, 131),
     (110, 119, 129)],
)  # fmt: skip
DARK = TerminalTheme(
    (13, 17, 23), (230, 237, 243),
    [(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255), (57, 197, 207),
     (177, 186, 196)],
)  # fmt: skip
"""The sixteen colours of a terminal as GitHub's pages have them, which contrast enough on either background."""


def printed(command: list[str], folder: Path, columns: int, rows: int) -> str:
    """What `command` prints to a terminal of that size. Its exit code is its own matter."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "LINES": str(rows), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=follower,
                          stderr=subprocess.DEVNULL):  # fmt: skip
        os.close(follower)
        parts = []
        while True:
            try:
                part = os.read(leader, 1 << 16)
            except OSError:  # what Linux says where the last writer is gone
                break
            if not part:
                break
            parts.append(part)
    os.close(leader)
    return b"".join(parts).decode("utf-8", "replace").replace("\r\n", "\n").strip("\n")


def drawn(text: str, title: str, columns: int, theme: TerminalTheme) -> str:
    """The picture, as SVG that asks for nothing from elsewhere."""
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(text), soft_wrap=False)
    plain = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    plain = plain.replace("<!-- Generated with Rich https://www.textualize.io -->", "")
    plain = plain.replace("rgba(255,255,255,0.35)", "rgba(128,128,128,0.5)")
    plain = plain.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace")
    picture = console.export_svg(title=title, theme=theme, code_format=plain, unique_id="symfix")
    return "".join(f"{line.rstrip()}\n" for line in picture.splitlines() if line.strip())


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("output", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("command", nargs="+")
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("--rows", type=int, default=40)
    arguments = parser.parse_args()
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # this symfix
    text = printed(arguments.command, arguments.folder, arguments.columns, arguments.rows)
    title = shlex.join(arguments.command)
    for name, theme in (("light", LIGHT), ("dark", DARK)):
        path = arguments.output.with_name(f"{arguments.output.name}-{name}.svg")
        path.write_text(drawn(text, title, arguments.columns, theme), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
