"""Preparing the interpreter for a job: torch imported and configured, libraries loaded."""

from __future__ import annotations

import logging
import warnings
from typing import Any

DYNAMO: dict[str, Any] = {"verbose": True, "capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}
"""Settings of `torch._dynamo.config`; the first keeps the traceback below the compiler."""


def prepare(job: dict[str, Any]) -> str:
    """Import torch and load what the job names; returns why a module of it cannot be imported, "" where all can.

    Raises OSError where a library cannot be loaded.
    """
    import torch
    import torch._dynamo
    import torch._logging

    from . import backends, imports, libraries

    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    for name, value in DYNAMO.items():
        setattr(torch._dynamo.config, name, value)
    backends.choose(job.get("backend", backends.DEFAULT))
    for library in job.get("libraries") or ():
        libraries.load(library)
    return imports.import_all(job.get("imports") or (), job.get("stand_ins") or ())
