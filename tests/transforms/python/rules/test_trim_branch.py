"""Branches that cut a rest off are rewritten where the rest is seen to be nothing on the other way."""

from __future__ import annotations

from typing import Any

import pytest

IF = "torch.compiler.is_compiling() or "
HEAD = "@torch.compile\ndef f(x: Tensor, y: Tensor, m: int, flag: bool, mask=None):\n    b, n, *_ = x.shape\n"
ABOVE = "rest = n % m\n    pad = -n % m\n    "


@pytest.mark.parametrize(
    ("above", "branch", "kept"),
    [
        (ABOVE, "if rest > 0:\n        x = x[:, :-rest]\n", "x.narrow(1, 0, n // m * m)"),
        (ABOVE, "if rest:\n        x = x[:, :-rest, :]\n", "x.narrow(1, 0, n // m * m)"),
        ("", "if n % m != 0:\n        x = x[:, : -(n % m), ...]\n", "x.narrow(1, 0, n // m * m)"),
        ("r = x.size(1) % (m + 1)\n    ", "if 0 < r:\n        x = x[:, :-r]\n",
         "x.narrow(1, 0, x.size(1) // (m + 1) * (m + 1))"),
        ("r = x.size(-1) % 8\n    ", "if r:\n        x = x[..., :-r].contiguous()\n",
         "x.narrow(-1, 0, x.size(-1) // 8 * 8).contiguous()"),
        ("r = n % m\n    x = x[:, 1:]\n    ", "if r > 0:\n        x = x[:, :-r]\n",
         "x.narrow(1, 0, max(x.size(1) - r, 0))"),
        (ABOVE, "if pad > 0:\n        x = x[:, :-pad]\n", "x.narrow(1, 0, max(x.size(1) - pad, 0))"),
        ("k = m - n\n    ", "if k > 0:\n        x = x[:-k]\n", "x.narrow(0, 0, max(x.size(0) - max(k, 0), 0))"),
        ("k = n % (m - 1) // 2\n    ", "if k > 0:\n        x = x[:, :-k]\n",
         "x.narrow(1, 0, max(x.size(1) - k, 0))"),
        ("half = n % m // 2\n    ", "if half > 0:\n        x = x[:, :-half]\n", "x.narrow(1, 0, n - half)"),
        (ABOVE, "if flag and rest > 0:\n        x = x[:, :-rest]\n", "x.narrow(1, 0, n // m * m)"),
    ],
)  # fmt: skip
def test_what_is_compiled_is_narrowed(rewrite: Any, above: str, branch: str, kept: str) -> None:
    source = f"{HEAD}    {above}{branch}    return x + 1\n"
    new = rewrite(source, home=None)
    assert f"        x = {kept}\n" in new
    assert IF in new
    assert new.count("\n") == source.count("\n")


def test_a_choice_is_narrowed_too(rewrite: Any) -> None:
    source = f"{HEAD}    {ABOVE}x = x[:, :-rest] if rest > 0 else x\n    return x + 1\n"
    new = f"x = x.narrow(1, 0, n // m * m) if {IF}rest > 0 else x"
    assert rewrite(source, home=None) == source.replace("x = x[:, :-rest] if rest > 0 else x", new)


def test_several_tensors_are_cut_together(rewrite: Any) -> None:
    cut = "if pad > 0:\n        x = x[:, :-pad]\n        y = y[:-pad]\n"
    new = rewrite(f"{HEAD}    {ABOVE}{cut}    return x, y + 1\n", home=None)
    assert "y = y.narrow(0, 0, max(y.size(0) - pad, 0))" in new


def test_what_was_padded_by_the_same_is_cut_with_it(rewrite: Any) -> None:
    pad = "pad = -x.size(1) % m\n    if pad > 0:\n        x = F.pad(x, (0, pad))\n    x = x.relu()\n    "
    new = rewrite(f"{HEAD}    {pad}if pad > 0:\n        x = x[:, :-pad]\n    return x + 1\n", home=None)
    assert new.count(f"if {IF}pad > 0:") == 2
    assert "x = x.narrow(1, 0, max(x.size(1) - pad, 0))" in new


@pytest.mark.parametrize(
    "body",
    [
        "if n > m:\n        x = x[:, :-m]\n",
        "if rest > 1:\n        x = x[:, :-rest]\n",
        "if (n := n - 1) % m:\n        x = x[:, : -(n % m)]\n",
        "if rest >= 0:\n        x = x[:, :-rest]\n",
        "if n - m:\n        x = x[:, : -(n - m)]\n",
        "if rest:\n        x = x[:, 1:-rest]\n",
        "if rest:\n        x = x[:, :-rest:2]\n",
        "if rest:\n        x = x[0, :-rest]\n",
        "if rest:\n        x = x[:, :-rest, :-rest]\n",
        "if rest:\n        x = x[:, :rest]\n",
        "if rest:\n        x = x[:, :-rest].clone()\n",
        "if rest:\n        y = x[:, :-rest]\n",
        "if rest:\n        x = x[:, :-rest]\n        n = n - rest\n",
        "if rest:\n        x = x[:, :-rest]\n    else:\n        x = x + 1\n",
        "if rest:\n        x = x[:, :-rest]\n        x = x[:, :-rest]\n",
        "if n % m:\n        x = x[:, : -(n % m)]\n        y = y[: -(x.size(1) % m)]\n",
        "if rest:\n        x = x[:, :-rest]\n    x.unsqueeze_(0)\n",
        "if draw() > 0 or rest:\n        x = x[:, :-rest]\n",
        "if flag:\n        k = -m % n\n    n = n + 1\n    if k:\n        x = x[:, :-k]\n",
        "for i in range(m):\n        if flag:\n            k = i * i\n    if k != i * i:\n        x = x[:, :-k]\n",
        "rest = max(rest, m - n)\n    if rest != 0:\n        x = x[:, :-rest]\n",
        "sizes = list(x.shape)\n    if n % m:\n        sizes = sizes[: -(n % m)]\n",
        "if n % m:\n        mask = mask[:, : -(n % m)]\n",
    ],
)
def test_what_is_not_seen_to_be_a_rest_is_left(look: Any, body: str) -> None:
    findings = look(f"{HEAD}    {ABOVE}{body}    return x + y\n")
    assert not [finding for finding in findings if finding.rule == "trim-branch" and finding.edits]


def test_of_a_starred_target_the_sizes_behind_it_are_those_of_the_last(rewrite: Any) -> None:
    head = HEAD.replace("b, n, *_", "*_, n")
    cut = "if n % m != 0:\n        x = x[:, : -(n % m)]\n"
    assert "max(x.size(1) - n % m, 0)" in rewrite(f"{head}    {cut}    return x + 1\n", home=None)
    cut = cut.replace("[:, ", "[..., ")
    assert "x.narrow(-1, 0, n // m * m)" in rewrite(f"{head}    {cut}    return x + 1\n", home=None)


def test_fakes_have_guards(rewrite: Any) -> None:
    head = HEAD.replace("@torch.compile\n", "")
    source = f"{head}    {ABOVE}if rest > 0:\n        x = x[:, :-rest]\n    return x + 1\n"
    assert "if guard_or_true(rest > 0):\n        x = x.narrow(1, 0, n // m * m)" in rewrite(source)
    assert rewrite(source, inlined=True, scripted=True, home=None) == source
    limited = source.replace("rest > 0", "pad > 0").replace("-rest", "-pad")
    assert rewrite(limited) == limited  # its length needs max
