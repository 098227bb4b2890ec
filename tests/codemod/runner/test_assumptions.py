"""What is done to torch's modules in a program that is probed: draft_export traces besides, not instead."""

from __future__ import annotations

import logging
import sys
from types import ModuleType
from typing import Any

import pytest

from codemod.runner import assumptions

NAME = "torch.export._draft_export"


class Capture(logging.NullHandler):
    """As torch's: while it is entered, no handler but itself."""

    def __enter__(self) -> Capture:
        log = logging.getLogger("torch.__trace")
        log.handlers[:] = [self]
        return self

    def __exit__(self, *_: Any) -> None:
        logging.getLogger("torch.__trace").removeHandler(self)


def test_draft_export_leaves_the_trace_that_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType(NAME)
    entered = type("CaptureStructuredTrace", (Capture,), {})
    module.CaptureStructuredTrace = entered  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, NAME, module)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    earlier = logging.NullHandler()
    monkeypatch.setattr(logging.getLogger("torch.__trace"), "handlers", [earlier])
    assumptions.attend()
    with entered() as capture:
        assert logging.getLogger("torch.__trace").handlers == [capture, earlier]
    assert logging.getLogger("torch.__trace").handlers == [earlier]


def test_another_torch_is_left_alone() -> None:
    module = ModuleType(NAME)
    assumptions.keep_tracing(module)
    assert not hasattr(module, "CaptureStructuredTrace")


def test_an_assumption_is_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[tuple[Any, Any]] = []
    monkeypatch.setattr(assumptions, "_trace", lambda name, fields, **_: traced.append((name, fields)))

    class ShapeEnv:
        def _log_suppressed_dde(self, expression: Any, assumed: Any) -> str:
            return f"{expression} {assumed}"

    module = ModuleType("torch.fx.experimental.symbolic_shapes")
    module.ShapeEnv = ShapeEnv  # type: ignore[attr-defined]
    for _ in range(2):
        assumptions.watch(module)
    assert ShapeEnv()._log_suppressed_dde("u0 == 1", False) == "u0 == 1 False"
    assumed = [fields for name, fields in traced if name == assumptions.ASSUMED]
    assert assumed == [{"expr": "u0 == 1", "result": "False"}]


def test_a_guard_is_answered_as_ever_and_the_askers_are_traced_once_before(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    monkeypatch.setattr(assumptions, "_trace_askers", lambda *_: done.append("askers"))

    class ShapeEnv:
        def _log_guard(self, prefix: str, guard: str, forcing_spec: bool) -> None:
            done.append((prefix, guard, forcing_spec))

        def _set_replacement(self, symbol: str, target: str, reason: str) -> None:
            done.append((symbol, target, reason))

    module = ModuleType("torch.fx.experimental.symbolic_shapes")
    module.ShapeEnv = ShapeEnv  # type: ignore[attr-defined]
    for _ in range(2):
        assumptions.watch(module)
    ShapeEnv()._log_guard("eval", "s0 > 5", forcing_spec=False)
    ShapeEnv()._set_replacement("s0", "s1", "find")
    ShapeEnv()._set_replacement("s0", "3", "trivial_lhs")
    assert done == ["askers", ("eval", "s0 > 5", False), ("s0", "s1", "find"), "askers", ("s0", "3", "trivial_lhs")]


def test_an_error_knows_what_asked_and_its_text_is_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    traced: list[tuple[str, Any]] = []
    asked = {"functions": ["cov"], "argument": ""}
    monkeypatch.setattr(assumptions, "_trace", lambda name, fields, **_: traced.append((name, fields)))
    monkeypatch.setattr(assumptions, "_asked", lambda *_: asked)

    class GuardOnDataDependentSymNode(RuntimeError):
        def __init__(self, condition: str, *arguments: Any) -> None:
            super().__init__(*arguments)
            self.condition = condition

    module = ModuleType("torch.fx.experimental.symbolic_shapes")
    module.GuardOnDataDependentSymNode = GuardOnDataDependentSymNode  # type: ignore[attr-defined]
    assumptions.watch(module)
    error = GuardOnDataDependentSymNode("u0 > 1", "Could not guard")
    assert (str(error), error.condition, vars(error)[assumptions.ASKED]) == ("Could not guard", "u0 > 1", asked)
    assert traced == [(assumptions.UNKNOWN, {"expr": "u0 > 1", **asked})]


def test_unknown_sizes_are_named_after_their_arguments_until_others_have_their_symbols(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    traced: list[Any] = []
    monkeypatch.setattr(assumptions, "SOURCES", {})
    monkeypatch.setattr(assumptions, "_trace", lambda name, fields, **_: traced.append(fields))

    class ShapeEnv:
        def _log_create_unbacked_symbol(self, prefix: str, symbol: str, values: str, source: Any = None) -> str:
            return symbol

    class Source:
        name = "L['x'].size()[0]"

    class Earlier:
        def name(self) -> str:
            return "L['y'].size()[0]"

    def mark_unbacked(t: Any, index: int, shape_id: str | None = None) -> None:
        kept = index
        del kept

    decorators = ModuleType("torch._dynamo.decorators")
    decorators.mark_unbacked = mark_unbacked  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch._dynamo.decorators", decorators)
    module = ModuleType("torch.fx.experimental.symbolic_shapes")
    module.ShapeEnv = ShapeEnv  # type: ignore[attr-defined]
    assumptions.watch(module)
    environment = ShapeEnv()
    assert environment._log_create_unbacked_symbol("create", "u0", "[0, 9]", Source()) == "u0"
    environment._log_create_unbacked_symbol("create", "u1", "[0, 9]", source=Earlier())
    assert assumptions.SOURCES == {"u0": "L['x'].size()[0]", "u1": "L['y'].size()[0]"}
    for _ in range(2):
        environment._log_create_unbacked_symbol("create", "u0", "[0, 9]")
    assert assumptions.SOURCES == {"u1": "L['y'].size()[0]"}

    def create_symbol(val: int) -> None:
        environment._log_create_unbacked_symbol("create", "u2", "[0, 9]", Source())
        assert traced.pop()["size"] == val

    create_symbol(7)
    monkeypatch.delitem(sys.modules, "torch._dynamo.decorators")
    environment._log_create_unbacked_symbol("create", "u1", "[0, 9]")
    assert traced[2:] == [
        {"symbol": "u0", "source": "", "size": None, "takes": ["t", "index", "shape_id"]},
        {"symbol": "u1", "source": "", "size": None, "takes": []},
    ]


def test_what_a_torch_without_a_method_cannot_tell_is_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[Any] = []
    logs = ModuleType("torch._logging")
    logs.trace_structured = lambda _, metadata_fn: logged.append(metadata_fn())  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch._logging", logs)
    monkeypatch.setattr(assumptions, "_MISSING", [])
    module = ModuleType("torch.fx.experimental.symbolic_shapes")
    module.ShapeEnv = type("ShapeEnv", (), {})  # type: ignore[attr-defined]
    for name in ("_log_guard", "_set_replacement", "_log_create_unbacked_symbol"):
        setattr(module.ShapeEnv, name, lambda *_: None)
    assumptions.watch(module)
    for number in range(2):
        assumptions._trace("said", {"number": number}, stacks=False)
    assert [document["name"] for document in logged] == [assumptions.CANNOT, "said", "said"]
    assert [sentence.split()[0] for sentence in logged[0]["sentences"]] == ["it", "errors"]
    assert logged[0]["sentences"] == assumptions.missing(module)
