"""What becomes of functions of libraries that symfix edits: run before and after, eager and compiled, in several sizes.

    python tests/corpus/run_edited.py FOLDER [NAME…]

FOLDER holds unpacked packages, a folder for each; they are copied, and Python is rewritten at level review. Each
function, or method with its module, that was edited is made and called by guess in a process of its own, from the
package as it was and as it is: most cannot be, as they need what is not installed or inputs that nobody guesses. Of
those that can, prints how often Dynamo compiles them and breaks their graphs, before and after. Exit code 1 where one
gives something else than before, in eager or compiled, or breaks its graph more often.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

SECONDS = 150
WORKER = Path(__file__).with_name("corpus_guessing.py")
SYMFIX = (sys.executable, "-m", "codemod.cli")
CHOSEN = ("--scope", "all", "--no-cache", "--jobs", "1")


class Target(NamedTuple):
    """A function of a file, by its class if it is a method."""

    library: str
    path: str
    owner: str
    name: str


def edited(library: Path, copy: Path, seen: set[str]) -> Iterator[Target]:
    """The functions that are edited in a copy of a library, those of which no other library has the same one."""
    shutil.copytree(library, copy, ignore=shutil.ignore_patterns("*.so", ".git"))
    scan = (*SYMFIX, "scan", *CHOSEN, "--level", "review", "--format", "json", "--exit-zero", ".")
    found = subprocess.run(scan, cwd=copy, capture_output=True, text=True, check=False)
    findings = json.loads(found.stdout)["findings"] if found.returncode == 0 else []
    lines: dict[str, set[int]] = {}
    for finding in findings:
        if finding["edits"] and finding["path"].endswith(".py"):
            lines.setdefault(finding["path"], set()).add(finding["line"])
    trees = {path: ast.parse((copy / path).read_bytes()) for path in lines}
    if lines:
        apply = (*SYMFIX, "apply", *CHOSEN, "--level", "review", "--no-check", "--allow-no-vcs", ".")
        subprocess.run(apply, cwd=copy, capture_output=True, check=False)
    for path, tree in trees.items():
        for owner, function in functions_of(tree):
            inside = any(function.lineno <= line <= (function.end_lineno or 0) for line in lines[path])
            if inside and ast.dump(function) not in seen:
                seen.add(ast.dump(function))
                yield Target(library.name, path, owner, function.name)


def functions_of(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module, and the methods of its classes, each with the name of its class."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield "", node
        elif isinstance(node, ast.ClassDef):
            yield from ((node.name, member) for member in node.body if isinstance(member, ast.FunctionDef))


def outcome(root: Path, target: Target) -> dict[str, Any]:
    """What the worker says of a target in one of the two trees."""
    command = (sys.executable, WORKER, root, target.path, target.owner, target.name)
    settings = {**os.environ, "PYTHONHASHSEED": "0"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS, env=settings)
    except subprocess.TimeoutExpired:
        return {"status": "too slow"}
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"status"')]
    return dict(json.loads(lines[-1])) if lines else {"status": "died"}


def verdict(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What became of a function that is called before."""
    if after["status"] != "called":
        return f"{after['status'].upper()} AFTER"
    if after["sums"] != before["sums"]:
        return "OTHER IN EAGER"
    if after["wrong"] > before["wrong"]:
        return "OTHER COMPILED"
    if after["breaks"] > before["breaks"] and after["frames"] <= before["frames"]:
        return "MORE BREAKS"
    fewer = after["frames"] < before["frames"] or after["breaks"] < before["breaks"]
    return "fewer" if fewer else "as many" if after["frames"] == before["frames"] else "more frames"


def main(folder: Path, names: list[str]) -> int:
    """Run what is edited in each library; the exit code."""
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(os.cpu_count()) as pool:
        for library in sorted(path for path in folder.iterdir() if path.is_dir() and (not names or path.name in names)):
            copy = Path(scratch, library.name)
            targets = list(edited(library, copy, seen))
            before = list(pool.map(lambda target: outcome(library, target), targets))  # noqa: B023
            after = list(pool.map(lambda target: outcome(copy, target), targets))  # noqa: B023
            for target, old, new in zip(targets, before, after, strict=True):
                said = verdict(old, new) if old["status"] == "called" else old["status"]
                counts[said] += 1
                if old["status"] == "called":
                    numbers = ", ".join(f"{key} {old[key]} → {new.get(key)}" for key in ("frames", "breaks"))
                    print(f"{said:14} {library.name} {target.path} {target.owner}.{target.name}: {numbers}", flush=True)
            shutil.rmtree(copy)
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))
    return 1 if any(what.isupper() for what in counts) else 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("name a folder of unpacked packages")
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
