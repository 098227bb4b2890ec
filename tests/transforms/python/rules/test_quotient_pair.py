"""`divmod` of sizes, by the operators that symbols have."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "def f(x: Tensor, m: int):\n    n = x.size(0)\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("q, r = divmod(n, m)", "q, r = n // m, n % m"),
        ("pair = divmod(n - 1, m + 1)", "pair = (n - 1) // (m + 1), (n - 1) % (m + 1)"),
        ("q, r = divmod(-n, m)", "q, r = (-n) // m, (-n) % m"),
        ("q = divmod(n, m)[0]", "q = (n // m, n % m)[0]"),
        ("q = g(divmod(m, n))", "q = g((m // n, m % n))"),
    ],
)
@pytest.mark.parametrize("runs", [{}, {"eager": True}, {"inlined": True}, {"scripted": True}])
def test_the_same_numbers(rewrite: Any, old: str, new: str, runs: dict[str, bool]) -> None:
    assert rewrite(f"{HEAD}    {old}\n", **runs) == f"{HEAD}    {new}\n"
    before, after = (values(text) for text in (old, new))
    assert [before(n, m) for n in range(1, 9) for m in (2, 3)] == [after(n, m) for n in range(1, 9) for m in (2, 3)]


def values(statement: str) -> Any:
    def run(n: int, m: int) -> Any:
        names = {"n": n, "m": m, "g": tuple}
        exec(statement, names)
        return names[statement.partition(" ")[0].strip(",")]

    return run


@pytest.mark.parametrize("call", ["divmod(n, g(m))", "divmod(n, *[m])"])
def test_what_may_not_be_called_twice_is_left(look: Any, call: str) -> None:
    (finding,) = look(f"{HEAD}    return {call}\n")
    assert (finding.rule, finding.refusal, finding.edits) == ("quotient-pair", "evaluated-twice", ())
