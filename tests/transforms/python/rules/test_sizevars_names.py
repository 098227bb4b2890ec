"""What is there for an older torch keeps the names of that torch."""

from __future__ import annotations

from typing import Any

import pytest

NEW = "V.graph.sizevars.guard_int(n)"
OLD = "V.graph.sizevars.evaluate_static_shape(n)"


@pytest.mark.parametrize(
    "body",
    [
        f"    try:\n        return {OLD}\n    except AttributeError:\n        return V.graph.sizevars.guard_int(n)\n",
        f"    if hasattr(V.graph.sizevars, 'guard_int'):\n        return n\n    return {OLD} if VERSION < 2 else n\n",
        f"    if hasattr(V.graph.sizevars, 'guard_int'):\n        return {NEW}\n    return {OLD}\n",
        f"    try:\n        return V.graph.sizevars.guard_int(n)\n    except AttributeError:\n        return {OLD}\n",
        f"    return V.graph.sizevars.guard_int(n) if NEW else {OLD}\n",
        f"    if torch.__version__ < '2.9':\n        return {OLD}\n    return n\n",
    ],
)
def test_what_serves_two_versions_is_left(look: Any, body: str) -> None:
    found = look(f"def f(n):\n{body}")
    assert [(finding.refusal, finding.edits) for finding in found] == [("older-torch", ())]


def test_what_is_called_beside_its_successor_is_renamed(look: Any) -> None:
    found = look(f"def f(n):\n    if n > 2:\n        return {OLD}\n    return V.graph.sizevars.guard_int(n)\n")
    assert [finding for finding in found if finding.edits]
