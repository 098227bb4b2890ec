"""Checks in place of branches that only raise."""

from __future__ import annotations

import pytest

from codemod.fix.checks import check_edit
from codemod.model.edits import apply_edits


def checked(body: str, line: int = 3) -> str | None:
    source = f"import torch\ndef f(a, b):\n{body}"
    edit = check_edit("case.py", source.encode(), line)
    return None if edit is None else apply_edits(source.encode(), [edit]).decode().partition("b):\n")[2]


@pytest.mark.parametrize(
    "body",
    [
        "    if a != b:\n        a = b\n        raise ValueError\n",  # does more
        "    if a != b:\n        raise ValueError\n    else:\n        a = b\n",
        "    if a != b and a:\n        raise ValueError\n",  # which of both is false is not known
        "    if a:\n        raise ValueError\n",
        "    if 0 < a < b:\n        raise ValueError\n",
        "    return a\n",
    ],
)
def test_what_is_no_plain_check_is_left(body: str) -> None:
    assert checked(body) is None


def test_an_elif_is_left() -> None:
    assert checked("    if a:\n        pass\n    elif a != b:\n        raise ValueError\n", 5) is None


def test_a_module_without_the_name_torch_is_left() -> None:
    assert check_edit("case.py", b"def f(a, b):\n    if a != b:\n        raise ValueError\n", 2) is None


def test_eager_keeps_its_branch_and_its_message() -> None:
    raising = "        raise ValueError(f'{a}')\n"
    head = "    if torch.compiler.is_compiling():\n"
    expected = f"{head}        torch._check(a == b)\n    elif a != b:\n{raising}"
    assert checked(f"    if a != b:\n{raising}") == expected
    both = "        torch._check(a >= 2)\n        torch._check(a == b)\n"
    assert checked(f"    if a < 2 or not a == b:\n{raising}") == f"{head}{both}    elif a < 2 or not a == b:\n{raising}"
