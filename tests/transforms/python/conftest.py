"""What the tests of the Python transform share."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from codemod.model.edits import apply_edits
from codemod.model.findings import Finding, Level
from transforms.python.flow.imported import meanings
from transforms.python.jobs import FileJob, Job
from transforms.python.reach.composites import Composite
from transforms.python.reading.extract import extract
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
    imports: str = "import torch",
    **runs: Any,
) -> list[Finding]:
    """The findings in every top-level function of a source, as if symbols reached it.

    `runs` says who else runs it: `eager`, `scripted`, `sympy`; `home` is the file for helpers. With `torch` the file
    has `imports` below the source. `vocabulary` is what that torch has, all where it is empty.
    """
    import ast

    compiled = re.search(r"^@\w+\.compile", source, re.M) is not None
    path = "user/code.py" if compiled else path
    names = [node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    runs = {"sympy": "@register_lowering(" in source, **runs}
    job = Job({}, {}, (), (), inlined=inlined or compiled, **runs)
    jobs = dict.fromkeys(names, job)
    if "aten.composed)" in source and "py_impl" not in source:
        own = ("composed", "_helper")
        jobs["composed"] = replace(job, composite=Composite(("composed.default",), own, own))
    helpers = home_of(HELPERS_PATH, home) if home is not None else None
    below = f"\n{imports}\n" if torch and "from torch import" not in source else ""
    whole = source + (below.replace("\n", "\r\n") if "\r\n" in source else below)
    facts = extract(path, whole.encode())
    meant = meanings(facts.imports, [function.name for function in facts.functions])
    return findings(FileJob(path, path, jobs, vocabulary, style or Style(), helpers, meanings=meant), whole.encode())


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
