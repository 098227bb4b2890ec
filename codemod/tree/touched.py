"""Which lines a change touches: what `--since REV` judges."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codemod.errors import SymfixError
from codemod.model.findings import Finding
from codemod.terminal import decode, one_line
from codemod.tree.checkout import Checkout
from codemod.tree.sources import Sources

if TYPE_CHECKING:
    import subprocess

_DIFF = (
    "-c", "core.quotePath=false", "diff", "--unified=0", "--inter-hunk-context=0", "--find-renames", "--relative",
    "--src-prefix=a/", "--dst-prefix=b/", "--text", "--no-textconv", "--no-ext-diff", "--no-color",
    "--ignore-submodules",
)  # fmt: skip
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


@dataclass(frozen=True, slots=True)
class Touched:
    """The lines of the working tree that differ from an older state: for each path, ranges [first, last] from 1.

    A file that is new has all of its lines; where lines were only deleted, the line that follows them counts.
    """

    lines: Mapping[str, tuple[tuple[int, int], ...]]
    sources: Sources

    def holds(self, finding: Finding) -> bool:
        """Whether one of the lines that `finding` stands on or edits is touched."""
        spans = {(finding.path, finding.start, finding.end)}
        spans.update((edit.path, edit.start, edit.end) for edit in finding.edits)
        return any(self._meets(*span) for span in spans)

    def _meets(self, path: str, start: int, end: int) -> bool:
        for first, last in self.lines.get(path, ()):
            begin, stop = self.sources.line_span(path, first, last)
            if start < stop and begin < max(end, start + 1):
                return True
        return False


def touched_since(checkout: Checkout, revision: str) -> Touched:
    """The lines that a change touches: from where it left `revision` to the working tree, as in a pull request.

    That is the merge base of `revision` and HEAD; what is staged, what is not, and files git does not know yet count.
    Raises SymfixError where git cannot tell.
    """
    root = checkout.root
    if checkout.git_dir is None:
        raise SymfixError(f"{root}: not a git checkout, so --since {revision} means nothing; see --baseline")
    history = f"{root} has no such commit; fetch it{_shallow(root)}"
    _git(root, revision, history, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    history = f"it has no commit in common with HEAD; fetch the history{_shallow(root)}"
    base = _git(root, revision, history, "merge-base", "--end-of-options", revision, "HEAD")
    patch = _git(root, revision, "git diff failed", *_DIFF, base.decode().strip(), "--")
    new = _git(root, revision, "git ls-files failed", "ls-files", "-z", "--others", "--exclude-standard", "--", ".")
    lines = touched_lines(patch)
    sources = Sources(root)
    for name in filter(None, new.split(b"\0")):
        path = decode(name)
        lines[path] = ((1, sources.of(path).count(b"\n") + 1),)
    return Touched(lines, sources)


def touched_lines(patch: bytes) -> dict[str, tuple[tuple[int, int], ...]]:
    """The ranges of lines, from 1, that a diff without context leaves changed, by the paths after it."""
    found: dict[str, list[tuple[int, int]]] = {}
    path = ""
    left = 0  # lines of the hunk at hand: one of them may look like a header
    for line in patch.split(b"\n"):
        if left and line[:1] in (b"+", b"-"):
            left -= 1
        elif line.startswith(b"+++ "):
            path = decode(_name(line[4:]))
        elif match := _HUNK.match(line):
            removed, first, added = (1 if told is None else int(told) for told in match.groups())
            left = removed + added
            found.setdefault(path, []).append((first, first + added - 1) if added else (first + 1, first + 1))
    return {path: tuple(ranges) for path, ranges in found.items()}


def _name(quoted: bytes) -> bytes:
    """The file name after `+++ `: in quotes with C escapes, or bare with a tab behind it where it holds a space."""
    if quoted.startswith(b'"'):
        name = _ESCAPE.sub(_unescape, quoted[1 : quoted.rindex(b'"')])
    else:
        name = quoted.removesuffix(b"\t")
    return name.removeprefix(b"b/")


def _unescape(match: re.Match[bytes]) -> bytes:
    escape = match[1]
    return bytes((int(escape, 8),)) if len(escape) == 3 else _ESCAPED.get(escape, escape)


def _git(root: Path, revision: str, otherwise: str, *arguments: str) -> bytes:
    """What git prints. Raises SymfixError, with what git says or else `otherwise`, where it fails."""
    done = _run(root, *arguments)
    if done.returncode:
        told = one_line(decode(done.stderr)) or otherwise
        raise SymfixError(f"--since {revision}: {told}")
    return done.stdout


def _run(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    import subprocess

    try:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except OSError as error:
        raise SymfixError(f"git cannot be run: {error.strerror}; --since asks it what changed") from error


def _shallow(root: Path) -> str:
    shallow = _run(root, "rev-parse", "--is-shallow-repository").stdout == b"true\n"
    return ": this clone is shallow (git fetch --unshallow; actions/checkout: fetch-depth: 0)" if shallow else " first"
