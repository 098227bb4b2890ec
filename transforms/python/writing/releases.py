"""What the torch that a tree runs with does not have, or the oldest of them not yet, is not written.

Since when torch has a function is read from its releases (`transforms.releases.data.since`); what a PyTorch tree or an
installed torch has, from itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from codemod.model.findings import Level
from transforms.python.writing.names import Layout
from transforms.python.writing.place import Rewrite
from transforms.releases.data import FUNCTION, python_names, releases, since
from transforms.releases.version import Release, spelled

_NAME = re.compile(r"(?<![\w.])(?:\w+\.)*(\w+)")
# What a string holds is no call.
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")


@cache
def torch_functions() -> frozenset[str]:
    """The functions that some release of torch has in torch/__init__.py: `_check`, `sym_min`."""
    return frozenset().union(*(python_names(number, "torch") for number in releases()))


def _names(text: str) -> set[str]:
    return set(_NAME.findall(_STRING.sub("''", text)))


def functions_named(text: str) -> set[str]:
    """The functions younger than the oldest known torch that a piece of Python names."""
    return since().keys() & _names(text)


def newer(names: Iterable[str], minimum: Release | None) -> list[tuple[str, Release]]:
    """Those of `names` that the release `minimum` lacks, sorted, with the release that has them; none for None."""
    if minimum is None:
        return []
    return sorted((name, since()[name]) for name in names if name in since() and since()[name] > minimum)


def released(rewrite: Rewrite, layout: Layout, used: set[str], minimum: Release | None) -> Rewrite:
    """The rewrite, a refusal where it calls what the oldest torch that the tree runs with does not have yet."""
    for change in rewrite.changes if minimum else ():
        used = used | (functions_named(change.text) - functions_named(layout.text(change.start, change.end)))
    reason = too_new(used, minimum) if rewrite.changes else ""
    return Rewrite(Level.MANUAL, rewrite.message, reason=reason, refusal="min-torch") if reason else rewrite


def too_new(names: Iterable[str], minimum: Release | None) -> str:
    """Why `names` cannot be written where the release `minimum` runs them; "" where they can."""
    late = newer(names, minimum)
    if not late or minimum is None:
        return ""
    newcomers = ", ".join(f"{name} is of torch {spelled(first)}" for name, first in late)
    return f"{newcomers}, and torch {spelled(minimum)} runs this too (--torch, or a test of it around)"


def absent(rewrite: Rewrite, layout: Layout, used: set[str], vocabulary: frozenset[str]) -> list[str]:
    """What a rewrite needs that the PyTorch at hand has not, sorted; nothing where `vocabulary`, its names, is empty.

    `used` are the names that the rewrite needs beside its text. Functions of torch, which are `torch.x` in the
    vocabulary, are read of the text; where it holds none of them, all are taken to be there.
    """
    lacking = used - vocabulary if vocabulary else set()
    if any(name.startswith(FUNCTION) for name in vocabulary):
        for change in rewrite.changes:
            named = _names(change.text) - _names(layout.text(change.start, change.end))
            lacking |= {FUNCTION + name for name in named & torch_functions()} - vocabulary
    return sorted(lacking)
