"""Adds to torch's structured trace, in the program that is probed, what torch assumes and what of C++ asks.

`ShapeEnv._log_suppressed_dde` (torch/fx/experimental/symbolic_shapes.py, since 2.8) only logs a text; draft_export ends
the trace that was there (`CaptureStructuredTrace` of torch/export/_draft_export.py), which is undone. A guard has the
stack of Python alone, which knows nothing of a composite operator of C++ that calls others; an error about unknown
sizes has none. symfix lays this file as `sitecustomize.py` before the program's others, which it then imports, and
`asking.py` beside it; the program's own code is unchanged.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import logging
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from traceback import StackSummary
from types import FrameType, ModuleType, TracebackType
from typing import Any

_SHAPES = "torch.fx.experimental.symbolic_shapes"
_DRAFT = "torch.export._draft_export"
RECORDING = "symfix_recording"
"""The name under which `recording.py` is laid beside this file, for a program whose results are compared."""
ASKING = "symfix_asking"
"""The name under which `asking.py` is."""
_ASSUMING = ("ShapeEnv", "_log_suppressed_dde")
_ANSWERING = (("ShapeEnv", "_log_guard"), ("ShapeEnv", "_set_replacement"))
_REFUSING = ("GuardOnDataDependentSymNode", "__init__")
_NAMING = ("ShapeEnv", "_log_create_unbacked_symbol")
WATCHED = (_ASSUMING, *_ANSWERING, _REFUSING, _NAMING)
"""The methods that are watched, with the class of torch.fx.experimental.symbolic_shapes that has each."""
_UNSAID = {
    _ASSUMING: "it does not say what it assumes for unknown sizes without a check (2.8 and later do)",
    _ANSWERING[0]: "guards are named for no function of C++",
    _REFUSING: "errors about unknown sizes are named for no function of C++",
    _NAMING: "unknown sizes are not named after their arguments",
}
"""What a torch without a method cannot tell."""
ASKERS = "symfix_askers"
"""The artifact that says what of C++ asks for what the next record of the trace answers; it may name nothing."""
ASSUMED = "symfix_assumed"
"""The artifact that says what is assumed."""
UNKNOWN = "symfix_unknown"
"""The artifact that says where the error arose about an expression whose value is unknown."""
ASKED = "symfix_asked"
"""The attribute with the same that such an error has."""
NAMED = "symfix_named"
"""The artifact that says which argument an unknown size is of, "" for none; torch traces that of other sizes alone.

Beside it stand the size in this run, None where it is not seen, and what mark_unbacked takes in this torch.
"""
CANNOT = "symfix_cannot"
"""The artifact that says what this torch cannot tell."""
_MISSING: list[str] = []
"""The same, until it is traced."""
SOURCES: dict[str, str] = {}
"""The same of this process: the source of each symbol that was made last under its name."""
PASSES_ON = "symfix_passes_on"
"""The function of this file that stands on the stacks of guards, and has no part in them."""
RAISED = "SYMFIX_RAISED"
"""The environment variable that names the folder for the errors that end processes."""
ATTENDED = "SYMFIX_ATTENDED"
"""The environment variable that names the folder in which each process that this file is in leaves its number."""
SAID = "Asked by C++: "
"""What the line begins with that says it in the text of an error that ended a process: functions; argument."""
_asking: Any = import_module(f"{__package__}.asking" if __package__ else ASKING)


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
    """Let `module` trace silent assumptions, errors, and what asks in C++ before guards and constants, once.

    A torch that has other classes or methods is left alone.
    """
    _MISSING.extend(missing(module))
    for kind, name in WATCHED:
        owner = getattr(module, kind, None)
        original = getattr(owner, name, None)
        if owner is not None and original is not None and not getattr(original, "traces", False):
            wrap = _WRAPPERS[kind, name]
            watched = wrap(original)
            watched.traces = True  # type: ignore[attr-defined]
            setattr(owner, name, watched)


def missing(module: ModuleType) -> list[str]:
    """What a torch whose torch.fx.experimental.symbolic_shapes is `module` cannot tell, a sentence each."""
    has = {(kind, name) for kind, name in WATCHED if hasattr(module, kind) and hasattr(getattr(module, kind), name)}
    return [said for method, said in _UNSAID.items() if method not in has]


def _assuming(original: Callable[..., Any]) -> Callable[..., Any]:
    def symfix_passes_on(self: Any, expression: Any, assumed: Any) -> Any:
        _trace_askers(expression)
        _trace(ASSUMED, {"expr": str(expression), "result": str(assumed)})
        return original(self, expression, assumed)

    return symfix_passes_on


def _answering(original: Callable[..., Any]) -> Callable[..., Any]:
    def symfix_passes_on(self: Any, *arguments: Any, **named: Any) -> Any:
        if "find" not in arguments[2:]:  # a replacement that is looked up again
            _trace_askers(*arguments[:2])
        return original(self, *arguments, **named)

    return symfix_passes_on


def _refusing(original: Callable[..., Any]) -> Callable[..., Any]:
    """As the error is made: its text, which has the line that asked, is there by then."""

    def symfix_passes_on(self: Any, expression: Any, *arguments: Any) -> None:
        original(self, expression, *arguments)
        with suppress(Exception):  # what is probed must not fail by it
            asked = _asked(expression)
            setattr(self, ASKED, asked)
            _trace(UNKNOWN, {"expr": str(expression), **asked})

    return symfix_passes_on


def _naming(original: Callable[..., Any]) -> Callable[..., Any]:
    def symfix_passes_on(self: Any, prefix: Any, symbol: Any, *arguments: Any, **named: Any) -> Any:
        with suppress(Exception):  # what is probed must not fail by it
            earlier = SOURCES.pop(str(symbol), "")
            source = named.get("source", arguments[1] if len(arguments) > 1 else None)
            if source is not None:
                SOURCES[str(symbol)] = str(source.name() if callable(source.name) else source.name)
            if source is not None or earlier:
                named_after = {"symbol": str(symbol), "source": SOURCES.get(str(symbol), "")}
                _trace(NAMED, {**named_after, "size": _size(), "takes": _parameters_of_marks()}, stacks=False)
        return original(self, prefix, symbol, *arguments, **named)

    return symfix_passes_on


def _size() -> int | None:
    """The size that ShapeEnv.create_symbol, which calls, is given for a symbol; None for one that no input has."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "create_symbol":
        frame = frame.f_back
    size = frame.f_locals.get("val") if frame is not None else None
    return size if type(size) is int else None


def _parameters_of_marks() -> list[str]:
    mark = getattr(sys.modules.get("torch._dynamo.decorators"), "mark_unbacked", None)
    code = getattr(mark, "__code__", None)
    return list(code.co_varnames[: code.co_argcount]) if code is not None else []


_WRAPPERS = {
    _ASSUMING: _assuming, **dict.fromkeys(_ANSWERING, _answering), _REFUSING: _refusing, _NAMING: _naming,
}  # fmt: skip


def _trace_askers(*expressions: Any) -> None:
    with suppress(Exception):  # what is probed must not fail by it, and not every platform has such stacks
        if import_module("torch._logging._internal").trace_log.handlers:
            _trace(ASKERS, _asked(*expressions), stacks=False)


def _asked(*expressions: Any) -> dict[str, Any]:
    """What of C++ asks about the symbols of `expressions`: its functions, else an argument that is a plain number."""
    os.environ.setdefault("TORCH_SYMBOLIZE_MODE", "dladdr")  # names alone: lines take a hundred times as long
    stack = import_module("torch.utils._traceback").CapturedTraceback.extract(cpp=True).summary()
    functions = _asking.askers([(frame.filename, frame.name) for frame in stack], (__file__,))
    symbols = {symbol for each in expressions for symbol in getattr(each, "free_symbols", ())}
    return {"functions": functions, "argument": "" if functions else _asking.argument(symbols, (__file__,))}


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


def _trace(name: str, fields: dict[str, Any], stacks: bool = True) -> None:
    """Trace an artifact, with the stacks at this moment."""
    with suppress(Exception):  # what is probed must not fail by it
        if _MISSING:
            sentences = _MISSING[:]
            _MISSING.clear()
            _trace(CANNOT, {"sentences": sentences}, stacks=False)
        document = {"name": name, "encoding": "string", **fields}
        if stacks:
            structured: Any = import_module("torch._logging.structured")
            user_stack = import_module("torch._guards").TracingContext.extract_stack()
            stack = import_module("torch.utils._traceback").CapturedTraceback.extract().summary()
            document["user_stack"] = structured.from_traceback(user_stack)
            document["stack"] = structured.from_traceback(_without_own(stack))
        import_module("torch._logging").trace_structured("artifact", metadata_fn=lambda: document)


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


def leave_number(folder: str) -> None:
    """Leave this process's number in `folder`, and those of its forks: a process that has none there is not attended.

    What a program does to its environment may keep this file out of it (PYTHONPATH, python -I).
    """

    def leave() -> None:
        with suppress(OSError):  # what is probed must not fail by it
            open(os.path.join(folder, str(os.getpid())), "w").close()

    leave()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=leave)


def keep_raised(folder: str) -> None:
    """Write the error that ends this process to `folder`: torch.export traces none of its own."""
    shown = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        with suppress(Exception):  # the program's own end is not disturbed
            path = os.path.join(folder, f"{os.getpid()}.txt")
            with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
                traceback.print_exception(kind, error, trace, file=file)
                file.write(_said(error))
        shown(kind, error, trace)

    sys.excepthook = show


def _said(error: BaseException) -> str:
    """The line that says what of C++ asked, of the first error that caused this one; "" where none knows it."""
    last: dict[str, Any] = {}
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        last = getattr(each, ASKED, last)
        each = each.__cause__ or each.__context__
    return f"{SAID}{' → '.join(last['functions'])}; {last['argument']}\n" if last else ""


if __name__ == "sitecustomize":
    if RAISED in os.environ:
        keep_raised(os.environ[RAISED])
    sys.meta_path.insert(0, _Finder(_watches()))
    if ATTENDED in os.environ:
        leave_number(os.environ[ATTENDED])
    _next_customization()
