"""What the tests of the Python transform share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from codemod.model.edits import apply_edits
from codemod.model.findings import Finding, Level
from transforms.python.jobs import FileJob, Job
from transforms.python.reach.composites import Composite
from transforms.python.rewrite import findings
from transforms.python.writing.helpers import home_of
from transforms.python.writing.style import Style

Rewrite = Callable[..., str]


HELPERS_PATH = "torch/_prims_common/__init__.py"


def find(
    source: str,
    path: str = "torch/_refs/example.py",
    inlined: bool = False,
    style: Style | None = None,
    home: bytes | None = b"import torch\n",
    torch: bool = True,
    vocabulary: frozenset[str] = frozenset(),
    **runs: Any,
) -> list[Finding]:
    """The findings in every top-level function of a source, as if symbols reached it.

    `runs` says who else runs it: `eager`, `scripted`, `sympy`; `home` is the file for helpers. With `torch` the file
    imports torch below the source. `vocabulary` is what that torch has, all where it is empty.
    """
    import ast

    inlined = inlined or "@torch.compile" in source
    path = "user/code.py" if "@torch.compile" in source else path
    names = [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    job = Job({}, {}, (), (), inlined=inlined, **runs)
    jobs = dict.fromkeys(names, job)
    if "aten.composed)" in source and "py_impl" not in source:
        own = ("composed", "_helper")
        jobs["composed"] = replace(job, composite=Composite(("composed.default",), own, own))
    helpers = home_of(HELPERS_PATH, home) if home is not None else None
    below = "\nimport torch\n" if torch and "from torch import" not in source else ""
    whole = source + (below.replace("\n", "\r\n") if "\r\n" in source else below)
    return findings(FileJob(path, path, whole.encode(), jobs, vocabulary, style or Style(), helpers))


def apply(source: str, level: Level = Level.REVIEW, **options: object) -> str:
    """The source after all edits up to a level."""
    found = find(source, **options)  # type: ignore[arg-type]
    edits = [edit for f in found if f.level <= level for edit in f.edits if edit.path == f.path]
    return apply_edits(source.encode(), edits).decode()


@pytest.fixture
def rewrite() -> Rewrite:
    return apply


@pytest.fixture
def look() -> Callable[..., list[Finding]]:
    return find
