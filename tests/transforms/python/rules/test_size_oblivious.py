"""A check that a number is a size goes only where another one raises the same in its place."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "def f(x: Tensor, n: int, m: int):\n"


@pytest.mark.parametrize(("message", "left"), [("'a'", True), ("name", True), ("lambda: 'a'", False), ("None", False)])
@pytest.mark.parametrize("keyword", ["", "message="])
def test_dynamo_takes_a_text_for_the_message_of_the_old_check_alone(
    rewrite: Any, keyword: str, message: str, left: bool
) -> None:
    source = f"{HEAD}    torch._check_is_size(n, {keyword}{message})\n    return x\n"
    assert (rewrite(source, inlined=True) == source) == left
    assert "_check(n >= 0" in rewrite(source)


@pytest.mark.parametrize(
    ("checks", "gone"),
    [
        (["_check_is_size(n)", "_check(n >= 1)"], True),
        (["_check(n >= 0)", "_check_is_size(n)"], True),
        (["_check_is_size(n, lambda: 'a')", "_check(n >= 1, lambda: 'a')"], True),
        (["_check_is_size(n, lambda: 'a')", "_check(n >= 1, lambda: 'b')"], False),
        (["_check_is_size(n)", "_check(n >= 1, lambda: 'b')"], False),
        (["_check_is_size(n)", "_check(m < 9)", "_check(n >= 1)"], True),
        (["_check_is_size(n)", "_check(m > 0, lambda: 'm')", "_check(n >= 1)"], False),
        (["_check_is_size(n)", "_check_value(m > 0)", "_check(n >= 1)"], False),
        (["_check_is_size(n)", "_check(x.size(m) > 0)", "_check(n >= 1)"], False),
        (["_check_is_size(n)", "_check_value(n >= 1)"], False),
    ],
)
def test_it_is_needless_beside_one_that_says_the_same(rewrite: Any, checks: list[str], gone: bool) -> None:
    written = rewrite(HEAD + "".join(f"    torch.{check}\n" for check in checks) + "    return x.size(0)\n")
    assert written.count("torch._check") == len(checks) - gone
    assert "_check_is_size" not in written
