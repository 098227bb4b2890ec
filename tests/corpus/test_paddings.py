"""Branches that pad: what is rewritten is the same in eager and compiled, and needs no more graphs. Needs torch."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from padding_graphs import FORMS, HEAD, differs, graphs, rewrite, rewritten, takes_unknown


def test_what_is_rewritten_gives_the_same_on_both_ways() -> None:
    pairs = rewritten()
    assert len(pairs) > 100
    assert [shown for pair in pairs if (shown := differs(*pair))] == []


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
