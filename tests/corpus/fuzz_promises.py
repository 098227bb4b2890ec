"""The promises of symfix as questions to one run, or to files before and after: each answers with what breaks it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
import urllib.parse
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import tree_sitter
import tree_sitter_cpp
from fuzz_mutations import MENTION
from fuzz_server import Outcome

from codemod.terminal import visible

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))
_MOST_LINES = 12  # of a message, beside one for each file that was changed
_LONGEST_LINE = 2_000
FAULT = re.compile(rb"Traceback \(most recent|a bug in symfix|\([\w/]+\.py:\d+\)|Fatal Python error")
"""What only a fault of the program itself puts into a message."""

# Line feeds and tabs are text; all else below the space, and C1 in UTF-8, tells a terminal something.
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
_COMMAND = re.compile(rb"^(?:::|##\[)", re.M)
_ANNOTATION = re.compile(r"^::(?:error|warning|notice) file=([^,:]+)[,:]")
_CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1`*[ \t]*$|(`+)(?!`).*?(?<!`)\2(?!`)", re.M | re.S)
_USAGE = re.compile(rb"^(?:Usage: symfix|Try 'symfix|Error: )")


class Violation(NamedTuple):
    """A promise that did not hold, how that was seen, and in which command where it is one of a run."""

    promise: str
    detail: str
    command: str = ""

    def __str__(self) -> str:
        return f"{self.promise}: {self.command}{': ' if self.command else ''}{self.detail}"

    @property
    def cause(self) -> str:
        """The same text for violations that differ in names, numbers and the command alone."""
        text = re.sub(r"'[^']*'|\S*/\S*|[\w.-]+\.(?:cpp|h|py|yaml|json|toml)\b", "…", self.detail)
        return f"{self.promise}: {re.sub(r'[0-9a-f]{12,}|[0-9]+', 'N', text)[:160]}"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a run may take."""

    seconds: float
    """Of the processor; killed at once and a half."""
    megabytes: int
    limit: float
    """Seconds without work after which it hangs."""


class State(NamedTuple):
    """A file, link, folder or anything else, as far as it must stay the same."""

    mode: int
    content: bytes
    """Of a file all bytes, of a link where it leads."""


def snapshot(folder: Path, skipped: Collection[str] = ()) -> dict[str, State]:
    """Everything below `folder` by its relative path, but what lies at or below the paths `skipped`."""
    states: dict[str, State] = {}
    for place, folders, names in os.walk(folder):
        inner = os.path.relpath(place, folder)
        kept = [(name, os.path.normpath(os.path.join(inner, name))) for name in sorted([*folders, *names])]
        kept = [(name, path) for name, path in kept if path not in skipped]
        folders[:] = [name for name, _ in kept if name in folders]
        for name, path in kept:
            mode = os.lstat(os.path.join(place, name)).st_mode
            states[path] = State(mode, _content(os.path.join(place, name), mode))
    return states


def _content(path: str, mode: int) -> bytes:
    if stat.S_ISLNK(mode):
        return os.fsencode(os.readlink(path))
    if stat.S_ISREG(mode):
        with open(path, "rb") as file:
            return file.read()
    return b""


def differences(before: Mapping[str, State], after: Mapping[str, State]) -> list[str]:
    """The paths that are new, gone or changed."""
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def check_unchanged(what: str, before: Mapping[str, State], after: Mapping[str, State]) -> list[Violation]:
    """Nothing may differ."""
    return [Violation(what, f"{path!r} {_how(before.get(path), after.get(path))}")
            for path in differences(before, after)[:3]]  # fmt: skip


def _how(old: State | None, new: State | None) -> str:
    if old is None or new is None:
        return "is new" if old is None else "is gone"
    return "has another mode" if old.content == new.content else "has other bytes"


def check_run(run: Outcome, bounds: Bounds, culprits: Sequence[str]) -> list[Violation]:
    """It ended in time, within its memory, with an exit code that is one, and said why in a line that names a file."""
    command = run.arguments[0]
    if run.timed_out:
        how = "took too long" if run.processor > bounds.seconds else "hangs"
        return [Violation("ends", f"{how}: {run.processor:.0f} s of the processor in {run.seconds:.0f} s", command)]
    violations = []
    if run.code < 0:
        violations.append(Violation("no crash", f"ended by signal {-run.code}", command))
    elif run.code not in (0, 1, 2):
        violations.append(Violation("exit code", f"exited {run.code}", command))
    if run.orphaned:
        violations.append(Violation("ends whole", "left a process running", command))
    if run.processor > bounds.seconds:
        violations.append(Violation("time", f"took {run.processor:.0f} s of the processor", command))
    if run.megabytes > bounds.megabytes:
        violations.append(Violation("memory", f"held {run.megabytes} MB", command))
    fault = _fault(run.err)
    return [*violations, *([Violation("no traceback", fault, command)] if fault else _check_message(run, culprits))]


def _fault(text: bytes) -> str:
    """The line that shows a fault of the program, "" where none does; of a traceback the last one."""
    lines = text.splitlines()
    for index, line in enumerate(lines):
        if FAULT.search(line):
            end = next((at for at in range(index + 1, len(lines)) if not lines[at].startswith(b" ")), index)
            return _shown(lines[end] if b"Traceback" in line else line)
    return ""


def _check_message(run: Outcome, culprits: Sequence[str]) -> list[Violation]:
    command, lines = run.arguments[0], run.err.splitlines()
    usage = any(_USAGE.match(line) for line in lines)
    violations = [Violation("message", f"a line not of symfix: {_shown(line)}", command)
             for line in lines if not usage and line and not line.startswith(b"symfix: ")][:1]  # fmt: skip
    longest = _LONGEST_LINE + max(map(len, culprits), default=0)
    violations += [Violation("message", f"a line of {len(line)} bytes", command) for line in lines
              if len(line) > longest][:1]  # fmt: skip
    if run.code != 2:
        return violations
    if not any(line.strip() for line in lines):
        violations.append(Violation("message", "exited 2 without a word", command))
    elif len(lines) > _MOST_LINES + len(culprits):
        violations.append(Violation("message", f"exited 2 with {len(lines)} lines", command))
    elif not usage and not names_any(run.err, culprits):
        violations.append(Violation("message names the file", _shown(lines[0]), command))
    return violations


def names_any(text: bytes, paths: Sequence[str]) -> bool:
    """Whether `text` names one of `paths`, if only by a part of its name, as control characters are shown otherwise."""
    for path in paths:
        parts = re.findall(r"[\w.-]{3,}", os.path.basename(path).encode("utf-8", "surrogateescape").decode("latin-1"))
        if any(part.encode("latin-1")[:100] in text for part in parts):
            return True
    return False


def check_printable(run: Outcome, form: str, files: Collection[str]) -> list[Violation]:
    """What a terminal, a log or a document shows is text, and nothing that a source says is taken for a command.

    `form` is the one of stdout: "text", "markdown", "patch" or the word of `scan --format`; `files` are the tree's.
    """
    command = run.arguments[0]
    shown = [("stderr", run.err), ("stdout", run.out if form in ("text", "markdown") else b"")]
    read = [("stdout", run.out)] if form == "github" else []
    violations = [Violation("no control characters", f"{name} {form}: {_around(text, match.start())}", command)
             for name, text in [*shown, *read] if (match := _CONTROL.search(text))]  # fmt: skip
    violations += [Violation("no command in a log", f"{name} {form}: {_around(text, match.start())}", command)
              for name, text in shown if (match := _COMMAND.search(text))]  # fmt: skip
    if form == "github":
        violations += _check_annotations(run.out, files)
    elif form == "markdown":
        prose = _CODE.sub("", run.out.decode("utf-8", "replace"))
        violations += [Violation("nobody is called", f"{mark} outside of code", command)
                  for mark in (MENTION, "#31337", "<script") if mark in prose]  # fmt: skip
    elif form in ("json", "sarif", "baseline", "csv") and run.out:
        violations += _check_document(run.out, form)
    return violations


def _check_annotations(text: bytes, files: Collection[str]) -> list[Violation]:
    # What would not be seen in a log, such as a control character of a name, is shown as an escape.
    shown = set(map(visible, files))
    for line in text.decode("utf-8", "surrogateescape").split("\n"):
        match = _ANNOTATION.match(line)
        if line.startswith("::") and not match:
            return [Violation("no command in a log", f"github: {line[:100]!r}", "scan")]
        if match and urllib.parse.unquote(match[1], errors="surrogateescape") not in shown:
            return [Violation("no command in a log", f"github: no such file: {match[1][:100]!r}", "scan")]
    return []


def _check_document(text: bytes, form: str) -> list[Violation]:
    try:
        if form == "csv":
            rows = list(csv.reader(io.StringIO(text.decode("utf-8", "surrogateescape"), newline="")))
            if len({len(row) for row in rows if row}) > 1:
                return [Violation("a document", "csv: rows of different lengths", "scan")]
        else:
            json.loads(text)
    except (ValueError, csv.Error) as error:
        return [Violation("a document", f"{form}: {error}", "scan")]
    return []


class Span(NamedTuple):
    """An edit of one file: the bytes [start, end), which read `old`, become `new`."""

    start: int
    end: int
    old: bytes
    new: bytes


def edits_of(plan: bytes) -> dict[str, list[Span]]:
    """The edits of a saved plan by their files, sorted; empty where it is none."""
    try:
        findings = json.loads(plan)["findings"]
        edits = {(edit["path"], Span(edit["start"], edit["end"], _bytes(edit["old"]), _bytes(edit["new"])))
                 for finding in findings for edit in finding["edits"]}  # fmt: skip
        by_path: dict[str, list[Span]] = {}
        for path, edit in sorted(edits):
            by_path.setdefault(path, []).append(edit)
        return by_path
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


_FUNCTION_END = b"\n}\n"


def made_edits(before: bytes, after: bytes, edits: Iterable[Span]) -> int | None:
    """How many of `edits` turn `before` into `after` without a byte else; None where no choice of them does."""
    ends = {0: 0}  # where in `after` the bytes so far may end, and the edits that were count until there
    at = 0
    for edit in edits:
        gap = before[at : edit.start]
        past = {end + len(gap): count for end, count in ends.items() if after.startswith(gap, end)}
        ends = {}
        for text, counted in ((edit.old, 0), (edit.new, 1)):
            for end, count in past.items():
                if after.startswith(text, end):
                    ends[end + len(text)] = max(count + counted, ends.get(end + len(text), 0))
        at = edit.end
    return max((count for end, count in ends.items() if after[end:] == before[at:]), default=None)


def check_syntax(path: str, before: bytes, after: bytes) -> list[Violation]:
    """No C++ has more syntax errors than before, and Python that compiled compiles."""
    if path.endswith(".py"):
        if compiles(before) and not compiles(after):
            return [Violation("no syntax error gained", f"{path!r} no longer compiles")]
        return []
    if path.endswith((".yaml", ".json", ".toml")):
        return []
    old, new = cpp_errors(before), cpp_errors(after)
    if new <= old or (old and not _gains_alone(before, after)):
        return []
    return [Violation("no syntax error gained", f"{path!r}: {old} before, {new} after")]


def _gains_alone(before: bytes, after: bytes) -> bool:
    """Whether a function, read without the others, has more errors than before.

    Where a file is one error from its first line on, how many the parser finds in it depends on how it recovers.
    """
    old, new = before.split(_FUNCTION_END), after.split(_FUNCTION_END)
    return len(old) != len(new) or any(cpp_errors(a) < cpp_errors(b) for a, b in zip(old, new, strict=True) if a != b)


def compiles(source: bytes) -> bool:
    """Whether Python compiles `source`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "x", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return False
    return True


def cpp_errors(source: bytes) -> int:
    """How many nodes of the tree of `source` are errors, or are missing."""
    cursor = _PARSER.parse(source).walk()
    count = 0
    while True:
        node = cursor.node
        assert node is not None
        count += node.is_error or node.is_missing
        if node.has_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return count


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _shown(line: bytes) -> str:
    return repr(line[:200].decode("utf-8", "replace"))[1:-1]


def _around(text: bytes, at: int) -> str:
    return _shown(text[max(0, at - 30) : at + 30])
