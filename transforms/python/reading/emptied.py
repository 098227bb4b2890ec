"""A file without the bodies of definitions that do not matter for a question: to parse them is most of the work."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from transforms.python.reading.extract import STARTS, in_utf8

_HEAD = re.compile(rb"(?:@.*\n(?:[ \t)].*\n|\n)*)*((?:async )?def|class)[ \t]+(\w+).*")
"""A definition at the top, with its decorators, up to the end of the line that names it."""
_BELOW = re.compile(rb"^[^\s)\]}#]", re.M)
_DEFINES = re.compile(rb"\b(?:def|class)\b")


class Chunk(NamedTuple):
    """A definition at the top of a file, and what follows until the next one that stands behind an empty line."""

    text: bytes
    kind: bytes
    """`def`, `async def`, `class`."""
    alone: bool
    """Whether nothing follows it."""


def emptied(source: bytes, matters: Callable[[Chunk], bool]) -> bytes:
    """`source` with an empty definition of the same name for each at its top that does not matter.

    Places are others, what is defined at the top and how often is the same. Where a string holds what looks like a
    definition, what is left may be no Python: then `source` is to be read.
    """
    if not in_utf8(source):
        return source
    kept: list[bytes] = []
    for text in STARTS.split(source):
        head = _HEAD.match(text)
        below = _BELOW.search(text, head.end()) if head is not None else None
        defines = below is not None and _DEFINES.search(text, below.start())
        if head is None or defines or matters(Chunk(text, head[1], below is None)):
            kept.append(text)
        else:
            kept.append(b"%s %s(): pass\n" % (head[1], head[2]))
    return b"\n\n".join(kept)
