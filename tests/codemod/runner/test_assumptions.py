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
