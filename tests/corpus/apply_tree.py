"""Apply symfix to a copy of a tree and keep the files it changed.

    python tests/corpus/apply_tree.py TREE OUT [--level review] [--vocabulary FILE]

OUT gets the changed files at their places. A second `apply` in the copy must change nothing: exit 1 where it does.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from corpus_trees import apply_in, changed_files, converted_sites, copy_tree, symfix


def keep_changed(before: Path, after: Path, out: Path) -> list[str]:
    """Copy the files of `after` that differ from `before` to `out`; returns their paths."""
    changed = changed_files(before, after)
    for path in changed:
        target = out / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(after / path, target)
    return changed


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("--level", default="safe", choices=("safe", "review"))
    parser.add_argument("--vocabulary", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.out.exists() and any(options.out.iterdir()):
        parser.error(f"{options.out}: holds files already; name an empty folder")
    with tempfile.TemporaryDirectory(prefix="symfix-corpus-") as scratch:
        copy = copy_tree(options.tree.resolve(), Path(scratch) / "tree")
        begun = time.perf_counter()
        apply_in(copy, options.level, options.vocabulary)
        seconds = time.perf_counter() - begun
        changed = keep_changed(options.tree, copy, options.out)
        sites = converted_sites(options.tree, copy, changed)
        print(f"{len(changed)} files changed, {sites} sites converted, in {seconds:.1f} s")
        again = apply_in(copy, options.level, options.vocabulary)
        later = changed_files(options.tree, copy)
        unstable = [path for path in later if path not in changed or not _same(copy / path, options.out / path)]
        if unstable:
            print(f"a second apply changed {len(unstable)} files more (exit {again}):", *unstable, sep="\n  ")
            more = ["--vocabulary", str(options.vocabulary.resolve())] if options.vocabulary else []
            print(symfix(["diff", "--level", options.level, *more], copy).stdout.decode("utf-8", "replace"))
            return 1
    print("a second apply changes nothing")
    return 0


def _same(first: Path, second: Path) -> bool:
    return first.read_bytes() == second.read_bytes()


if __name__ == "__main__":
    raise SystemExit(main())
