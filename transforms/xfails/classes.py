"""Test classes: which one a regression test fits into, and the edits that put it there.

A class fits where its methods already compile with `dynamic=True` and count the frames, as UnspecTests of
test/dynamo/test_unspec.py does; else where its file is about the operator.
"""

from __future__ import annotations

import ast
import re
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codemod.model.edits import Edit
from codemod.model.records import compact
from codemod.model.transform import Project
from codemod.model.xfails import AddedTest, NewTest
from codemod.planning.naming import base_name
from transforms.python.flow.nodes import dotted
from transforms.python.reading.parsing import parse
from transforms.python.writing.names import Layout

_FRAMES = "CompileCounter"
_IMPORT = "torch._dynamo.testing"


@compact
@dataclass(frozen=True, slots=True)
class TestClass:
    """A test class at the top of a file. `ends` are the offsets behind its test methods."""

    name: str
    methods: tuple[str, ...]
    ends: tuple[int, ...]
    indent: str
    dynamic: int
    """How many methods compile with dynamic=True and count frames."""


@compact
@dataclass(frozen=True, slots=True)
class TestFile:
    """The test classes of a file; `import torch._dynamo.testing` may go to `after_import`, -1 where it is there."""

    classes: tuple[TestClass, ...]
    after_import: int


def extract_classes(path: str, source: bytes) -> TestFile:
    """The test classes of a file that imports torch; none where it holds a syntax error."""
    try:
        tree = parse(source)
    except (SyntaxError, ValueError):
        return TestFile((), -1)
    layout = Layout(source)
    plain = [node for node in tree.body if isinstance(node, ast.Import)]
    at = max((layout.line_start(n.lineno + 1) for n in plain if n.names[0].name == "torch"), default=-1)
    if at < 0 or b"TestCase" not in source:
        return TestFile((), -1)
    imported = {alias.name for node in plain for alias in node.names}
    imported |= {node.module or "" for node in tree.body if isinstance(node, ast.ImportFrom)}
    classes = [_class(layout, node) for node in tree.body if isinstance(node, ast.ClassDef)]
    return TestFile(
        tuple(test_class for test_class in classes if test_class is not None), -1 if _IMPORT in imported else at
    )


def _class(layout: Layout, node: ast.ClassDef) -> TestClass | None:
    if not any(dotted(base).endswith(("TestCase", "TestBase")) for base in node.bases):
        return None
    methods = [
        method for method in node.body if isinstance(method, ast.FunctionDef) and method.name.startswith("test_")
    ]
    indent = layout.indent(methods[0]) if methods else None
    plain = [method for method in methods if len(method.args.args) == 1]
    if not indent or len(plain) * 2 < len(methods):  # else they are made for each device, and take it
        return None
    texts = [layout.source[layout.start(method) : layout.end(method)] for method in methods]
    dynamic = sum(b"dynamic=True" in text and _FRAMES.encode() in text for text in texts)
    # A comment behind the last line is the method's.
    ends = tuple(layout.line_end(method.end_lineno or method.lineno) for method in methods)
    return TestClass(node.name, tuple(method.name for method in methods), ends, indent, dynamic)


def add_tests(project: Project, tests: Sequence[NewTest], folders: Sequence[str]) -> list[AddedTest | None]:
    """For each test the edits that add it, or None where no class fits or one has a test of its name already.

    No two of them meet: each goes behind another method.
    """
    if not tests:
        return []
    files = project.facts(extract_classes, project.files((".py",), folders))
    taken: set[tuple[str, int]] = set()
    return [_added(project, files, test, taken) for test in tests]


def _added(
    project: Project, files: Mapping[str, TestFile], test: NewTest, taken: set[tuple[str, int]]
) -> AddedTest | None:
    choice = _fitting(project, files, test.operators)
    if choice is None:
        return None
    path, chosen = choice
    method = test.text.partition("(")[0].removeprefix("def ")
    free = [end for end in chosen.ends if (path, end) not in taken]
    if not free or any(method in test_class.methods for test_class in files[path].classes):
        return None
    # Where a test goes depends on its name alone, so that it stays there whatever is added beside it.
    start = zlib.crc32(method.encode()) % len(chosen.ends)
    end = next(end for end in (*chosen.ends[start:], *chosen.ends) if end in free)
    taken.add((path, end))
    source = project.read(path)
    newline = "\r\n" if source[end : end + 2] == b"\r\n" else "\n"
    text = textwrap.indent(test.text.rstrip("\n"), chosen.indent, lambda line: bool(line.strip()))
    text = f"\n\n{text}".replace("\n", newline)
    edits = [Edit(path, end, end, b"", text.encode())]
    at = files[path].after_import
    if at >= 0 and f"{_IMPORT}." in test.text:
        edits.insert(0, Edit(path, at, at, b"", f"import {_IMPORT}{newline}".encode()))
    return AddedTest(tuple(edits), f"{path}::{chosen.name}::{method}")


def _fitting(project: Project, files: Mapping[str, TestFile], operators: Sequence[str]) -> tuple[str, TestClass] | None:
    """The class that fits best, with its file."""
    places = [(path, test_class) for path, file in files.items() for test_class in file.classes]
    compiled = [place for place in places if place[1].dynamic]
    if compiled:
        return min(compiled, key=lambda place: (-place[1].dynamic, len(place[1].methods), place[0], place[1].name))
    if (project.root / "torch/__init__.py").exists():
        return None  # a PyTorch from before torch.compile
    names = "|".join(re.escape(base_name(operator).rpartition("::")[2]) for operator in operators)
    about = re.compile(rf"\b(?:{names})\b".encode())
    counts = {path: len(about.findall(project.read(path))) for path, _ in places}
    named = [place for place in places if counts[place[0]]]
    return min(named, key=lambda place: (-counts[place[0]], place[0], place[1].name), default=None)
