"""The error that is shown to the user as one line, and the line for an error of the system."""

from __future__ import annotations


class SymfixError(Exception):
    """One line for the user: what is wrong with which file, and what to do. The command prints it and exits 2."""


def system_error(error: OSError) -> str:
    """One line for the user about what the system refused: the file, where it names one, and why."""
    return f"{error.filename or 'system error'}: {error.strerror or error}"
