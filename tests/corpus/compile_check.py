"""Does every source that compiled before `symfix apply` compile after it?

    python tests/corpus/compile_check.py TREE --headers DIR [--level review]
    python tests/corpus/compile_check.py TREE --headers DIR --baseline

TREE is a PyTorch checkout or source release, DIR the include folder of a build of the same version (it holds
`ATen/ops`). TREE stays as it is: symfix runs in a copy. Checked are the changed sources and, for each changed
header, sources that include it. `--baseline` only counts how many of the unpatched operator sources compile.
Exit 0 where nothing broke, 1 where something did.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from corpus_compile import Compiler, digest
from corpus_trees import apply_in, changed_files, converted_sites, copy_tree, source_files

# The sources whose kernels see symbols and that need no backend's own headers.
BASELINE = (
    "aten/src/ATen/native/*.cpp",
    "aten/src/ATen/native/sparse/*.cpp",
    "aten/src/ATen/native/quantized/*.cpp",
    "aten/src/ATen/functorch/*.cpp",
    "torch/csrc/autograd/FunctionsManual.cpp",
)
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.M)


def baseline_sources(tree: Path) -> list[str]:
    """The operator sources of `tree`, POSIX and relative to it."""
    return sorted(path.relative_to(tree).as_posix() for pattern in BASELINE for path in tree.glob(pattern))


def includers(tree: Path, headers: Sequence[str], at_most: int) -> list[str]:
    """For each header up to `at_most` sources of the tree that include it, directly or through other headers.

    Operator sources come first, and those that include the header with the fewest steps between.
    """
    included_by: dict[str, set[str]] = defaultdict(set)
    for path in source_files(tree):
        if not path.endswith((".cpp", ".cc", ".h", ".hpp")):
            continue
        folder = path.rpartition("/")[0]
        for name in _INCLUDE.findall((tree / path).read_bytes()):
            text = name.decode("utf-8", "replace")
            for place in (f"aten/src/{text}", text, f"{folder}/{text}"):
                included_by[place].add(path)
    preferred = set(baseline_sources(tree))
    chosen: set[str] = set()
    for header in headers:
        found: list[str] = []
        seen, ring = {header}, [header]
        while ring and len(found) < at_most:
            ring = sorted({user for name in ring for user in included_by[name]} - seen)
            seen.update(ring)
            sources = [path for path in ring if path.endswith((".cpp", ".cc"))]
            found += sorted(sources, key=lambda path: (path not in preferred, path))
        chosen.update(found[:at_most])
    return sorted(chosen)


def report_baseline(tree: Path, compiler: Compiler, jobs: int) -> None:
    """Print how many operator sources of the unpatched tree compile, and the first error of each that does not."""
    results = compiler.check_all(tree, baseline_sources(tree), str(tree), jobs)
    for path, error in results.items():
        if error:
            print(f"{path}\n    {error}")
    print(f"{sum(not error for error in results.values())} of {len(results)} sources compile unpatched")


def compare(before: Path, after: Path, compiler: Compiler, at_most: int, jobs: int) -> int:
    """Print which sources compiled in `before` and do not in `after`; returns how many those are."""
    changed = [path for path in changed_files(before, after) if path.endswith((".cpp", ".cc", ".h", ".hpp"))]
    headers = [path for path in changed if path.endswith((".h", ".hpp"))]
    own = [path for path in changed if path not in headers]
    further = [path for path in includers(after, headers, at_most) if path not in own]
    print(f"{len(changed)} changed files, {len(headers)} of them headers (+{len(further)} sources that include them)")
    print(f"{converted_sites(before, after, changed)} sites converted")

    known = [path for path in own + further if (before / path).is_file()]
    earlier = compiler.check_all(before, known, str(before), jobs)
    compiled = [path for path in known if not earlier[path]]
    later = compiler.check_all(after, compiled, f"{before}+{digest(after, headers)}", jobs)
    broken = {path: error for path, error in later.items() if error}
    for path, error in broken.items():
        print(f"BROKEN {path}\n    {error}")
    checked = [path for path in own if path in compiled]
    print(f"{len(own) - len(checked)} of {len(own)} changed sources did not compile before and were not checked")
    print(f"{len(compiled) - len(broken)} of {len(compiled)} sources that compiled before compile after")
    return len(broken)


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--headers", type=Path, required=True, metavar="DIR")
    parser.add_argument("--std", default="c++17", help="default: %(default)s")
    parser.add_argument("--level", default="safe", choices=("safe", "review"))
    parser.add_argument("--vocabulary", type=Path, metavar="FILE")
    parser.add_argument("--includers", type=int, default=8, help="sources per changed header, %(default)s")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the patched copy in DIR, which must not exist")
    parser.add_argument("--baseline", action="store_true", help="count what compiles unpatched; apply nothing")
    options = parser.parse_args()
    headers = options.headers.resolve()
    if not (headers / "ATen" / "ops").is_dir():
        parser.error(f"{options.headers}: no ATen/ops below it; name the include folder of a build of this version")
    flags = ("-DAT_PER_OPERATOR_HEADERS",)
    compiler = Compiler(options.std, (headers, headers / "torch/csrc/api/include"), flags)
    tree = options.tree.resolve()
    if options.baseline:
        report_baseline(tree, compiler, options.jobs)
        return 0
    with tempfile.TemporaryDirectory(prefix="symfix-corpus-") as scratch:
        copy = copy_tree(tree, options.keep or Path(scratch) / "tree").resolve()
        apply_in(copy, options.level, options.vocabulary)
        return 1 if compare(tree, copy, compiler, options.includers, options.jobs) else 0


if __name__ == "__main__":
    raise SystemExit(main())
