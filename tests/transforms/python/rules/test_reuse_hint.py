"""Hints of sizes in lowerings of Inductor that only tell `mark_reuse` how often a value is read."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = """from torch._inductor.lowering import register_lowering


@register_lowering(aten.f)
def f(x, n, m):
    sizevars = V.graph.sizevars
"""
HINT = "sizevars.guarding_hint_or_throw({})"


@pytest.mark.parametrize(
    ("body", "estimates"),
    [
        ("    x.mark_reuse({n})\n", 1),
        ("    x.mark_reuse({n} // {m} + 1)\n", 2),
        ("    x.mark_reuse(users={n}, graph_reuse=False)\n", 1),
        ("    if {n} > 0:\n        x.mark_reuse({m})\n        y.mark_reuse(2)\n", 2),
        ("    if {n} > 0 and flag:\n        x.mark_reuse(2)\n", 1),
        ("    if {n} > 0:\n        x.mark_reuse({m})\n        x = clone(x)\n", 1),
        ("    if {n} > 0:\n        x.mark_reuse({m})\n    else:\n        x = clone(x)\n", 1),
        ("    if not free_unbacked_symbols(n):\n        x.mark_reuse({n})\n", 0),
        ("    if flag:\n        if not has_free_unbacked_symbols(n):\n            x.mark_reuse({n})\n", 0),
        ("    while {n} > 0:\n        x.mark_reuse(2)\n", 0),
        ("    return [x] * {n}\n", 0),
        ("    return {n}.mark_reuse(2)\n", 0),
        ("    x.mark_reuse(f({n}))\n", 0),
        ("    x.mark_reuse(2 if {n} > 3 else 4)\n", 0),
        ("    x.mark_reuse(V.graph.sizevars.guarding_hint_or_throw(n))\n", 1),
    ],
)
def test_what_only_estimates_asks_for_an_estimate(rewrite: Any, body: str, estimates: int) -> None:
    source = HEAD + body.format(n=HINT.format("n"), m=HINT.format("m")) + "    return x\n"
    after = rewrite(source)
    assert after.count("sizevars.optimization_hint(") == estimates
    assert after.replace("optimization_hint", "guarding_hint_or_throw") == source


def test_nothing_is_said_of_others_or_outside_of_lowerings_and_the_version_has_to_have_it(look: Any) -> None:
    estimate = f"{HEAD}    x.mark_reuse({HINT.format('n')})\n    return x\n"
    assert look(estimate, sympy=False) == []
    assert look(f"{HEAD}    return [x] * {HINT.format('n')}\n") == []
    (finding,) = look(estimate, vocabulary=frozenset({"sizevars.guarding_hint_or_throw"}))
    assert "optimization_hint" in finding.reason
    assert not finding.edits
