"""Torch's structured trace, turned on in a process that has imported torch already."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from . import assumptions


def start(folder: str) -> bool:
    """Write the structured trace of this process to `folder` from here on, with what torch assumes silently.

    As `_init_logs` of torch/_logging/_internal.py does where TORCH_TRACE is set. False, and nothing done, where this
    torch has not its names.
    """
    parts = _parts(folder)
    if parts is None:
        return False
    table, handler, log = parts
    table.clear()  # names of files that went to no trace, or to another
    for earlier in list(log.handlers):
        log.removeHandler(earlier)
    log.setLevel(logging.DEBUG)
    log.isEnabledFor = lambda level: level >= logging.DEBUG  # whatever `logging.disable` says
    log.addHandler(handler)
    assumptions.watch(import_module("torch.fx.experimental.symbolic_shapes"))
    return True


def is_known() -> bool:
    """Whether this torch has the trace that `start` turns on."""
    return _parts("") is not None


def _parts(folder: str) -> tuple[Any, Any, Any] | None:
    """The table of file names, a handler that writes to `folder`, and the log; None where torch has other names."""
    try:
        internal: Any = import_module("torch._logging._internal")
        table: Any = import_module("torch._logging.structured").INTERN_TABLE
        handler = internal.LazyTraceHandler(folder)
        handler.setFormatter(internal.TorchLogsFormatter(trace=True))
        return table, handler, internal.trace_log
    except (ImportError, AttributeError, TypeError):
        return None


@contextmanager
def traced(folder: str) -> Iterator[bool]:
    """As `start`, until the context is left: then the process is traced as it was before."""
    internal: Any = import_module("torch._logging._internal")
    shapes: Any = import_module("torch.fx.experimental.symbolic_shapes")
    table: Any = getattr(import_module("torch._logging.structured"), "INTERN_TABLE", {})
    log: Any = getattr(internal, "trace_log", logging.getLogger("torch.__trace"))
    handlers, level, enabled, names = list(log.handlers), log.level, vars(log).get("isEnabledFor"), dict(table)
    watched = {(kind, name): vars(getattr(shapes, kind)).get(name) for kind, name in assumptions.WATCHED}
    try:
        yield start(folder)
    finally:
        for handler in [handler for handler in log.handlers if handler not in handlers]:
            log.removeHandler(handler)
            handler.close()
        for handler in handlers:
            log.addHandler(handler)
        log.setLevel(level)
        vars(log).pop("isEnabledFor", None)
        if enabled is not None:
            log.isEnabledFor = enabled
        table.clear()
        table.update(names)
        for (kind, name), method in watched.items():
            if method is not None:
                setattr(getattr(shapes, kind), name, method)
