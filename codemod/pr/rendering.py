"""The program of the process that `codemod.pr.template` starts: renders one template."""

from __future__ import annotations

import json
import pickle
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import TemplateError

from codemod.pr.template import LONGEST
from codemod.pr.text import environment


def _line(error: BaseException) -> int:
    """The line of the template that `error` is about, 1 where none is known."""
    frames = traceback.extract_tb(error.__traceback__)
    ran = [frame.lineno for frame in frames if frame.filename == "<template>" and frame.lineno]
    return getattr(error, "lineno", None) or (ran[-1] if ran else 1)


def main() -> None:
    """Render the job of the file that the first argument names into that of the second. The process is this job's."""
    job, answer = map(Path, sys.argv[1:])
    source, values = pickle.loads(job.read_bytes())
    answer.write_text(json.dumps(_rendered(source, values)), encoding="ascii")


def _rendered(source: str, values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    try:
        template = environment().from_string(source)
        texts = []
        for variables in values:
            parts, length = [], 0
            for part in template.generate(**variables):
                parts.append(part)
                length += len(part)
                if length > LONGEST:
                    return {"error": f"makes a text of more than {LONGEST:,} characters", "line": 1}
            texts.append("".join(parts))
        return {"texts": texts}
    except Exception as error:  # a template raises whatever it likes
        message = str(getattr(error, "message", None) or error)
        reason = message if isinstance(error, TemplateError) else f"{type(error).__name__}: {message}"
        return {"error": reason or type(error).__name__, "line": _line(error)}
