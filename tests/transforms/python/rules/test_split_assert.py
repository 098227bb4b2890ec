"""The parts of an assertion stand by themselves, however it was laid out."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "@torch.compile\ndef f(x: Tensor):\n    n, m = x.shape\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("assert 0 < n - \\\n        1 <= m", "assert 0 < n - 1\n    assert n - 1 <= m"),
        (
            "assert n % 8 == 0 \\\n        and m % 8 == 0, \\\n        'a'",
            "assert n % 8 == 0, 'a'\n    assert m % 8 == 0, 'a'",
        ),
        (
            "assert (n % 8 == 0  # rows\n        and m % 8 == 0)  # both",
            "# rows\n    assert n % 8 == 0\n    assert m % 8 == 0  # both",
        ),
        (
            "assert n % 8 == 0 and m % 8 == 0, (\n        'a'\n        'b')",
            "assert n % 8 == 0, ('a'\n        'b')\n    assert m % 8 == 0, 'a' 'b'",
        ),
        (
            "assert all(size % 2 == 0 for size in x  # pairs\n        .shape)",
            "for size in (x  # pairs\n        .shape):\n        assert size % 2 == 0",
        ),
        (
            "assert n % 8 == 0 and m % 8 == 0, 'a'  # noqa: E501",
            "assert n % 8 == 0, 'a'  # noqa: E501\n    assert m % 8 == 0, 'a'  # noqa: E501",
        ),
        ("assert n in (1, m) and m != len('''\\\n''')", "assert n in (1, m)\n    assert (m != len('''\\\n'''))"),
    ],
)
def test_parts_that_ran_over_lines(rewrite: Any, before: str, after: str) -> None:
    assert rewrite(f"{HEAD}    {before}\n    return x\n") == f"{HEAD}    {after}\n    return x\n"


def test_a_long_message_stays_whole_where_its_length_is_passed_over(rewrite: Any) -> None:
    message = "'the rows and the columns that are given have to be multiples of eight, and are not, as it seems'"
    condition = "n % 8 == 0 and m % 8 == 0"
    after = rewrite(f"{HEAD}    assert {condition}, {message}  # noqa: E501\n    return x\n")
    assert after.count(f"{message}  # noqa: E501\n") == 2
