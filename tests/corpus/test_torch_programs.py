"""The parts of the programs that measure a patched torch, on small sources and packages."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from audit_checks import verdict
from audit_eager import called, described, differences
from audit_modules import broken
from corpus_patch import Check, added_checks, added_in, changed_functions, checks_in, without
from corpus_refusals import refusals
from corpus_workers import Workers

BEFORE = """
import torch

def f(x, n):
    torch._check(x.ndim == 2, lambda: "rank")
    torch._check(x.shape == (n,), lambda: "shape")
    if n == 3:
        raise RuntimeError("three")
    if n == 4:
        return x
    return x + 1

def g(x):
    return f(x, 2)

def h(x):
    return x
"""
AFTER = """
import torch

def f(x, n):
    torch._check(x.ndim == 2, lambda: "rank")
    torch._check(sym_eq(x.shape, (n,)), lambda: "shape")
    torch._check(n != 3, lambda: "three")
    if guard_or_false(n == 4):
        return x
    torch._check(
        n != 4,
        lambda: "assumed",
    )
    return x + 1

def g(x):
    return f(x, 2)

def h(x):
    return x
"""


def test_a_check_whose_condition_changed_is_not_added() -> None:
    assert [(check.first, check.last) for check in added_in(BEFORE, AFTER)] == [(7, 7), (10, 13)]
    assert added_in(AFTER, AFTER) == []
    assert [check.first for check in added_in("", AFTER)] == [5, 6, 7, 10]


def test_checks_are_named_by_their_place(tmp_path: Path) -> None:
    for side, source in (("plain", BEFORE), ("patched", AFTER)):
        (tmp_path / side / "torch" / "nn").mkdir(parents=True)
        (tmp_path / side / "torch" / "nn" / "a.py").write_text(source)
        (tmp_path / side / "torch" / "same.py").write_text(AFTER)
    added = added_checks(tmp_path / "plain", tmp_path / "patched")
    assert [check.place for check in added] == ["torch/nn/a.py:7", "torch/nn/a.py:10"]


def test_a_source_without_a_check_keeps_its_lines() -> None:
    check = checks_in(AFTER)[-1]
    left = without(AFTER, [check])
    assert [line for line in left.splitlines() if line not in AFTER.splitlines()] == ["    False and torch._check("]
    assert len(left.splitlines()) == len(AFTER.splitlines())


def test_callers_of_a_changed_function_are_changed() -> None:
    changed, lines = changed_functions(BEFORE, AFTER)
    assert changed == {"f", "g"}
    assert lines == {6, 7, 8, 10, 11, 12, 13}


def setup(announced: str) -> tuple[str, Callable[[str], str]]:
    """Work that hangs, dies or fails for items of these names."""

    def work(item: str) -> str:
        if item == "hang":
            time.sleep(600)
        if item == "die":
            os._exit(3)
        if item == "raise":
            raise ValueError("no")
        return item * 2

    return announced, work


def test_a_process_that_dies_is_replaced() -> None:
    with Workers(None, setup, ("here",), jobs=1) as workers:
        assert workers.announced == "here"
        assert dict(workers.results(["a", "die", "b", "raise", "c"])) == {
            "a": "aa",
            "b": "bb",
            "c": "cc",
            "die": {"outcome": "error", "message": "the process died"},
            "raise": {"outcome": "skip", "message": "ValueError: no"},
        }


def test_a_process_that_hangs_is_ended() -> None:
    with Workers(None, setup, ("",), jobs=2, seconds=0.5) as workers:
        assert dict(workers.results(["hang"])) == {"hang": {"outcome": "timeout"}}


def test_what_passed_and_fails_is_broken() -> None:
    died = {"outcome": "error", "message": "the process died"}
    before: dict[str, dict[str, Any]] = {"nn.A": {"trace": ["", "", "no"], "fx": died}, "nn.B": {"fx": [""]}}
    after: dict[str, dict[str, Any]] = {"nn.A": {"trace": ["", "now", ""], "fx": [""]}, "nn.B": {"fx": died}}
    assert broken(before, after) == [("nn.A", "trace", 1, "now"), ("nn.B", "fx", 0, "the process died")]


def test_a_refusal_is_the_patchs_where_only_its_checks_are_violated() -> None:
    ends = {
        "2 -> 0": {"outcome": "refused", "message": "E", "violated": [["Ne(u0, 0)", "torch/a.py:8"]]},
        "2 -> 1": {"outcome": "refused", "violated": [["Ne(u0, 1)", "torch/a.py:8"], ["Ne(u1, 1)", "torch/a.py:30"]]},
        "2 -> 3": {"outcome": "refused", "violated": [["Ne(u0, 1)", "torch/b.py:8"]]},
        "2 -> 4": {"outcome": "equal"},
        "2 -> 9": {"outcome": "refused", "violated": [["Ne(u0, 9)", "torch/a.py:8"]]},
    }
    before = {"op": {"samples": [{"taken": ["2 -> 0", "2 -> 1", "2 -> 3", "2 -> 4", "2 -> 8"]}]}}
    after = {"op": {"samples": [{"sizes": ends, "eager": {"2 -> 8": "ValueError: no", "2 -> 7": "no"}}]}}
    made = refusals(before, after, ["op"], [Check("torch/a.py", 7, 9, "torch._check(n != 0)")])
    assert [(refusal.sizes, refusal.by_patch) for refusal in made] == [
        ("2 -> 8", True),  # by eager itself
        ("2 -> 0", True),
        ("2 -> 1", False),
        ("2 -> 3", False),
    ]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["needless", "needed"], "needed"),
        (["another error", "needless"], "needless"),
        (["no verdict", "another error"], "another error"),
        ([], "never refuses"),
    ],
)
def test_the_verdict_on_a_check(kinds: list[str], expected: str) -> None:
    assert verdict("torch/a.py:7", {"torch/a.py:7"}, [(kind, "") for kind in kinds]) == expected
    if not kinds:
        assert verdict("torch/a.py:7", set(), []) == "not reached"


class TestWithTorch:
    """What needs tensors, or PyTorch's symbols."""

    @pytest.fixture(autouse=True)
    def torch(self) -> Any:
        return pytest.importorskip("torch", reason="no torch in this environment")

    def test_a_resized_tensor_keeps_its_values_and_the_order_of_its_strides(self, torch: Any) -> None:
        from corpus_sizes import resize

        tensor = torch.arange(6).reshape(2, 3).t()
        larger = resize(tensor, {0: 4, 1: 1})
        assert larger.tolist() == [[0], [1], [2], [0]]
        assert resize(tensor, {1: 4}).stride() == (1, 3)
        assert resize(torch.ones(0, 2), {0: 2}).tolist() == [[0, 0], [0, 0]]
        assert resize(tensor, {0: 0}).shape == (0, 2)

    def test_other_sizes_change_a_size_wherever_it_stands(self, torch: Any) -> None:
        from corpus_sizes import other_sizes, single_sizes

        arguments = ((torch.ones(2, 3), torch.ones(3), 5), {"k": [torch.ones(2)]})
        shapes = {
            label: [tuple(tensor.shape) for tensor in (*args[:2], *kwargs["k"])]
            for label, (args, kwargs) in other_sizes(arguments)
        }
        assert shapes["3 -> 6"] == [(2, 6), (6,), (2,)]
        assert shapes["2 -> 0"] == [(0, 3), (3,), (0,)]
        assert shapes["all plus one"] == [(3, 4), (4,), (3,)]
        assert shapes["all 16"] == [(16, 16), (16,), (16,)]
        assert {"2 -> 1", "2 -> 3", "2 -> 4", "3 -> 0", "3 -> 1", "3 -> 4", "all doubled", "all 0", "all 1"} < {*shapes}
        single = {label: args[0].shape for label, (args, _) in single_sizes(arguments)}
        assert single["input 0, dimension 1: 3 -> 4"] == (2, 4)
        assert single["input 1, dimension 0: 3 -> 0"] == (2, 3)

    def test_a_result_of_left_over_memory_is_not_definite(self, torch: Any) -> None:
        from audit_unbacked import refusal_of
        from corpus_refusals import INDEFINITE
        from corpus_sizes import definite

        assert definite(lambda x: x + torch.rand(3), (torch.ones(3),))  # seeded
        assert not definite(lambda x: x + torch.empty(3), (torch.ones(3),))

        def function(x: Any) -> Any:
            if x.numel() == 1:
                raise ValueError("one")
            return torch.empty(2) if x.numel() == 2 else x

        refusal = refusal_of(function, (torch.ones(3),))
        assert [refusal((torch.ones(size),)) for size in (1, 2, 4)] == ["ValueError: one", INDEFINITE, ""]

    def test_the_assertions_that_sizes_violate(self, torch: Any) -> None:
        import sympy  # type: ignore[import-untyped]
        from corpus_asserts import Trace

        u0, u1, u2 = sympy.symbols("u0 u1 u2", integer=True)
        trace = Trace({u0: "L['args'][0].size()[0]", u1: "L['kwargs']['y'].size()[1]", u2: "L['gone']"})
        trace.asserts = [(sympy.Ne(u0, 0), "a"), (sympy.Eq(u0, u1), "b"), (sympy.Ne(u2, 0), "c"), (u0 > 2, "a")]
        assert trace.violated([(torch.ones(0),), {"y": torch.ones(1, 0)}]) == [("Ne(u0, 0)", "a"), ("u0 > 2", "a")]
        assert trace.violated([(torch.ones(3),), {"y": torch.ones(1, 2)}]) == [("Eq(u0, u1)", "b")]
        assert trace.places() == ["a", "b", "c"]

    def test_recorded_assertions_name_the_line_that_asserts(self, torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        from corpus_asserts import Recorder
        from corpus_sizes import unbacked
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        for method in ("guard_or_defer_runtime_assert", "create_symbol"):
            monkeypatch.setattr(ShapeEnv, method, getattr(ShapeEnv, method))  # which puts it back
        recorder = Recorder()
        torch.compiler.reset()

        def function(args: Any, kwargs: Any) -> Any:
            torch._check(args[0].size(0) != 3)
            return args[0].unfold(0, 2, 1)

        line = function.__code__.co_firstlineno + 1
        arguments: Any = ((torch.ones(5),), {})
        torch.compile(function, backend="eager", fullgraph=True)(*unbacked(arguments)[0])
        assert f"{__file__}:{line}" in recorder.last.places()
        violated = recorder.last.violated(((torch.ones(3),), {}))
        assert [place for _, place in violated] == [f"{__file__}:{line}"]

    def test_a_removed_check_is_not_called(self, torch: Any, tmp_path: Path) -> None:
        from corpus_removal import removed

        path = tmp_path / "torch" / "a.py"
        path.parent.mkdir()
        path.write_text(
            "def outer(n):\n    def inner():\n        _check(n != 4, lambda: f'{n}')\n        return n\n"
            "    _check(n != 3)\n    return inner()\n\n\n"
            "def _check(truth, message=None):\n    if not truth:\n        raise ValueError('no')\n"
        )
        spec = importlib.util.spec_from_file_location("removal_example", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        checks = checks_in(path.read_text(), "torch/a.py")
        assert [check.first for check in checks] == [3, 5]
        for check, size in zip(checks, (4, 3), strict=True):
            with removed(tmp_path, [check]) as changed:
                assert changed == 1
                assert module.outer(size) == size
                with pytest.raises(ValueError, match="no"):
                    module.outer(7 - size)
            with pytest.raises(ValueError, match="no"):
                module.outer(size)


def end(*, steady: bool = True, digest: str = "a", shape: int = 2, launches: int = 1) -> dict[str, Any]:
    given = [[[shape], [1], "torch.float32", "cuda", digest]]
    return {"given": given, "steady": steady, "operators": 1, "launches": launches, "waits": 0}


def test_eager_differs_in_what_is_seen_and_in_values_that_are_steady() -> None:
    assert not differences(end(), end())
    assert differences(end(), end(digest="b")) == ["values"]
    assert not differences(end(steady=False), end(digest="b"))
    assert differences(end(steady=False), end(shape=3, launches=2)) == ["shapes or strides", "launches"]
    assert differences({"error": "a"}, end()) == differences({"error": "a"}, {"error": "b"}) == ["error"]
    assert not differences({"error": "a"}, {"error": "a"})


def test_operators_are_counted_and_values_told_apart() -> None:
    torch = pytest.importorskip("torch")
    op = SimpleNamespace(op=lambda x, times: torch.relu(x) * times)
    one, two = (called(op, SimpleNamespace(input=torch.ones(2, 3), args=(n,), kwargs={}), "cpu") for n in (1, 2))
    assert one["operators"] == two["operators"] >= 2
    assert one["steady"]
    assert differences(one, two) == ["values"]
    assert described(torch.zeros(3, 2).t())[:4] == [[2, 3], [1, 2], "torch.float32", "cpu"]
