"""The source files of findings, read once: their bytes, their lines, and positions as editors and SARIF count them."""

from __future__ import annotations

import bisect
from pathlib import Path

from codemod.borders.files import read_below
from codemod.model.findings import Finding
from codemod.terminal import decode


class Sources:
    """Files of the tree `root`, each read once; b"" for one that cannot be read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._read: dict[str, bytes] = {}
        self._starts: dict[str, list[int]] = {}

    def of(self, path: str) -> bytes:
        """The bytes of a file."""
        if path not in self._read:
            try:
                self._read[path] = read_below(self.root, path)
            except OSError:
                self._read[path] = b""
        return self._read[path]

    def line(self, finding: Finding) -> str:
        """The line on which `finding` starts, without white space at either end."""
        return decode(self._line_bytes(finding.path, finding.start, finding.start)).strip()

    def lines(self, finding: Finding) -> str:
        """All lines on which `finding` stands, whole, without a line feed at the end."""
        return decode(self._line_bytes(finding.path, finding.start, finding.end))

    def point(self, path: str, offset: int) -> tuple[int, int]:
        """Line and column of a byte, from 1, the column in UTF-16 code units as editors and SARIF count it.

        A byte that is no UTF-8 counts as one character, a byte order mark as none.
        """
        starts = self._line_starts(path)
        line = bisect.bisect_right(starts, offset)
        before = self.of(path)[starts[line - 1] : offset]
        if line == 1:
            before = before.removeprefix(b"\xef\xbb\xbf")
        return line, len(decode(before).encode("utf-16-le", "surrogatepass")) // 2 + 1

    def line_span(self, path: str, first: int, last: int) -> tuple[int, int]:
        """The bytes [start, end) of the lines `first` to `last`, from 1, as far as the file goes."""
        starts = self._line_starts(path)
        size = len(self.of(path))
        start = starts[first - 1] if first <= len(starts) else size
        return start, starts[last] if last < len(starts) else size

    def _line_starts(self, path: str) -> list[int]:
        if path not in self._starts:
            source, starts = self.of(path), [0]
            while (newline := source.find(b"\n", starts[-1])) >= 0:
                starts.append(newline + 1)
            self._starts[path] = starts
        return self._starts[path]

    def _line_bytes(self, path: str, start: int, end: int) -> bytes:
        source = self.of(path)
        stop = source.find(b"\n", end)
        return source[source.rfind(b"\n", 0, start) + 1 : stop if stop >= 0 else None]
