"""The bytes that findings speak of, as the report needs them: lines, and places as people and other tools count them."""

from __future__ import annotations

from pathlib import Path

from codemod.findings import Finding
from codemod.terminal import decode


class Sources:
    """Files below `root`, each read once; b"" for one that cannot be read."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[str, bytes] = {}

    def of(self, path: str) -> bytes:
        """The bytes of a file."""
        if path not in self._read:
            try:
                self._read[path] = (self._root / path).read_bytes()
            except OSError:
                self._read[path] = b""
        return self._read[path]

    def line(self, finding: Finding) -> str:
        """The line on which `finding` starts, without white space at either end."""
        return decode(self._line_bytes(finding.path, finding.start, finding.start)).strip()

    def lines(self, finding: Finding) -> str:
        """All lines on which `finding` stands, whole, without a line feed at the end."""
        return decode(self._line_bytes(finding.path, finding.start, finding.end))

    def _line_bytes(self, path: str, start: int, end: int) -> bytes:
        source = self.of(path)
        stop = source.find(b"\n", end)
        return source[source.rfind(b"\n", 0, start) + 1 : stop if stop >= 0 else None]
