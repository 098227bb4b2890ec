"""The operators that `symfix fix` is asked for: names from the command line and from a file, globs by operator."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from codemod.borders.documents import LARGEST_SETTINGS, read_bounded
from codemod.errors import SymfixError
from codemod.planning.naming import base_name, family, matches_operator
from codemod.planning.operators import is_glob


def names_in(path: Path) -> list[str]:
    """The names in a file, one a line, what follows `#` left out. Raises SymfixError where it holds none."""
    try:
        lines = read_bounded(path, LARGEST_SETTINGS).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SymfixError(f"{path}: the names cannot be read: {getattr(error, 'strerror', error)}") from error
    names = [name for line in lines if (name := line.partition("#")[0].strip())]
    if not names:
        raise SymfixError(f"{path}: holds no names of operators; write one a line")
    return names


def asked_for(written: Iterable[str], resolved: dict[str, tuple[str, ...]], editable: Iterable[str]) -> list[str]:
    """What is fixed one after the other: each name of `written`, a glob as the operators of `editable` it matches.

    `resolved` has the plan's globs for each name. Variants of one operator are one.
    """
    operators = sorted(set(editable))
    names: dict[str, None] = {}
    for name in written:
        if not is_glob(name):
            names[name] = None
            continue
        for operator in operators:
            if any(matches_operator(glob, operator) for glob in resolved[name]):
                names[family(base_name(operator))] = None
    return list(names)
