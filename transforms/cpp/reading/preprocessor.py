"""What a macro call stands for: macros expanded as the C++ standard says ([cpp.replace]), `#` and `##` included."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from transforms.cpp.reading.blocks import arguments
from transforms.cpp.reading.macros import CONTINUATION, definitions

_PARAMETERS = re.compile(rb"\(([\w\s,.\\]*)\)")
_BODY = re.compile(rb"(?:[^\n\\]|\\\r?\n|\\.)*")
_COMMENT = re.compile(rb"//.*|/\*.*?\*/", re.S)
_NAME = re.compile(rb'"(?:\\.|[^"\\])*"|(?<!\w)([A-Za-z_]\w*)(\s*\()?')
# Read from left to right: `##`, `#x`, a name, a literal.
_TOKEN = re.compile(rb'"(?:\\.|[^"\\])*"|\s*##\s*|#\s*(\w+)|(?<!\w)([A-Za-z_]\w*)')
_MOST_STEPS = 1_000
_LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Macro:
    """A `#define`; `parameters` is None for one that takes no arguments."""

    parameters: tuple[bytes, ...] | None
    body: bytes


def read_macros(source: bytes) -> dict[bytes, Macro]:
    """The macros that `source` defines, by name; of several definitions of one the first that is not empty."""
    macros: dict[bytes, Macro] = {}
    for name, end in definitions(source):
        head = _PARAMETERS.match(source, end)
        rest = _BODY.match(source, head.end() if head is not None else end)
        body = _COMMENT.sub(b" ", CONTINUATION.sub(b" ", rest[0] if rest is not None else b"")).strip()
        parameters = tuple(p.strip(b" \t\r\n\\") for p in head[1].split(b",")) if head is not None else None
        if body or name not in macros:
            earlier = macros.get(name)
            if earlier is None or not earlier.body:
                macros[name] = Macro(parameters, body)
    return macros


class Expander:
    """Expands text with the macros that `lookup` gives by name; it leaves alone what it gives none for."""

    def __init__(self, lookup: Callable[[bytes], Macro | None]) -> None:
        self._lookup = lookup
        self._steps = 0

    def expand(self, text: bytes) -> bytes:
        """`text` with its macros expanded; unchanged where that takes more steps than any code does."""
        self._steps = 0
        try:
            return self._expanded(text, frozenset())
        except OverflowError:
            return text

    def _expanded(self, text: bytes, hidden: frozenset[bytes]) -> bytes:
        """`text` expanded but for the `hidden` macros, which are those that it came from."""
        parts: list[bytes] = []
        position = 0
        while (match := _NAME.search(text, position)) is not None:
            name, opening = match[1], match.end() - 1
            spans = list(arguments(text, opening)) if match[2] else []
            end = _closing(text, opening, spans) if match[2] else match.end()
            macro = self._lookup(name) if name and name not in hidden else None
            if macro is None or (macro.parameters is not None and not match[2]):
                end = match.end(1) if name else match.end()
                parts.append(text[position:end])
            else:
                if macro.parameters is None:
                    end = match.end(1)
                self._steps += 1
                values = [text[a:b].strip() for a, b in spans] if macro.parameters is not None else []
                replaced = self._expanded(self._substituted(macro, values, hidden), hidden | {name})
                parts += (text[position : match.start()], replaced)
                if self._steps > _MOST_STEPS or len(replaced) > _LONGEST:
                    raise OverflowError
            position = end
        parts.append(text[position:])
        return b"".join(parts)

    def _substituted(self, macro: Macro, values: list[bytes], hidden: frozenset[bytes]) -> bytes:
        """The body of a macro with its arguments in place: expanded, but not beside `#` and `##`."""
        parameters = macro.parameters or ()
        if parameters and parameters[-1] == b"...":
            fixed = len(parameters) - 1
            parameters = (*parameters[:-1], b"__VA_ARGS__")
            values = [*values[:fixed], b", ".join(values[fixed:])]
        named = dict(zip(parameters, values, strict=False))
        body = macro.body

        def token(match: re.Match[bytes]) -> bytes:
            if match[1] is not None:
                return b'"' + named[match[1]].replace(b'"', b'\\"') + b'"' if match[1] in named else match[0]
            if match[2] is None:
                return b"" if match[0].strip() == b"##" else match[0]
            if match[2] not in named:
                return match[2]
            before, after = body[: match.start()].rstrip(), body[match.end() :].lstrip()
            if before.endswith(b"##") or after.startswith(b"##"):
                return named[match[2]]
            return self._expanded(named[match[2]], hidden)

        return _TOKEN.sub(token, body)


def _closing(text: bytes, opening: int, spans: list[tuple[int, int]]) -> int:
    """The offset past the `)` of the list of arguments that opens at `opening`."""
    close = text.find(b")", spans[-1][1] if spans else opening)
    return close + 1 if close >= 0 else len(text)
