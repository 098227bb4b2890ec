"""Torch's structured trace, turned on in a process that has imported torch already."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Any

from . import assumptions


def start(folder: str) -> bool:
    """Write the structured trace of this process to `folder` from here on, with what torch assumes silently.

    As `_init_logs` of torch/_logging/_internal.py does where TORCH_TRACE is set. False, and nothing done, where this
    torch has not its names.
    """
    try:
        internal: Any = import_module("torch._logging._internal")
        table: Any = import_module("torch._logging.structured").INTERN_TABLE
        handler = internal.LazyTraceHandler(folder)
        handler.setFormatter(internal.TorchLogsFormatter(trace=True))
        log = internal.trace_log
    except (ImportError, AttributeError, TypeError):
        return False
    table.clear()  # names of files that went to no trace, or to another
    for earlier in list(log.handlers):
        log.removeHandler(earlier)
    log.setLevel(logging.DEBUG)
    log.isEnabledFor = lambda level: level >= logging.DEBUG  # whatever `logging.disable` says
    log.addHandler(handler)
    assumptions.watch(import_module("torch.fx.experimental.symbolic_shapes"))
    return True
