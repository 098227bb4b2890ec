"""What the tests of the Python transform share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from codemod.model.edits import apply_edits
from codemod.model.findings import Finding, Level
from transforms.python.reach.composites import Composite
from transforms.python.rewrite import FileJob, Job, findings
from transforms.python.writing.style import Style

Rewrite = Callable[..., str]


def find(
    source: str,
    path: str = "torch/_refs/example.py",
    inlined: bool = False,
    scripted: bool = False,
    style: Style | None = None,
) -> list[Finding]:
    """The findings in every top-level function of a source, as if symbols reached it."""
    import ast

    inlined = inlined or "@torch.compile" in source
    path = "user/code.py" if "@torch.compile" in source else path
    names = [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    job = Job({}, {}, inlined, scripted, (), ())
    jobs = dict.fromkeys(names, job)
    if "aten.composed)" in source and "py_impl" not in source:
        jobs["composed"] = replace(job, composite=Composite(("composed.default",), ("composed", "_helper")))
    return findings(FileJob(path, path, source.encode(), jobs, frozenset(), style or Style()))


def apply(source: str, level: Level = Level.REVIEW, **options: object) -> str:
    """The source after all edits up to a level."""
    found = find(source, **options)  # type: ignore[arg-type]
    return apply_edits(source.encode(), [edit for f in found if f.level <= level for edit in f.edits]).decode()


@pytest.fixture
def rewrite() -> Rewrite:
    return apply


@pytest.fixture
def look() -> Callable[..., list[Finding]]:
    return find
