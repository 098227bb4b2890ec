"""symfix on libraries outside PyTorch: scan, apply, compile before and after, apply again.

    python tests/corpus/out_of_tree.py torch-scatter torch-sparse torch-cluster xformers [--level review] [--diff]

The source distributions come from the package index through pip and stay in the user's cache. Needs torch in this
environment: its headers are what the sources are checked against. Exit 1 where a source stops compiling or a second
apply changes something.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from corpus_compile import Compiler, contents, torch_include
from corpus_trees import apply_in, changed_files, converted_sites, copy_tree, symfix

SOURCES = (".cpp", ".cc")


def download(name: str) -> Path:
    """The unpacked source distribution of `name`, from the cache or the package index.

    Raises SystemExit where pip cannot fetch it.
    """
    cache_home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache_home / "symfix" / "sdists" / name
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(prefix="symfix-corpus-") as scratch:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-build-isolation"]
            done = subprocess.run([*command, "--no-binary", ":all:", "--dest", scratch, name], check=False)
            archives = list(Path(scratch).glob("*.tar.gz"))
            if done.returncode or not archives:
                raise SystemExit(f"{name}: pip could not download its source distribution")
            with tarfile.open(archives[0]) as archive:
                archive.extractall(Path(scratch) / "unpacked", filter="data")
            folder.parent.mkdir(parents=True, exist_ok=True)
            (Path(scratch) / "unpacked").rename(folder)
    (inner,) = (entry for entry in folder.iterdir() if entry.is_dir())
    return inner


@dataclass
class Row:
    """What one library came to."""

    name: str
    findings: Counter[str]
    operators: int
    changed: int
    sites: int
    compiled_before: int
    broken: list[str]
    stable: bool

    def cells(self) -> tuple[str, ...]:
        """The row of the printed table."""
        levels = "/".join(str(self.findings[level]) for level in ("safe", "review", "manual"))
        compiled = f"{self.compiled_before - len(self.broken)} of {self.compiled_before}"
        again = "nothing" if self.stable else "CHANGES"
        return self.name, str(self.operators), levels, str(self.changed), str(self.sites), compiled, again


def examine(name: str, level: str, show_diff: bool, jobs: int) -> Row:
    """Run symfix over the library `name` and check what it changed."""
    include = torch_include()
    if include is None:
        raise SystemExit("torch is not installed in this environment; its headers are needed")
    source = download(name).resolve()
    with tempfile.TemporaryDirectory(prefix="symfix-corpus-") as scratch:
        copy = copy_tree(source, Path(scratch) / "tree")
        plan = json.loads(symfix(["scan", "--format", "json", "--exit-zero"], copy).stdout)
        findings = plan["findings"]
        operators = {operator for finding in findings for operator in finding["operators"]}
        if show_diff:
            print(symfix(["diff", "--level", level], copy).stdout.decode("utf-8", "replace"))
            for finding in findings:
                if not finding["edits"]:
                    print(f"{finding['path']}:{finding['line']}: {finding['message']} {finding['reason']}")
        apply_in(copy, level)
        changed = changed_files(source, copy)
        folders = sorted({"", *(str(Path(path).parent) for path in changed)})
        bundled = sorted(path for path in source.glob("third_party/*") if path.is_dir())
        headers = (include, include / "torch/csrc/api/include", *bundled)
        compiler = Compiler("c++20", headers, tree_includes=tuple(folders))
        paths = [path for path in changed if path.endswith(SOURCES)]
        before = compiler.check_all(source, paths, dict.fromkeys(paths, str(source)), jobs)
        compiled = [path for path in paths if not before[path]]
        context = f"{source}+{contents(copy, [path for path in changed if path not in paths])}"
        after = compiler.check_all(copy, compiled, dict.fromkeys(compiled, context), jobs)
        broken = [f"{path}: {error}" for path, error in after.items() if error]
        once = {path: (copy / path).read_bytes() for path in changed}
        apply_in(copy, level)
        twice = {path: (copy / path).read_bytes() for path in changed_files(source, copy)}
        levels = Counter(finding["level"] for finding in findings)
        sites = converted_sites(source, copy, changed)
        return Row(name, levels, len(operators), len(changed), sites, len(compiled), broken, once == twice)


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--level", default="safe", choices=("safe", "review"))
    parser.add_argument("--diff", action="store_true", help="print each diff and what is left, to be read by eye")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = [examine(name, options.level, options.diff, options.jobs) for name in options.names]
    head = ("library", "operators", "safe/review/manual", "files changed", "sites", "still compile", "second apply")
    widths = [max(len(row[i]) for row in (head, *(row.cells() for row in rows))) for i in range(len(head))]
    for cells in (head, *(row.cells() for row in rows)):
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
    for row in rows:
        for line in row.broken:
            print(f"BROKEN {row.name} {line}")
    return 1 if any(row.broken or not row.stable for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
