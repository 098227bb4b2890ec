"""What the tests of the registries share."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from codemod.model.edits import apply_edits
from transforms.xfails.facts import Entry
from transforms.xfails.read import extract
from transforms.xfails.remove import Cut, removal

Without = Callable[..., str]


def entries(source: str) -> list[Entry]:
    return list(extract("test/test_x.py", dedent(source).encode()).entries)


def without(source: str, *names: str, dtypes: set[str] | None = None) -> str:
    """The source without the entries of `names` that are no skips, or without some dtypes of theirs."""
    text = dedent(source).encode()
    cuts = [
        Cut(entry.start, entry.end, frozenset(dtypes or ()))
        for entry in extract("test/test_x.py", text).entries
        if entry.name in names and entry.kind == "xfail"
    ]
    assert cuts
    new = apply_edits(text, removal("test/test_x.py", text, cuts))
    compile(new, "test_x.py", "exec", dont_inherit=True)
    return new.decode()


@pytest.fixture(name="entries")
def entries_fixture() -> Callable[[str], list[Entry]]:
    return entries


@pytest.fixture(name="without")
def without_fixture() -> Without:
    return without
