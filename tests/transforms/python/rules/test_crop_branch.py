"""Branches that crop are rewritten where the tensor is seen to be no larger than the bounds where they pass it by."""

from __future__ import annotations

from typing import Any

import pytest

IF = "torch.compiler.is_compiling()"
HEAD = "@torch.compile\ndef f(x: Tensor, y: Tensor, m: int, flag: bool, mask=None):\n    h, w = y.shape\n"
PAD = "a, b = -h % m, -w % m\n    p = -h % m\n    hp = h + p\n    "
VIEW = "x = x.view(m, hp, -1)\n    "


@pytest.mark.parametrize(
    ("above", "branch", "new"),
    [
        (VIEW, "if hp > h:\n        x = x[:, :h]\n", "or hp > h:"),
        (VIEW, "if h < hp:\n        x = x[:, :h, :].contiguous()\n", "or h < hp:"),
        (VIEW, "if p > 0:\n        x = x[:, :h]\n", "or p > 0:"),
        (VIEW, "if p:\n        x = x[:, :h]\n", "or p:"),
        ("x = x.view(h, w)\n    ", "if h > 1000:\n        x = x[:1000]\n", "or h > 1000:"),
        ("x = x.reshape((hp, m, hp))\n    ", "if p:\n        x = x[:h, :, :h]\n", "or p:"),
        ("x = x.view(h + p, -1)\n    ", "if hp != h:\n        x = x[:h]\n", "or hp != h:"),
        ("x = x.view(h, w)\n    ", "if h > m or w > m:\n        x = x[:m, :m]\n", "or h > m or w > m:"),
        (VIEW, "if flag and hp > h:\n        x = x[:, :h]\n", "flag and (IF or hp > h):"),
    ],
)
def test_what_is_compiled_is_cropped_to_all_of_it(rewrite: Any, above: str, branch: str, new: str) -> None:
    source = f"{HEAD}    {PAD}{above}{branch}    return x + y\n"
    test = branch.partition("\n")[0]
    wanted = f"if {new.replace('IF', IF)}" if new.startswith("flag") else f"if {IF} {new}"
    assert rewrite(source, home=None) == source.replace(test, wanted)


@pytest.mark.parametrize(
    "body",
    [
        "if x.size(1) > h:\n        x = x[:, :h]\n",
        "if hp > h:\n        x = x[:, :h]\n",
        f"{VIEW}x = self.act(x)\n    if hp > h:\n        x = x[:, :h]\n",
        f"{VIEW}h = h - 1\n    if p:\n        x = x[:, :h]\n",
        f"{VIEW}if p > 1:\n        x = x[:, :h]\n",
        "x = x.reshape(x.size(1), -1)\n    if x.size(1) > h:\n        x = x[:h]\n",
        f"{VIEW}if p and hp < 1000:\n        x = x[:, :h]\n",
        f"{VIEW}if p and hp < 4 * 256:\n        x = x[:, :h]\n",
        f"{VIEW}if hp >= w:\n        x = x[:, :h]\n",
        f"{VIEW}if hp < h:\n        x = x[:, :h]\n",
        f"{VIEW}if p:\n        x = x[:, : h - 1]\n",
        f"{VIEW}if p:\n        x = x[:, :-p]\n",
        f"{VIEW}if p:\n        x = x[:, p:]\n",
        f"{VIEW}if p:\n        x = x[:, :h:2]\n",
        f"{VIEW}if p:\n        x = x[0, :h]\n",
        f"{VIEW}if p:\n        x = x[..., :h, :]\n",
        f"{VIEW}if p:\n        x = x[:, :, :h]\n",
        f"{VIEW}if p:\n        x = x[:, :h, :, :w]\n",
        f"{VIEW}if p:\n        x = x[:, :h].clone()\n",
        f"{VIEW}if p:\n        x = x[:, :h]\n        w = h\n",
        f"{VIEW}if p:\n        x = x[:, :h]\n    else:\n        x = x + 1\n",
        f"{VIEW}if p:\n        y = x[:, :h]\n",
        "k = y.size(0) // m\n    x = x.view(hp, -1)\n    if p:\n        x = x[:h, : m // m]\n",
        "x = x.view(m, *y.shape)\n    if hp > h:\n        x = x[:, :h]\n",
        "x = x.view(torch.int)\n    if hp > h:\n        x = x[:h]\n",
        f"{VIEW}if p:\n        x = x[:, :h].contiguous()\n    x.add_(1)\n",
        f"{VIEW}if draw() > 0 or p:\n        x = x[:, :h]\n",
    ],
)
def test_what_is_not_seen_to_fit_is_left(look: Any, body: str) -> None:
    findings = look(f"{HEAD}    {PAD}{body}    return x + y\n")
    assert not [finding for finding in findings if finding.rule == "crop-branch" and finding.edits]


def test_fakes_have_guards(rewrite: Any) -> None:
    source = HEAD.replace("@torch.compile\n", "") + f"    {PAD}{VIEW}if p:\n        x = x[:, :h]\n    return x + 1\n"
    assert "if guard_or_true(p):" in rewrite(source) or "if guard_or_true(p != 0):" in rewrite(source)
    assert rewrite(source, inlined=True, scripted=True, home=None) == source
