"""Writing the runner's JSON files, so that a reader or a killed run never meets half of one. Standard library only."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Replace the file `path` by `document`, through a new file beside it. Raises OSError."""
    staged = path.with_suffix(f".{os.getpid()}.tmp")
    staged.write_text(json.dumps(document), encoding="ascii")
    staged.replace(path)
