"""What the message of a commit calls the functions that it changes."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from codemod.bundle.message import why
from codemod.model.findings import Mode


@pytest.mark.parametrize(
    ("functions", "who"),
    [
        (("f",), "`f` branches"),
        (("A.f#1",), "`A.f` branches"),
        (("_#2",), "a function that `my::op` registers branches"),
        (("_", "_#1"), "a function that `my::op` registers branches"),
        (("_#1", "f"), "a function that `my::op` registers and `f` branch"),
    ],
)
def test_functions_are_told_by_names_that_an_author_knows(functions: tuple[str, ...], who: str) -> None:
    shard = Mock(functions=functions, about="my::op", modes=(Mode.PYTHON_BRANCH,), kind="operator")
    assert why(shard)[0] == f"{who} on a size that may be a symbol."
