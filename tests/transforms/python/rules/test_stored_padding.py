"""Truths that choose whether branches pad and crop: which may be the one for all sizes, and that values stay."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

HEAD = "import torch\nimport torch.nn.functional as F\n\n\n"
COMPILED = {"inlined": True, "eager": True, "home": None}
ABOVE = "def forward(self, x: Tensor, m: int):\n    h, w = x.shape\n    p, q = -h % m, (m - w % m) % m\n"
TRUTH = "    padding = p > 0 or q > 0\n"
PAD = "    if padding:\n        x = F.pad(x, (0, q, 0, p))\n    x = (x * 2).view(h + p, w + q)\n"
CROP = "    if padding:\n        x = x[:h, :w]\n"
END = "    return x + 1\n"
WHOLE = f"{ABOVE}{TRUTH}{PAD}{CROP}{END}"
ATTRIBUTE = "    if padding:\n        x = F.pad(x, (0, q, 0, self.p))\n    return x + 1\n"
COMPILING = "    padding = torch.compiler.is_compiling() or "


@pytest.mark.parametrize(
    ("body", "truth"),
    [
        (WHOLE, "p > 0 or q > 0"),
        (f"{ABOVE}{TRUTH}{PAD}{END}", "p > 0 or q > 0"),
        (
            WHOLE.replace("(h + p, w + q)", "(r, s)").replace(TRUTH, f"{TRUTH}    r, s = h + p, w + q\n"),
            "p > 0 or q > 0",
        ),
        (WHOLE.replace("p > 0 or q > 0", "not (p == 0 and q == 0)"), "not (p == 0 and q == 0)"),
        (WHOLE.replace("[:h, :w]", "[:h, :w].contiguous()"), "p > 0 or q > 0"),
        (f"{ABOVE}    padding = q > 0 or self.p != 0\n{ATTRIBUTE}", "q > 0 or self.p != 0"),
    ],
)
def test_wherever_it_is_compiled_all_branches_are_taken(rewrite: Any, body: str, truth: str) -> None:
    assert f"{COMPILING}{truth}\n" in rewrite(HEAD + body, **COMPILED)


@pytest.mark.parametrize(
    "body",
    [
        WHOLE.replace(END, "    return x + 1, padding\n"),
        WHOLE.replace(END, "    if padding:\n        x = x * 2\n    return x + 1\n"),
        WHOLE.replace(END, "    if not padding:\n        x = x * 2\n    return x + 1\n"),
        WHOLE.replace(END, "    return [x + 1 for _ in range(2) if padding]\n"),
        WHOLE.replace(END, "    padding = False\n    return x + 1\n"),
        WHOLE.replace("x[:h, :w]", "x[:h, :m]"),
        WHOLE.replace("(h + p, w + q)", "(h + p, w + q + 1)"),
        WHOLE.replace("    x = (x", "    p = 0\n    x = (x"),
        WHOLE.replace("(0, q, 0, p)", "(0, q, 0, p + 1)"),
        WHOLE.replace("-h % m", "m - h % m"),  # the amount would have to be written anew
        WHOLE.replace(CROP, f"{CROP}    else:\n        x = x * 2\n"),
        WHOLE.replace("p > 0 or", "m > 3 or"),
        f"{ABOVE}    padding = q > 0 or self.p != 0\n    self.p = self.p + 1\n{ATTRIBUTE}",
        f"{ABOVE}    for _ in range(2):\n    {TRUTH}        if padding:\n            x = F.pad(x, (0, q, 0, p))\n{END}",
    ],
)
def test_what_else_reads_it_or_sizes_that_are_not_served_leave_it(rewrite: Any, body: str) -> None:
    assert "padding = torch.compiler.is_compiling()" not in rewrite(HEAD + body, **COMPILED)


def test_a_fake_guards_and_takes_the_path_of_all_sizes_for_what_is_unknown(rewrite: Any) -> None:
    assert "    padding = guard_or_true(p > 0) or guard_or_true(q > 0)\n" in rewrite(HEAD + WHOLE)


def test_what_is_written_computes_what_was_computed(rewrite: Any) -> None:
    torch = pytest.importorskip("torch")
    functions = []
    for source in (HEAD + WHOLE, rewrite(HEAD + WHOLE, **COMPILED).replace("torch.compiler.is_compiling()", "True")):
        names: dict[str, Any] = {"Tensor": torch.Tensor}
        exec(source, names)
        functions.append(names["forward"])
    for h, w, m in itertools.product((1, 3, 4), (2, 4, 5), (1, 2, 4)):
        x = torch.rand(h, w)
        assert torch.equal(functions[0](None, x, m), functions[1](None, x, m))
