"""Branches that join a tensor with what fills it up are rewritten where that is of its sizes, dtype and device."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from codemod.model.findings import Level
from transforms.python.writing.joined import REASON

COMPILED = "if torch.compiler.is_compiling():\n        "
IF = "torch.compiler.is_compiling() or "
HEAD = "@torch.compile\ndef f(x: Tensor, y: Tensor, m: int, flag: bool):\n    n, c = x.shape\n    pad = -n % m\n"


@pytest.mark.parametrize(
    ("filling", "join", "padded"),
    [
        ("x.new_zeros(pad, c)", "torch.cat([x, {}])", "(0, 0, 0, pad)"),
        ("x.new_zeros((pad, c))", "torch.cat((x, {}), 0)", "(0, 0, 0, pad)"),
        ("x.new_ones([pad, x.shape[1]])", "torch.cat([{}, x], dim=0)", "(0, 0, pad, 0), value=1"),
        ("x.new_full((pad, c), -1.5)", "torch.concat([x, {}], axis=-2)", "(0, 0, 0, pad), value=-1.5"),
        ("x.new_full((pad, c), -float('inf'))", "torch.cat([x, {}])", "(0, 0, 0, pad), value=-float('inf')"),
        ("x.new_full((pad, c), math.inf)", "torch.cat([x, {}])", "(0, 0, 0, pad), value=math.inf"),
        ("x.new_full((pad, x.size(-1)), fill_value=7)", "torch.concatenate([x, {}])", "(0, 0, 0, pad), value=7"),
        ("torch.zeros(pad, c, dtype=x.dtype, device=x.device)", "torch.cat([x, {}])", "(0, 0, 0, pad)"),
        ("torch.zeros(size=(pad, c), dtype=x.dtype, device=x.device)", "torch.cat([x, {}])", "(0, 0, 0, pad)"),
        ("torch.ones((pad, c), device=device, dtype=x.dtype)", "torch.cat([x, {}])", "(0, 0, 0, pad), value=1"),
        ("torch.full((pad, c), 0, dtype=x.dtype, device=x.device)", "torch.cat([x, {}])", "(0, 0, 0, pad)"),
        ("torch.zeros(pad, c).type_as(x)", "torch.cat([x, {}])", "(0, 0, 0, pad)"),
        ("torch.zeros(pad, c).to(x)", "torch.cat([x, {}])", "(0, 0, 0, pad)"),
        ("torch.zeros(pad, c).type(x.type())", "torch.cat([x, {}])", "(0, 0, 0, pad)"),
        ("torch.zeros(pad, c).to(x.dtype).to(x.device)", "torch.cat([x, {}])", "(0, 0, 0, pad)"),
        ("torch.zeros(pad, c, device=x.device).to(x.dtype)", "torch.cat([x, {}])", "(0, 0, 0, pad)"),
        ("x.new_zeros(pad, *x.shape[1:])", "torch.cat([x, {}])", "(0, 0, 0, pad)"),
        ("x.new_zeros(*x.shape[:-2], pad, c)", "torch.cat([x, {}], dim=-2)", "(0, 0, 0, pad)"),
        ("x.new_zeros(x.shape[0], pad, *x.shape[2:])", "torch.cat([x, {}], dim=1)", "(0, pad)"),
        ("x.new_zeros(n, -c % m)", "torch.cat([x, {}], dim=1)", "(0, -c % m)"),
    ],
)
def test_what_fills_up_by_nothing_is_padded_where_it_is_compiled(
    rewrite: Any, look: Any, filling: str, join: str, padded: str
) -> None:
    above, pad = f"{HEAD}    device = x.device\n", "-c % m" if "-c" in padded else "pad"
    whole = f"    {{}}if {pad} > 0:\n        x = {join.format(filling)}\n    return x + 1\n"
    parts = f"    {{}}if {pad} > 0:\n        k = {filling}\n        x = {join.format('k')}\n    return x + 1\n"
    for body in (whole, parts):
        wanted = above + body.format(f"{COMPILED}x = torch.nn.functional.pad(x, {padded})\n    el")
        assert ast.dump(ast.parse(rewrite(above + body.format(""), home=None))) == ast.dump(ast.parse(wanted))
    chosen = f"    x = {join.format(filling)} if {pad} > 0 else x\n    return x + 1\n"
    assert [(finding.level, finding.reason) for finding in look(above + chosen)] == [(Level.MANUAL, REASON)]


@pytest.mark.parametrize(
    ("condition", "amount", "new"),
    [
        ("n % m != 0", "m - n % m", "(m - n % m) % m"),
        ("n < m", "m - n", "max(m - n, 0)"),
        ("n % 2 == 1", "1", "n % 2"),
        ("flag and n % m", "m - n % m", "(m - n % m) % m"),
    ],
)
def test_an_amount_becomes_nothing_where_nothing_is_missing(
    rewrite: Any, condition: str, amount: str, new: str
) -> None:
    body = f"    {{}}if {condition}:\n        x = torch.cat([x, x.new_zeros({amount}, c)])\n    return x + 1\n"
    asked = COMPILED.replace("()", "() and flag") if "flag" in condition else COMPILED
    padded = f"{asked}x = torch.nn.functional.pad(x, (0, 0, 0, {new}))\n    el"
    assert rewrite(HEAD + body.format(""), home=None) == HEAD + body.format(padded)


def test_of_more_dimensions_than_are_known_all_others_are_taken(rewrite: Any) -> None:
    """And what is padded is laid out as what is joined, of whatever rank."""
    head = "import torch.nn.functional as F\n@torch.compile\ndef f(x: Tensor, m: int):\n    k = m - x.shape[-1]\n"
    body = "    {}if k > 0:\n        x = torch.cat([x, x.new_zeros(*x.shape[:-1], k)], dim=-1)\n    return x + 1\n"
    padded = f"{COMPILED}x = F.pad(x, (0, max(k, 0))).contiguous()\n    el"
    assert rewrite(head + body.format(""), home=None) == head + body.format(padded)


@pytest.mark.parametrize(
    ("held", "sizes"), [("size = (*x.shape[:-1], m - c % m)", "size"), ("k = m - c % m", "(n, k)")]
)
def test_what_is_held_on_the_way_is_written_out(rewrite: Any, held: str, sizes: str) -> None:
    join = f"        {held}\n        x = torch.cat((x, torch.full({sizes}, 2, dtype=x.dtype, device=x.device)), -1)\n"
    body = f"    {{}}if c % m != 0:\n{join}    return x + 1\n"
    padded = f"{COMPILED}x = torch.nn.functional.pad(x, (0, (m - c % m) % m), value=2)\n    el"
    assert rewrite(HEAD + body.format(""), home=None) == HEAD + body.format(padded)


@pytest.mark.parametrize(
    "body",
    [
        "    if n != m:\n        x = torch.cat([x, x.new_zeros(m - n, c)])\n",
        "    if pad:\n        x = torch.cat([x, x.new_full((pad, c), -1)])\n",
        "    if pad:\n        x = torch.cat([x, x.new_full((pad, c), m)])\n",
        "    if n < m:\n        x = torch.cat([x, x.new_zeros(m - n, c)])\n    else:\n        x = x\n",
        "    if m > 9:\n        x = x + 1\n    elif n < m:\n        x = torch.cat([x, x.new_zeros(m - n, c)])\n",
        "    r = n % m\n    if r:\n        r = m - r\n        x = torch.cat([x, x.new_zeros(r, c)])\n",
        "    if (k := -n % m) > 0:\n        x = torch.cat([x, x.new_zeros(k, c)])\n    x = x + k\n",
        "    if y.numel() > 9 and n < m:\n        x = torch.cat([x, x.new_zeros(m - n, c)])\n",
        "    if n % m:\n        pad = m - n % m\n        x = torch.cat([x, x.new_zeros(pad, c)])\n    x = x + pad\n",
        "    if pad:\n        x = torch.cat([x, x.new_ones(pad, c)])\n        y = torch.cat([y, y.new_ones(pad, c)])\n",
        "    if pad:\n        x = torch.cat([x, x.new_zeros(pad, c)])\n        n = n + pad\n    x = x + n\n",
    ],
)
def test_what_is_joined_with_nothing_is_a_graph_of_its_own(look: Any, body: str) -> None:
    findings = look(f"{HEAD}{body}    return x + y\n")
    assert not any(finding.edits for finding in findings if finding.rule == "padding-branch")


def test_a_fake_joins_what_fills_it_up(rewrite: Any) -> None:
    source = "@register_fake('a::b')\ndef f(x: Tensor, m: int):\n    n, c = x.shape\n    pad = -n % m\n"
    body = "    if {}:\n        x = torch.cat([x, x.new_zeros(pad, c)])\n    return x + 1\n"
    assert body.format("guard_or_true(pad > 0)") in rewrite(source + body.format("pad > 0"), home=None)


@pytest.mark.parametrize(
    "body",
    [
        "x = torch.cat([x, torch.zeros(pad, c)])",
        "x = torch.cat([x, torch.zeros(pad, c, dtype=x.dtype)])",
        "x = torch.cat([x, torch.zeros(pad, c, device=x.device)])",
        "x = torch.cat([x, torch.zeros(pad, c, dtype=y.dtype, device=x.device)])",
        "x = torch.cat([x, y.new_zeros(pad, c)])",
        "x = torch.cat([x, x.new_zeros(pad, c, dtype=torch.float)])",
        "x = torch.cat([x, x.new_zeros(pad, c).to(torch.float)])",
        "x = torch.cat([x, x.new_zeros(pad, c).half()])",
        "x = torch.cat([x, torch.zeros(pad, c).type(y.type())])",
        "x = torch.cat([x, torch.zeros(pad, c).to(x, non_blocking=True)])",
        "x = torch.cat([x, x.new_zeros(pad, m)])",
        "x = torch.cat([x, x.new_zeros(pad)])",
        "x = torch.cat([x, x.new_zeros(pad, c, 1)])",
        "x = torch.cat([x, x.new_zeros(pad, c)], dim=1)",
        "x = torch.cat([x, x.new_zeros(pad, c)], dim=m)",
        "x = torch.cat([x, x.new_zeros(pad, *x.shape[:1])])",
        "x = torch.cat([x, x.new_zeros(pad, *y.shape[1:])])",
        "x = torch.cat([x, x.new_zeros(x.shape[-3], pad, *x.shape[2:])], dim=1)",
        "x = torch.cat([x, x.new_zeros(*x.shape[:-1], pad)], dim=1)",
        "x = torch.cat([x, x.new_full((pad, c), draw())])",
        "x = torch.cat([x, x.new_full((pad, c), y[0])])",
        "x = torch.cat([x, x.new_full((pad, c), flag.value)])",
        "x = torch.cat([x, x.new_full((pad, c), filled)])",
        "x = torch.cat([x, x.new_zeros(pad, c)], 0, dim=0)",
        "x = torch.cat([x, x[:pad]])",
        "x = torch.cat([x, torch.randn(pad, c, dtype=x.dtype, device=x.device)])",
        "x = torch.cat([x, x.new_zeros(pad, c), x.new_zeros(pad, c)])",
        "x = torch.cat([x, x.new_zeros(pad, c)], out=y)",
        "x = torch.stack([x, x.new_zeros(pad, c)])",
        "x = torch.cat([y, x.new_zeros(pad, c)])",
        "x = torch.cat([x, x.new_zeros(pad + 1, c)])",
        "k = x.new_zeros(pad, c)\n        k[0] = 1\n        x = torch.cat([x, k])",
        "k = x.new_zeros(pad, c)\n        x = torch.cat([x, k])\n    y = y + k",
        "k = x.new_zeros(m - n, c)\n        x = F.pad(x, (0, pad))",
        "k = x.new_zeros(m - n, c)\n        j = k.size(0)\n        x = F.pad(x, (0, pad))",
        "k = x.new_zeros(m - n, c)\n        k = x.new_zeros(pad, c)\n        x = torch.cat([x, k])",
        "x = torch.cat([x, x.new_zeros(pad, c)])\n    x.add_(1)",
    ],
)
def test_what_is_not_seen_to_be_nothing_is_left(look: Any, body: str) -> None:
    findings = look(f"{HEAD}    if pad > 0:\n        {body}\n    return x + y\n")
    assert not [finding for finding in findings if finding.rule == "padding-branch" and finding.edits]


def test_of_an_unknown_rank_the_dimensions_are_not_taken(look: Any) -> None:
    head = "@torch.compile\ndef f(x: Tensor, m: int):\n    k = m - x.size(0)\n"
    findings = look(f"{head}    if k > 0:\n        x = torch.cat([x, x.new_zeros(k, x.size(1))])\n    return x + 1\n")
    assert not [finding for finding in findings if finding.rule == "padding-branch" and finding.edits]


@pytest.mark.parametrize(
    ("first", "other", "below"),
    [
        ("pad = 0", "", "y = y[: n + pad]"),
        ("pad = 0", "", "return x[: n + pad]"),
        ("", "    else:\n        pad = 0\n", "y = y[: n + pad]"),
        ("pad = 0", "", "if pad > 0:\n        x = x[:-pad]"),
    ],
)
def test_a_variable_that_is_read_below_is_given_nothing(rewrite: Any, first: str, other: str, below: str) -> None:
    head = f"{HEAD.replace('pad = -n % m', first or 'y = y + 1')}"
    taken = "    if n % m:\n        pad = m - n % m\n        x = F.pad(x, (0, 0, 0, pad))\n"
    new = rewrite(f"{head}{taken}{other}    {below}\n    return x + y\n", home=None)
    assert "        pad = (m - n % m) % m\n        x = F.pad(x, (0, 0, 0, pad))\n" in new
    assert f"if {IF}n % m:" in new


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("pad = 1", ""),
        ("pad = m", ""),
        ("y = y + 1", ""),
        ("pad = 0\n    pad = m", ""),
        ("y = y + 1", "    else:\n        pad = 1\n"),
        ("pad = 0", "    else:\n        c = 0\n"),
        ("y = y + 1", "    else:\n        pad = c = 0\n"),
        ("y = y + 1", "    else:\n        c = pad = 0\n"),
        ("for pad in range(3):\n        pad = 0", ""),
    ],
)
def test_one_that_is_something_else_there_is_left(look: Any, first: str, other: str) -> None:
    head = HEAD.replace("pad = -n % m", first)
    taken = "    if n % m:\n        pad = m - n % m\n        x = F.pad(x, (0, 0, 0, pad))\n"
    findings = look(f"{head}{taken}{other}    y = y[: n + pad]\n    return x + y * c\n")
    assert not [finding for finding in findings if finding.rule == "padding-branch" and finding.edits]


@pytest.mark.parametrize(
    ("chosen", "new"),
    [
        ("m - n if flag else 0", "max(k, 0)"),
        ("-n % m if flag else 0", "k"),
        ("0 if flag else -n % m", "k"),
        ("-n % m if flag else c % 2", "k"),
    ],
)
def test_an_amount_that_something_else_chose_is_followed(rewrite: Any, chosen: str, new: str) -> None:
    head = HEAD.replace("pad = -n % m", f"k = {chosen}")
    body = "    if {}k > 0:\n        x = F.pad(x, (0, {}))\n    return x + 1\n"
    assert rewrite(head + body.format("", "k"), home=None) == head + body.format(IF, new)


@pytest.mark.parametrize("chosen", ["m - n if flag else 1", "1 if flag else -n % m", "-n % m if flag else n"])
def test_one_that_may_be_something_where_nothing_is_asked_for_is_left(look: Any, chosen: str) -> None:
    head = HEAD.replace("pad = -n % m", f"k = {chosen}")
    findings = look(f"{head}    if n % m > 0:\n        x = F.pad(x, (0, k))\n    return x + 1\n")
    assert not [finding for finding in findings if finding.rule == "padding-branch" and finding.edits]
