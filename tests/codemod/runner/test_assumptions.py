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
    monkeypatch.setattr(assumptions, "_trace", lambda *assumed: traced.append(assumed))

    class ShapeEnv:
        def _log_suppressed_dde(self, expression: Any, assumed: Any) -> str:
            return f"{expression} {assumed}"

    module = ModuleType("torch.fx.experimental.symbolic_shapes")
    module.ShapeEnv = ShapeEnv  # type: ignore[attr-defined]
    for _ in range(2):
        assumptions.watch(module)
    assert ShapeEnv()._log_suppressed_dde("u0 == 1", False) == "u0 == 1 False"
    assert traced == [("u0 == 1", False)]


TORCH = "/site-packages/torch"


def test_the_functions_of_c_that_ask_are_named_up_to_the_python_that_called_them() -> None:
    stack = [
        (f"{TORCH}/_dynamo/utils.py", "run_node"),
        (f"{TORCH}/lib/libtorch_cpu.so", "at::_ops::corrcoef::call(at::Tensor const&)"),
        (f"{TORCH}/lib/libtorch_cpu.so", "??"),
        (f"{TORCH}/lib/libtorch_cpu.so", "at::native::corrcoef(at::Tensor const&)"),
        (f"{TORCH}/lib/libtorch_cpu.so", "at::_ops::cov::call(at::Tensor const&, long)"),
        (f"{TORCH}/lib/libtorch_cpu.so", "at::native::(anonymous namespace)::cov<long>(at::Tensor const&, long)"),
        (f"{TORCH}/fx/experimental/sym_node.py", "guard_int"),
        (f"{TORCH}/fx/experimental/symbolic_shapes.py", "_log_guard"),
        (f"{TORCH}/lib/libtorch_cpu.so", "torch::CapturedTraceback::gather(bool, bool, bool)"),
    ]
    assert assumptions.askers(stack) == ["corrcoef", "cov"]
    hidden = [(path, "??" if "at::native" in name else name) for path, name in stack]
    assert assumptions.askers(hidden) == ["cov"]
    derivative = (f"{TORCH}/lib/libtorch_cpu.so", "torch::autograd::generated::CumprodBackward0::apply(int)")
    assert assumptions.askers([derivative, *stack[-3:]]) == ["CumprodBackward0"]
    python = (f"{TORCH}/_refs/__init__.py", "native_layer_norm")
    assert assumptions.askers([*stack[:-3], python, *stack[-3:]]) == []


def test_a_guard_is_answered_as_ever_and_the_askers_are_traced_once_before(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    monkeypatch.setattr(assumptions, "_trace_askers", lambda: done.append("askers"))

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
