"""Checks of sizes that are left to the running graph: which ones, how they read, and what they come with."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.findings import Level
from codemod.model.groups import make_groups
from tests.transforms.cpp.snippets import converted, findings

ROWS = 'Tensor f(const Tensor& x) { TORCH_CHECK(x.size(0) > 1, "rows"); return x; }'


def checked(condition: str) -> str:
    return f'Tensor f(const Tensor& x) {{ TORCH_CHECK({condition}, "no"); return x.sum(); }}'


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x.sym_size(0) != 2", "x.sym_size(0).sym_ne(2)"),
        ("3 <= x.sym_size(0)", "c10::SymInt(3).sym_le(x.sym_size(0))"),
        ("x.sym_size(0) % 2 == 0", "(x.sym_size(0) % 2).sym_eq(0)"),
        ("(x.sym_size(0) + 1) < 9", "(x.sym_size(0) + 1).sym_lt(9)"),
    ],
)
def test_the_symint_on_the_left_is_asked(tmp_path: Path, condition: str, expected: str) -> None:
    assert converted(tmp_path, checked(condition)) == checked(expected).replace("TORCH_CHECK", "TORCH_SYM_CHECK")


@pytest.mark.parametrize(
    "condition",
    ["x.dim() == 2", "x.dim() == 1 || x.sym_size(0) == 2", "x.sym_size(0) /* rows */ == 2", "x.defined()"],
)
def test_other_conditions_stay(tmp_path: Path, condition: str) -> None:
    assert converted(tmp_path, checked(condition)) == checked(condition)


def test_a_check_without_a_message_stays(tmp_path: Path) -> None:
    source = "Tensor f(const Tensor& x) { TORCH_CHECK(x.sym_size(0) == 2); return x.sum(); }"
    assert converted(tmp_path, source) == source


def test_the_accessors_stay_safe_and_the_check_holds_them_for_itself(tmp_path: Path) -> None:
    assert converted(tmp_path, ROWS, Level.SAFE) == ROWS.replace("x.size", "x.sym_size")
    safe, review = sorted(make_groups(findings(tmp_path, ROWS)), key=lambda group: group.level)
    assert (safe.level, review.level) == (Level.SAFE, Level.REVIEW)
    assert set(safe.edits) < set(review.edits)
