"""What is wrong with names and types in the Python that `symfix apply --level review` writes, and was not before.

    python tests/corpus/audit_lint.py TREE [TREE ...] [--scope modules]

TREE is a checkout, or the folder of an installed package; it stays as it is: symfix runs in a copy. Asked are imports
that nothing uses, names that nothing defines, and definitions that nothing saw (F401, F811, F82), by which PyTorch's
own CI fails a change; attributes, `torch._check`, that nothing in the tree as it was has; what mypy says of types; and
comments that are there no more.
Exit 0 where there are none, 1 where there are.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import io
import itertools
import json
import re
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from corpus_trees import apply_in, changed_files, copy_tree

RULES = "F401,F811,F82"
TYPES = (
    "-m", "mypy", "--config-file=", "--follow-imports=silent", "--ignore-missing-imports", "--check-untyped-defs",
    "--explicit-package-bases", "--no-incremental", "--hide-error-context", "--no-error-summary",
)  # fmt: skip
LINE = re.compile(r"([^:]+):\d+: (error: .*)")
SOURCES = (".py", ".pyi", ".cpp", ".h")
WORD = re.compile(r"[A-Za-z_]\w*")


def complaints(tree: Path, paths: Sequence[str]) -> Counter[str]:
    """What ruff says of files of a tree, by path, without the line."""
    options = f"-m ruff check --isolated --quiet --select {RULES} --output-format json".split()
    command = [sys.executable, *options, *paths]
    printed = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False).stdout
    return Counter(
        f"{Path(said['filename']).relative_to(tree.resolve()).as_posix()}: {said['code']} "
        f"{said['message'].partition(' from line')[0]}"
        for said in json.loads(printed or "[]")
    )


def wrong_types(tree: Path, paths: Sequence[str]) -> Counter[str]:
    """What mypy says of files of a tree, by path, without the lines. Raises SystemExit where it cannot read them."""
    command = [sys.executable, *TYPES, *paths]
    result = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    if result.returncode not in (0, 1):
        raise SystemExit(f"{tree}: mypy cannot read it: {(result.stdout + result.stderr).strip()[:300]}")
    found = filter(None, map(LINE.fullmatch, result.stdout.splitlines()))
    return Counter(f"{match[1]}: {match[2].partition(' on line')[0]}" for match in found)


def attributes(source: str) -> tuple[set[str], set[str]]:
    """The attributes that a file asks for, and the functions that it defines."""
    nodes = list(ast.walk(ast.parse(source)))
    asked = {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    return asked, {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def without_a_place(before: Path, after: Path, paths: Sequence[str]) -> Counter[str]:
    """The attributes that changed files ask for anew, and that are no word of the tree before and no new function.

    Nor one of the installed torch, where the tree is none.
    """
    defined: set[str] = set()
    asked: dict[str, set[str]] = {}
    for path in paths:
        old, new = (attributes((tree / path).read_text(encoding="utf-8")) for tree in (before, after))
        asked[path] = new[0] - old[0]
        defined |= new[1]
    wanted = set().union(*asked.values()) - defined
    sources = [before.rglob("*")]
    if not any((before / name / "_prims_common").is_dir() for name in (".", "torch")):
        spec = importlib.util.find_spec("torch")
        sources += [Path(folder).rglob("*") for folder in (spec and spec.submodule_search_locations) or ()]
    for source in itertools.chain.from_iterable(sources):
        if wanted and source.suffix in SOURCES and source.is_file():
            wanted -= set(WORD.findall(source.read_text(encoding="utf-8", errors="replace")))
    return Counter(f"{path}: nothing has `.{name}`" for path in paths for name in asked[path] & wanted)


def lost_comments(before: Path, after: Path, paths: Sequence[str]) -> Counter[str]:
    """The comments of files, by path, that the changed files hold no more, wherever they stood."""
    lost = Counter[str]()
    for path in paths:
        old, new = (_comments((tree / path).read_text(encoding="utf-8")) for tree in (before, after))
        lost.update({f"{path}: lost {comment}": count for comment, count in (old - new).items()})
    return lost


def _comments(source: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)


def main() -> int:
    """Print what is new, tree by tree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE")
    parser.add_argument("--scope", default="", help="that of `symfix apply`: modules, for libraries of layers")
    options = parser.parse_args()
    found = 0
    for tree in options.trees:
        with tempfile.TemporaryDirectory() as scratch:
            after = copy_tree(tree, Path(scratch) / "after")
            apply_in(after, "review", scope=options.scope)
            changed = [path for path in changed_files(tree, after) if path.endswith(".py")]
            said = Counter[str]()
            for asked in (complaints, wrong_types) if changed else ():
                said += asked(after, changed) - asked(tree, changed)
            new = sorted(said + without_a_place(tree, after, changed) + lost_comments(tree, after, changed))
        print(*new, f"{tree}: {len(changed)} files changed, {len(new)} complaints that are new", sep="\n", flush=True)
        found += len(new)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
