"""What a tree's own linters say of what `symfix apply --level review` writes there, and did not say before.

    python tests/corpus/own_linters.py TREE [--python PYTHON] [--without CODE ...]

TREE is a checkout of PyTorch, or of another project with a `.lintrunner.toml`, and stays as it is: symfix runs in a
copy. Each linter runs as lintrunner runs it, with the interpreter PYTHON and what is installed beside it, over the
changed files that its patterns name: install what `init_command` of each names first, as nothing is installed here.
MYPY, MYPYSTRICT and CLANGTIDY, which read more than what is changed, are asked where `--all` is given.
Exit 0 where nothing is new, 1 where something is, 2 where no linter ran.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from corpus_trees import apply_in, changed_files, copy_tree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WHOLE = ("MYPY", "MYPYSTRICT", "CLANGTIDY")
_GLOB = {r"\*\*/": "(?:.*/)?", r"\*\*": ".*", r"\*": "[^/]*", r"\?": "."}


def pattern(glob: str) -> re.Pattern[str]:
    """The paths that a pattern of lintrunner names."""
    return re.compile(re.sub(r"\\\*\\\*/|\\\*\\\*|\\\*|\\\?", lambda found: _GLOB[found[0]], re.escape(glob)))


def files_of(linter: Mapping[str, Any], paths: Sequence[str]) -> list[str]:
    """The paths that a linter looks at."""
    named, passed = (
        [pattern(glob) for glob in linter.get(key, ())] for key in ("include_patterns", "exclude_patterns")
    )
    return [
        path
        for path in paths
        if any(glob.fullmatch(path) for glob in named) and not any(glob.fullmatch(path) for glob in passed)
    ]


def messages(tree: Path, linter: Mapping[str, Any], paths: Sequence[str], python: Path) -> Counter[str] | None:
    """What a linter says of files of a tree, by path, without the lines; None where it could not run."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
        names.write("".join(f"{tree / path}\n" for path in paths))
        names.flush()
        command = [part.replace("{{PATHSFILE}}", names.name) for part in linter["command"]]
        command[0] = str(python) if command[0].startswith("python") else command[0]
        environment = {**os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"}
        try:
            run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
        except OSError:
            return None
    said = list(_read(run.stdout))
    if run.returncode or any(message.get("name") == "command-failed" for message in said):
        return None
    return Counter(
        f"{str(message.get('path') or '').removeprefix(f'{tree}/')}: {message.get('name')}: "
        f"{' '.join(str(message.get('description') or '').replace(f'{tree}/', '').split())[:200]}"
        for message in said
    )


def _read(printed: str) -> Iterator[Mapping[str, Any]]:
    for line in printed.splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def main() -> int:
    """Print what is new, linter by linter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument(
        "--python", type=Path, default=Path(sys.executable), help="the interpreter that has the linters"
    )
    parser.add_argument("--without", nargs="*", default=[], metavar="CODE", help="linters that are not asked")
    parser.add_argument("--all", action="store_true", help=f"ask {', '.join(WHOLE)} too")
    options = parser.parse_args()
    configuration = options.tree / ".lintrunner.toml"
    if not configuration.is_file():
        raise SystemExit(f"{configuration}: not found; name a tree that has it")
    linters = tomllib.loads(configuration.read_text(encoding="utf-8"))["linter"]
    left = {*options.without, *(() if options.all else WHOLE)}
    ran = new = 0
    with tempfile.TemporaryDirectory() as scratch:
        before, after = (copy_tree(options.tree, Path(scratch).resolve() / name) for name in ("before", "after"))
        apply_in(after, "review")
        changed = changed_files(before, after)
        for linter in linters:
            paths = files_of(linter, changed)
            if not paths or linter["code"] in left:
                continue
            asked = [messages(tree, linter, paths, options.python.absolute()) for tree in (before, after)]
            if asked[0] is None or asked[1] is None:
                print(f"{linter['code']}: did not run", flush=True)
                continue
            fresh = asked[1] - asked[0]
            ran, new = ran + 1, new + len(fresh)
            print(f"{linter['code']}: {len(paths)} files, {len(fresh)} new", *sorted(fresh), sep="\n  ", flush=True)
    print(f"{options.tree}: {len(changed)} files changed, {ran} linters ran, {new} of their messages are new")
    return 2 if not ran else int(new > 0)


if __name__ == "__main__":
    sys.exit(main())
