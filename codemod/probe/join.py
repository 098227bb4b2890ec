"""Joins answers with the findings of `scan`: what the source says at the line, or in the function, that torch named."""

from __future__ import annotations

import dataclasses
import functools
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from codemod.borders.files import read_below, read_file
from codemod.model.choices import ALL, SCOPES
from codemod.model.findings import Finding, Level, Root
from codemod.model.scope import Scope
from codemod.model.transform import TracedLine
from codemod.probe.answers import ARROW, Answer
from codemod.probe.fakes import MISSING, operator_of
from codemod.probe.trace import Frame

_KERNELS, _NAMESPACE = "aten/src/ATen/native", "at::native::"
"""Where PyTorch has the functions that answers name, and what their names begin with."""


@dataclasses.dataclass(frozen=True, slots=True)
class Commands:
    """The commands that show changes below `root`, run in the folder `shown`, where `scope` is the default.

    `program` is what was run: a command, or a word for it.
    """

    root: Path
    shown: str
    scope: str
    program: tuple[str, ...]

    def of(self, finding: Finding) -> str:
        """The command that shows the change of a finding; "" where it has none."""
        if not finding.edits:
            return ""
        if finding.root is Root.TRACED:
            return shlex.join(["symfix", "fix", "--", *self.program])  # the way here is seen where it runs alone
        path = os.path.relpath(self.root / finding.path, self.shown)
        scopes = SCOPES[SCOPES.index(self.scope) :]
        scope = next(name for name in (*scopes, ALL) if Scope(name, (finding.path,)).holds(finding.path, finding.root))
        words = [] if scope == self.scope else ["--scope", scope]
        level = ["--level", "review"] if finding.level is Level.REVIEW else []
        return shlex.join(["symfix", "diff", *words, *level, "--rule", finding.rule, path])


def places_below(answers: Sequence[Answer], root: Path) -> list[str]:
    """The files below `root`, relative to it, that answers name and that are there, sorted.

    An installed package's file is the one of the same name below `root` where that holds the same bytes. Where C++
    functions are named, the folder in which PyTorch has them is among them.
    """
    paths = {path for answer in answers for frame in answer.places if (path := _relative(frame, root))}
    kernels = [_KERNELS] if any(answer.native for answer in answers) and (root / _KERNELS).is_dir() else []
    return sorted([*(path for path in paths if (root / path).is_file()), *kernels])


def lines_below(answers: Sequence[Answer], root: Path) -> frozenset[TracedLine]:
    """The lines below `root` by which torch came to the `answers`, as `places_below` has their files."""
    frames = {frame for answer in answers for frame in answer.frames}
    lines = (TracedLine(_relative(frame, root), frame.line, frame.function) for frame in frames)
    return frozenset(line for line in lines if line.path)


def joined(answers: Sequence[Answer], findings: Sequence[Finding], commands: Commands) -> tuple[Answer, ...]:
    """`answers` with the finding that stands at their line, if there is one, and the command that shows its change.

    Where C++ asked and there is none, that of the innermost function which has any; of an operator that lacks a fake,
    that of its registration.
    """
    by_path: dict[str, list[tuple[Finding, int]]] = {}
    by_function: dict[str, list[Finding]] = {}
    by_operator: dict[str, list[Finding]] = {}
    for finding in findings:
        for operator in finding.operators if finding.rule == MISSING else ():
            by_operator.setdefault(operator, []).append(finding)
        by_path.setdefault(finding.path, []).append((finding, _last_line(finding, commands.root)))
        by_function.setdefault(finding.function, []).append(finding)
    return tuple(_joined(answer, by_path, by_function, by_operator, commands) for answer in answers)


def _joined(
    answer: Answer,
    by_path: Mapping[str, Sequence[tuple[Finding, int]]],
    by_function: Mapping[str, Sequence[Finding]],
    by_operator: Mapping[str, Sequence[Finding]],
    commands: Commands,
) -> Answer:
    for frame in answer.places:
        path = _relative(frame, commands.root)
        here = [f for f, last in by_path.get(path, ()) if f.line <= frame.line <= last]
        if here:
            finding = min(here, key=lambda f: (not f.edits, f.level, frame.line - f.line))
            return dataclasses.replace(answer, finding=_said(finding), command=commands.of(finding))
    registered = by_operator.get(operator_of(answer.text), []) if answer.kind == "fake" else []
    if registered:
        finding = min(registered, key=lambda f: (not f.edits, f.level, f.line))
        said = f"at {finding.path}:{finding.line}: {_said(finding)}"
        return dataclasses.replace(answer, finding=said, command=commands.of(finding))
    for function in reversed(answer.native.split(ARROW)):
        inside = by_function.get(f"{_NAMESPACE}{function}")
        if inside:
            finding = min(inside, key=lambda f: (not f.edits, f.level, f.line))
            said = f"in {function}: {_said(finding)}"
            return dataclasses.replace(answer, finding=said, command=commands.of(finding))
    return answer


def _said(finding: Finding) -> str:
    what = finding.reason if finding.refusal and finding.reason else finding.message
    return f"{finding.rule} ({finding.level.name.lower()}): {what}"


def _relative(frame: Frame, root: Path) -> str:
    path = os.path.realpath(frame.path) if os.path.isabs(frame.path) else os.path.join(root, frame.path)
    base = f"{os.path.realpath(root)}/"
    return path[len(base) :] if path.startswith(base) else _installed_from(frame.path, root)


@functools.cache
def _installed_from(path: str, root: Path) -> str:
    """The file below `root` that an installed package's file was made from; "" where none has its bytes."""
    _, packages, rest = path.rpartition("-packages/")
    if not packages:
        return ""
    try:
        return rest if read_below(root, rest) == read_file(Path(path)) else ""
    except OSError:
        return ""


def _last_line(finding: Finding, root: Path) -> int:
    try:
        return finding.line + read_below(root, finding.path)[finding.start : finding.end].count(b"\n")
    except OSError:
        return finding.line
