"""Measure reach against what people did between two releases.

usage: reach_report.py TREE TRUTH [--list converted|hard] [--explain FUNCTION]

TREE is a PyTorch checkout, TRUTH a folder with aten_sites.jsonl.gz. Prints how many of the sites that people converted
lie in a reached function (the more the better), and how many of those that they left in kernels do (the fewer).
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from codemod.model.operators import Reach
from transforms.cpp.reach.reached import reached
from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.facts import FileFacts, Function
from transforms.schema import derivatives, native_functions

FOLDERS = ("aten/src", "torch/csrc", "functorch")
SUFFIXES = (".cpp", ".h", ".cc", ".hpp", ".cu", ".cuh", ".inl")
TRUTH_OF = "1.13"
NATIVE = "aten/src/ATen/native/native_functions.yaml"
DERIVATIVES = "tools/autograd/derivatives.yaml"


def _extract(item: tuple[str, str]) -> FileFacts:
    root, path = item
    return extract(path, (Path(root) / path).read_bytes())


def source_paths(tree: Path) -> list[str]:
    """The C++ files in the folders that hold operators."""
    return sorted(
        path.relative_to(tree).as_posix()
        for folder in FOLDERS
        for path in (tree / folder).rglob("*")
        if path.suffix in SUFFIXES and path.is_file()
    )


def facts_of(tree: Path) -> dict[str, FileFacts]:
    """The facts of every C++ file in the folders that hold operators."""
    paths = source_paths(tree)
    with ProcessPoolExecutor(2) as pool:
        return dict(zip(paths, pool.map(_extract, [(str(tree), path) for path in paths], chunksize=64), strict=True))


def reach_of(tree: Path, facts: Mapping[str, FileFacts]) -> dict[tuple[str, int], Reach]:
    """The reached functions of a checkout."""
    natives = native_functions.load(NATIVE, (tree / NATIVE).read_bytes())
    formulas = derivatives.load(DERIVATIVES, (tree / DERIVATIVES).read_bytes())
    return reached(facts, natives, formulas)


def function_at(facts: FileFacts, line: int, lines: list[int]) -> Function | None:
    """The definition that holds `line`; `lines` has the offset at which each line begins."""
    offset, end = lines[line - 1], lines[line]
    return next((f for f in facts.functions if f.body >= 0 and f.start < end and f.end > offset), None)


def judge(tree: Path, truth: Path, facts: Mapping[str, FileFacts], reach: Mapping[tuple[str, int], Reach]) -> list[Any]:
    """The judged sites with the function that holds each and how it is reached."""
    starts: dict[str, list[int]] = {}
    rows = []
    with gzip.open(truth / "aten_sites.jsonl.gz", "rt") as stream:
        for text in stream:
            site = json.loads(text)
            path = site["file"]
            if site["status"] not in ("converted", "left") or path not in facts:
                continue
            if path not in starts:
                offset = 0
                starts[path] = [0]
                for line in (tree / path).read_bytes().split(b"\n"):
                    offset += len(line) + 1
                    starts[path].append(offset)
            function = function_at(facts[path], site["line"], starts[path])
            rows.append((site, function, reach.get((path, function.start)) if function is not None else None))
    return rows


def main() -> int:
    """Print the figures; 2 where the tree or the truth is absent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--list", choices=("converted", "soft", "hard"), help="hard: reached ones; else missed ones")
    parser.add_argument("--explain", help="print how the functions of this name are reached")
    options = parser.parse_args()
    if not (options.tree / NATIVE).is_file() or not (options.truth / "aten_sites.jsonl.gz").is_file():
        print(f"skipped: {options.tree} is no PyTorch checkout or {options.truth} holds no aten_sites.jsonl.gz")
        return 2
    began = time.perf_counter()
    facts = facts_of(options.tree)
    middle = time.perf_counter()
    reach = reach_of(options.tree, facts)
    ended = time.perf_counter()
    print(f"{len(facts)} files in {middle - began:.1f} s, {len(reach)} functions reached in {ended - middle:.1f} s")
    counts = collections.Counter(item.kind for item in reach.values())
    print(", ".join(f"{kind} {count}" for kind, count in counts.most_common()))
    if options.explain:
        for (path, start), item in reach.items():
            function = next((f for f in facts[path].functions if f.start == start), None)
            if function is not None and function.name == options.explain:
                print(f"{path}:{function.line} {function.qualified} [{item.kind}] {', '.join(item.operators[:8])}")
                for step in item.steps:
                    print(f"    {step.path}:{step.line} {step.text}")
    version = options.tree / "version.txt"
    if not version.is_file() or not version.read_text().startswith(TRUTH_OF):
        print(f"not judged: the truth is about PyTorch {TRUTH_OF}")
        return 0
    rows = judge(options.tree, options.truth, facts, reach)
    totals: collections.Counter[str] = collections.Counter()
    inside: collections.Counter[str] = collections.Counter()
    outside: collections.Counter[str] = collections.Counter()
    for site, function, item in rows:
        name = "converted" if site["status"] == "converted" else site["neg"]
        totals[name] += 1
        inside[name] += item is not None
        outside[name] += function is None
        if options.list == name and (item is None) == (name != "hard"):
            found = function.qualified if function is not None else "no function found"
            how = f"[{item.kind}] " + "; ".join(step.text for step in item.steps) if item is not None else ""
            print(f"{site['file']}:{site['line']} {found} ({site['kind']}) {how}")
    for name, total in totals.items():
        print(f"{name}: {inside[name]} of {total} in a reached function ({outside[name]} in none that was found)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
