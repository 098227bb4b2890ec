"""Commits as mail, written by `git format-patch` in the same form whatever the user has configured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codemod.bundle.repository import Repository, translate_git_errors

_OPTIONS = (
    "--stdout", "--no-signature", "--no-attach", "--no-thread", "--no-cover-letter", "--no-notes", "--no-base",
    "--no-to", "--no-cc", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-stat", "--full-index",
    "-O/dev/null", "--binary", "--unified=3", "--inter-hunk-context=0", "--indent-heuristic",
    "--diff-algorithm=myers", "--subject-prefix=PATCH", "--src-prefix=a/", "--dst-prefix=b/", "--from",
)  # fmt: skip


def mailbox(repository: Repository, series: Sequence[str]) -> bytes:
    """A line of commits, each on the one before, as one mailbox."""
    return _format(repository, "--numbered", f"{repository.head}..{series[-1]}") if series else b""


def patch(repository: Repository, commit: str) -> bytes:
    """One commit as one mail."""
    return _format(repository, "--no-numbered", "-1", commit)


def am_command(contents: Iterable[bytes], three_way: bool) -> str:
    """The command that takes the mail: it keeps `[dynamic shapes]` in subjects, and carriage returns where some are."""
    options = ["--keep-non-patch"]
    if three_way:
        options.append("--3way")
    if any(b"\r\n" in content for content in contents):
        options.append("--keep-cr")
    return f"git am {' '.join(options)}"


def _format(repository: Repository, *revisions: str) -> bytes:
    with translate_git_errors(repository.root):
        out = repository.repo.git.execute(
            ["git", "-c", "format.signOff=false", "-c", "format.headers=", "-c", "format.encodeEmailHeaders=true",
             "-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false",
             "format-patch", *_OPTIONS, *revisions],
            stdout_as_string=False, strip_newline_in_stdout=False,
        )  # fmt: skip
    assert isinstance(out, bytes)
    return out
