"""Decompositions in the place of C++ composites: of use only where they go through."""

from __future__ import annotations

from typing import Any

import pytest

REGISTERED = "@register_decomposition(aten.composed)\n@out_wrapper()\ndef composed(x: Tensor):\n"
HELPER = "\n\ndef _helper(x: Tensor):\n"
OTHER = "\n\ndef other(x: Tensor):\n"
STOPS = "    pads = [0] * x.size(0)\n    return pad(x, pads)\n"
CONVERTED = "    return x / math.sqrt(x.size(-1))\n"


@pytest.mark.parametrize(
    ("source", "offered"),
    [
        (REGISTERED + CONVERTED, True),
        (REGISTERED + STOPS, False),
        (REGISTERED + "    return _helper(x)\n" + HELPER + CONVERTED, True),
        (REGISTERED + "    return _helper(x)\n" + HELPER + STOPS, False),
        (REGISTERED + CONVERTED + OTHER + STOPS, True),
        (REGISTERED + "    assert x.size(0) == 2\n" + CONVERTED, True),
    ],
)
def test_what_would_stop_takes_no_place(look: Any, source: str, offered: bool) -> None:
    """As the decompositions of torch.fft in torch 2.2, whose C++ keeps a norm symbolic that Python makes a number."""
    found = next(finding for finding in look(source) if finding.rule == "composite-reference")
    assert bool(found.edits) == offered
    if not offered:
        line = source[: source.index("[0]")].count("\n") + 1
        assert found.refusal == "half"
        assert found.reason.startswith(f"what would take its place stops at line {line}: the length of a list")
