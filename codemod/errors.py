"""The error that is shown to the user as one line, and the line for an error of the system."""

from __future__ import annotations

from collections.abc import Iterable


class SymfixError(Exception):
    """One line for the user: what is wrong with which file, and what to do. The command prints it and exits 2."""


def system_error(error: OSError) -> str:
    """One line for the user about what the system refused: the file, where it names one, and why."""
    return f"{error.filename or 'system error'}: {error.strerror or error}"


def nearest(written: str, names: Iterable[str]) -> str:
    """`; nearest: matmul, mm`: what may have been meant, the end of a message about a name that is none of `names`."""
    from difflib import get_close_matches

    listed = list(names)
    close = get_close_matches(written, listed, n=3, cutoff=0.6) or [name for name in listed if written in name][:3]
    return f"; nearest: {', '.join(close)}" if close else ""
