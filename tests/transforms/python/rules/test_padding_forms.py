"""What else a branch that pads may do: pad several tensors at once, make a length longer, return."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "@torch.compile\ndef f(x: Tensor, y: Tensor, m: int, flag: bool):\n    n, c = x.shape\n"
IF = "torch.compiler.is_compiling()"
BOTH = "for t in (x, y)"


@pytest.mark.parametrize(
    ("body", "new"),
    [
        # A length grows by as much as the tensor does.
        ("k = -n % m\n    if k:\n        x = F.pad(x, (0, 0, 0, k))\n        n = n + k\n",
         f"k = -n % m\n    if {IF} or k:\n        x = F.pad(x, (0, 0, 0, k))\n        n = n + k\n"),
        ("if n % m:\n        k = m - n % m\n        x = F.pad(x, (0, 0, 0, k))\n        n += k\n",
         f"if {IF} or n % m:\n        k = (m - n % m) % m\n        x = F.pad(x, (0, 0, 0, k))\n        n += k\n"),
        ("if n < m:\n        x = F.pad(x, (0, m - n))\n        c += m - n\n",
         f"if {IF} or n < m:\n        x = F.pad(x, (0, max(m - n, 0)))\n        c += max(m - n, 0)\n"),
        ("if c % 2 == 1:\n        x = F.pad(x, (0, 1))\n        c += 1\n",
         f"if {IF} or c % 2 == 1:\n        x = F.pad(x, (0, c % 2))\n        c += c % 2\n"),
        # Several tensors are padded by what is set once.
        ("if n % m:\n        k = m - n % m\n        x = F.pad(x, [k])\n        y = F.pad(y, [0, k])\n",
         f"if {IF} or n % m:\n        k = (m - n % m) % m\n        x = F.pad(x, [k])\n        y = F.pad(y, [0, k])\n"),
        # What stands in another amount keeps its value, and each amount is changed by itself.
        ("if n < m:\n        k = m - n\n        x = F.pad(x, [k])\n        y = F.pad(y, [k * 2, k])\n",
         (f"if {IF} or n < m:\n        k = m - n\n        x = F.pad(x, [max(k, 0)])\n"
          "        y = F.pad(y, [max(k * 2, 0), max(k, 0)])\n")),
        (f"k = -n % m\n    if k > 0:\n        x, y = (F.pad(t, (0, k)) {BOTH})\n",
         f"k = -n % m\n    if {IF} or k > 0:\n        x, y = (F.pad(t, (0, k)) {BOTH})\n"),
        (f"if n % m:\n        x, y = tuple(F.pad(t, (0, m - n % m)) {BOTH})\n",
         f"if {IF} or n % m:\n        x, y = tuple(F.pad(t, (0, (m - n % m) % m)) {BOTH})\n"),
        (f"if n % m:\n        x, y = [F.pad(t, (0, m - n % m)) {BOTH}]\n",
         f"if {IF} or n % m:\n        x, y = [F.pad(t, (0, (m - n % m) % m)) {BOTH}]\n"),
        ("k = -n % m\n    if k > 0:\n        x, y = map(lambda t: F.pad(t, (0, k), value=0.0), (x, y))\n",
         f"k = -n % m\n    if {IF} or k > 0:\n        x, y = map(lambda t: F.pad(t, (0, k), value=0.0), (x, y))\n"),
    ],
)  # fmt: skip
def test_what_goes_with_the_padding_is_as_much_as_that(rewrite: Any, body: str, new: str) -> None:
    source = HEAD + "    " + body + "    return x + y\n"
    assert rewrite(source, torch=True, home=None) == HEAD + "    " + new + "    return x + y\n"


@pytest.mark.parametrize(
    ("body", "new"),
    [
        ("k = -n % m\n    if k > 0:\n        return F.pad(x, (0, k))\n    return x\n",
         f"k = -n % m\n    if {IF} or k > 0:\n        return F.pad(x, (0, k))\n    return x\n"),
        ("if n % m == 0:\n        return x\n    return F.pad(x, (0, m - n % m))\n",
         f"if not {IF} and n % m == 0:\n        return x\n    return F.pad(x, (0, (m - n % m) % m))\n"),
        ("if n % m == 0:\n        return x\n    else:\n        return F.pad(x, (0, m - n % m))\n",
         f"if not {IF} and n % m == 0:\n        return x\n    else:\n        return F.pad(x, (0, (m - n % m) % m))\n"),
        ("a, b = -n % m, -c % m\n    if a == 0 and b == 0:\n        return x\n    return F.pad(x, (0, b, 0, a))\n",
         (f"a, b = -n % m, -c % m\n    if not {IF} and a == 0 and b == 0:\n        return x\n"
          "    return F.pad(x, (0, b, 0, a))\n")),
        ("a, b = -n % m, -c % m\n    if a or b:\n        return F.pad(x, (0, b, 0, a))\n    return x\n",
         f"a, b = -n % m, -c % m\n    if {IF} or a or b:\n        return F.pad(x, (0, b, 0, a))\n    return x\n"),
    ],
)  # fmt: skip
def test_what_is_returned_is_padded_by_nothing(rewrite: Any, body: str, new: str) -> None:
    assert rewrite(f"{HEAD}    {body}", torch=True, home=None) == f"{HEAD}    {new}"


@pytest.mark.parametrize(
    "body",
    [
        "if n % m:\n        x = F.pad(x, (0, -n % m))\n        n += m\n",
        "if n % m:\n        x = F.pad(x, (0, -n % m))\n        y = y + (-n % m)\n",
        "if n % m:\n        n += -n % m\n        x = F.pad(x, (0, -n % m))\n",
        "if n % m:\n        n += -n % m\n",
        "k = -n % m\n    if k:\n        x, y = (F.pad(t, (0, k)) for t in (y, x))\n",
        "k = -n % m\n    if k:\n        x, y = (F.pad(t, (0, k)) for t in (x, y) if flag)\n",
        "k = -n % m\n    if k:\n        x, y = (F.pad(x, (0, k)) for t in (x, y))\n",
        "k = -n % m\n    if k:\n        x, y = (F.pad(t, (0, t.size(0))) for t in (x, y))\n",
        "k = -n % m\n    if k:\n        x, y = (F.pad(t, (0, k)) for t in pair)\n",
        "k = -n % m\n    if k:\n        x, y = apply(lambda t: F.pad(t, (0, k)), (x, y))\n",
        "map = draw\n    k = -n % m\n    if k:\n        x, y = map(lambda t: F.pad(t, (0, k)), (x, y))\n",
        "k = -n % m\n    if k:\n        x, y = (F.pad(t, (0, k)) for t in (x, y))\n    y.add_(1)\n",
        "if n % m:\n        return F.pad(x, (0, m - n))\n    return x\n",
        "if n % m:\n        return F.pad(x, (0, -n % m))\n    return y\n",
        "if n % m:\n        return F.pad(x, (0, -n % m))\n    y = y + 1\n    return x\n",
        "if n % m:\n        return F.pad(x, (0, -n % m)), 1\n    return x\n",
        "if n % m:\n        return F.pad(x, (0, -n % m))\n",
    ],
)
def test_what_does_more_is_left(look: Any, body: str) -> None:
    findings = look(HEAD + "    " + body + "    return x + y\n")
    assert not [finding for finding in findings if finding.rule == "padding-branch" and finding.edits]


CALLER = """
@torch.compile
def g(x: Tensor, y: Tensor, m: int):
    z = f(x, y, m, True)
    {0}
    return z
"""


@pytest.mark.parametrize(("below", "seen"), [("z.add_(1)", True), ("z = z + 1", False)])
def test_a_caller_may_see_that_what_is_returned_is_a_copy(look: Any, below: str, seen: bool) -> None:
    body = "    k = -n % m\n    if k > 0:\n        return F.pad(x, (0, k))\n    return x\n"
    findings = look(f"{HEAD}{body}{CALLER.format(below)}", home=None)
    assert seen != any(finding.rule == "padding-branch" and finding.edits for finding in findings)
