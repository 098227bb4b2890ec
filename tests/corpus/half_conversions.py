"""Which functions does symfix convert in part, and does what stays concrete stop every way through them?

usage: half_conversions.py TREE [--level review] [--vocabulary FILE] [--list]

TREE is a PyTorch checkout or source release; it stays as it is. Of the functions with edits up to the level, those in
which accessors stay concrete as well are counted: where one of these stands in a block of the function's own body, and
so on every way, and where all stand in branches. Exit 0 where there is none of the former, 1 where there is.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from transforms.cpp.reading.definitions import find_definition
from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.syntax import parse
from transforms.cpp.reading.tree import Node, build

_BRANCHES = frozenset({"if_statement", "switch_statement", "conditional_expression", "lambda_expression"})
_LEVELS = ("safe", "review")


def findings_of(tree: Path, vocabulary: Path | None) -> list[dict[str, Any]]:
    """The findings of a scan."""
    command = [str(Path(sys.executable).with_name("symfix")), "scan", "--format", "json", "--exit-zero"]
    command += ["--vocabulary", str(vocabulary)] if vocabulary is not None else []
    done = subprocess.run(command, cwd=tree, capture_output=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return found


def in_branch(root: Node, line: int, source: bytes) -> bool:
    """Whether the first call on a line stands in a branch or a lambda; an early return before it does not count."""
    node: Node | None = root
    below = False
    while node is not None:
        below |= node.kind in _BRANCHES
        node = next(
            (c for c in node.children if _line(source, c.start) <= line <= _line(source, max(c.end - 1, 0))), None
        )
    return below


def _line(source: bytes, offset: int) -> int:
    return source.count(b"\n", 0, offset) + 1


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--level", choices=_LEVELS, default="review")
    parser.add_argument("--vocabulary", type=Path)
    parser.add_argument("--list", action="store_true", help="print each function and what stays in it")
    options = parser.parse_args()
    edited: dict[tuple[str, str], list[int]] = collections.defaultdict(list)
    kept: dict[tuple[str, str], list[int]] = collections.defaultdict(list)
    for finding in findings_of(options.tree, options.vocabulary):
        key = finding["path"], finding["function"]
        if not finding["path"].endswith((".cpp", ".h")):
            continue
        if finding["edits"] and finding["level"] in _LEVELS[: _LEVELS.index(options.level) + 1]:
            edited[key].append(finding["line"])
        elif finding["message"].endswith("stays concrete") and finding["refusal"] != "message":
            kept[key].append(finding["line"])
    on_ways = in_branches = 0
    for key in sorted(edited.keys() & kept.keys()):
        source = (options.tree / key[0]).read_bytes()
        tree, masked = parse(source)
        for function in extract(key[0], source).functions:
            first, last = _line(source, function.start), _line(source, function.end)
            stays = [line for line in kept[key] if first <= line <= last]
            if function.qualified != key[1] or not stays or not any(first <= n <= last for n in edited[key]):
                continue
            definition = find_definition(tree.root_node, function)
            root = build(definition, masked) if definition is not None else None
            branch = root is not None and all(in_branch(root, line, source) for line in stays)
            in_branches += branch
            on_ways += not branch
            if options.list:
                print(f"{'branch' if branch else 'way'}: {key[0]}:{function.line} {key[1]} keeps lines {stays}")
    print(f"{len(edited)} functions with edits; in {on_ways} a size stays on every way, in {in_branches} in branches")
    return 1 if on_ways else 0


if __name__ == "__main__":
    sys.exit(main())
