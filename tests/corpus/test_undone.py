"""What is undone of PyTorch's own code for symbols, and how what symfix writes there is counted."""

from __future__ import annotations

from collections import Counter

import libcst as cst
import pytest
from undone import Undo, calls_in, outcomes


@pytest.mark.parametrize(
    ("written", "undone"),
    [
        ("y = guard_or_false(n == 1) or sym.guard_or_true(m != n)", "y = (n == 1) or (m != n)"),
        ("y = torch.sym_not(sym_or(n == 1, m == 1, k))", "y = (not ((n == 1) or (m == 1) or k))"),
        ("y = torch.sym_max(sym_min(a, b), 1)", "y = max(min(a, b), 1)"),
        ("y = torch.sym_ite(n > 1, 1, 0)", "y = (1 if (n > 1) else 0)"),
        ("y = sym_or(True, *others)", "y = sym_or(True, *others)"),
        ("torch._check(n == m, lambda: f'{n}')", "if not (n == m):\n    raise RuntimeError(f'{n}')"),
        ("torch._check_value(n == m, lambda: 'a')", "if not (n == m):\n    raise ValueError('a')"),
        ("torch._check(n == m)", "torch._check(n == m)"),
    ],
)  # fmt: skip
def test_what_is_undone(written: str, undone: str) -> None:
    assert cst.parse_module(f"{written}\n").visit(Undo(checks=True)).code == f"{undone}\n"


def test_checks_stay_where_they_are_not_asked_for() -> None:
    source = "torch._check(guard_or_false(n == m), lambda: '')\n"
    assert cst.parse_module(source).visit(Undo(checks=False)).code == "torch._check((n == m), lambda: '')\n"


BODY = "def f(x, n):\n    if {condition}:\n        return x\n    return {number}\n"


@pytest.mark.parametrize(
    ("condition", "number", "back", "otherwise", "more"),
    [
        ("guard_or_false(n == 0)", "torch.sym_max(n, 1)", 2, 0, 0),
        ("n == 0", "max(n, 1)", 0, 0, 0),
        ("guard_or_true(n == 0)", "max(n, 1)", 0, 1, 0),
        # What is not known is False for both.
        ("statically_known_true(n == 0)", "max(n, 1)", 0, 0, 1),
        ("guard_or_true(n != 0)", "torch.sym_max(n, 1)", 1, 0, 1),
    ],
)
def test_how_what_is_written_is_counted(condition: str, number: str, back: int, otherwise: int, more: int) -> None:
    written = BODY.format(condition="guard_or_false(n == 0)", number="torch.sym_max(n, 1)")
    undone = BODY.format(condition="n == 0", number="max(n, 1)")
    (outcome,) = outcomes("a.py", written, undone, BODY.format(condition=condition, number=number))
    assert outcome.undone.total() == 2
    assert (outcome.back.total(), outcome.otherwise.total(), outcome.more.total()) == (back, otherwise, more)


def test_functions_of_one_name_are_told_apart() -> None:
    source = "def f(n):\n    guard_or_false(n)\n\n\ndef f(m):\n    torch._check(m, lambda: '')\n"
    assert calls_in(source) == {"f#0": Counter({("guard_or_false", "n"): 1}), "f#1": Counter({("_check", "m"): 1})}
