"""The lines that changed since a commit, for `--since REV`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from codemod.errors import SymfixError
from codemod.model.findings import Finding
from codemod.terminal import decode
from codemod.tree.checkout import Checkout
from codemod.tree.git import Git, GitFailed
from codemod.tree.sources import Sources

_DIFF = (
    "diff", "--unified=0", "--inter-hunk-context=0", "--find-renames", "--relative",
    "--src-prefix=a/", "--dst-prefix=b/", "--text", "--no-textconv", "--no-ext-diff", "--no-color",
    "--ignore-submodules",
)  # fmt: skip
_HEAD = ("HEAD", "@")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ESCAPED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


@dataclass(frozen=True, slots=True)
class Touched:
    """The lines of the working tree that differ from an older state: for each path, ranges [first, last] from 1.

    Where lines were only deleted, the line that follows them counts. Of the files `new`, which no commit holds yet, all
    lines are touched.
    """

    lines: Mapping[str, tuple[tuple[int, int], ...]]
    sources: Sources
    new: frozenset[str] = frozenset()

    def holds(self, finding: Finding) -> bool:
        """Whether one of the lines that `finding` stands on or edits is touched."""
        spans = {(finding.path, finding.start, finding.end)}
        spans.update((edit.path, edit.start, edit.end) for edit in finding.edits)
        return any(self._meets(*span) for span in spans)

    def _meets(self, path: str, start: int, end: int) -> bool:
        if path in self.new:
            return True
        for first, last in self.lines.get(path, ()):
            begin, stop = self.sources.line_span(path, first, last)
            if start < stop and begin < max(end, start + 1):
                return True
        return False


def touched_since(checkout: Checkout, revision: str) -> Touched:
    """The lines that a change touches: from where it left `revision` to the working tree, as in a pull request.

    That is the merge base of `revision` and HEAD; what is staged, what is not, and files git does not know yet count,
    these save in a hook of git, which names the index that is about to be committed.
    Before the first commit, as in a hook that runs for it, all files are new to HEAD.
    Raises SymfixError where git cannot tell.
    """
    root, git = checkout.root, checkout.git
    if git is None:
        raise SymfixError(f"{root}: not a git checkout, so --since {revision} means nothing; see --baseline")
    if not revision:
        raise SymfixError("--since: names no commit; write a branch, a tag or a hash, as in --since HEAD")
    if revision in _HEAD and not checkout.last_commit():
        return Touched({}, Sources(root), frozenset(checkout.names()))
    try:
        git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    except GitFailed as error:
        why = f"{root} has no such commit; fetch it{_shallow(git)}"
        raise SymfixError(f"--since {revision}: {error.reason or why}") from error
    try:
        base = git.run("merge-base", "--end-of-options", revision, "HEAD")
    except GitFailed as error:
        why = f"it has no commit in common with HEAD; fetch the history{_shallow(git)}"
        raise SymfixError(f"--since {revision}: {error.reason or why}") from error
    try:
        patch = git.run(*_DIFF, base.decode().strip(), "--", cwd=root)
        in_hook = os.environ.get("GIT_INDEX_FILE")
        new = b"" if in_hook else git.run("ls-files", "-z", "--others", "--exclude-standard", "--", ".", cwd=root)
    except GitFailed as error:
        raise SymfixError(f"--since {revision}: git failed: {error.reason}") from error
    return Touched(touched_lines(patch), Sources(root), frozenset(map(decode, filter(None, new.split(b"\0")))))


def touched_lines(patch: bytes) -> dict[str, tuple[tuple[int, int], ...]]:
    """The ranges of lines, from 1, that a diff without context leaves changed, by the paths after it."""
    by_path: dict[str, list[tuple[int, int]]] = {}
    path = ""
    left = 0  # lines of the hunk at hand: one of them may look like a header
    for line in patch.split(b"\n"):
        if left and line[:1] in (b"+", b"-"):
            left -= 1
        elif line.startswith(b"+++ "):
            path = decode(_name(line[4:]))
        elif match := _HUNK.match(line):
            removed, first, added = (1 if count is None else int(count) for count in match.groups())
            left = removed + added
            by_path.setdefault(path, []).append((first, first + added - 1) if added else (first + 1, first + 1))
    return {path: tuple(ranges) for path, ranges in by_path.items()}


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


def _shallow(git: Git) -> str:
    shallow = git.run("rev-parse", "--is-shallow-repository") == b"true\n"
    return ": this clone is shallow (git fetch --unshallow; actions/checkout: fetch-depth: 0)" if shallow else " first"
