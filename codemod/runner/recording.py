"""Writes what compiled functions return, and which line called them, inside the program that `symfix fix` runs.

With `SYMFIX_EAGER` nothing is compiled or exported: the same program then says what is right. Random numbers begin with
the same seed in every run.
"""

from __future__ import annotations

import atexit
import functools
import inspect
import json
import math
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

FOLDER = "SYMFIX_RECORDS"
"""The environment variable that names the folder for records."""
EAGER = "SYMFIX_EAGER"
WATCHED = "SYMFIX_WATCHED"
"""The environment variable with files, as PATH has folders, of which is told whether modules are made of them."""
PROCESSES = "SYMFIX_PROCESSES"
"""The one that names the folder where each process says those, its script, and where its imports look."""
_MOST_CALLS = 500
_MOST_VALUES = 64
"""Elements of a tensor that are kept as they are; of larger ones, sums."""
_DEEPEST = 6

_STARTED = f"{time.time_ns():020}"
_SCRIPT = os.path.abspath(sys.argv[0]) if getattr(sys, "argv", None) else ""
"""The program's script, whose module has no `__file__` any more where the process ends."""
_state = threading.local()
_loaded: set[str] = set()
_written: dict[str, Any] = {}
"""What this process has said of itself."""
_count = 0


def watches() -> dict[str, Callable[[ModuleType], None]]:
    """What is done to each module of torch once it is loaded."""
    eager = EAGER in os.environ
    if PROCESSES in os.environ:
        atexit.register(tell_process)
    table: dict[str, Callable[[ModuleType], None]]
    table = {"torch": _seed, "torch._dynamo.eval_frame": functools.partial(_watch_compiled, eager=eager)}
    return {**table, "torch.export": _watch_export} if eager else table


def tell_process() -> None:
    """Write which of the watched files modules of this process are made of, its script, and where its imports look."""
    watched = set(filter(None, os.environ.get(WATCHED, "").split(os.pathsep)))
    names = {os.path.basename(path) for path in watched}
    try:
        if not watched <= _loaded:
            files = [getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values())]
            for path in (_SCRIPT, *files):
                if isinstance(path, str) and os.path.basename(path) in names:
                    _loaded.update(watched & {os.path.realpath(path)})
        imports = [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str)]
        document = {"files": sorted(_loaded), "script": _SCRIPT, "imports": imports}
        if document != _written:
            with open(os.path.join(os.environ[PROCESSES], str(os.getpid())), "w", encoding="utf-8") as file:
                json.dump(document, file)
            _written.update(document)
    except Exception:  # the program must not fail by it
        return


def _seed(torch: ModuleType) -> None:
    random.seed(0)
    torch.manual_seed(0)


def _watch_compiled(module: ModuleType, eager: bool) -> None:
    """Record every call of what torch.compile makes of a function; with `eager` the function itself is called."""
    context = getattr(module, "OptimizeContext", None)
    if context is None:
        return
    original = context.__call__

    def compiled(self: Any, function: Any) -> Any:
        if getattr(self, "export", False):
            return original(self, function)
        if eager and isinstance(function, (FunctionType, MethodType)):
            return _recorded(function, function)
        made = original(self, function)
        return _recorded(made, function) if isinstance(made, FunctionType) else made

    context.__call__ = compiled


def _watch_export(module: ModuleType) -> None:
    def export(model: Any, *_: Any, **__: Any) -> Any:
        return _NotExported(model)

    for name in ("export", "export_for_training", "draft_export"):
        if hasattr(module, name):
            setattr(module, name, export)


class _NotExported:
    """In the place of an exported program: the module as it is."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def module(self, *_: Any, **__: Any) -> Any:
        """The module that was to be exported."""
        return self._model


def _recorded(made: Callable[..., Any], function: Any) -> Callable[..., Any]:
    code = _code(function)

    @functools.wraps(made)
    def record(*arguments: Any, **named: Any) -> Any:
        if getattr(_state, "inside", False) or _count >= _MOST_CALLS:
            return made(*arguments, **named)
        _state.inside = True
        caller = _caller(sys._getframe(1))
        try:
            result = made(*arguments, **named)
        except BaseException as error:
            _write(code, caller, {"raised": type(error).__name__})
            raise
        finally:
            _state.inside = False
        _write(code, caller, {"returned": _summary(result)})
        return result

    return record


def _code(function: Any) -> CodeType | None:
    """The code that Dynamo compiles for a function; that of `forward` for the call of a module."""
    owner = getattr(function, "__self__", None)
    if owner is not None and hasattr(owner, "forward"):
        function = owner.forward
    code = getattr(inspect.unwrap(function), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _caller(frame: FrameType | None) -> FrameType | None:
    """The nearest frame that is neither torch's own nor of this file."""
    torch = os.path.dirname(sys.modules["torch"].__file__ or "") + os.sep
    while frame is not None and frame.f_code.co_filename.startswith((torch, __file__)):
        frame = frame.f_back
    return frame


def _write(code: CodeType | None, caller: FrameType | None, document: dict[str, Any]) -> None:
    global _count
    _count += 1
    tell_process()
    try:
        if code is not None:
            document["function"] = [code.co_filename, code.co_firstlineno, code.co_name]
        if caller is not None:
            line, last, column, end = caller.f_lineno, None, None, None
            if sys.version_info >= (3, 11):
                _, last, column, end = list(caller.f_code.co_positions())[caller.f_lasti // 2]
            if last is None or column is None or end is None:
                last, column, end = line, -1, -1
            document["caller"] = [caller.f_code.co_filename, line, column, last, end]
        path = os.path.join(os.environ[FOLDER], f"{_STARTED}-{os.getpid()}.jsonl")
        with open(path, "a", encoding="ascii") as file:
            file.write(json.dumps(document) + "\n")
    except Exception:  # the program must not fail by it
        return


def _summary(value: Any, depth: int = 0) -> Any:
    """What is compared of a value: numbers as they are, of large tensors sums that depend on the order."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return repr(value)
    if isinstance(value, (int, float)):
        return {"number": _number(float(value))}
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {"items": [[str(key), _summary(item, depth + 1)] for key, item in value.items()]}
    if depth < _DEEPEST and isinstance(value, (list, tuple)):
        return {"items": [_summary(item, depth + 1) for item in value]}
    torch: Any = import_module("torch")
    return _tensor(torch, value) if isinstance(value, torch.Tensor) else type(value).__name__


def _tensor(torch: Any, tensor: Any) -> Any:
    head = {"dtype": str(tensor.dtype), "shape": list(tensor.shape)}
    try:
        with torch.no_grad():
            plain = tensor.detach().cpu()
            plain = torch.view_as_real(plain.resolve_conj()) if plain.is_complex() else plain
            flat = plain.to_dense().reshape(-1).to(torch.float64)
            if flat.numel() > _MOST_VALUES:
                weights = torch.cos(torch.arange(flat.numel(), dtype=torch.float64))
                flat = torch.stack([flat.sum(), flat.abs().sum(), (flat * weights).sum(), flat.max(), flat.min()])
            return {**head, "values": [_number(item) for item in flat.tolist()]}
    except Exception:
        return head


def _number(value: float) -> Any:
    return value if math.isfinite(value) else repr(value)
