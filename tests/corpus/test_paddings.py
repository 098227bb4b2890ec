"""Branches that pad: what is rewritten is the same in eager and compiled, and needs no more graphs. Needs torch."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from padding_graphs import FORMS, HEAD, LENGTHS, differs, graphs, rewrite, rewritten, sources, takes_unknown


@pytest.mark.parametrize(("index", "form"), list(enumerate(FORMS)))
def test_what_is_rewritten_gives_the_same_on_both_ways(index: int, form: str) -> None:
    """Some 45 of the pairs with each form, and each pair with some of the forms: padding_graphs.py takes all."""
    drawn = sources([form])
    step = -(-len(drawn) // 45)
    pairs = rewritten(drawn[index % step :: step])
    assert len(pairs) > 2
    assert [shown for pair in pairs if (shown := differs(*pair))] == []


@pytest.mark.parametrize("form", LENGTHS)
def test_what_is_short_is_padded_and_what_is_long_is_cut(form: str) -> None:
    """With the amounts that bring it to a length, and two that do not: padding_graphs.py takes all."""
    pairs = rewritten(sources([form], ("missing", "max(missing, 0)", "pad", "n % 2")))
    assert len(pairs) > 1 or "m + c" in form  # what is cut there is longer than what is padded
    assert [shown for pair in pairs if (shown := differs(*pair))] == []
    for before, after in pairs[::4]:
        assert graphs(before) > graphs(after)
        assert takes_unknown(after) > takes_unknown(before)


def test_what_is_wrong_is_seen() -> None:
    source = HEAD + FORMS[0].format("n % m", "m - n % m")
    assert differs(source, source.replace("if n % m", "if torch.compiler.is_compiling() or n % m"))
    assert not differs(source, rewrite(source))


@pytest.mark.parametrize(
    ("condition", "amount"),
    [
        ("pad > 0", "pad"),
        ("n % m != 0", "m - n % m"),
        ("n < m", "missing"),
        ("flag and pad", "pad"),
        ("n % 2 == 1", "1"),
    ],
)
def test_one_graph_serves_every_size(condition: str, amount: str) -> None:
    source = HEAD + FORMS[0].format(condition, amount)
    new = rewrite(source)
    assert graphs(source) > graphs(new) == 1
    assert takes_unknown(new)
    assert not takes_unknown(source)


CROPPED = """    windows = n + pad
    if pad > 0:
        x = F.pad(x, (0, 0, 0, pad))
    x = torch.relu(x.view(-1, m, c)).view(windows, c)
    if windows > n:
        x = x[:n].contiguous()
    return x + 1
"""
UNDONE = """    if pad > 0:
        x = F.pad(x, (0, 0, 0, pad))
    x = torch.relu(x)
    if pad > 0:
        x = x[:-pad]
    return x + 1
"""
CUT = """    x = x[:m]
    k = m - x.size(0)
    if k > 0:
        x = F.pad(x, (0, 0, 0, k))
    return x + 1
"""


def test_what_undoes_a_padding_goes_with_it() -> None:
    source = HEAD + CROPPED
    new = rewrite(source)
    assert new.count("is_compiling()") == 2
    assert not differs(source, new)
    assert graphs(source) > graphs(new)
    assert takes_unknown(new)
    assert not takes_unknown(source)


@pytest.mark.parametrize(
    "body",
    [
        "    if rest > 0:\n        x = x[:-rest]\n    return x.view(n // m, m, c) + 1\n",
        "    if rest > 0:\n        x = x[:-rest]\n    return x.view(-1, m, c) + 1\n",
        UNDONE,
    ],
)
def test_what_is_cut_off_is_known_to_divide(body: str) -> None:
    new = rewrite(HEAD + body)
    assert "narrow" in new
    assert not differs(HEAD + body, new)
    assert takes_unknown(new)
    assert not takes_unknown(HEAD + body)


def test_what_is_left_as_a_slice_asks_the_same_would_save_no_graph() -> None:
    source = HEAD + CUT
    compiled = source.replace("if k > 0", "if torch.compiler.is_compiling() or k > 0").replace("k))", "max(k, 0)))")
    assert rewrite(source) == source
    assert not differs(source, compiled)
    assert graphs(source) == graphs(compiled)
