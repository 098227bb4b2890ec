"""Give symfix trees that were made to harm who reads them, and watch what it runs, reads and writes.

    python tests/corpus/hostile_tree.py [--only GLOB] [--short] [--workers 2] [--keep DIR]

Each vector of hostile_vectors.py is one trap in a copy of `examples/`: links at the names of temporary files, an
embedded repository, flags in compile_commands.json, a saved plan, [tool.symfix], a foreign cache, a .git/config.
With each, scan, scan --since, diff, apply, review --html, bundle and pr run under strace (without it only what is
left behind is run). Allowed are: to run git, the compiler, and symfix's own Python; to write in the tree's sources
(apply), below .git as a bundle must, in the cache, in the folder of temporary files and to the outputs that the
command line names; and to read nothing of the folder of somebody else. Prints a table; exit 1 where a trap sprang.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from fuzz_promises import FAULT, State, differences, snapshot
from hostile_place import SECRET, Place, command
from hostile_trace import STRACE, Event, Run, TracedRun, watched
from hostile_vectors import EVERY, VECTORS, Vector

_LIMIT = 120.0
_SOURCE = re.compile(r"^(?!.*/\.)(?!\.).*\.(?:cpp|h|py|yaml)$")
_COMPILERS = frozenset({"g++", "c++", "cc1plus", "cc1", "as", "collect2", "ld", "gcc"})
_OWN_SCRATCH = re.compile(
    r"^/tmp/(?:tmp|cc)\w{6,8}(?:/|\.\w+$|$)|^/dev/(?:null|tty|pts/\d+|ptmx)$|^/dev/shm/|^/proc/(?:self|\d+)/"
)


class Call(NamedTuple):
    """The arguments of a command, and the files or folders that they name to be written."""

    arguments: Sequence[str]
    outputs: Sequence[str] = ()


_OPERATOR = ("--op", "tile_mean")  # of examples/; its change is in several files, C++ and Python

_CALLS: Mapping[str, Callable[[Place], Call]] = {
    "scan": lambda place: Call(["scan"]),
    "since": lambda place: Call(["scan", "--since", "HEAD"]),
    "diff": lambda place: Call(["diff", "--level", "review"]),
    "apply": lambda place: Call(["apply", "--no-check", "--level", "review"]),
    "review": lambda place: Call(["review", "--html", "page.html"], ["page.html"]),
    "bundle": lambda place: Call(["bundle", *_OPERATOR, "--include", str(place.headers)]),
    "pr": lambda place: Call(["pr", *_OPERATOR]),
    "shards": lambda place: Call(["bundle", *_OPERATOR, "--dry-run", "--save-shards", "shards.yaml"], ["shards.yaml"]),
    "texts": lambda place: Call(["pr", *_OPERATOR, "--output", "pulls"], ["pulls"]),
    "forget": lambda place: Call(["review", "--forget", "--accept", "op:tile_mean"]),
    "forget all": lambda place: Call(["review", "--forget"]),
    "export": lambda place: Call(
        ["review", "--accept", "level:safe", "--export", "decisions.json"], ["decisions.json"]
    ),
}
"""What is run under each name: all but `--since`, which knows no plan, take a vector's own options."""


class Verdict(NamedTuple):
    """What one command did with one vector. `broken` is empty where nothing went wrong."""

    vector: str
    command: str
    code: int
    broken: tuple[str, ...]


def try_vector(
    vector: Vector, name: str, folder: Path, run_under_watch: Run = watched, analyses: Path | None = None
) -> Verdict:
    """Run the command `name` with the trap of `vector`, in the new folder `folder`; see Place for `analyses`."""
    place = Place(folder, vector.compiler, analyses, run_under_watch)
    place.make()
    vector.tracked(place)
    place.commit()
    vector.planted(place)
    call = _CALLS[name](place)
    options = vector.options(place) if name != "since" else ()
    open_to_all = ["--allow-dirty"] if name == "apply" and options else []
    arguments = [*call.arguments, *open_to_all, *options, *vector.paths]
    before, tree = place.untouchable(), snapshot(place.tree, {".git"})
    place.mark.unlink(missing_ok=True)  # setting the trap may have sprung it
    here = place.tree / vector.folder
    run = run_under_watch([command(), *arguments], here, place.environment, place.folder / "trace", _LIMIT)
    outputs = [os.path.normpath(os.path.join(vector.folder, path)) for path in call.outputs]
    broken = [
        *_sprung(place),
        *_ended(run, name in vector.refused),
        *(f"{path} is not as it was" for path in differences(before, place.untouchable())[:2]),
        *_changed_sources(tree, snapshot(place.tree, {".git"}), name, outputs),
        *_disclosures(place, run, outputs),
        *_trespasses(vector, place, run.events or (), name, outputs),
    ]
    return Verdict(vector.name, name, run.code, tuple(dict.fromkeys(broken)))


def _sprung(place: Place) -> list[str]:
    named = {path.name for path in place.folder.rglob("*PWNED*")}
    return [f"the trap sprang ({sorted(named)[0]})"] if named else []


def _ended(run: TracedRun, refused: bool) -> list[str]:
    if run.timed_out:
        return [f"did not end within {_LIMIT:.0f} s"]
    if FAULT.search(run.err):
        last = run.err.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return [f"a traceback: {last[:100]}"]
    if refused and run.code != 2:
        return [f"exit {run.code}, not 2"]
    return [] if run.code in (0, 1, 2) else [f"exit {run.code}"]


def _changed_sources(before: Mapping[str, State], after: Mapping[str, State], name: str,
                     outputs: Sequence[str]) -> list[str]:  # fmt: skip
    changes = []
    for path in differences(before, after):
        old, new = before.get(path), after.get(path)
        if _within(path, outputs):
            continue
        rewritten = old is not None and new is not None and old.mode == new.mode and _SOURCE.match(path)
        if name != "apply" or not rewritten:
            changes.append(f"{path} {'is new' if old is None else 'is gone' if new is None else 'is changed'}")
    return changes[:2]


def _disclosures(place: Place, run: TracedRun, outputs: Sequence[str]) -> list[str]:
    texts = [run.out, run.err]
    for output in outputs:
        path = place.tree / output
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        texts += [file.read_bytes() for file in files if file.is_file() and not file.is_symlink()]
    return ["shows what another's file holds"] if any(SECRET.encode() in text for text in texts) else []


def _trespasses(vector: Vector, place: Place, events: Sequence[Event], name: str, outputs: Sequence[str]) -> list[str]:
    """What the command did that none may. A compiler reads the headers of others, wherever they are."""
    trespasses: list[str] = []
    for event in events:
        if event.kind == "run" and not _may_run(place, event.path):
            trespasses.append(f"runs {event.path}")
        elif event.kind == "read" and _below(event.path, place.outside) and not vector.compiler:
            trespasses.append(f"reads {_short(place, event.path)}")
        elif event.kind == "write" and not _may_write(place, event.path, name, outputs):
            trespasses.append(f"writes {_short(place, event.path)} ({event.call})")
    return list(dict.fromkeys(trespasses))[:3]


def _may_run(place: Place, path: str) -> bool:
    if _below(path, place.tree):
        return False
    name = os.path.basename(path)
    own = {os.path.realpath(sys.executable), os.path.realpath(command())}
    git = os.path.realpath(shutil.which("git") or "git")
    if path in own or path == git or "/git-core/" in path:
        return True
    compiler = re.sub(r"^x86_64-\w+-\w+-|-\d+$", "", name).removesuffix(".bfd")
    return compiler in _COMPILERS and not _below(path, place.folder / "side")


def _may_write(place: Place, path: str, name: str, outputs: Sequence[str]) -> bool:
    if not _below(path, place.folder):
        return bool(_OWN_SCRATCH.match(path)) or "__pycache__" in path.split("/")  # of symfix and what it imports
    if _below(path, place.cache) or _below(path, place.folder / "tmp") or path == str(place.tree):
        return True
    # The git folder may be elsewhere, and .git the file that says so.
    path = path.replace(str(place.git_elsewhere), f"{place.tree}/.git", 1)
    if not _below(path, place.tree):
        return False
    inner = os.path.relpath(path, place.tree)
    if _within(inner, outputs) or inner == ".":
        return True
    if _within(inner, [".git"]):
        own = [".git", ".git/symfix", ".git/index", ".git/index.lock"]
        bundling = [".git/objects", ".git/refs", ".git/logs", ".git/packed-refs", ".git/packed-refs.lock"]
        return inner in own[:1] or _within(inner, own[1:]) or (name == "bundle" and _within(inner, bundling))
    # A temporary file stands beside its source, or beside the output that it becomes.
    beside = {os.path.dirname(output) for output in outputs}
    return name == "apply" or os.path.dirname(inner) in beside


def _below(path: str, folder: Path) -> bool:
    return path == str(folder) or path.startswith(f"{folder}/")


def _within(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _short(place: Place, path: str) -> str:
    return os.path.relpath(path, place.tree) if _below(path, place.folder) else path


def possible(vector: Vector) -> str:
    """Why the trap of `vector` cannot be set here; "" where it can."""
    if vector.root and os.geteuid() != 0:
        return "only root can set it"
    if vector.compiler and shutil.which("g++") is None:
        return "g++ is not installed"
    return ""


def commands_of(vector: Vector, short: bool) -> list[str]:
    """The commands to try: those where the trap is set, else all."""
    return list(vector.bites) if short else list(dict.fromkeys([*EVERY, *vector.bites]))


def table(verdicts: Sequence[Verdict]) -> list[str]:
    """A row for each vector, a mark for each command, and a line for whatever went wrong."""
    names = list(dict.fromkeys(verdict.command for verdict in verdicts))
    width = max(len(verdict.vector) for verdict in verdicts)
    lines = ["  ".join([" " * width, *(f"{name:<7}" for name in names)]).rstrip()]
    for vector in dict.fromkeys(verdict.vector for verdict in verdicts):
        marks = {v.command: "BROKEN" if v.broken else f"exit {v.code}" for v in verdicts if v.vector == vector}
        lines.append("  ".join([f"{vector:<{width}}", *(f"{marks.get(name, ''):<7}" for name in names)]).rstrip())
    lines += ["", *(f"BROKEN {v.vector}, {v.command}: {'; '.join(v.broken)}" for v in verdicts if v.broken)]
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", metavar="GLOB", help="only vectors of such a name")
    parser.add_argument("--short", action="store_true", help="only the commands where a trap is set for")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="a new folder where everything is left as it is")
    options = parser.parse_args(arguments)
    vectors = [vector for vector in VECTORS if fnmatch.fnmatch(vector.name, options.only)]
    here = [vector for vector in vectors if not possible(vector)]
    tries = [(vector, name) for vector in here for name in commands_of(vector, options.short)]
    if not tries:
        print(f"--only {options.only}: no vector that can be tried here has such a name")
        return 2
    scratch = options.keep or Path(tempfile.mkdtemp(prefix="symfix-hostile-"))

    def attempt(number: int) -> Verdict:
        folder = scratch.resolve() / f"{number:03}"
        verdict = try_vector(*tries[number], folder)
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{number + 1} of {len(tries)}: {verdict.vector}, {verdict.command}")
        return verdict

    with ThreadPoolExecutor(options.workers) as pool:
        verdicts = list(pool.map(attempt, range(len(tries))))
    if options.keep is None:
        shutil.rmtree(scratch, ignore_errors=True)
    sys.stderr.write("\r\x1b[K" if sys.stderr.isatty() else "")
    print("\n".join(table(verdicts)))
    broken = sum(bool(verdict.broken) for verdict in verdicts)
    skipped = [vector.name for vector in vectors if possible(vector)]
    print("\n".join([*(f"not tried: {name}" for name in skipped), *([] if STRACE else ["strace is not installed"])]))
    print(f"{len(verdicts) - broken} of {len(verdicts)} runs kept to what is allowed")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
