"""What `symfix fix OPERATOR` says of a proof, step by step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codemod.fix.text import proved, reproduced
from codemod.prove.evidence import Evidence, Verdict

PASSES = Verdict("passes", frames=1, unbacked="passes")
UNBACKED = Verdict("passes", 2, "Could not guard on u0\nmore", frames=1, unbacked="throws")


@pytest.mark.parametrize(
    ("before", "shown", "ends"),
    [
        (
            Verdict("throws", 1, "Cannot call numel()"),
            "throws (1) over torch 2: Cannot call numel()",
            "throws → passes",
        ),
        (replace(PASSES, frames=3), "passes over torch 2, compiled 3 times over its sizes", "compiled 3 → 1 times"),
        (
            UNBACKED,
            "passes over torch 2, and throws with unbacked sizes: Could not guard on u0",
            "with unbacked sizes throws → passes",
        ),
        (replace(PASSES, guards=("Eq(s0, 2)",)), "passes over torch 2", "passes → passes"),
    ],
)
def test_a_cure_is_said_before_and_after(before: Verdict, shown: str, ends: str) -> None:
    evidence = Evidence("foo", "cured", "k", before=before, after=PASSES)
    assert " ".join(" ".join(reproduced([evidence], "2")).split()) == f"reproduce foo {shown}"
    assert " ".join(" ".join(proved([evidence], reused=True)).split()) == f"prove foo cured: {ends} (kept)"
