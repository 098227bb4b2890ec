"""The lines of a file, by byte offset: for messages and positions, in any order."""

from __future__ import annotations

import re
from bisect import bisect_right

# In bytes.
_LONG_LINE = 240


class Lines:
    """Line and column, counted from 1, of byte offsets in a file."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.starts = [0, *(match.end() for match in re.finditer(rb"\n", source))]

    def at(self, offset: int) -> tuple[int, int]:
        """(line, column in bytes) of `offset`."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def text(self, offset: int) -> str:
        """The line around `offset`, without white space at its ends; of a long one the part from `offset` on."""
        line = bisect_right(self.starts, offset)
        end = self.starts[line] if line < len(self.starts) else len(self.source)
        start = self.starts[line - 1]
        if end - start <= _LONG_LINE:
            return self.source[start:end].decode("utf-8", "replace").strip()
        return f"… {self.source[offset : min(end, offset + _LONG_LINE)].decode('utf-8', 'replace').strip()} …"
