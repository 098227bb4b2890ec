"""A job of the runner over a torch as it is installed: no overlay, with the limits of a proof."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codemod.borders.files import read_file
from codemod.prove import isolate, nursery
from codemod.prove.isolate import RUNNER, Ended, Limits
from codemod.prove.run_folder import LOCK
from codemod.prove.session import scratch
from codemod.prove.target import Target
from codemod.prove.work import environment

MEMORY = 8 << 30
"""Bytes that its process may have."""


def ask(target: Target, folder: Path, job: Mapping[str, Any], seconds: float) -> tuple[Ended, Any]:
    """How `job` ended in a process over the torch of `target`, and the JSON that it wrote; None where that is none.

    `folder` is its own, of `run_folder`.
    """
    place, out = folder / "job.json", folder / "out.json"
    place.write_text(json.dumps(job), encoding="ascii")
    limits, variables = Limits(seconds, MEMORY), environment(folder, (), target.support)
    server = (target.python, str(RUNNER), "--serve", str(scratch() / "runner"))
    ended = nursery.run(server, place, out, folder, variables, limits)
    if ended is None:
        command = (target.python, str(RUNNER), str(place), str(out))
        ended = isolate.run(command, limits, variables, folder, folder / LOCK)
    try:
        return ended, json.loads(read_file(out))
    except (OSError, ValueError, RecursionError):
        return ended, None
