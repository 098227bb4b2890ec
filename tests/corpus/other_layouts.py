"""Does symfix write the same for the same code, however it is laid out?

    python tests/corpus/other_layouts.py TREE [--style GNU] [--width 40] [--scope modules]

TREE is a checkout; it stays as it is. `symfix apply --level review` runs in a copy, and in one whose files, those that
it changed in the first, were laid out anew before: C++ by clang-format, Python by black, in lines of that width. What
was written is laid out the same way, and compared without white space and comments. Prints what differs, file by file.
Exit 0 where nothing does, 1 where something does.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from corpus_trees import apply_in, changed_files, copy_tree

from transforms.cpp.reading.literals import without_comments

SHOWN = 4
CPP = (".cpp", ".cc", ".cxx", ".h", ".hpp", ".cu", ".cuh")


def lay_out(folder: Path, paths: Sequence[str], style: str, width: int) -> None:
    """Format files as no author of theirs did."""
    settings = f"{{BasedOnStyle: {style}, ColumnLimit: {width}, SortIncludes: Never, BreakStringLiterals: false}}"
    clang_format = Path(sys.executable).with_name("clang-format")
    for suffixes, command in (
        (CPP, (str(clang_format), "-i", f"--style={settings}")),
        ((".py",), (sys.executable, "-m", "black", "-q", f"--line-length={width}")),
    ):
        chosen = [path for path in paths if path.endswith(suffixes)]
        if chosen:
            subprocess.run([*command, *chosen], cwd=folder, check=True)


def statements(path: Path) -> list[str]:
    """What a file says, statement by statement, without white space and comments."""
    if path.suffix == ".py":
        return [ast.unparse(node) for node in ast.parse(path.read_bytes()).body]
    code = without_comments(path.read_bytes()).decode("utf-8", "replace")
    return re.split(r"(?<=[;{}])", re.sub(r"\s", "", code))


def main() -> int:
    """Print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--style", default="GNU", help="one of clang-format's: GNU, Mozilla, LLVM, Google, WebKit")
    parser.add_argument("--width", type=int, default=79, help="the longest line, in columns")
    parser.add_argument("--scope", default="", help="that of `symfix apply`")
    options = parser.parse_args()
    differ = 0
    with tempfile.TemporaryDirectory() as scratch:
        after, other = (copy_tree(options.tree, Path(scratch) / name) for name in ("after", "other"))
        apply_in(after, "review", scope=options.scope)
        changed = [path for path in changed_files(options.tree, after) if path.endswith((*CPP, ".py"))]
        lay_out(other, changed, options.style, options.width)
        apply_in(other, "review", scope=options.scope)
        lay_out(after, changed, options.style, options.width)
        lay_out(other, changed, options.style, options.width)
        for path in changed:
            old, new = (statements(folder / path) for folder in (after, other))
            if old != new:
                differ += 1
                found = difflib.unified_diff(old, new, lineterm="", n=0)
                lines = [line[:160] for line in found if line[:2] not in ("--", "++", "@@")]
                print(path, *lines[:SHOWN], sep="\n  ", flush=True)
    print(f"{options.tree}: {len(changed)} files changed, {differ} of them otherwise where they are laid out otherwise")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
