"""Rendering a template of the user's, or of the checkout's, in a process of its own.

The sandbox of Jinja2 keeps a template from the objects behind its values, not from using all memory or from never
ending (https://jinja.palletsprojects.com/en/stable/sandbox/): a process can be ended.
"""

from __future__ import annotations

import json
import pickle
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codemod.borders.documents import LARGEST_SETTINGS, fit, load_json, read_bounded
from codemod.errors import SymfixError
from codemod.prove.isolate import Limits, run
from codemod.terminal import one_line

_SECONDS, _SECONDS_EACH = 20.0, 0.1
_MEMORY = 1 << 30
LONGEST = 1 << 20
"""Characters of the longest text; GitHub takes 65,536."""
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from codemod.pr.rendering import main; main()"
_ANSWER = ({"texts": [str]}, {"error": str, "line": int})


def render_template(path: Path, values: Sequence[Mapping[str, Any]]) -> list[str]:
    """The text of the template `path` for each of `values`.

    Raises SymfixError, which names the template and the line, where it cannot be read or rendered, takes more than 20
    seconds and a tenth for each text, or makes a text of more than a million characters.
    """
    try:
        source = read_bounded(path, LARGEST_SETTINGS).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", error)
        raise SymfixError(f"{path}: the template cannot be read: {reason}") from error
    seconds = _SECONDS + _SECONDS_EACH * len(values)
    with tempfile.TemporaryDirectory(prefix="symfix-template-") as name:
        job, answer = Path(name, "job"), Path(name, "answer")
        job.write_bytes(pickle.dumps((source, list(values))))
        command = (sys.executable, "-I", "-c", _PROGRAM, json.dumps(sys.path), str(job), str(answer))
        ended = run(command, Limits(seconds, _MEMORY), folder=Path(name))
        if ended.how == "timed out":
            raise SymfixError(f"{path}: not rendered within {seconds:g} seconds; is there a loop without end in it?")
        if ended.code or not answer.is_file():
            cause = ended.signal or one_line(ended.last_line) or f"exit code {ended.code}"
            raise SymfixError(f"{path}: cannot be rendered: {cause}; make the template simpler")
        document = load_json(read_bounded(answer), str(path), "make the template simpler")
    fit(document, _ANSWER, str(path), "make the template simpler")
    if "error" in document:
        raise SymfixError(f"{path}:{document['line']}: {one_line(document['error'])}")
    return list(document["texts"])
