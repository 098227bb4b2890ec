"""Which headers of a tree its sources include, directly and through other headers."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from corpus_trees import source_files

SOURCES = (".cpp", ".cc", ".cxx")
HEADERS = (".h", ".hpp", ".hh")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.M)
_ANGLED = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>", re.M)


def torch_headers(root: Path, paths: Iterable[str], folders: Sequence[str] = ("aten/src", "")) -> list[str]:
    """What the files `paths` of the tree `root` include in angle brackets and the tree itself does not have, sorted."""
    named = {name.decode() for path in paths for name in _ANGLED.findall((root / path).read_bytes())}
    return sorted(name for name in named if not any((root / folder / name).is_file() for folder in folders))


class Includes:
    """The graph of `#include` lines between the files of one tree, read from their text."""

    def __init__(self, tree: Path, folders: Sequence[str] = ("aten/src", "")) -> None:
        """Read every C++ file of `tree`; `folders` are those the compiler searches."""
        paths = [path for path in source_files(tree) if path.endswith(SOURCES + HEADERS)]
        existing = set(paths)
        self._included: dict[str, set[str]] = {}
        self._included_by: dict[str, set[str]] = defaultdict(set)
        for path in paths:
            places = (path.rpartition("/")[0], *folders)
            for name in _INCLUDE.findall((tree / path).read_bytes()):
                text = name.decode("utf-8", "replace")
                resolved = (posixpath.normpath(f"{folder}/{text}").lstrip("/") for folder in places)
                found = existing.intersection(resolved)
                self._included.setdefault(path, set()).update(found)
                for place in found:
                    self._included_by[place].add(path)

    def headers_of(self, path: str, among: Collection[str]) -> list[str]:
        """Those of `among` that `path` includes, directly or not, sorted."""
        seen, ring = {path}, {path}
        while ring:
            ring = {name for user in ring for name in self._included.get(user, ())} - seen
            seen |= ring
        return sorted((seen - {path}).intersection(among))

    def sources_of(self, header: str, at_most: int, first: Callable[[str], bool]) -> list[str]:
        """Up to `at_most` sources that include `header`: the most direct first, among those the ones `first` names."""
        found: list[str] = []
        seen, ring = {header}, {header}
        while ring and len(found) < at_most:
            ring = {user for name in ring for user in self._included_by.get(name, ())} - seen
            seen |= ring
            found += sorted((path for path in ring if path.endswith(SOURCES)), key=lambda path: (not first(path), path))
        return found[:at_most]
