"""Adds to torch's structured trace, in the program that is probed, what torch assumes and which C++ functions ask.

`ShapeEnv._log_suppressed_dde` (torch/fx/experimental/symbolic_shapes.py, since 2.8) only logs a text; draft_export ends
the trace that was there (`CaptureStructuredTrace` of torch/export/_draft_export.py), which is undone. A guard has the
stack of Python alone, which knows nothing of a composite operator of C++ that calls others. symfix lays this
file as `sitecustomize.py` before the program's others, which it then imports; the program's own code is unchanged.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import logging
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from traceback import StackSummary
from types import ModuleType, TracebackType
from typing import Any

_SHAPES = "torch.fx.experimental.symbolic_shapes"
_DRAFT = "torch.export._draft_export"
# A kernel, or what a derivative computes (torch/csrc/autograd/generated/Functions.h).
_NATIVE = re.compile(
    r"\b(?:at::native::(?:\(anonymous namespace\)::)?(\w+)[(<]|torch::autograd::generated::(\w+)::apply)"
)
# The call of an operator, whose kernel may have no name that a library shows.
_OPERATOR = re.compile(r"\bat::_ops::(\w+)::(?:call|redispatch)\b")
# Python between a C++ function that asks and the answer: all other Python asks for itself.
_BETWEEN = re.compile(
    r"/torch/(?:__init__|_compile|_dynamo/eval_frame|_subclasses/fake_tensor|utils/_\w+"
    r"|fx/experimental/(?:symbolic_shapes|sym_node|recording|_\w+))\.py$|/functools\.py$"
)
RECORDING = "symfix_recording"
"""The name under which `recording.py` is laid beside this file, for a program whose results are compared."""
_ANSWERING = ("_log_guard", "_set_replacement")
WATCHED = ("_log_suppressed_dde", *_ANSWERING)
"""The methods of ShapeEnv that are watched."""
ASKERS = "symfix_askers"
"""The artifact that says which C++ functions ask for what the next record of the trace answers; it may name none."""
PASSES_ON = "symfix_passes_on"
"""The function of this file that stands on the stacks of guards, and has no part in them."""
RAISED = "SYMFIX_RAISED"
"""The environment variable that names the folder for the errors that end processes."""


class _Finder(importlib.abc.MetaPathFinder):
    """Lets modules be found as ever, and does to each what `watches` has for it once it is loaded."""

    def __init__(self, watches: dict[str, Callable[[ModuleType], None]]) -> None:
        self._watches = watches

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        look = self._watches.pop(name, None)
        if look is None:
            return None
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            look(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def watch(module: ModuleType) -> None:
    """Let the ShapeEnv of `module` trace its silent assumptions, and who asks in C++, once.

    A torch that has another one is left alone.
    """
    environment = getattr(module, "ShapeEnv", None)
    if environment is not None:
        _name_askers(environment)
    original = getattr(environment, "_log_suppressed_dde", None)
    if environment is None or original is None or getattr(original, "traces", False):
        return

    def log(self: Any, expression: Any, assumed: Any) -> Any:
        _trace_askers()
        _trace(expression, assumed)
        return original(self, expression, assumed)

    log.traces = True  # type: ignore[attr-defined]
    environment._log_suppressed_dde = log


def _name_askers(environment: Any) -> None:
    """Trace the C++ functions that lead to a guard, or to the constant that a size becomes, before it."""
    for name in _ANSWERING:
        original = getattr(environment, name, None)
        if original is not None and not getattr(original, "traces", False):
            setattr(environment, name, _after_askers(original))


def _after_askers(original: Callable[..., Any]) -> Callable[..., Any]:
    def symfix_passes_on(self: Any, *arguments: Any, **named: Any) -> Any:
        if "find" not in arguments[2:]:  # a replacement that is looked up again
            _trace_askers()
        return original(self, *arguments, **named)

    symfix_passes_on.traces = True  # type: ignore[attr-defined]
    return symfix_passes_on


def _trace_askers() -> None:
    try:
        logs: Any = import_module("torch._logging")
        if not import_module("torch._logging._internal").trace_log.handlers:
            return
        os.environ.setdefault("TORCH_SYMBOLIZE_MODE", "dladdr")  # names alone: lines take a hundred times as long
        stack = import_module("torch.utils._traceback").CapturedTraceback.extract(cpp=True).summary()
        functions = askers([(frame.filename, frame.name) for frame in stack])
        document = {"name": ASKERS, "encoding": "string", "functions": functions}
        logs.trace_structured("artifact", metadata_fn=lambda: document)
    except Exception:  # what is probed must not fail by it, and not every platform has such stacks
        return


def askers(stack: Sequence[tuple[str, str]]) -> list[str]:
    """The kernels and derivatives of torch's C++, the caller first, that ask; none where Python asks.

    `stack` has the file and the function of each frame of Python and C++, the innermost last.
    """
    functions: list[str] = []
    for path, name in reversed(stack):
        if path.endswith(".py") and path != __file__ and not _BETWEEN.search(path):
            break
        match = _NATIVE.search(name) or (None if functions else _OPERATOR.search(name))
        function = next(filter(None, match.groups())) if match is not None else ""
        if function and function not in functions[-1:]:
            functions.append(function)
    return functions[::-1]


def keep_tracing(module: ModuleType) -> None:
    """Let draft_export trace besides what traces already, not instead; a torch that has another one is left alone."""
    capture = getattr(module, "CaptureStructuredTrace", None)
    enter = getattr(capture, "__enter__", None)
    if capture is None or enter is None:
        return

    def entered(self: Any) -> Any:
        log = logging.getLogger("torch.__trace")
        handlers = list(log.handlers)
        entered = enter(self)
        for handler in handlers:
            log.addHandler(handler)
        return entered

    capture.__enter__ = entered


def _trace(expression: Any, assumed: Any) -> None:
    try:
        logs: Any = import_module("torch._logging")
        structured: Any = import_module("torch._logging.structured")
        user_stack = import_module("torch._guards").TracingContext.extract_stack()
        stack = import_module("torch.utils._traceback").CapturedTraceback.extract().summary()
        document = {
            "name": "symfix_assumed",
            "encoding": "string",
            "expr": str(expression),
            "result": str(assumed),
            "user_stack": structured.from_traceback(user_stack),
            "stack": structured.from_traceback(_without_own(stack)),
        }
        logs.trace_structured("artifact", metadata_fn=lambda: document)
    except Exception:  # what is probed must not fail by it
        return


_OWN: dict[str, Callable[[ModuleType], None]] = {_SHAPES: watch, _DRAFT: keep_tracing}


def _without_own(stack: StackSummary) -> StackSummary:
    return StackSummary.from_list([frame for frame in stack if frame.filename != __file__])


def _next_customization() -> None:
    """Import the `sitecustomize` that stands behind this one, if there is any."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


def _watches() -> dict[str, Callable[[ModuleType], None]]:
    """What is done to each module, with what stands beside this file where that is laid there too."""
    table = dict(_OWN)
    if importlib.util.find_spec(RECORDING) is not None:
        table.update(import_module(RECORDING).watches())
    return table


def attend() -> None:
    """Do it in this process: now to the modules of torch that are loaded already, else once they are."""
    for name in _OWN.keys() & sys.modules.keys():
        _OWN[name](sys.modules[name])
    sys.meta_path.insert(0, _Finder({name: look for name, look in _OWN.items() if name not in sys.modules}))


def keep_raised(folder: str) -> None:
    """Write the error that ends this process to `folder`: torch.export traces none of its own."""
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        with suppress(Exception):  # the program's own end is not disturbed
            path = os.path.join(folder, f"{os.getpid()}.txt")
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
                traceback.print_exception(kind, error, trace, file=file)
        shown(kind, error, trace)

    sys.excepthook = show


if __name__ == "sitecustomize":
    if RAISED in os.environ:
        keep_raised(os.environ[RAISED])
    sys.meta_path.insert(0, _Finder(_watches()))
    _next_customization()
