"""Branches on what an object keeps for one size are named, with where it is compiled to ask first."""

from __future__ import annotations

from typing import Any

import pytest

from transforms.python.rules.kept_size import FITS, KEYED, REASON

HEAD = "@torch.compile\ndef f(self, x: Tensor):\n    n = x.size(0)\n"
CONVERTED = "        if self.flag:\n            self.rows = self.rows.to(x.dtype)\n"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("    if self.rows.size(0) != n:\n        self.rows = torch.arange(n)\n    return self.rows\n", REASON),
        ("    if n > self.most:\n        self.most, self.rows = n, torch.arange(n)\n    return self.rows\n", REASON),
        ("    if self.rows.size(0) >= n:\n        return self.rows\n    self.rows = torch.arange(n)\n", FITS),
        (
            f"    if self.rows.size(0) >= n:\n{CONVERTED}        return self.rows\n    self.rows = torch.arange(n)\n",
            FITS,
        ),
        (
            "    if self.rows.size(0) == n:\n        x = self.rows\n    else:\n        x = self.rows = n + x\n",
            FITS,
        ),
        ("    if n not in self.rows:\n        self.rows[n] = torch.arange(n)\n    return self.rows[n]\n", KEYED),
        ("    if (n, x.dtype) in self.rows:\n        return x\n    self.rows[n, x.dtype] = x\n    return x\n", KEYED),
    ],
)
def test_it_says_where_to_ask(look: Any, body: str, reason: str) -> None:
    found = [finding for finding in look(HEAD + body) if finding.rule == "kept-size"]
    assert [(finding.reason, finding.edits) for finding in found] == [(reason, ())]


@pytest.mark.parametrize(
    "body",
    [
        "    if self.rows.size(0) != n:\n        self.other = torch.arange(n)\n    return x\n",
        "    if self.rows.size(0) != n:\n        rows = torch.arange(n)\n        return rows\n    return x\n",
        "    if rows.size(0) != n:\n        rows = torch.arange(n)\n    return x\n",
        "    if n in self.rows:\n        self.other[n] = x\n    return x\n",
        "    if self.rows.size(0) != n:\n        x = x + 1\n    self.rows = torch.arange(n)\n    return x\n",
    ],
)
def test_what_is_not_kept_is_not_named(look: Any, body: str) -> None:
    assert not [finding for finding in look(HEAD + body) if finding.rule == "kept-size"]
