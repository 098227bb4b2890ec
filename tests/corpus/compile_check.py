"""Does every source that compiled before `symfix apply` compile after it, and without warnings where it did?

    python tests/corpus/compile_check.py TREE --headers DIR [--level review]
    python tests/corpus/compile_check.py TREE --headers DIR --baseline

TREE is a PyTorch checkout or source release, DIR the include folder of a build of the same version (it holds
`ATen/ops`). TREE stays as it is: symfix runs in a copy. Checked are the changed sources and, for each changed
header, sources that include it. `--baseline` only counts how many of the unpatched operator sources compile.
The compiler is that of $CXX, by default g++. Exit 0 where nothing broke, 1 where something did.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from corpus_compile import WARNINGS, Compiler, contents
from corpus_includes import HEADERS, SOURCES, Includes
from corpus_trees import apply_in, changed_files, converted_sites, copy_tree

# The sources whose kernels see symbols and that need no backend's own headers.
BASELINE = (
    "aten/src/ATen/native/*.cpp",
    "aten/src/ATen/native/sparse/*.cpp",
    "aten/src/ATen/native/quantized/*.cpp",
    "aten/src/ATen/functorch/*.cpp",
    "torch/csrc/autograd/FunctionsManual.cpp",
)


def baseline_sources(tree: Path) -> list[str]:
    """The operator sources of `tree`, POSIX and relative to it."""
    return sorted(path.relative_to(tree).as_posix() for pattern in BASELINE for path in tree.glob(pattern))


def report_baseline(tree: Path, compiler: Compiler, jobs: int) -> None:
    """Print how many operator sources of the unpatched tree compile, and the first error of each that does not."""
    sources = baseline_sources(tree)
    results = compiler.check_all(tree, sources, dict.fromkeys(sources, str(tree)), jobs)
    for path, error in results.items():
        if error:
            print(f"{path}\n    {error}")
    print(f"{sum(not error for error in results.values())} of {len(results)} sources compile unpatched")


def compare(before: Path, after: Path, compiler: Compiler, at_most: int, jobs: int) -> int:
    """Print which sources compiled in `before` and do not in `after`; returns how many those are."""
    changed = [path for path in changed_files(before, after) if path.endswith(SOURCES + HEADERS)]
    headers = [path for path in changed if path.endswith(HEADERS)]
    own = [path for path in changed if path.endswith(SOURCES)]
    includes = Includes(after)
    preferred = set(baseline_sources(before))
    users = {path for header in headers for path in includes.sources_of(header, at_most, preferred.__contains__)}
    further = sorted(users.difference(own))
    print(f"{len(changed)} changed files, {len(headers)} of them headers (+{len(further)} sources that include them)")
    print(f"{converted_sites(before, after, changed)} sites converted", flush=True)

    existing = [path for path in own + further if (before / path).is_file()]
    left, broken, compiled = existing, 0, set[str]()
    for how, checker in (("without warnings", replace(compiler, warnings=WARNINGS)), ("with warnings", compiler)):
        earlier = checker.check_all(before, left, dict.fromkeys(left, str(before)), jobs)
        sound = [path for path in left if not earlier[path]]
        states = {path: contents(after, includes.headers_of(path, headers)) for path in sound}
        contexts = {path: f"{before}+{state}" if state else str(before) for path, state in states.items()}
        later = checker.check_all(after, sound, contexts, jobs)
        errors = {path: error for path, error in later.items() if error}
        for path, error in errors.items():
            print(f"BROKEN {path}\n    {error}")
        print(f"{len(sound) - len(errors)} of {len(sound)} sources that compiled {how} before compile so after")
        left, broken = [path for path in left if earlier[path]], broken + len(errors)
        compiled.update(sound)
    print(f"{len(set(own) - compiled)} of {len(own)} changed sources did not compile before and were not checked")
    return broken


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
