"""Branches that pad are rewritten where the amounts are seen to be 0 for what they pass by."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "@torch.compile\ndef f(x: Tensor, y: Tensor, m: int, flag: bool, mask=None):\n    n, c = x.shape\n"
TWICE = "if n:\n        a = [n]\n        x = F.pad(x, a)\n    if c:\n        a = [c]\n        x = F.pad(x, a)\n"
REREAD = (
    "n, c = y.shape\n    if n:\n        y = F.pad(x, [n])\n        n, c = y.shape\n"
    "    else:\n        y = x\n        c = 0\n"
)
IF = "torch.compiler.is_compiling()"
ASSIGNS = "the condition assigns a variable, so that it has to be evaluated"


@pytest.mark.parametrize(
    ("body", "new"),
    [
        ("pad = -n % m\n    if pad > 0:\n        x = F.pad(x, (0, 0, 0, pad))\n",
         f"pad = -n % m\n    if {IF} or pad > 0:\n        x = F.pad(x, (0, 0, 0, pad))\n"),
        ("a = -n % m\n    b = -c % m\n    if (a or b):\n        x = F.pad(x, (0, b, 0, a), value=1.0)\n",
         f"a = -n % m\n    b = -c % m\n    if ({IF} or a or b):\n        x = F.pad(x, (0, b, 0, a), value=1.0)\n"),
        ("if n % m != 0:\n        pads = (0, m - n % m)\n        x = F.pad(x, pads)\n",
         f"if {IF} or n % m != 0:\n        pads = (0, (m - n % m) % m)\n        x = F.pad(x, pads)\n"),
        ("rest = n % m\n    if rest > 0:\n        x = F.pad(x, (0, m - rest))\n",
         f"rest = n % m\n    if {IF} or rest > 0:\n        x = F.pad(x, (0, (m - rest) % m))\n"),
        ("if n % 2 == 1:\n        x = F.pad(x, (0, 1))\n",
         f"if {IF} or n % 2 == 1:\n        x = F.pad(x, (0, n % 2))\n"),
        ("if n < m:\n        x = F.pad(x, (0, m - n))\n",
         f"if {IF} or n < m:\n        x = F.pad(x, (0, max(m - n, 0)))\n"),
        ("if n != y.size(0):\n        y = F.pad(y, (0, n - y.size(0)))\n",
         f"if {IF} or n != y.size(0):\n        y = F.pad(y, (0, n - y.size(0)))\n"),
        ("if mask is not None and n > m:\n        x = F.pad(x, (0, n - m))\n",
         f"if mask is not None and ({IF} or n > m):\n        x = F.pad(x, (0, max(n - m, 0)))\n"),
        ("if mask is not None and (n > m) and flag:\n        x = F.pad(x, (0, n - m))\n",
         f"if mask is not None and ({IF} or (n > m)) and flag:\n        x = F.pad(x, (0, max(n - m, 0)))\n"),
        ("if flag and n > m and c > m:\n        x = F.pad(x, (0, max(n - m, 0) * max(c - m, 0)))\n",
         f"if flag and ({IF} or (n > m and c > m)):\n        x = F.pad(x, (0, max(n - m, 0) * max(c - m, 0)))\n"),
        ("if n < 512:\n        x = F.pad(x, (0, 512 - n))\n",
         f"if {IF} or n < 512:\n        x = F.pad(x, (0, max(512 - n, 0)))\n"),
        ("y = F.pad(x, [0, 4 - n % 4]) if n % 4 else x\n",
         f"y = F.pad(x, [0, (4 - n % 4) % 4]) if {IF} or n % 4 else x\n"),
        ("if n < m:\n        a = [0] * k + [0, m - n]\n        x = aten.constant_pad_nd(x, a, 0)\n",
         f"if {IF} or n < m:\n        a = [0] * k + [0, max(m - n, 0)]\n        x = aten.constant_pad_nd(x, a, 0)\n"),
        ("pad = max(n - m, 0)\n    if pad > 0:\n        x = F.pad(x, [0, pad])\n",
         f"pad = max(n - m, 0)\n    if {IF} or pad > 0:\n        x = F.pad(x, [0, pad])\n"),
        ("if n % m:\n        a = (0, m - n % m)\n        x = F.pad(x, a)\n    a = 1\n    y = y + a\n",
         f"if {IF} or n % m:\n        a = (0, (m - n % m) % m)\n        x = F.pad(x, a)\n    a = 1\n    y = y + a\n"),
        ("if n % m:\n        x = F.pad(x, (0, 0, 0, -n % m))\n        n, _ = x.shape\n",
         f"if {IF} or n % m:\n        x = F.pad(x, (0, 0, 0, -n % m))\n        n, _ = x.shape\n"),
        (TWICE, TWICE.replace("if ", f"if {IF} or ")),
        ("y = x if n == m else F.pad(x, [n - m])\n", f"y = x if not {IF} and n == m else F.pad(x, [n - m])\n"),
        ("if n % 4 == 0 or n % 2 == 0:\n        y = x\n    else:\n        y = F.pad(x, [0, n % 2])\n",
         f"if not {IF} and (n % 4 == 0 or n % 2 == 0):\n        y = x\n    else:\n        y = F.pad(x, [0, n % 2])\n"),
        ("if flag and (n % m or n % m > 1):\n        x = F.pad(x, (0, -n % m))\n",
         f"if flag and ({IF} or n % m or n % m > 1):\n        x = F.pad(x, (0, -n % m))\n"),
        ("if (pad := -n % m) > 0:\n        x = F.pad(x, (0, pad))\n",
         f"pad = -n % m\n    if {IF} or pad > 0:\n        x = F.pad(x, (0, pad))\n"),
        ("if (pad := m - n) > 0 and flag:\n        x = F.pad(x, (0, pad))\n    y = y + pad\n",
         f"pad = m - n\n    if ({IF} or pad > 0) and flag:\n        x = F.pad(x, (0, max(pad, 0)))\n    y = y + pad\n"),
        ("if not (pad := -n\n               % m):\n        y = x\n    else:\n        y = F.pad(x, (0, pad))\n",
         f"pad = -n % m\n    if not {IF} and not pad:\n        y = x\n    else:\n        y = F.pad(x, (0, pad))\n"),
        ("if flag and (k := m) is not None and n % m:\n        x = F.pad(x, (0, -n % m))\n",
         f"if flag and (k := m) is not None and ({IF} or n % m):\n        x = F.pad(x, (0, -n % m))\n"),
        ("z = x\n    if n % m:\n        z = F.pad(x, (0, -n % m))\n    y = y + z\n",
         f"z = x\n    if {IF} or n % m:\n        z = F.pad(x, (0, -n % m))\n    y = y + z\n"),
        ("if flag or n % m == 0 and n > -1:\n        y = x\n    else:\n        y = F.pad(x, [-n % m])\n",
         f"if flag or not {IF} and n % m == 0 and n > -1:\n        y = x\n    else:\n        y = F.pad(x, [-n % m])\n"),
    ],
)  # fmt: skip
def test_what_is_compiled_pads_by_nothing(rewrite: Any, body: str, new: str) -> None:
    source = HEAD + "    " + body + "    return x + y\n"
    assert rewrite(source, torch=True, home=None) == HEAD + "    " + new + "    return x + y\n"


@pytest.mark.parametrize(
    "body",
    [
        "if n % m != 0:\n        x = F.pad(x, (0, m))\n",
        "if n > m:\n        x = F.pad(x, (0, m))\n",
        "if n % 3 == 1:\n        x = F.pad(x, (0, 1))\n",
        "if n % 8 and n < 1024:\n        x = F.pad(x, (0, 0, 0, 8 - n % 8))\n",
        "if n % 8 and n < 1 << 10:\n        x = F.pad(x, (0, 0, 0, 8 - n % 8))\n",
        "if n % 8 and n != 100:\n        x = F.pad(x, (0, 0, 0, 8 - n % 8))\n",
        "pad = m - n\n    if pad > 1:\n        x = F.pad(x, (0, pad))\n",
        'pad = -n % m\n    if pad:\n        x = F.pad(x, (0, pad), "replicate")\n',
        "pad = -n % m\n    if pad:\n        x = F.pad(x, (0, pad), value=draw())\n",
        "pad = -n % m\n    if pad:\n        x = F.pad(x, (0, pad), value=float(x[0, 0]))\n",
        "pad = -n % m\n    if pad:\n        x = F.pad(y, (0, pad))\n",
        "pad = -n % m\n    if pad:\n        x = other.pad(x, (0, pad))\n",
        "pad = -n % m\n    if pad:\n        x = F.pad(x, (0, pad))\n    else:\n        x = x.clone()\n",
        "pad = -n % m\n    if pad:\n        x = F.pad(x, (0, pad))\n    x.add_(1)\n",
        "pad = -n % m\n    if pad:\n        x = F.pad(x, (0, pad))\n    x[0] = 1\n",
        "pad = -n % m\n    m = m + 1\n    if n % m:\n        x = F.pad(x, (0, pad))\n",
        "pad = -n % m\n    n = n + 1\n    if n % m:\n        x = F.pad(x, (0, pad))\n",
        "pad = max(m - n, 0)\n    for _ in x:\n        if n < m:\n            x = F.pad(x, (0, pad))\n        n += 1\n",
        "if n % m:\n        pads = (0, -n % m)\n        x = F.pad(x, pads)\n    y = y + pads[1]\n",
        "if n % m:\n        a = (0, -n % m)\n        x = F.pad(x, a)\n    if flag:\n        a = 1\n    y = y + a\n",
        "a = 1\n    if n % m:\n        a = (0, -n % m)\n        x = F.pad(x, a)\n    y = y + a\n",
        "if n % m:\n        x = F.pad(x, (0, 0, 0, -n % m))\n        _, n = x.shape\n",
        "n = 7\n    if n % m:\n        x = F.pad(x, (0, 0, 0, -n % m))\n        n, c = x.shape\n",
        "x = x + y\n    if n % m:\n        x = F.pad(x, (0, 0, 0, -n % m))\n        n, c = x.shape\n",
        "for _ in y:\n        if n % m:\n            x = F.pad(x, (0, 0, 0, -n % m))\n            n, c = x.shape\n",
        "if n % m:\n        x = F.pad(x, (0, 0, 0, -n % m))\n    else:\n        c = 0\n    y = y + c\n",
        "if n % m:\n        y = F.pad(x, (0, 0, 0, -n % m))\n    else:\n        y = x\n        c = 0\n    y = y + c\n",
        REREAD,
        "if n < m:\n        k = 7\n        x = F.pad(x, (0, k))\n        k = m - n\n        y = F.pad(y, (0, k))\n",
        "if n < m:\n        k = m - n - 1\n        k = k + 1\n        x = F.pad(x, (0, k))\n",
        "if n < m:\n        z = launch(x)\n        x = F.pad(x, (0, m - n))\n",
        "y = x if n % 4 == 0 else F.pad(x, (0, 0, 0, -n % 4))\n    y.add_(1)\n",
        "if n % m:\n        y = F.pad(x, (0, 0, 0, -n % m))\n    else:\n        y = x\n    x.add_(1)\n",
        "for _ in y:\n        x.add_(1)\n        if n % m:\n            x = F.pad(x, (0, -n % m))\n",
        "if len(x) < m:\n        x = F.pad(x, (0, max(m - len(x), 0)))\n        x = F.pad(x, (0, m - len(x)))\n",
        "if n % m:\n        x = F.pad(x, (0, -n % m))\n        n, c = x.shape\n        x = F.pad(x, (0, -n % m))\n",
        "if n > (pad := -n % m) > 0:\n        x = F.pad(x, (0, pad))\n",
        "while (pad := -n % m) > 0:\n        x = F.pad(x, (0, pad))\n",
        "if (pad := -n % m) > 0 and (pad := pad + 1):\n        x = F.pad(x, (0, pad))\n",
        "if flag:\n        y = x\n    if n % m:\n        y = F.pad(x, (0, -n % m))\n",
        "y = x\n    x = x + 1\n    if n % m:\n        y = F.pad(x, (0, -n % m))\n",
        "y = x\n    for _ in x:\n        if n % m:\n            y = F.pad(x, (0, -n % m))\n",
        "if n % m and flag and c % m:\n        x = F.pad(x, (0, -n % m * (-c % m)))\n",
        "if n % m and draw(n):\n        x = F.pad(x, (0, -n % m))\n",
    ],
)
def test_what_is_not_seen_to_be_nothing_is_left(look: Any, body: str) -> None:
    findings = look(HEAD + "    " + body + "    return x + y\n")
    assert not [finding for finding in findings if finding.rule == "padding-branch" and finding.edits]


@pytest.mark.parametrize(
    "body",
    [
        "if flag and (pad := -n % m) > 0:\n        x = F.pad(x, (0, pad))\n",
        "if flag:\n        x = y\n    elif (pad := -n % m) > 0:\n        x = F.pad(x, (0, pad))\n",
        "x = F.pad(x, (0, pad)) if (pad := -n % m) > 0 else x\n",
        "if x is y or (pad := -n % m) > 0:\n        x = F.pad(x, (0, pad))\n",
    ],
)
def test_what_a_condition_assigns_stays_where_no_line_above_can_assign_it(look: Any, body: str) -> None:
    guarded = look(HEAD + "    " + body + "    return x + y\n")
    assert [bool(finding.edits) for finding in guarded if finding.rule == "padding-branch"] == [True]
    left = look(HEAD + "    " + body + "    return x + y\n", home=None)
    assert [finding.reason for finding in left if finding.rule == "padding-branch"] == [ASSIGNS]


def test_pytorch_and_what_dynamo_does_not_trace_have_guards(rewrite: Any) -> None:
    body = (
        "def f(x: Tensor, m: int):\n    if x.size(0) < m:\n        x = F.pad(x, (0, m - x.size(0)))\n    return x + 1\n"
    )
    assert "if guard_or_true(x.size(0) < m):" in rewrite(body)
    assert "torch.sym_max(m - x.size(0), 0)" in rewrite(body)
    assert "torch._prims_common.sym_guard_or_true(x.size(0) < m)" in rewrite(body, inlined=True, eager=True)
    assert f"{IF} or x.size(0) < m" in rewrite(body, inlined=True, eager=True, home=None)
    assert rewrite(body, eager=True, home=None) == body
    assert rewrite(body, inlined=True, scripted=True, home=None) == body


def test_what_expands_alike_is_not_asked_for_where_it_is_compiled(rewrite: Any) -> None:
    body = HEAD + "    if {0}:\n        x = x.expand(y.size(0), c)\n    return x + y\n"
    asked = "n != y.size(0)"
    new = rewrite(body.format(asked), inlined=True, eager=True, home=None)
    assert new == body.format(f"{IF} or {asked}")
    copied = "def f(x: Tensor):\n    if x.stride(0) != 1:\n        x = x.contiguous()\n    return x\n"
    assert rewrite(copied, inlined=True, eager=True, home=None) == copied


@pytest.mark.parametrize(
    "body",
    [
        f"    if {IF} or x.size(0) == 1:\n        x = x.cos()\n",
        f"    if not {IF} and x.size(0) > n:\n        raise ValueError\n",
        f"    if {IF}:\n        x = x.cos()\n    elif x.size(0) == 1:\n        x = x.sin()\n",
        f"    if n and ({IF} or x.size(0) == 1):\n        x = x.cos()\n",
        f"    k = 1 if {IF} else (2 if x.size(0) == 1 else 3)\n    x = x + k\n",
        f"    assert {IF} or x.size(0) == n\n",
    ],
)
def test_what_is_never_compiled_is_no_finding(look: Any, body: str) -> None:
    assert look(f"@torch.compile\ndef f(x: Tensor, n: int):\n{body}    return x\n") == []
    assert look(f"@torch.compile\ndef f(x: Tensor, n: int):\n{body.replace(IF, 'other()')}    return x\n") != []


def test_sums_of_sums_end(look: Any) -> None:
    doubled = "".join(f"    n{i + 1} = n{i} + n{i}\n" for i in range(60))
    circle = "    n60 = a\n    a = n60\n"
    for given in (f"    n0 = x.size(0)\n{doubled}", circle):
        branch = "    if x.size(0) < n60:\n        x = F.pad(x, (0, n60))\n    return x\n"
        (finding,) = look(f"def f(x: Tensor):\n{given}{branch}")
        assert not finding.edits


@pytest.mark.parametrize(
    ("above", "amount", "reason"),
    [
        ("x = x[:, :self.longest]\n    k = x.shape[1]\n    r = self.longest - k\n    ", "r", "the slice at line 4"),
        ("x = x[..., :m]\n    r = m - x.shape[-1]\n    ", "r", "the slice at line 4"),
        ("x = x[:, -m:]\n    a, b = x.shape\n    r = m - b\n    ", "r", "the slice at line 4"),
        ("x = x[:, :m, :]\n    ", "m - x.size(1)", "the slice at line 4"),
        ("x = (~make(c, long=y.size(1)))[:, None].to(y.device)\n    ", "y.shape[1] - x.shape[-1]", "x is made for"),
        ("x = (~make(c, long=m))[:, None].to(y.device)\n    ", "m - x.shape[-1]", ""),
        ("x = y.new_zeros(m, y.size(1))\n    ", "y.shape[1] - x.shape[1]", "x is made for"),
        ("x = torch.ones((m, y.size(1)))\n    ", "y.shape[1] - x.shape[-1]", "x is made for"),
        ("x = torch.ones((y.size(1), m))\n    ", "y.shape[1] - x.shape[-1]", ""),
        ("x = torch.ones(y.size(1), y.size(0))\n    ", "y.shape[1] - x.shape[1]", ""),
        ("x = self.encode(y.size(1))\n    ", "y.shape[1] - x.shape[1]", ""),
        ("x = x[:, :min(m, c)]\n    r = m - x.shape[1]\n    ", "r", ""),
        ("x = x[:, :m]\n    x = self.conv(x)\n    r = m - x.shape[1]\n    ", "r", ""),
        ("c = x.shape[1]\n    r = m - c\n    y = y[:, :m]\n    ", "r", ""),
        ("if flag:\n        x = x[:, :m]\n    r = m - x.shape[1]\n    ", "r", ""),
        ("x = x[:m]\n    r = m - x.shape[1]\n    ", "r", ""),
        ("x = x[:, m:]\n    r = m - x.shape[1]\n    ", "r", ""),
        ("x = x[:, :m:2]\n    r = m - x.shape[1]\n    ", "r", ""),
        ("x = x[:, :m]\n    r = m - x.shape[-1]\n    ", "r", ""),
    ],
)
def test_what_is_asked_anyway_is_left(look: Any, above: str, amount: str, reason: str) -> None:
    body = f"    {above}if {amount} > 0:\n        x = F.pad(x, (0, max({amount}, 0)))\n    return x + y\n"
    found = [f for f in look(HEAD.replace("f(x", "f(self, x") + body) if f.rule == "padding-branch"]
    assert [bool(finding.edits) for finding in found] == [not reason]
    assert found[0].reason.startswith(reason)


@pytest.mark.parametrize(("below", "left"), [("if needs and flag:", True), ("if flag:", False)])
def test_what_a_function_inside_asks_again_is_left(look: Any, below: str, left: bool) -> None:
    inside = f"    def undo(y):\n        {below}\n            y = y[:, :-r]\n        return y\n"
    body = "    r = -n % m\n    needs = r > 0\n    if needs:\n        x = F.pad(x, (0, 0, 0, r))\n"
    source = HEAD + body + inside + "    return x, undo\n"
    (found,) = [finding for finding in look(source) if finding.rule == "padding-branch"]
    assert bool(found.edits) is not left
    assert (found.reason == "line 9 asks for needs too, so that no graph would be saved") is left
