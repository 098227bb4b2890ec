"""The topic under which release notes list a change, in a tree that names its topics as PyTorch does."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from codemod.borders.files import read_below
from codemod.bundle.observed import Cure, main_cure
from codemod.prove.evidence import Evidence

_LISTED = "scripts/release_notes/common.py"
"""Where PyTorch lists them, as `topics`; a pull request has its own as a label, `topic: bug fixes`."""
_LARGEST = 1 << 18
_FIXES, _IMPROVEMENTS = "bug fixes", "improvements"
_TOPICS: Mapping[Cure, str] = {
    "throws": _FIXES, "wrong": _FIXES, "unbacked": _FIXES, "tests": _FIXES,
    "compilations": _IMPROVEMENTS, "guards": _IMPROVEMENTS,
}  # fmt: skip


def listed_topics(root: Path) -> frozenset[str]:
    """The topics that the tree at `root` lists; none where it lists none that can be read. Nothing of it is run."""
    with suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        for statement in ast.parse(read_below(root, _LISTED, _LARGEST)).body:
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "topics":
                value = ast.literal_eval(statement.value)
                listed = value if isinstance(value, list | tuple) else ()
                return frozenset(topic for topic in listed if isinstance(topic, str))
    return frozenset()


def label(evidence: Iterable[Evidence], topics: Collection[str]) -> str:
    """The label that says under which of `topics` a change belongs, by the cure that says most; "" for none."""
    topic = _TOPICS.get(main_cure(evidence), "")
    return f"topic: {topic}" if topic in topics else ""
