"""Functions drawn at random are rewritten right or left; tests/corpus/fuzz_shapes.py draws more. Needs torch."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import drawn_functions
import drawn_numbers
from fuzz_shapes import Drawn


@pytest.mark.parametrize(
    ("draw", "composite", "seeds"),
    [
        (drawn_functions.function, False, range(40, 54)),
        (drawn_functions.function, True, range(100, 107)),
        (drawn_numbers.function, True, range(5240, 5256)),
    ],
)
def test_none_is_wrong(draw: Callable[[int], str], composite: bool, seeds: range) -> None:
    drawn = Drawn(composite)
    verdicts = [drawn.verdict(draw(seed)) for seed in seeds]
    assert not [verdict.shown for verdict in verdicts if verdict.kind == "wrong"]
    kinds: Counter[Any] = Counter(verdict.kind for verdict in verdicts)
    assert kinds["right"]
    assert kinds["left"]
