"""What libraries register against what symfix makes of them: operators, names, device code, scope, time.

    python tests/corpus/libraries.py [--trees DIR] [--seconds 600] [--format markdown] [NAME…]

DIR holds the libraries as git repositories; the default is `libraries` beside the trees of PyTorch. What is registered
is counted apart from symfix: C++ after the preprocessor, Python by importing it against a stub torch. Prints a table,
and below it by name what symfix misses, and what is wrong. Exit 1 where symfix finds less than 99 in 100 of a library,
where a finding in operator code names no operator, or where device code or what is out of scope is edited.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import corpus_registered_cpp as cpp
import corpus_registered_python as python
from corpus_trees import git, trees_folder

from codemod.tree.cache import Cache
from codemod.tree.checkout import find_checkout
from codemod.tree.project import CheckoutProject
from transforms.cpp.reach.sources import joined_facts, source_files
from transforms.python.reach.registrations import Registrations
from transforms.python.reach.tree import SourceTree
from transforms.python.reading.extract import extract as python_facts

ENOUGH = 0.99
SHOWN = 40
"""Lines of one kind that are printed for a library."""
DEVICE = (".cu", ".cuh", ".hip", ".mm")
SYMBOLIC = re.compile(r"(?:Meta|Autograd\w*|Composite\w*|Functionalize|ADInplaceOrView|BackendSelect|Python\w*)?")
"""The keys whose kernels see symbols; without a key a kernel is composite (torch/library.h)."""
EXTENSION = "TORCH_EXTENSION_NAME"
"""Which the build defines, so that the source does not say it."""
HEAD = ("library", "C++", "found", "Python", "found", "%", "unnamed", "device", "scope", "cold", "again")


@dataclass
class Row:
    """What one library came to; the lists hold a line each."""

    name: str
    cpp: int = 0
    python: int = 0
    misses: dict[str, list[str]] = field(default_factory=lambda: {"C++": [], "Python": []})
    unread: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    device: list[str] = field(default_factory=list)
    scope: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    cold: float = 0.0
    again: float = 0.0
    failure: str = ""

    @property
    def share(self) -> float:
        """Which part of the registrations symfix has."""
        registered = self.cpp + self.python
        missed = sum(map(len, self.misses.values()))
        return (registered - missed) / registered if registered else 1.0

    @property
    def right(self) -> bool:
        """Whether nothing is wrong."""
        return self.share >= ENOUGH and not (self.unnamed or self.device or self.scope or self.failure)

    def cells(self) -> tuple[str, ...]:
        """The row of the printed table."""
        found = self.cpp - len(self.misses["C++"]), self.python - len(self.misses["Python"])
        lists = (self.unnamed, self.device, self.scope)
        numbers = (self.cpp, found[0], self.python, found[1], f"{100 * self.share:.1f}", *map(len, lists))
        return self.name, *map(str, numbers), f"{self.cold:.1f} s", f"{self.again:.1f} s"


def examine(tree: Path, scratch: Path, seconds: int) -> Row:
    """Count, scan, and compare for one library."""
    row = Row(tree.name)
    paths = git(tree, "ls-files", "-z").decode("utf-8", "surrogateescape").split("\0")
    paths = [path for path in paths if path and (tree / path).is_file() and not (tree / path).is_symlink()]
    cpp_registered, row.unread = cpp.registered(tree, [p for p in paths if not python.APART.search(p)], scratch)
    python_registered, skipped = python.registered(tree, paths, seconds)
    row.unread += skipped
    plan = _scan(tree, scratch / "cache", row, seconds)
    if row.failure:
        return row
    project = CheckoutProject(find_checkout(tree), Cache.of(tree.resolve(), scratch / "cache" / "symfix"))
    row.cpp, row.python = len(cpp_registered), len(python_registered)
    row.misses = {
        "C++": sorted(missed_cpp(cpp_registered, project)),
        "Python": sorted(missed_python(python_registered, project)),
    }
    judge(row, plan["findings"], cpp_registered, python_registered)
    row.remarks = plan.get("remarks", [])
    return row


def missed_cpp(registered: set[cpp.Registration], project: CheckoutProject) -> set[str]:
    """The C++ registrations that symfix does not have."""
    facts = joined_facts(project, source_files(project))
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for path, file in facts.items():
        for registration in file.registrations:
            found[path].add((registration.operator, _key(registration.key)))
            found[path].add((registration.operator.rpartition("::")[2], _key(registration.key)))
    return {
        f"{name} {key or '-'}: {path}"
        for name, key, path in registered
        if ((name.rpartition("::")[2] if EXTENSION in name else name), _key(key)) not in found[path]
    }


def _key(written: str) -> str:
    last = written.rpartition("::")[2].removeprefix("k")
    return "" if last in ("CatchAll", "CompositeImplicitAutograd") else last


def missed_python(registered: set[python.Registration], project: CheckoutProject) -> set[str]:
    """The Python registrations that symfix does not have."""
    paths = [path for path in project.files((".py",)) if not python.APART.search(path)]
    listed = project.files((".py",))
    facts = project.facts(python_facts, paths)
    tree = SourceTree(facts, project.root.name if "__init__.py" in listed else "")
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for definition, roles in Registrations(tree).roles.items():
        name = re.sub(r"#\d+", "", definition.function.name)
        found[definition.path, name] |= {role.operator for role in roles}
    missed = set()
    for kind, operator, places in registered:
        named = {name for place in places for name in found.get(_without_lambdas(place), ())}
        operator = operator.partition(".")[0]  # torch.library takes overloads with their operator's name
        if operator not in named and not (not operator and named):
            path, function = places[-1]
            missed.add(f"{operator or '?'} {kind}: {path} {function}{' (without its name)' if named else ''}")
    return missed


def _without_lambdas(place: tuple[str, str]) -> tuple[str, str]:
    return place[0], place[1].replace(".<lambda>", "")


def judge(
    row: Row,
    findings: Sequence[Mapping[str, Any]],
    cpp_registered: set[cpp.Registration],
    python_registered: set[python.Registration],
) -> None:
    """Fill in the findings that name no operator, and the edits where none should be."""
    registered = {place for registration in python_registered for place in registration.places}
    symbolic = {_bare(r.operator) for r in cpp_registered if SYMBOLIC.fullmatch(_key(r.key))}
    for finding in findings:
        path, place = finding["path"], f"{finding['path']}:{finding['line']} {finding['function']}"
        steps = [(step["path"], re.sub(r"#\d+", "", step["text"].partition(":")[0])) for step in finding["reach"]]
        of_operator = not path.endswith(".py") or any(step in registered for step in steps)
        if of_operator and not finding["operators"]:
            row.unnamed.append(place)
        if not finding["edits"]:
            continue
        if path.endswith(DEVICE) and not symbolic & set(map(_bare, finding["operators"])):
            row.device.append(place)
        why = finding["reach"][0]["text"] if finding["reach"] else ""
        compiled = "compiled by" in why or "registered by" in why
        if python.APART.search(path) or (path.endswith(".py") and not (of_operator or compiled)):
            row.scope.append(place)


def _bare(operator: str) -> str:
    return operator.rpartition("::")[2].partition(".")[0]


def _scan(tree: Path, cache: Path, row: Row, seconds: int) -> dict[str, Any]:
    """The plan that `symfix scan` makes with a cache of its own, and once more with what it kept."""
    command = [str(Path(sys.executable).with_name("symfix")), "scan", "--format", "json", "--exit-zero", "."]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    taken = []
    for _ in range(2):
        start = time.perf_counter()
        try:
            done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            row.failure = f"scan took more than {seconds} s"
            return {}
        taken.append(time.perf_counter() - start)
        if done.returncode:
            row.failure = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
            return {}
    row.cold, row.again = taken
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def report(rows: Sequence[Row], markdown: bool) -> None:
    """Print the table and what is below it; in Markdown the table alone, with the misses."""
    if markdown:
        for cells in (HEAD, ("---",) * len(HEAD), *(row.cells() for row in rows)):
            print("| " + " | ".join(cells) + " |")
        print()
        for row in rows:
            for miss in (*row.misses["C++"], *row.misses["Python"], *filter(None, [row.failure])):
                print(f"- {row.name}: `{miss}`")
        return
    widths = [max(len(cells[i]) for cells in (HEAD, *(row.cells() for row in rows))) for i in range(len(HEAD))]
    for cells in (HEAD, *(row.cells() for row in rows)):
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
    for row in rows:
        lists = {
            "C++, not found": row.misses["C++"],
            "Python, not found": row.misses["Python"],
            "operator code, no operator named": row.unnamed,
            "edits in device code": row.device,
            "edits out of scope": row.scope,
            "scan says": row.remarks,
            "not counted": row.unread,
            "failed": [row.failure] if row.failure else [],
        }
        for title, lines in lists.items():
            if lines:
                print(f"\n{row.name}: {title} ({len(lines)})")
                print("\n".join(f"    {line}" for line in lines[:SHOWN]))


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--trees", type=Path, default=trees_folder() / "libraries")
    parser.add_argument("--seconds", type=int, default=600, help="of each scan, and of importing a library's modules")
    parser.add_argument("--format", choices=("text", "markdown"), default="text")
    options = parser.parse_args()
    if not options.trees.is_dir():
        raise SystemExit(f"{options.trees}: no folder; give the one that holds the libraries with --trees")
    names = options.names or sorted(path.parent.name for path in options.trees.glob("*/.git"))
    rows = []
    for name in names:
        tree = options.trees / name
        if not (tree / ".git").exists():
            raise SystemExit(f"{tree}: no git repository; lay the library out there")
        with tempfile.TemporaryDirectory(prefix="symfix-libraries-") as scratch:
            rows.append(examine(tree.resolve(), Path(scratch).resolve(), options.seconds))
        print(*rows[-1].cells(), file=sys.stderr, flush=True)
    report(rows, options.format == "markdown")
    return 0 if all(row.right for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
