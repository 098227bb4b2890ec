"""Truths about sizes in variables that only checks ask: kept as truths where all that reads them takes one."""

from __future__ import annotations

from typing import Any

import pytest

from codemod.model.findings import Level

HEAD = "def f(x: Tensor, y: Tensor, flag: bool, n):\n    a, b = x.shape\n    c, d = y.shape\n"


def body(rewrite: Any, source: str, **options: Any) -> str:
    """What becomes of the statements of a function, without what is imported for them."""
    lines = rewrite(HEAD + source, **options).splitlines(keepends=True)
    kept = [line for line in lines[1:] if "symbolic_shapes" not in line and line.strip() and line != "import torch\n"]
    return "".join(kept[2:])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "    ok = a == c or a == 1\n    torch._check(ok and b == d, lambda: 'no')\n",
            "    ok = sym_or(a == c, a == 1)\n    torch._check(sym_and(ok, b == d), lambda: 'no')\n",
        ),
        (
            "    ok = x.shape == y.shape\n    if not ok:\n        raise ValueError('shapes')\n",
            "    ok = sym_eq(x.shape, y.shape)\n    torch._check_value(ok, lambda: 'shapes')\n",
        ),
        (
            "    rows = a == c and b == 1\n    ok = rows or flag\n    torch._check(ok)\n",
            "    rows = sym_and(a == c, b == 1)\n    ok = sym_or(rows, flag)\n    torch._check(ok)\n",
        ),
        (
            "    ok = True\n    for i in range(x.ndim):\n        ok = ok and x.size(i) > 0\n    torch._check(ok)",
            "    ok = True\n    for i in range(x.ndim):\n        ok = sym_and(ok, x.size(i) > 0)\n    torch._check(ok)",
        ),
    ],
)
def test_what_only_checks_read_stays_a_truth(rewrite: Any, old: str, new: str) -> None:
    assert body(rewrite, old.rstrip("\n") + "\n") == new.rstrip("\n") + "\n"


@pytest.mark.parametrize(
    "source",
    [
        "    ok = a == c or a == 1\n    torch._check(ok)\n    return ok\n",
        "    ok = a == c or a == 1\n    torch._check(ok, lambda: f'{ok}')\n",
        "    ok = a == c or a == 1\n    torch._check(ok)\n    return [ok]\n",
        "    ok = a == c or a == 1\n    if not ok:\n        raise ValueError(f'{ok}')\n",
        "    ok = a == c or a == 1\n    if ok:\n        x = -x\n    torch._check(ok)\n    return x\n",
        "    ok = n\n    ok = ok and a == c\n    torch._check(ok)\n",
        "    ok = a == c and g(b)\n    torch._check(ok)\n",
        "    ok = a == c and x.size(n) == 1\n    torch._check(ok)\n",
        "    for ok in (flag, True):\n        ok = ok and a == c\n        torch._check(ok)\n",
        "    flag = flag and a == c\n    torch._check(flag)\n",
        "    ok = a == c or a == 1\n    torch._check(ok)\n    return (lambda: ok)\n",
        "    global ok\n    ok = a == c or a == 1\n    torch._check(ok)\n",
    ],
)
def test_what_anything_else_reads_or_binds_is_left(rewrite: Any, source: str) -> None:
    assert rewrite(HEAD + source, torch=False) == HEAD + source


def test_a_check_that_cannot_be_written_leaves_the_truth_a_bool(rewrite: Any, look: Any) -> None:
    source = "    ok = a == c or a == 1\n    torch._check(ok or x.size(n) == 1)\n"
    assert rewrite(HEAD + source, torch=False) == HEAD + source
    assert [finding.rule for finding in look(HEAD + source)] == ["undecided-branch"]


@pytest.mark.parametrize("who", [{"eager": True}, {"scripted": True}])
def test_what_eager_runs_too_is_left(rewrite: Any, who: dict[str, bool]) -> None:
    source = HEAD + "    ok = a == c or a == 1\n    torch._check(ok)\n"
    assert rewrite(source, torch=False, **who) == source


def test_all_of_it_is_for_review(look: Any) -> None:
    source = HEAD + "    ok = x.shape == y.shape\n    if not ok:\n        raise ValueError('shapes')\n"
    assert {finding.level for finding in look(source)} == {Level.REVIEW}


def test_why_a_truth_is_forgotten_is_why_its_check_is_left(look: Any) -> None:
    """As of pool2d_shape_check in torch 2.5; that the truth may be no bool is only so once it is forgotten."""
    source = HEAD + "    ok = a != 0 and b != 0\n    torch._check((c != 0 and ok) or d == 1, lambda: 'no')\n"
    assert all(finding.edits for finding in look(source))
    found = look(source, vocabulary=frozenset({"sym_or"}))
    assert [finding.rule for finding in found] == ["stored-truth", "check-condition"]
    assert {finding.reason for finding in found} == {"this PyTorch has no sym_and"}
