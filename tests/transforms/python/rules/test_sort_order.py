"""A list that is in order is not sorted, and gives the same list whatever is sorted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.transforms.python.eager_torch import Sized, run_function

HEAD = "def f(x: Tensor, dims, falls=False):\n"


@pytest.mark.parametrize(
    "body",
    [
        "dims = reversed(range(x.dim()))\n    order = sorted(dims, key=lambda d: x.size(d), reverse=True)",
        "dims = (d for d in dims)\n    order = sorted(dims, key=lambda d: x.size(d))",
        "order = sorted(dims, key=lambda d: x.size(d) if d > 0 else 0)",
        "order = sorted(dims, key=lambda size: -x.size(size))",
        "order = sorted(dims, key=lambda left: x.size(left) % 3)",
        "dims = tuple(dims)\n    dims = sorted(dims, key=lambda d: x.size(dim=d))\n    order = dims",
        "order = list(dims)\n    order.sort(key=lambda d: (x.size(d) if d else 9), reverse=True)",
        "old = order = dims\n    order = sorted(order, key=lambda d: x.size(d))\n    order.append(len(old))",
    ],
)
def test_it_gives_the_same_list(rewrite: Any, body: str) -> None:
    source = f"{HEAD}    {body}\n    return order\n"
    written = rewrite(source)
    assert "guard_or_true(" in written
    for sizes in ((2, 3, 4), (4, 3, 2), (3, 4, 2), (2, 2, 2)):
        before, after = (run_function(text)(Sized(*sizes), [0, 1, 2]) for text in (source, written))
        assert before == after
        assert type(after) is list


@pytest.mark.parametrize(
    "body", ["order = sorted(dims, key=lambda d: x.size(d))", "dims.sort(key=lambda d: x.size(d))"]
)
def test_the_key_of_a_single_element_is_asked_for(rewrite: Any, body: str) -> None:
    source = f"{HEAD}    {body}\n    return dims\n"
    written = rewrite(source)
    assert "guard_or_true(" in written
    for text in (source, written):
        with pytest.raises(IndexError):
            run_function(text)(Sized(3), [5])
        assert run_function(text)(Sized(3), []) == []


@pytest.mark.parametrize(
    "body",
    [
        "order = perm = sorted(dims, key=lambda d: x.size(d))",
        "order = sorted(dims, key=lambda d: x.size(d), reverse=falls)",
        "order = sorted(dims, key=lambda d: x.size(dims.pop()))",
        "order = sorted(dims, key=lambda d: x.size(d) + next(count))",
        "order = sorted(dims, key=lambda d, by=x.size(): by[d])",
        "order = sorted(dims, key=lambda d: x.size(order[d]))",
        "order = dims.sort(key=lambda d: x.size(d))",
        "sorted(dims, key=lambda d: x.size(d))",
        "order = sorted(dims, key=lambda d: x.size(d) * 0.5)",
    ],
)
def test_other_sorting_is_left(look: Any, body: str) -> None:
    found = look(f"{HEAD}    {body}\n    return order\n")
    assert not any(finding.edits for finding in found)
