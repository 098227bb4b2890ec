"""Functions drawn at random are rewritten right or left; tests/corpus/fuzz_shapes.py draws more. Needs torch.

One that is rewritten takes seconds, in all the sizes it is compiled for: of each form there are one or two here.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import drawn_functions
import drawn_numbers
from fuzz_shapes import Drawn


@pytest.mark.parametrize(
    ("draw", "form", "seeds"),
    [
        (drawn_functions.function, "fake", range(44, 54)),
        (drawn_functions.function, "composite", range(100, 104)),
        (drawn_numbers.function, "composite", range(5240, 5246)),
        (drawn_numbers.function, "library", range(120000040, 120000050)),
    ],
)
def test_none_is_wrong(draw: Callable[[int], str], form: str, seeds: Sequence[int]) -> None:
    drawn = Drawn(form)
    verdicts = [drawn.verdict(draw(seed)) for seed in seeds]
    assert not [verdict.shown for verdict in verdicts if verdict.kind == "wrong"]
    kinds: Counter[Any] = Counter(verdict.kind for verdict in verdicts)
    assert kinds["right"]
    assert kinds["left"]
