"""What audit_dynamic.py says of two runs, and what it sees of one call, before any of torch is patched."""

from __future__ import annotations

from typing import Any

import pytest
from audit_dynamic import EQUAL, Audit, differences


def _run(*samples: tuple[int, dict[str, str]]) -> list[dict[str, Any]]:
    return [{"graphs": graphs, "ends": ends} for graphs, ends in samples]


def test_calls_that_pass_on_one_side_only_and_graphs_where_all_calls_end_alike() -> None:
    equal, error = {"sample": EQUAL}, {"sample": "RuntimeError: no"}
    before = {
        "a": _run((2, equal), (1, equal)),
        "b": _run((1, equal)),
        "c": _run((1, error)),
        "d": _run((1, equal)),
        "e": {"outcome": "timeout"},
        "f": _run((1, {"sample": EQUAL, "3 -> 4": EQUAL})),
    }
    after = {
        "a": _run((1, equal), (3, equal)),
        "b": _run((2, error)),
        "c": _run((2, equal)),
        "d": {"outcome": "timeout"},
        "e": _run((1, equal)),
        "f": _run((1, {"sample": EQUAL, "3 -> 4": "other values than eager's"})),
    }
    found = [(kind, place) for kind, place, _, _ in differences(before, after)]
    assert found == [
        ("fewer graphs", "a [0]"),
        ("more graphs", "a [1]"),
        ("broken", "b [0] sample"),
        ("cured", "c [0] sample"),
        ("broken", "d"),
        ("cured", "e"),
        ("broken", "f [0] 3 -> 4"),
    ]
    assert list(differences(before, before)) == []


@pytest.mark.filterwarnings("ignore::FutureWarning")  # torch's own
@pytest.mark.parametrize("gradients", [False, True])
def test_one_graph_serves_what_asks_for_no_size_and_another_is_counted_where_a_size_is_asked(gradients: bool) -> None:
    torch = pytest.importorskip("torch")

    def serves(args: Any, kwargs: Any) -> Any:
        return args[0] * 2

    def asks(args: Any, kwargs: Any) -> Any:
        return args[0] * (3 if args[0].size(0) < 5 else 2)

    rows = torch.arange(12.0).reshape(3, 4).requires_grad_(gradients)
    audit = Audit(1, "aot_eager", gradients)
    one, two = (audit.sample(function, ((rows,), {})) for function in (serves, asks))
    assert set(one["ends"].values()) == set(two["ends"].values()) == {EQUAL}
    assert one["ends"].keys() >= {"sample", "3 -> 4", "all 16"}
    assert (one["graphs"], two["graphs"]) == (1, 2)
    exported = Audit(1, "export", False).sample(asks, ((rows.detach(),), {}))
    assert exported["ends"]["sample"] == EQUAL
    assert "size" in exported["ends"]["all 16"]
