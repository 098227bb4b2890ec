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


def test_what_asks_for_an_unknown_size_elsewhere_is_no_reason_to_leave_it(rewrite: Any) -> None:
    source = f"{HEAD}    if x.size(1) > m:\n        x = x.mT\n    q, r = divmod(n, m)\n    return F.pad(x, (q, r))\n"
    assert rewrite(source, inlined=True) == source.replace("divmod(n, m)", "n // m, n % m")


def test_dynamo_fails_for_each_size_that_is_dynamic() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch._dynamo.testing")
    halves = {"divmod(x.size(0), 2)": 0, "(x.size(0) // 2, x.size(0) % 2)": 1}
    for written, graphs in halves.items():
        names: dict[str, Any] = {}
        exec(f"def f(x):\n    q, r = {written}\n    return x.new_ones(q), x.new_ones(r + 1)\n", names)
        torch._dynamo.reset()
        counter = torch._dynamo.testing.CompileCounterWithBackend("eager")
        compiled = torch.compile(names["f"], backend=counter, dynamic=True)
        for count in (3, 4, 6, 9):
            compiled(torch.ones(count))
        assert counter.frame_count == graphs


@pytest.mark.parametrize("pair", ["divmod(n, m)", "divmod(-n, m)", "divmod(m, n)"])
def test_what_it_gives_are_sizes(look: Any, pair: str) -> None:
    source = f"{HEAD}    q, r = {pair}\n    if q == 3:\n        x = x + 1\n    for i in range(r):\n        x = x * i\n"
    found = {finding.rule: finding.level.name for finding in look(source)}
    assert found == {"quotient-pair": "SAFE", "size-branch": "MANUAL", "loop-bound": "MANUAL"}


def test_of_plain_numbers_are_none(look: Any) -> None:
    assert not look(f"{HEAD}    q, r = divmod(m, 4)\n    for i in range(r):\n        x = x * q\n    return x + n\n")
