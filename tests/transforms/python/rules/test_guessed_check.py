"""A check of what is not empty: for known sizes and any dtype the same errors before and after."""

from __future__ import annotations

import functools
import operator
import types
from typing import Any

import pytest

GUARDS = "    from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true\n\n"
SOURCE = """\
def f(x: Tensor, index: Tensor):
    empty = guard_or_false(index.numel() == 0)
    if not empty:
        torch._check(index.dtype == "long" or index.dtype == "int", lambda: f"got {index.dtype}")
        torch._check(index.layout == "strided")
        check_sizes(x, index)
    return x
"""
AFTER = """\
    torch._check(
        sym_or(index.numel() == 0, index.dtype == "long" or index.dtype == "int"),
        lambda: f"got {index.dtype}",
    )
    torch._check(sym_or(index.numel() == 0, index.layout == "strided"))
    if not empty:
        check_sizes(x, index)
"""


def with_imports(source: str) -> str:
    """The source with the guards imported where the function begins."""
    first, rest = source.split("\n", 1)
    return f"{first}\n{GUARDS}{rest}"


def test_the_checks_stand_above_what_else_is_checked(rewrite: Any) -> None:
    assert AFTER in rewrite(with_imports(SOURCE))


@pytest.mark.parametrize("use", ["    f(guard_or_true)\n", "    def g():\n        return guard_or_true(x)\n\n", ""])
def test_the_import_keeps_what_is_used_elsewhere(rewrite: Any, use: str) -> None:
    body = "    if guard_or_true(x.numel() > 0):\n        torch._check(x.dtype == torch.long)\n"
    source = f"def f(x: Tensor):\n{GUARDS.replace('guard_or_false, ', '')}{use}{body}    return x\n"
    assert ("import guard_or_true, sym_or\n" in rewrite(source)) == bool(use)


@pytest.mark.parametrize("size", [0, 1, 3])
@pytest.mark.parametrize("dtype", ["long", "int", "byte"])
@pytest.mark.parametrize("layout", ["strided", "coo"])
def test_known_sizes_are_checked_as_before(size: int, dtype: str, layout: str) -> None:
    start = SOURCE.index("    if not empty")
    after = SOURCE[:start] + AFTER + SOURCE[SOURCE.index("    return") :]
    index = types.SimpleNamespace(numel=lambda: size, dtype=dtype, layout=layout)
    assert outcome(SOURCE, index) == outcome(after, index)


def outcome(source: str, index: Any) -> tuple[Any, list[Any]]:
    """The message with which a function ends, and what it had checked elsewhere by then."""

    def check(condition: bool, message: Any = lambda: "") -> None:
        if not condition:
            raise RuntimeError(message())

    elsewhere: list[Any] = []
    scope: dict[str, Any] = {
        "torch": types.SimpleNamespace(_check=check),
        "guard_or_false": bool,
        "sym_or": lambda *truths: functools.reduce(operator.or_, truths),
        "check_sizes": lambda *checked: elsewhere.append(checked),
    }
    exec(f"from __future__ import annotations\n{source}", scope)
    try:
        return scope["f"](None, index), elsewhere
    except RuntimeError as error:
        return str(error), elsewhere


@pytest.mark.parametrize(
    "branch",
    [
        "    if not guard_or_false(i.size(0) == 1):\n        torch._check(i.dtype == d)\n",
        "    if not guard_or_true(i.numel() == 0):\n        torch._check(i.dtype == d)\n",
        "    if guard_or_false(i.numel() != 0):\n        torch._check(i.dtype == d)\n",
        "    if guard_or_true(i.numel() != 0):\n        torch._check(i.dtype == d)\n    else:\n        i = x\n",
        "    if guard_or_true(i.numel() != 0):\n        torch._check(load(i))\n",
        "    if guard_or_true(i.numel() != 0):\n        # no index\n        torch._check(i.dtype == d)\n",
        "    e = guard_or_false(i.numel() == 0)\n    e = True\n    if not e:\n        torch._check(i.dtype == d)\n",
        "    for i in [i]:\n        s = guard_or_true(i.numel() > 0)\n    if s:\n        torch._check(i.dtype == d)\n",
        "    if guard_or_true(i.numel() != 0):\n        torch._check_with(ValueError, i.dtype == d)\n",
    ],
)
def test_what_is_left(look: Any, branch: str) -> None:
    source = f"def f(x: Tensor, i: Tensor, d):\n{GUARDS}{branch}    return i\n"
    assert [finding.rule for finding in look(source) if finding.edits] == []


def test_what_eager_runs_too_is_left(look: Any) -> None:
    source = (
        f"def f(x: Tensor, d):\n{GUARDS}    if guard_or_true(x.numel() != 0):\n"
        "        torch._check(x.dtype == d)\n    return x\n"
    )
    assert [f.rule for f in look(source) if f.edits] == ["guessed-check"]
    assert [f.rule for f in look(source, eager=True) if f.edits] == []


def test_a_variable_is_looked_behind(look: Any) -> None:
    source = (
        f"def f(x: Tensor, i: Tensor, d):\n{GUARDS}    some = guard_or_true(i.numel() > 0)\n"
        "    if some:\n        torch._check(i.dtype == d)\n    return i\n"
    )
    assert [f.rule for f in look(source) if f.edits] == ["guessed-check"]
