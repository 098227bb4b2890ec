"""Edited statements as the tree's clang-format lays them out.

The files that a tree keeps formatted are seen by what clang-format would change in them: next to nothing. There the
white space that it would change in an edited statement is changed with the edit. A statement that several groups edit
in different ways stays as they leave it, for each of them may be taken without the others.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from codemod.borders.private import say_once
from codemod.model.edits import Edit, EditConflict, apply_edits, sorted_edits
from codemod.model.findings import Finding
from codemod.model.paths import upwards
from codemod.model.transform import Project
from codemod.terminal import visible
from transforms.cpp.reading import SUFFIXES
from transforms.cpp.reading.lines import Lines

_SETTINGS = (".clang-format", "_clang-format")
_LIMIT = re.compile(rb"^ColumnLimit: *(\d+)", re.M)
_SECONDS = 60
_SLACK = 100
"""A file is kept formatted where clang-format changes one place at most in so many lines: its versions differ."""
_ENDS = (b";", b"{", b"}", b":")


class Replacement(NamedTuple):
    """What clang-format puts in the place of `length` bytes at an offset."""

    start: int
    length: int
    text: bytes


class FileEdits(NamedTuple):
    """The edits of one file, each with the group of its finding, and its settings, in a file of that name."""

    path: str
    source: bytes
    edits: tuple[tuple[Edit, str], ...]
    settings: str
    limit: int


_Ask = Callable[[bytes, Sequence[str]], list[Replacement] | None]
"""Asks clang-format what it changes in some lines of a text."""


class Layout(NamedTuple):
    """What becomes of a file's edits: by edit what it is now, and the white space that goes with it."""

    path: str
    edits: dict[Edit, tuple[Edit, ...]]


def laid_out(project: Project, findings: Iterable[Finding]) -> Iterator[Finding]:
    """`findings`, with the white space that clang-format changes for the sake of their edits."""
    every = list(findings)
    edited: defaultdict[str, list[tuple[Edit, str]]] = defaultdict(list)
    for number, finding in enumerate(every):
        for edit in finding.edits:
            edited[edit.path].append((edit, finding.group or f"{number}"))
    with tempfile.TemporaryDirectory() as folder:
        settings = _Settings(project, Path(folder))
        placed = [(path, settings.of(path)) for path in sorted(edited) if path.endswith(SUFFIXES)]
        tasks = [
            FileEdits(path, project.read(path), tuple(edited[path]), *place)
            for path, place in placed
            if place is not None
        ]
        executable = find_clang_format() if tasks else ""
        if tasks and not executable:
            project.remark("clang-format is not there, and lines are left as edits make them: pip install clang-format")
            tasks = []
        sizes = [len(task.source) for task in tasks]
        layouts = project.map(partial(lay_out, executable), tasks, "laying out lines", sizes)
    changed = {edit: now for layout in layouts for edit, now in layout.edits.items()}
    for finding in every:
        now = [part for edit in finding.edits for part in changed.get(edit, (edit,))]
        yield dataclasses.replace(finding, edits=tuple(sorted_edits(now))) if now != list(finding.edits) else finding


def find_clang_format() -> str:
    """The clang-format of the package of that name, else that of $PATH; "" where there is none."""
    spec = importlib.util.find_spec("clang_format")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        found = shutil.which("clang-format", path=os.path.join(folder, "data", "bin"))
        if found is not None:
            return found
    return shutil.which("clang-format") or ""


class _Settings:
    """The settings of each file, copied to a folder of our own: those of the nearest folder above it in the tree."""

    def __init__(self, project: Project, folder: Path) -> None:
        self._project = project
        self._folder = folder
        self._listed = frozenset(project.files(_SETTINGS))
        self._copies: dict[str, tuple[str, int] | None] = {}

    def of(self, path: str) -> tuple[str, int] | None:
        """The file that has a file's settings, with its limit of columns, 0 for an unknown one; None for none."""
        for folder in upwards(path.rpartition("/")[0]):
            for name in _SETTINGS:
                settings = f"{folder}/{name}" if folder else name
                if settings in self._listed:
                    return self._copied(settings)
        return None

    def _copied(self, settings: str) -> tuple[str, int] | None:
        if settings not in self._copies:
            try:
                text = self._project.read(settings)
            except OSError as error:
                say_once(f"{visible(settings)}: cannot be read: {error.strerror}; lines below it are not laid out")
                self._copies[settings] = None
                return None
            copy = self._folder / f"{len(self._copies)}"
            copy.write_bytes(text)
            limit = _LIMIT.search(text)
            self._copies[settings] = str(copy), int(limit[1]) if limit else 0
        return self._copies[settings]


def lay_out(executable: str, file: FileEdits) -> Layout:
    """The layout of one file; one that says nothing where the file is not kept formatted, or cannot be."""
    nothing = Layout(file.path, {})
    lines = file.source.count(b"\n")
    wide = sum(len(line) > file.limit for line in file.source.splitlines()) if file.limit else 0
    if b"\r" in file.source or wide * _SLACK > lines:
        return nothing
    ask = partial(_replacements, executable, file)
    before = ask(file.source, ())
    if before is None or len(before) * _SLACK > lines:
        return nothing
    try:
        edited = _Edited(file, file.edits)
    except EditConflict:
        return nothing
    unformatted = [place for r in before if (place := edited.moved(r.start)) is not None and edited.holds(place)]
    spoiled = set(map(edited.near, unformatted))
    changed: defaultdict[Edit, list[Replacement]] = defaultdict(list)
    beside: defaultdict[int, list[Edit]] = defaultdict(list)
    for replacement in ask(edited.text, edited.lines()) or ():
        number, end = edited.near(replacement.start), replacement.start + replacement.length
        old = edited.text[replacement.start : end]
        edit, offset = edited.inside(replacement.start, end), edited.original(replacement.start, end)
        if old.strip() or replacement.text.strip() or (edit is None and offset is None):
            spoiled.add(number)
        elif edit is not None:
            changed[edit].append(replacement._replace(start=replacement.start - edited.start_of(edit)))
        elif offset is not None:
            beside[number].append(Edit(file.path, offset, offset + replacement.length, old, replacement.text))
    carriers = _carriers(ask, file, edited)
    result: dict[Edit, tuple[Edit, ...]] = {}
    for number, carrying in carriers.items():
        within = [edit for edit in edited.clusters[number] if edit in changed]
        if number in spoiled or not carrying.issuperset(within):
            continue
        result |= {edit: (dataclasses.replace(edit, new=_applied(edit.new, changed[edit])),) for edit in within}
        if number in beside:
            first = min(carrying)
            result[first] = (*result.get(first, (first,)), *beside[number])
    return Layout(file.path, result)


def _carriers(ask: _Ask, file: FileEdits, edited: _Edited) -> dict[int, set[Edit]]:
    """The clusters that can be laid out, each with the edits that the white space may go with.

    Where one group makes all edits that another makes, and more, it is those that it makes alone, if the others need
    nothing.
    """
    groups: defaultdict[Edit, set[str]] = defaultdict(set)
    for edit, group in file.edits:
        groups[edit].add(group)
    carriers: dict[int, set[Edit]] = {}
    fewer: dict[int, set[Edit]] = {}
    for number, edits in enumerate(edited.clusters):
        most = max((groups[edit] for edit in edits), key=len)
        shared = {edit for edit in edits if groups[edit] == most}
        rest = {frozenset(groups[edit]) for edit in edits if edit not in shared}
        if not rest:
            carriers[number] = shared
        elif len(rest) == 1 and most.issuperset(*rest):
            carriers[number], fewer[number] = set(edits) - shared, shared
    if fewer:
        without = {edit for number in fewer for edit in carriers[number]}
        smaller = _Edited(file, [(edit, group) for edit, group in file.edits if edit not in without])
        needing = {smaller.near(replacement.start) for replacement in ask(smaller.text, smaller.lines()) or ()}
        reformatted = set().union(*(smaller.clusters[number] for number in needing))
        carriers = {n: edits for n, edits in carriers.items() if reformatted.isdisjoint(fewer.get(n, ()))}
    return carriers


def _applied(text: bytes, replacements: Iterable[Replacement]) -> bytes:
    for start, length, new in sorted(replacements, reverse=True):
        text = text[:start] + new + text[start + length :]
    return text


def _replacements(executable: str, file: FileEdits, text: bytes, lines: Sequence[str]) -> list[Replacement] | None:
    """What clang-format changes in `text`, in some lines or, where there are none, in all; None where it fails."""
    name = f"--assume-filename={os.path.basename(file.path)}"
    command = [
        executable,
        f"--style=file:{file.settings}",
        name,
        "--sort-includes=0",
        "--output-replacements-xml",
        *lines,
    ]
    folder = os.path.dirname(file.settings)  # whatever folder symfix is run in, it has no say
    try:
        ended = subprocess.run(command, input=text, capture_output=True, check=True, timeout=_SECONDS, cwd=folder)
        found = ElementTree.fromstring(ended.stdout)
        return [
            Replacement(int(r.attrib["offset"]), int(r.attrib["length"]), (r.text or "").encode())
            for r in found.iter("replacement")
        ]
    except (OSError, subprocess.SubprocessError, ElementTree.ParseError, KeyError, ValueError):
        return None


class _Edited:
    """What a file becomes by some edits: where they are in it, by statement, and where the rest of it was before.

    Raises EditConflict where edits overlap.
    """

    def __init__(self, file: FileEdits, edits: Iterable[tuple[Edit, str]]) -> None:
        self._edits = sorted_edits(edit for edit, _ in edits)
        self.text = apply_edits(file.source, self._edits)
        self._starts: dict[Edit, int] = {}
        self._moved: list[int] = []
        moved = 0
        for edit in self._edits:
            self._starts[edit] = edit.start + moved
            moved += len(edit.new) - (edit.end - edit.start)
            self._moved.append(moved)
        self._begins = list(self._starts.values())
        self._lines = Lines(self.text)
        self._content = self.text.split(b"\n")
        self.clusters: list[list[Edit]] = []
        """The edits of each statement."""
        self._spans: list[tuple[int, int]] = []
        for edit, start in self._starts.items():
            first, last = self._line(start), self._line(start + len(edit.new))
            if self._spans and not _ends_between(self._content, self._spans[-1][1], first):
                self._spans[-1] = self._spans[-1][0], max(last, self._spans[-1][1])
                self.clusters[-1].append(edit)
            else:
                self._spans.append((first, last))
                self.clusters.append([edit])

    def _line(self, offset: int) -> int:
        return self._lines.at(offset)[0] - 1

    def start_of(self, edit: Edit) -> int:
        """Where the text of an edit begins."""
        return self._starts[edit]

    def inside(self, start: int, end: int) -> Edit | None:
        """The edit whose own text holds all of a span; where both only insert, that at whose ends the span is."""
        last = bisect_right(self._begins, start) - 1
        for index in range(max(0, last - 1), last + 1):
            edit, begin = self._edits[index], self._begins[index]
            edge = begin + len(edit.new)
            if end <= edge and (begin <= start < end or begin < start < edge):
                return edit
            if start == end and edit.start == edit.end and begin <= start <= edge:
                return edit
        return None

    def original(self, start: int, end: int) -> int | None:
        """Where a span that no edit made begins in the source; None where an edit made a part of it."""
        index = bisect_right(self._begins, start) - 1
        while index >= 0 and self._begins[index] == start and self._edits[index].new:
            index -= 1  # it ends where that one begins
        if index >= 0 and start < self._begins[index] + len(self._edits[index].new):
            return None
        if index + 1 < len(self._begins) and end > self._begins[index + 1]:
            return None
        return start - (self._moved[index] if index >= 0 else 0)

    def moved(self, offset: int) -> int | None:
        """Where a byte of the source is in the text; None where an edit has taken its place."""
        index = bisect_right(self._edits, offset, key=lambda edit: edit.start) - 1
        if index >= 0 and offset < self._edits[index].end:
            return None
        return offset + (self._moved[index] if index >= 0 else 0)

    def lines(self) -> list[str]:
        """The lines of all statements, as clang-format's options."""
        return [f"--lines={first + 1}:{last + 1}" for first, last in self._spans]

    def near(self, offset: int) -> int:
        """The number of the cluster that is nearest to a place of the text."""
        line = self._line(offset)
        return min((max(first - line, line - last, 0), n) for n, (first, last) in enumerate(self._spans))[1]

    def holds(self, offset: int) -> bool:
        """Whether the statement of the nearest cluster may hold a place of the text."""
        line, (first, last) = self._line(offset), self._spans[self.near(offset)]
        return not _ends_between(self._content, min(line, last), max(line, first))


def _ends_between(lines: Sequence[bytes], last: int, first: int) -> bool:
    """Whether a statement ends on the line `last` of an edit, or behind it before the line `first` of the next."""
    return any(line.split(b"//")[0].rstrip().endswith(_ENDS) or not line.strip() for line in lines[last:first])
