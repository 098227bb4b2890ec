"""Branches that pad what is short and cut what is long: what one path serves, and what is left."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "@torch.compile\ndef f(x: Tensor, y: Tensor, m: int, flag: bool):\n    n, c = x.shape\n"
IF = "torch.compiler.is_compiling()"
PAD = "F.pad(x, (0, 0, 0, m - n))"
BOTH = "F.pad(x, (0, 0, 0, max(m - n, 0)))[:m]"
LAST = "x.shape[-1]"


@pytest.mark.parametrize(
    ("body", "new"),
    [
        (f"if n < m:\n        x = {PAD}\n    else:\n        x = x[:m]\n",
         f"if {IF} or n < m:\n        x = {BOTH}\n    else:\n        x = x[:m]\n"),
        (f"if n >= m:\n        x = x[:m]\n    else:\n        x = {PAD}\n",
         f"if not {IF} and n >= m:\n        x = x[:m]\n    else:\n        x = {BOTH}\n"),
        (f"if n < m:\n        x = {PAD}\n    elif n > m:\n        x = x[:m]\n",
         f"if {IF} or n < m:\n        x = {BOTH}\n    elif n > m:\n        x = x[:m]\n"),
        (f"if n > m:\n        x = x[:m]\n    elif n < m:\n        x = {PAD}\n",
         f"if not {IF} and n > m:\n        x = x[:m]\n    elif {IF} or n < m:\n        x = {BOTH}\n"),
        (("k = m - n\n    if k > 0:\n        a = (0, 0, 0, k)\n        x = F.pad(x, a)\n"
          "    else:\n        x = x[:m, :]\n"),
         (f"k = m - n\n    if {IF} or k > 0:\n        a = (0, 0, 0, max(k, 0))\n        x = F.pad(x, a)[:m, :]\n"
          "    else:\n        x = x[:m, :]\n")),
        (f"if {LAST} < m:\n        x = F.pad(x, [m - {LAST}, 0], value=1.0)\n    else:\n        x = x[..., :m]\n",
         (f"if {IF} or {LAST} < m:\n        x = F.pad(x, [max(m - {LAST}, 0), 0], value=1.0)[..., :m]\n"
          "    else:\n        x = x[..., :m]\n")),
        (f"if n < m:\n        return {PAD}\n    return x[:m]\n",
         f"if {IF} or n < m:\n        return {BOTH}\n    return x[:m]\n"),
        (f"if n > m:\n        return x[:m]\n    return {PAD}\n",
         f"if not {IF} and n > m:\n        return x[:m]\n    return {BOTH}\n"),
        (f"if n < m:\n        return {PAD}\n    elif n > m:\n        return x[:m]\n    return x\n",
         f"if {IF} or n < m:\n        return {BOTH}\n    elif n > m:\n        return x[:m]\n    return x\n"),
        # The end of what is long, and the front of what is short; the layout that the slice has.
        ((f"if {LAST} < m:\n        x = F.pad(x, [m - {LAST}, 0])\n"
          "    else:\n        x = x[..., -m:].contiguous()\n"),
         (f"if {IF} or {LAST} < m:\n        x = F.pad(x, [max(m - {LAST}, 0), 0])[..., -m:].contiguous()\n"
          "    else:\n        x = x[..., -m:].contiguous()\n")),
        ("if c >= m:\n        return x[..., -m:].contiguous()\n    return F.pad(x, (m - c, 0)).contiguous()\n",
         (f"if not {IF} and c >= m:\n        return x[..., -m:].contiguous()\n"
          "    return F.pad(x, (max(m - c, 0), 0))[..., -m:].contiguous()\n")),
        ((f"if flag:\n        x = x * 2\n    elif {LAST} < m:\n        x = F.pad(x, [m - {LAST}])\n"
          "    else:\n        x = x[..., :m]\n"),
         (f"if flag:\n        x = x * 2\n    elif {IF} or {LAST} < m:\n"
          f"        x = F.pad(x, [max(m - {LAST}, 0)])[..., :m]\n    else:\n        x = x[..., :m]\n")),
    ],
)  # fmt: skip
def test_one_path_pads_and_cuts(rewrite: Any, body: str, new: str) -> None:
    below = "    return x * y\n"
    assert rewrite(HEAD + "    " + body + below, torch=True, home=None) == HEAD + "    " + new + below


@pytest.mark.parametrize(
    "body",
    [
        f"if n < m + 1:\n        x = {PAD}\n    else:\n        x = x[:m - 1]\n",  # what is padded is longer
        f"if n < m:\n        x = {PAD}\n    elif n > m:\n        x = x[:c]\n",
        f"if n < m:\n        x = {PAD}\n    elif n > m + 1:\n        x = x[:m]\n",  # m + 1 is kept as it is
        "if n < m:\n        x = F.pad(x, (0, 0, 0, m))\n    else:\n        x = x[:m]\n",
        f"if n < m:\n        x = {PAD}\n    else:\n        x = x[1:m]\n",
        f"if n < m:\n        x = {PAD}\n    else:\n        x = x[:m:2]\n",
        f"if n < m:\n        x = {PAD}\n    else:\n        x = x[:, :m]\n",  # another dimension than is compared
        f"if n < m:\n        x = {PAD}\n    else:\n        x = x[:-m]\n",
        f"if n < m:\n        x = {PAD}\n    else:\n        x = x[-m:c]\n",
        "*_, d = x.shape\n    if d < m:\n        x = F.pad(x, (0, m - d))\n    else:\n        x = x[:m]\n",
        f"if n < m:\n        x = {PAD}\n    else:\n        x = y[:m]\n",
        f"if n < m:\n        x = {PAD}\n    else:\n        x = x[:x.size(0) - n + m]\n",
        f"if n < m:\n        x = {PAD}\n        m = m + 1\n    else:\n        x = x[:m]\n",
        f"if n < m and flag:\n        x = {PAD}\n    else:\n        x = x[:m]\n",
        f"if n < m:\n        x = {PAD}\n    else:\n        x = x[:m] + 1\n",
        f"if n < m:\n        x = {PAD}\n    elif n > m:\n        x = x[:m]\n    else:\n        x = x + 1\n",
        f"if n < m:\n        return {PAD}\n    elif n > m:\n        return x[:m]\n    return x + 1\n",
        f"if n < m:\n        return {PAD}\n    elif n > m:\n        return x[:m]\n    x = x + 1\n",
        f"x = x[1:]\n    if n < m:\n        x = {PAD}\n    else:\n        x = x[:m]\n",
        f"for _ in y:\n        if n < m:\n            x = {PAD}\n        else:\n            x = x[:m]\n",
        f"if n < m:\n        x = {PAD}\n    else:\n        x = x[:m]\n    x.add_(1)\n",
        'if n < m:\n        x = F.pad(x, (0, m - n), mode="reflect")\n    else:\n        x = x[:m]\n',
        f"if (k := m - n) > 0:\n        x = {PAD}\n    else:\n        x = x[:m]\n",
        f"if draw(n) < m:\n        x = {PAD}\n    else:\n        x = x[:m]\n",
    ],
)
def test_what_another_path_serves_is_left(look: Any, body: str) -> None:
    findings = look(HEAD + "    " + body + "    return x * y\n", home=None)
    assert not [finding for finding in findings if finding.edits]


def test_fake_tensors_run_the_branch_that_their_sizes_take(look: Any) -> None:
    body = f"    if n < m:\n        x = {PAD}\n    else:\n        x = x[:m]\n    return x\n"
    assert not any(finding.edits for finding in look(HEAD.replace("@torch.compile\n", "") + body))
