"""Shortcuts for sizes that are equal."""

from __future__ import annotations

import pytest

from codemod.fix.shortcuts import shortcuts_at
from codemod.model.edits import apply_edits

LONG = f"longest = 'the longest line of code says how long the others of it may be'{' ' * 30}# as here\n"
ASKED = "not torch.compiler.is_compiling() and"


def written(body: str, line: int = 4, head: str = "import torch\n") -> list[tuple[str, str]]:
    """What is written of a function's body, and what fails where it is taken; lines of the body begin with 4."""
    source = f"{head}{LONG}def f(self, x, n):\n{body}".encode()
    found = shortcuts_at("case.py", source, line)
    both = ((apply_edits(source, each.edits), apply_edits(source, each.taken)) for each in found)
    skipped = len(head + LONG + "def f(self, x, n):\n")
    return [(edited.decode()[skipped:], taken.decode()[skipped:]) for edited, taken in both]


@pytest.mark.parametrize(
    "test",
    [
        "x.shape[0] == n",
        "x.size(0) == self.rows and x.size(1) == self.columns",
        "not torch.jit.is_tracing() and len(x) == n",
        "self.fixed and (x.shape[0] == 224)",
        "x.shape[0] == x.shape[1] == n",
    ],
)
def test_the_path_of_other_sizes_is_taken_where_it_is_compiled(test: str) -> None:
    body = "    if {}:\n        {}return self.table\n    return self.resized(n)\n"
    (found,) = written(body.format(test, ""))
    assert found == (body.format(f"{ASKED} {test}", ""), body.format(test, "raise AssertionError; "))


def test_both_sides_may_assign() -> None:
    body = "    if {}x.shape[0] == n:\n        y = self.table\n    else:\n        y = self.resized(n)\n    return y\n"
    assert [edited for edited, _ in written(body.format(""))] == [body.format(f"{ASKED} ")]


@pytest.mark.parametrize("unit", ["    ", "\t"])
@pytest.mark.parametrize("word", ["if", "elif"])
def test_a_condition_that_gets_too_long_has_a_row_for_each_part(unit: str, word: str) -> None:
    test = ["x.shape[0] == self.number_of_rows_in_all", "x.shape[1] == self.number_of_columns_in_all"]
    before = f"{unit}if n:\n{unit * 2}pass\n" if word == "elif" else ""
    body = "{}{}{} {}:\n{}return x\n{}else:\n{}return self.resized(n)\n"
    rows = f"\n{unit * 2}and ".join(["not torch.compiler.is_compiling()", *test])
    line = 6 if before else 4
    (found,) = written(body.format(before, unit, word, " and ".join(test), unit * 2, unit, unit * 2), line)
    expected = body.format(before, unit, word, f"(\n{unit * 2}{rows}\n{unit})", unit * 2, unit, unit * 2)
    assert found[0] == expected


@pytest.mark.parametrize(
    "body",
    [
        "    if x.shape[0] != n:\n        return self.table\n    return g(n)\n",
        "    if x.shape[0] == n or n > 3:\n        return self.table\n    return g(n)\n",
        "    if x.shape[0] == 1:\n        return self.table\n    return g(n)\n",  # may be needed
        "    if 0 == x.shape[0]:\n        return self.table\n    return g(n)\n",
        "    if self.kind == 'table':\n        return self.table\n    return g(n)\n",
        "    if x.shape[0] == n:\n        return True\n    return g(n)\n",  # callers decide by it
        "    if x.shape[0] == n:\n        return\n    return g(n)\n",
        "    if x.shape[0] == n:\n        self.n = n\n        return self.table\n    return g(n)\n",
        "    if x.shape[0] == n:\n        raise ValueError\n    return g(n)\n",
        "    if x.shape[0] == n:\n        return self.table\n    g(n)\n",
        "    if x.shape[0] == n:\n        return self.table\n    raise ValueError\n",
        "    if x.shape[0] == n:\n        y = self.table\n    y = g(n)\n    return y\n",
        "    if x.shape[0] == n:\n        y = self.table\n    else:\n        z = g(n)\n    return y\n",
        "    if x.shape[0] == n and next(self.steps):\n        return self.table\n    return g(n)\n",
        "    if x.shape[0] == (m := n):\n        return self.table\n    return g(m)\n",
    ],
)
def test_what_else_is_left(body: str) -> None:
    assert not written(body)


def test_a_file_without_torch_and_another_line_are_left() -> None:
    body = "    if x.shape[0] == n:\n        return self.table\n    return self.resized(n)\n"
    assert written(body)
    assert not written(body, line=5)
    assert not written(body, head="import math\n")
