"""What the oldest torch that a tree runs with does not have yet is not written.

Since when torch has a function is read from its releases (`transforms.releases.data.since`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from codemod.model.findings import Level
from transforms.python.writing.names import Layout
from transforms.python.writing.place import Rewrite
from transforms.releases.data import since
from transforms.releases.version import Release, spelled

_NAME = re.compile(r"(?<![\w.])(?:\w+\.)*(\w+)")
# What a string holds is no call.
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")


def functions_named(text: str) -> set[str]:
    """The functions younger than the oldest known torch that a piece of Python names."""
    return since().keys() & set(_NAME.findall(_STRING.sub("''", text)))


def newer(names: Iterable[str], minimum: Release | None) -> list[tuple[str, Release]]:
    """Those of `names` that the release `minimum` lacks, sorted, with the release that has them; none for None."""
    if minimum is None:
        return []
    return sorted((name, since()[name]) for name in names if name in since() and since()[name] > minimum)


def released(rewrite: Rewrite, layout: Layout, used: set[str], minimum: Release | None) -> Rewrite:
    """The rewrite, a refusal where it calls what the oldest torch that the tree runs with does not have yet."""
    for change in rewrite.changes if minimum else ():
        used = used | (functions_named(change.text) - functions_named(layout.text(change.start, change.end)))
    late = newer(used, minimum) if rewrite.changes else []
    if not late or minimum is None:
        return rewrite
    newcomers = ", ".join(f"{name} is of torch {spelled(first)}" for name, first in late)
    reason = f"{newcomers}, and this tree has to run with torch {spelled(minimum)} (--torch)"
    return Rewrite(Level.MANUAL, rewrite.message, reason=reason, refusal="min-torch")
