"""The error that a user can act on."""

from __future__ import annotations


class SymfixError(Exception):
    """One line for the user: what is wrong with which file, and what to do. The command prints it and exits 2."""
