"""What Python registers with torch.library, counted by importing it against a stub torch."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

STUB = Path(__file__).with_name("corpus_stub_torch.py")
APART = re.compile(
    r"(?:^|/)(?:tests?|testing|benchmarks?|docs?|examples?)/|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest|setup)\.py$"
)
"""What is no part of a library."""
_SEED = re.compile(
    r"torch\.(?:library|_library|_custom_op)|import library|\b(?:custom_op|triton_op|register_fake|impl_abstract)\b"
)


class Registration(NamedTuple):
    """A function that an operator runs: `places` are the files and functions that it may mean."""

    kind: str
    operator: str
    places: tuple[tuple[str, str], ...]


def registered(tree: Path, paths: list[str], seconds: int) -> tuple[set[Registration], list[str]]:
    """All registrations that the modules among `paths` make, and a line for each statement that could not be run."""
    contents = {
        path: (tree / path).read_text(encoding="utf-8", errors="replace")
        for path in paths
        if path.endswith(".py") and not APART.search(path)
    }
    chosen = _registering(contents)
    if not chosen:
        return set(), []
    command = [sys.executable, "-I", str(STUB), str(tree)]
    try:
        done = subprocess.run(
            command, input="\n".join(chosen), capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return set(), [f"{len(chosen)} modules: not imported in {seconds} s"]
    if not done.stdout:
        return set(), [f"{len(chosen)} modules: importing them ended with exit code {done.returncode}"]
    document = json.loads(done.stdout)
    found = set()
    for kind, operator, *flat in document["registered"]:
        found.add(Registration(kind, operator, tuple(zip(flat[::2], flat[1::2], strict=True))))
    return found, [line for line in document["skipped"] if line.partition(":")[0] in chosen]


def _registering(contents: Mapping[str, str]) -> list[str]:
    """The files that name torch's registrars, or what the tree defines by them."""
    names: set[str] = set()
    pattern = _SEED
    chosen: set[str] = set()
    for _ in range(4):
        new = [path for path, text in contents.items() if path not in chosen and pattern.search(text)]
        chosen.update(new)
        names |= {name for path in new for name in _defined(contents[path], pattern)}
        if not new or not names:
            break
        pattern = re.compile(rf"{_SEED.pattern}|\b(?:{'|'.join(sorted(names))})\b")
    return sorted(chosen)


def _defined(text: str, pattern: re.Pattern[str]) -> Iterator[str]:
    """The functions and names of a module whose source holds what `pattern` finds."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = text.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Assign)) and node.end_lineno is not None:
            body = node.body[0].lineno if isinstance(node, ast.FunctionDef) else node.lineno
            name = node.name if isinstance(node, ast.FunctionDef) else ast.unparse(node.targets[0])
            own = name.isidentifier() and not name.startswith("__") and len(name) > 3
            if own and pattern.search("\n".join(lines[body - 1 : node.end_lineno])):
                yield name
