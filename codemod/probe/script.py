"""Running a program with torch's structured trace on; its code, its output and its arguments stay as they are."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from codemod.errors import SymfixError
from codemod.runner import assumptions


@contextmanager
def traced(command: Sequence[str]) -> Iterator[tuple[Path, int]]:
    """Run `command` to its end: (the folder of its traces, its exit status), for as long as the context is open.

    Its standard output goes to stderr, for stdout is the report's. Raises SymfixError where it cannot be started.
    """
    program = shutil.which(command[0])
    if program is None:
        raise SymfixError(f"{command[0]}: there is no such program to run")
    with TemporaryDirectory(prefix="symfix-probe-") as folder:
        traces, hook = Path(folder, "traces"), Path(folder, "hook")
        traces.mkdir()
        hook.mkdir()
        shutil.copyfile(assumptions.__file__, hook / "sitecustomize.py")
        path = os.pathsep.join(filter(None, (str(hook), os.environ.get("PYTHONPATH", ""))))
        environment = {**os.environ, "TORCH_TRACE": str(traces), "PYTHONPATH": path}
        try:
            status = subprocess.run([program, *command[1:]], env=environment, stdout=2, check=False).returncode
        except OSError as error:
            raise SymfixError(f"{command[0]}: cannot be run: {error.strerror}") from error
        yield traces, status
