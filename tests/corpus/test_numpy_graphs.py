"""What numpy computes of sizes: what is rewritten is the same in eager, and takes every size. Needs torch and numpy."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("numpy")

from numpy_graphs import FORMS, HEAD, differs, rewritten
from padding_graphs import graphs, rewrite, takes_unknown


def test_what_is_rewritten_gives_the_same() -> None:
    pairs = rewritten(FORMS[::3])
    assert len(pairs) > 30
    assert [shown for pair in pairs if (shown := differs(*pair))] == []


def test_what_is_wrong_is_seen() -> None:
    source = HEAD + FORMS[16].format("np.prod((n, c))")
    assert differs(source, source.replace("np.prod", "math.prod").replace("import torch\n", "import math, torch\n"))
    assert rewrite(source) == source


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", ["np.prod(x.shape)", "np.ceil(n / m)", "np.sqrt(n * c)", "np.maximum(n, m)"])
def test_one_graph_serves_every_size(number: str) -> None:
    source = HEAD + FORMS[1].format(number)
    new = rewrite(source)
    assert graphs(source) > 3 > graphs(new)
    assert takes_unknown(new)
    assert not takes_unknown(source)
