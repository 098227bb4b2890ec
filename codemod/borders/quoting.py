"""Quoting of untrusted text: one function for each target format, in which the text then has no special meaning.

Names of files, functions and operators, lines of source, and what compilers and tests say are whatever somebody wrote.
The terminal and the logs of CI services have theirs in `codemod.terminal`.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from codemod.terminal import one_line, visible, without_command, without_hidden

_ZERO_WIDTH = "&#x200b;"
"""A zero-width space, as Markdown writes it: it ends a mention or a reference for GitHub, and nothing is seen of it.

Without decimal digits, for where the text becomes the message of a commit `#8203` would be an issue.
"""

# Marks of Markdown, of its tables and of GitHub's formulas. `_` between letters is one of a name, and brackets are
# brackets where no address follows them.
_MARKS = re.compile(r"[\\`*|~$]|(?<![^\W_])_|_(?![^\W_])|\](?=[(\[:]|$)")
_MARKS_IN_LINK = re.compile(rf"{_MARKS.pattern}|[\[\]]")
# What makes a heading, a quote or a list of the line that it opens.
_OPENING = re.compile(r"^(\d{0,9})(?=[#>+=-]|(?<=\d)[.)](?:\s|$))")
_ENTITY = re.compile(r"&(?=#?\w+;)")
# What GitHub links: mentions, issues and pull requests, commits, addresses.
_LINKED = re.compile(
    r"@(?=\w)|#(?=\d)|\bGH-(?=\d)|(?<!\w)(?=[\da-f]{0,39}[a-f])(?=[\da-f]{0,39}\d)[\da-f](?=[\da-f]{6,39}(?!\w))"
    r"|:(?=//)|\bwww(?=\.)",
    re.IGNORECASE,
)
# GitHub closes an issue by the message of a commit, which may be the text of a pull request, code included.
_CLOSING = re.compile(
    r"\b((?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b\W{0,4}(?:[\w./-]*#|GH-|https?://))(?=\w)", re.IGNORECASE
)
_IN_MESSAGE = re.compile(r"(?<!\w)@(?=\w)|#(?=\d)|\bGH-(?=\d)|:(?=//)", re.IGNORECASE)
_SKIPS_CI = re.compile(r"\[((?:skip|no) (?:ci|actions)|(?:ci|actions) skip)\]", re.IGNORECASE)
# What git or those who read mail take for a comment, a trailer or a header, the start of a patch, another mail.
_BY_LINE = re.compile(r"#|[\w-]+\s*:(?!:)|---|-- |diff |>?from |\(cherry picked", re.IGNORECASE)
_COLUMNS = 72

_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NAMES = re.compile(r"[^A-Za-z0-9_.+-]")
_DEVICE = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)", re.IGNORECASE)


class Markdown(str):
    """Text that is Markdown already."""


def markdown(text: str) -> Markdown:
    """`text` in a paragraph, an item or a cell of Markdown, as it reads: nothing links, closes, mentions or formats.

    What stands between two back quotes is code, as messages quote source.
    """
    if isinstance(text, Markdown):
        return text
    parts = one_line(text).split("`")
    if len(parts) % 2 == 0:  # the last has no fellow
        parts[-2:] = [f"{parts[-2]}`{parts[-1]}"]
    pieces = [code(part) if number % 2 and part.strip() else _plain(part) for number, part in enumerate(parts)]
    return Markdown(_OPENING.sub(r"\1\\", "".join(pieces)))


def _plain(text: str, marks: re.Pattern[str] = _MARKS) -> str:
    text = marks.sub(r"\\\g<0>", _LINKED.sub(lambda match: f"{match[0]}\0", text))
    return _ENTITY.sub("&amp;", text).replace("<", "&lt;").replace("\0", _ZERO_WIDTH)


def code(text: str) -> Markdown:
    """`text` as code within a line or the cell of a table."""
    line = unclosing(one_line(text))
    if "|" in line:  # a cell ends at one, in code too
        escaped = (c if c.isalnum() or c in " /,()=;-" else f"&#x{ord(c):x};" for c in line)
        return Markdown(f"<code>{''.join(escaped)}</code>")
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    mark = "`" * (longest + 1)
    pad = " " if longest or not line else ""
    return Markdown(f"{mark}{pad}{line}{pad}{mark}")


def fenced(text: str, language: str = "") -> Markdown:
    """`text` as a code block that no back quotes in it can end."""
    lines = ["\t".join(map(visible, line.split("\t"))) for line in unclosing(text).rstrip().split("\n")]
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return Markdown("\n".join([fence + language, *lines, fence]))


def link(text: str, address: str) -> Markdown:
    """`text` as a link to `address`."""
    return Markdown(f"[{_plain(one_line(text), _MARKS_IN_LINK)}]({quote(visible(address), safe='/:?#=&%+@~,;')})")


def unclosing(text: str) -> str:
    """`text` with a space in what would close an issue from the message of a commit: `Fixes # 1`."""
    return _CLOSING.sub(r"\1 ", text)


def message_line(text: str) -> str:
    """`text` on one line of a commit's message, without mentions, references and words that CI services obey."""
    line = _IN_MESSAGE.sub(lambda match: f"{match[0]} ", one_line(text))
    return _SKIPS_CI.sub(r"(\1)", line)


def commit_message(subject: str, blocks: Iterable[Sequence[str]], trailers: Mapping[str, str]) -> str:
    """The message of a commit: `blocks` of lines, filled, and the `trailers`, which alone are any.

    A line that begins with `- ` goes on indented. No line that text runs on into reads as a comment, a trailer, a
    header of mail or the start of a patch.
    """
    texts = [message_line(subject), *("\n".join(map(_filled, block)) for block in blocks)]
    texts.append("\n".join(f"{name}: {one_line(value)}" for name, value in trailers.items()))
    return "\n\n".join(texts) + "\n"


def _filled(text: str) -> str:
    line = message_line(text)
    indent = "  " if line.startswith("- ") else ""
    lines = textwrap.wrap(
        line, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )  # fmt: skip
    return "\n".join([*lines[:1], *(f" {rest}" if _BY_LINE.match(rest) else rest for rest in lines[1:])])


def workflow_command(kind: str, properties: Mapping[str, str | int], lines: Sequence[str]) -> str:
    """A command for a GitHub runner, such as an annotation, whose message is `lines`.

    How it is escaped is told in "Workflow commands for GitHub Actions".
    """
    values = ",".join(
        f"{name}={_data(str(value)).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties.items()
    )
    return f"::{kind} {values}::{'%0A'.join(map(_data, lines))}"


def _data(text: str) -> str:
    return without_command(visible(text)).replace("%", "%25")


def cell(text: str) -> str:
    """`text` in a table that programs for spreadsheets open: on one line, and no formula."""
    line = visible(text)
    return f"'{line}" if line.lstrip().startswith(_FORMULA) else line


def sarif(text: str) -> str:
    """`text` in a message of SARIF, on one line, where `[words](address)` is no link."""
    return one_line(text).replace("](", "] (")


def json_text(document: Any, indent: int | None = None, exact: bool = True) -> str:
    """`document` as JSON in ASCII, of which a CI service takes no line for a command.

    A byte that was no UTF-8 stays the lone surrogate that stands for it where the text has to be read back as it was
    (`exact`); else it becomes its escape, for most readers of JSON refuse half of a character.
    """
    if not exact:
        document = _mapped(document, lambda text: re.sub("[\ud800-\udfff]", lambda match: visible(match[0]), text))
    return re.sub(r"##(?=\w*\[)", r"#\\u0023", json.dumps(document, indent=indent))


def page(document: Any, exact: Collection[str] = ()) -> Any:
    """`document`, of dicts, lists and text, with `page_text` of all its text but under the keys `exact`."""
    return _mapped(document, page_text, exact)


def page_text(text: str) -> str:
    """`text` for a page: U+2400 and those after it for control characters, U+FFFD for what else is not seen.

    What reorders text hides what code does ("Trojan Source", CVE-2021-42574). Line feeds and tabs stay.
    """
    return text if text.isprintable() and text.isascii() else without_hidden(text, _picture)


def _picture(character: str) -> str:
    number = ord(character)
    return chr(0x2400 + number) if number < 0x20 else "\u2421" if number == 0x7F else "\ufffd"


def script_json(document: Any) -> str:
    """`document` as ASCII JSON that can stand inside an HTML script element whatever text it holds."""
    text = json.dumps(document, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def file_name(text: str) -> str:
    """`text` as part of the name of a file or a branch: letters, digits and `_.+-`; "" where nothing is left.

    Rules: those of `git check-ref-format`, and the names that Windows keeps for devices.
    """
    name = _NAMES.sub("-", text).strip("-.")[:80].rstrip("-.")
    while ".." in name or name.endswith(".lock"):
        name = name.replace("..", "--").removesuffix(".lock").rstrip("-.")
    return _DEVICE.sub(r"\1_", name)


def _mapped(document: Any, function: Callable[[str], str], exact: Collection[str] = ()) -> Any:
    if isinstance(document, str):
        return function(document)
    if isinstance(document, dict):
        return {
            _mapped(key, function): value if key in exact else _mapped(value, function, exact)
            for key, value in document.items()
        }
    if isinstance(document, list | tuple):
        return [_mapped(value, function, exact) for value in document]
    return document
