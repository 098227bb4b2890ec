"""Checks in place of branches that only raise."""

from __future__ import annotations

import pytest

from codemod.fix.checks import check_at
from codemod.model.edits import apply_edits


def checked(body: str, line: int = 3) -> str | None:
    source = f"import torch\ndef f(a, b):\n{body}"
    check = check_at("case.py", source.encode(), line)
    return None if check is None else apply_edits(source.encode(), check.edits).decode().partition("b):\n")[2]


@pytest.mark.parametrize(
    "body",
    [
        "    if a != b:\n        a.seen = b\n        raise ValueError\n",  # does more
        "    if a != b:\n        raise ValueError\n    else:\n        a = b\n",
        "    if a != b and a:\n        raise ValueError\n",  # which of both is false is not known
        "    if a:\n        raise ValueError\n",
        "    if 0 < a < b:\n        raise ValueError\n",
        "    if (n := a.shape[0]) == b:\n        raise ValueError\n",  # n would be another in what is compiled
        "    if a < 0:\n        raise ValueError\n",  # eager takes NaN
        "    n = a.item()\n    if n < 0:\n        raise ValueError\n",
        "    n = a.shape[0]\n    n /= 2\n    if n < 0:\n        raise ValueError\n",
        "    return a\n",
    ],
)
def test_what_is_no_plain_check_is_left(body: str) -> None:
    assert all(checked(body, line) is None for line in range(3, 6))


def test_an_elif_is_checked_behind_what_is_asked_before() -> None:
    before, raising = "    if a is None:\n        a = b\n", "        raise ValueError(f'{a}')\n"
    head = "    elif torch.compiler.is_compiling():\n        torch._check(a == b)\n"
    assert checked(f"{before}    elif a != b:\n{raising}", 5) == f"{before}{head}    elif a != b:\n{raising}"
    assert checked(f"{before}    elif a != b:\n{raising}    else:\n        a = 1\n", 5) is None


@pytest.mark.parametrize(
    ("test", "condition"),
    [
        ("(b or 3) != a.shape[0]", "(b or 3) == a.shape[0]"),
        ("(a.ndim < 3) != (b.ndim < 3)", "(a.ndim < 3) == (b.ndim < 3)"),
        ("(b if a else 3) == 2", "(b if a else 3) != 2"),
        ("len(a) - 1 < a.shape[1] // 2", "len(a) - 1 >= a.shape[1] // 2"),
        ("not a.numel() <= b", "a.numel() <= b"),  # as eager has it, also for NaN
    ],
)
def test_what_is_checked_is_what_the_branch_asks(test: str, condition: str) -> None:
    assert f"torch._check({condition})\n" in (checked(f"    if {test}:\n        raise ValueError\n") or "")


def test_names_of_whole_numbers_are_compared() -> None:
    before = "    n, m = a.shape\n    k: int = n + 1\n    k += m\n"
    written = checked(f"{before}    if k > n:\n        raise ValueError\n", 6)
    assert written is not None
    assert "torch._check(k <= n)\n" in written
    for value, is_whole in (
        ("a.shape[0] if b is None else b.shape[1]", True), ("a.shape[0] if b is None else b", False),
        ("min(a.shape[0], 4, len(a))", True), ("max(a.shape[0], b)", False), ("min(a.shape)", False),
    ):  # fmt: skip
        written = checked(f"    k = {value}\n    if k > 9:\n        raise ValueError\n", 4)
        assert ("torch._check(k <= 9)\n" in (written or "")) is is_whole


@pytest.mark.parametrize("other", ["def g(torch): pass", "torch = None", "from x import torch", "import y as torch"])
def test_a_module_in_which_torch_may_be_another_is_left(other: str) -> None:
    source = f"import torch\n{other}\nif a != b:\n    raise ValueError\n"
    assert check_at("case.py", source.encode(), 3) is None


def test_a_module_without_the_name_torch_is_left() -> None:
    assert check_at("case.py", b"def f(a, b):\n    if a != b:\n        raise ValueError\n", 2) is None


def test_eager_keeps_its_branch_and_its_message() -> None:
    raising = "        raise ValueError(f'{a}')\n"
    head = "    if torch.compiler.is_compiling():\n"
    expected = f"{head}        torch._check(a == b)\n    elif a != b:\n{raising}"
    assert checked(f"    if a != b:\n{raising}") == expected
    both = "        torch._check(a.size(0) >= 2)\n        torch._check(a == b)\n"
    test = "a.size(0) < 2 or not a == b"
    assert checked(f"    if {test}:\n{raising}") == f"{head}{both}    elif {test}:\n{raising}"


def test_what_is_asked_first_is_asked_first_still() -> None:
    raising = "        raise ValueError(f'{a}')\n"
    head = "    if torch.compiler.is_compiling():\n"
    one = "        if b is not None:\n            torch._check(a == b.shape)\n"
    test = "b is not None and a != b.shape"
    assert checked(f"    if {test}:\n{raising}") == f"{head}{one}    elif {test}:\n{raising}"
    moved = "        assert b is None or a.ndim == 1 or a.shape[0] == b, b\n"
    other = "        if not (b is None or a.ndim == 1):\n            torch._check(a.shape[0] == b)\n"
    assert checked(f"    {moved.strip()}\n") == f"{head}{other}    else:\n{moved}"


def test_names_that_a_message_is_made_of_are_left_to_eager() -> None:
    body = "        kind = b\n        text = f'{a}: {kind}'\n        raise ValueError(text)\n"
    head = "    if torch.compiler.is_compiling():\n        torch._check(a == b)\n"
    assert checked(f"    if a != b:\n{body}") == f"{head}    elif a != b:\n{body}"
    assert checked(f"    if a != b:\n        b.text = 'other'\n{body}") is None


def asserted(statement: str, *conditions: str) -> str:
    checks = "".join(f"        torch._check({condition})\n" for condition in conditions)
    return f"    if torch.compiler.is_compiling():\n{checks}    else:\n{statement}"


@pytest.mark.parametrize(
    ("test", "conditions"),
    [
        ("a == b", ["a == b"]),
        ("a.shape[0] < 2 * b and a.ndim == 2", ["a.shape[0] < 2 * b", "a.ndim == 2"]),
        ("0 < a.shape[0] <= len(b)", ["0 < a.shape[0]", "a.shape[0] <= len(b)"]),
    ],
)
@pytest.mark.parametrize("written", ["assert {0}", "assert {0}, f'{{a}}'", "torch._assert({0}, f'{{a}}')  # both"])
def test_an_assertion_is_left_to_eager(test: str, conditions: list[str], written: str) -> None:
    statement = written.format(test)
    assert checked(f"    {statement}\n    return a\n") == asserted(f"        {statement}\n    return a\n", *conditions)


def test_an_assertion_of_several_lines_is_moved_as_a_whole() -> None:
    after = asserted("        assert (\n            a == b\n        ), (\n            f'{a}'\n        )\n", "a == b")
    for line in (3, 4, 6):
        assert checked("    assert (\n        a == b\n    ), (\n        f'{a}'\n    )\n", line) == after
    tabs = check_at("case.py", b"import torch\ndef f(a, b):\n\tassert a == b, b.name\n", 3)
    assert tabs is not None
    assert tabs.edits[0].new.decode().splitlines()[1:] == [
        "\t\ttorch._check(a == b)",
        "\telse:",
        "\t\tassert a == b, b.name",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "assert a",
        "assert a == b or a",
        "assert a == b or a is b",
        "assert a is b",
        "assert 0 < a.pop() < b",
        "assert (n := a.shape[0]) == b",
        "assert a == b; b = a",
        "assert a == b, '''of\n    two lines'''",
        "_assert(a == b)",
        "own._asserted(a == b, 'n')",
    ],
)
def test_assertions_that_are_no_comparisons_are_left(statement: str) -> None:
    assert checked(f"    {statement}\n") is None


def test_an_assertion_that_may_be_caught_says_so() -> None:
    tried = b"    try:\n        assert a == b, b\n    except AssertionError:\n        return a\n"
    source = b"import torch\ndef f(a, b):\n" + tried
    check = check_at("case.py", source, 4)
    assert check is not None
    assert (check.caught, check.raised, check.names) == (3, AssertionError, ("f",))


LOOP = "        for d in a.shape[2:]:\n            torch._check(d % b == 0)\n"


@pytest.mark.parametrize(
    ("test", "loop"),
    [
        ("not all(d % b == 0 for d in a.shape[2:])", LOOP),
        ("any(d % b != 0 for d in a.shape[2:])", LOOP),
        ("a.ndim != 4 or any(d % b != 0 for d in a.shape[2:])", f"        torch._check(a.ndim == 4)\n{LOOP}"),
        (
            "any(d != e for d, e in zip(a.shape, b.shape) if e)",
            "        for d, e in zip(a.shape, b.shape):\n            if e:\n                torch._check(d == e)\n",
        ),
    ],
)
def test_what_is_asked_of_each_is_checked_in_a_loop(test: str, loop: str) -> None:
    branch = f"if {test}:\n        raise ValueError(f'{{a}}')\n"
    head = "    if torch.compiler.is_compiling():\n"
    written = (checked(f"    {branch}") or "").replace("for (d, e) in", "for d, e in")  # as Python 3.10 writes it
    assert written == f"{head}{loop}    el{branch}"
    moved = "        assert all(d % b == 0 for d in a.shape[2:]), f'{a}'\n"
    assert checked(f"    {moved.strip()}\n") == f"{head}{LOOP}    else:\n{moved}"


def test_other_comprehensions_have_their_names_for_themselves() -> None:
    body = "    k = [d for d in a.shape]\n    if any(d != b for d in a.shape):\n        raise ValueError\n"
    assert "for d in a.shape:\n            torch._check(d == b)" in (checked(body, 4) or "")
    assert checked(body.replace("k =", "d ="), 4) is None


@pytest.mark.parametrize(
    ("before", "test"),
    [
        ("    d = 2\n", "any(d != b for d in a.shape)"),  # the loop would bind it
        ("", "any(a != b for a in a.shape)"),
        ("", "all(d != b for d in a.shape)"),
        ("", "not any(d != b for d in a.shape)"),
        ("", "any(d for d in a.shape)"),
        ("", "any([d != b for d in a.shape])"),
        ("", "any(d != e for d in a.shape for e in b.shape)"),
    ],
)
def test_what_no_loop_checks_is_left(before: str, test: str) -> None:
    assert checked(f"{before}    if {test}:\n        raise ValueError\n", 4 if before else 3) is None
