"""Recordings: what one symfix says about trees, as files to compare with what another says.

OUT/TREE/recorded.json         which symfix, the id of the tree as git has it, the seconds of each command
OUT/TREE/RUN.stdout            what a command of RUNS says, with its .stderr and its .exit code; the path of the
                               scratch folder reads SCRATCH, that of installed packages SITE-PACKAGES
OUT/TREE/page.data.json        what the page of `review --html` shows
OUT/TREE/bundle.commits.json   each branch that bundle made: its commit, parent, tree and message
OUT/TREE/sources/              the files that findings name, as they were
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from corpus_trees import IDENTITY, commit_all, git

CHECKOUT = Path(__file__).resolve().parent.parent.parent
RUNS = {
    "scan-json": ("scan", "--format", "json"),
    "scan": ("scan",),
    "diff": ("diff",),
    "diff-review": ("diff", "--level", "review"),
    "page": ("review", "--html", "../page.html"),
    "bundle": ("bundle",),
    "bundle-review": ("bundle", "--level", "review"),
}
"""The commands, in the order in which they run; the first has no cache, and the last meets the branches before it."""
_META = "recorded.json"
_SOURCES = "sources"
_DATA = re.compile(rb'<script type="application/json" id="data">(.*?)</script>', re.S)

# Where the installed torch lies, whose headers and vocabulary a plan names.
_PACKAGES = re.compile(rb"/[^\s\"'`]*?/(?:site|dist)-packages(?=/)")


class RecordingError(Exception):
    """A tree or a recording cannot be used; the text says which, and what to do."""


@dataclass(frozen=True)
class TreeRecording:
    """What was recorded about one tree."""

    name: str
    folder: Path

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Which symfix, the id of the tree, and how long each command took, in seconds."""
        document: dict[str, Any] = json.loads((self.folder / _META).read_bytes())
        return document

    @cached_property
    def findings(self) -> list[dict[str, Any]]:
        """The findings of `scan --format json`; none where it failed."""
        try:
            document = json.loads((self.folder / "scan-json.stdout").read_bytes())
        except ValueError:
            return []
        findings: list[dict[str, Any]] = document["findings"]
        return findings

    def outputs(self) -> list[str]:
        """The names of the recorded files that are to be the same: all but the sources and what tells of the run."""
        return sorted(path.name for path in self.folder.iterdir() if path.is_file() and path.name != _META)

    def output(self, name: str) -> bytes | None:
        """The bytes of one recorded file, None where there is none."""
        path = self.folder / name
        return path.read_bytes() if path.is_file() else None

    def source(self, path: str) -> bytes:
        """The bytes of a file that a finding names, b"" where the tree has none of that name."""
        file = self.folder / _SOURCES / path
        return file.read_bytes() if file.is_file() else b""

    def failures(self) -> list[str]:
        """A line for each command that failed, or did a part only: how it ended, and what it says last."""
        lines = []
        for run in RUNS:
            code = (self.output(f"{run}.exit") or b"?").decode().strip()
            said = (self.output(f"{run}.stderr") or b"").decode("utf-8", "replace").splitlines()
            # An uncaught exception leaves with 1, as findings do.
            if code not in ("0", "1") or any(line.startswith("Traceback ") for line in said):
                lines.append(f"{self.name}: {run}: exit {code}: {said[-1] if said else 'without a word'}")
        return lines

    def commits(self, run: str) -> dict[str, dict[str, str]]:
        """The branches that a run of bundle made, by name."""
        content = self.output(f"{run}.commits.json")
        branches: dict[str, dict[str, str]] = json.loads(content) if content else {}
        return branches


def open_recording(folder: Path) -> dict[str, TreeRecording]:
    """The trees of a recording by name, or the only one where `folder` is that of a tree.

    Raises RecordingError where it is neither.
    """
    if (folder / _META).is_file():
        return {folder.resolve().name: TreeRecording(folder.resolve().name, folder)}
    trees = sorted(path.parent for path in folder.glob(f"*/{_META}") if not path.parent.name.startswith("."))
    if not trees:
        raise RecordingError(f"{folder}: holds no recording; make one with: compare_outputs.py record {folder} TREE")
    return {tree.name: TreeRecording(tree.name, tree) for tree in trees}


def own_symfix() -> list[str]:
    """The symfix of this checkout and this interpreter. Raises RecordingError where what is installed is another's."""
    command = Path(sys.executable).with_name("symfix")
    question = "import importlib.util as util; spec = util.find_spec('codemod'); print(spec.origin if spec else '')"
    asked = subprocess.run([sys.executable, "-c", question], cwd="/", capture_output=True, text=True, check=True)
    if not command.exists() or not Path(asked.stdout.strip()).is_relative_to(CHECKOUT):
        raise RecordingError(
            f"{sys.executable}: its symfix is not that of {CHECKOUT}; "
            f"install that with: {sys.executable} -m pip install -e {CHECKOUT}, or name a command with --symfix"
        )
    return [str(command)]


def tree_name(argument: str) -> str:
    """The name under which the tree of an argument is recorded. Raises RecordingError where there is no such tree."""
    if argument == "torch":
        _torch_package()
        return argument
    folder = CHECKOUT / "examples" if argument == "examples" else Path(argument)
    if not folder.is_dir():
        raise RecordingError(f"{argument}: not a folder; name one, or examples, or torch")
    return folder.resolve().name


def refuse_recorded(folder: Path) -> None:
    """Raise RecordingError where there is something at the place of a new recording already."""
    if folder.exists():
        raise RecordingError(f"{folder}: exists already; remove it, or record into another folder")


def record_tree(argument: str, out: Path, command: Sequence[str]) -> Iterator[str]:
    """Record what symfix says about the tree of an argument, below `out`; says of each step how it went.

    Nothing is left of a recording that is interrupted. Raises RecordingError where there is one already.
    """
    name = tree_name(argument)
    refuse_recorded(out / name)
    partial = out / f".{name}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        with tempfile.TemporaryDirectory(prefix="symfix-corpus-") as scratch:
            yield from _record(argument, Path(scratch).resolve() / name, partial, command)
        partial.rename(out / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _record(argument: str, tree: Path, out: Path, command: Sequence[str]) -> Iterator[str]:
    begin = time.monotonic()
    _copy(argument, tree)
    identifier = commit_all(tree)
    yield f"copied and committed in {time.monotonic() - begin:.1f} s"
    environment = _environment(tree.parent)
    seconds: dict[str, float] = {}
    for run, arguments in RUNS.items():
        begin = time.monotonic()
        done = subprocess.run([*command, *arguments], cwd=tree, env=environment, capture_output=True, check=False)
        seconds[run] = round(time.monotonic() - begin, 1)
        for stream, content in (("stdout", done.stdout), ("stderr", done.stderr)):
            alike = content.replace(os.fsencode(tree.parent), b"SCRATCH")
            (out / f"{run}.{stream}").write_bytes(_PACKAGES.sub(b"SITE-PACKAGES", alike))
        (out / f"{run}.exit").write_text(f"{done.returncode}\n", encoding="ascii")
        if "bundle" in run:
            (out / f"{run}.commits.json").write_text(json.dumps(_commits(tree), indent=1), encoding="ascii")
        yield f"{run}: {seconds[run]} s, exit {done.returncode}"
    page = tree.parent / "page.html"
    if page.is_file():
        (out / "page.data.json").write_text(json.dumps(page_data(page.read_bytes()), indent=1), encoding="ascii")
    recording = TreeRecording(tree.name, out)
    _keep_sources(recording, tree)
    version = subprocess.run([*command, "--version"], env=environment, capture_output=True, text=True, check=False)
    meta = {"symfix": version.stdout.strip(), "command": shlex.join(command), "tree": identifier, "seconds": seconds}
    (out / _META).write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
    yield f"{len(recording.findings):,} findings recorded, in {sum(seconds.values()):.0f} s"


def named_paths(findings: Iterable[dict[str, Any]]) -> set[str]:
    """The files that findings name: their own, and those of their edits, reach and flow."""
    listed = list(findings)
    parts = (part for finding in listed for key in ("edits", "reach", "flow") for part in finding[key])
    return {finding["path"] for finding in listed} | {part["path"] for part in parts}


def page_data(page: bytes) -> Any:
    """What the page of `review --html` shows. Raises RecordingError where it holds no data."""
    data = _DATA.search(page)
    if data is None:
        raise RecordingError("the page of review --html holds no element of the id `data` with JSON")
    return json.loads(data[1])


def _copy(argument: str, target: Path) -> None:
    """Copy the tree of an argument to `target`: of `torch` the Python that is not vendored."""
    ignored = shutil.ignore_patterns(".git", "__pycache__")
    if argument != "torch":
        source = CHECKOUT / "examples" if argument == "examples" else Path(argument)
        shutil.copytree(source, target, symlinks=True, ignore=ignored)
        return
    package = _torch_package()
    for path in package.rglob("*.py"):
        below = path.relative_to(package)
        if "_vendor" not in below.parts:
            (target / "torch" / below).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / "torch" / below)


def _torch_package() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise RecordingError("torch: not installed in this environment; install it, or name a folder")
    return Path(spec.origin).parent


def _environment(scratch: Path) -> dict[str, str]:
    """What symfix runs in: nothing of the user's that could change what it says, and no cache but its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SYMFIX_"))}
    return {
        **kept,
        **IDENTITY,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "XDG_CACHE_HOME": str(scratch / "cache"),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
        "CXX": os.devnull,  # bundle compiles nothing then, and says so
        "SOURCE_DATE_EPOCH": "1700000000",
    }


def _commits(tree: Path) -> dict[str, dict[str, str]]:
    """The commit of each branch of bundle: its parent (a branch, where one stands there), tree and message."""
    listed = git(tree, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/").decode().splitlines()
    tips = dict(line.split(" ") for line in listed)
    names = {commit: branch for branch, commit in sorted(tips.items(), reverse=True)}
    branches = {}
    for branch, commit in tips.items():
        if branch == "main":
            continue
        parent, tree_id, message = git(tree, "log", "-1", "--format=%P%n%T%n%B", commit).decode().split("\n", 2)
        branches[branch] = {"commit": commit, "parent": names.get(parent, parent), "tree": tree_id, "message": message}
    return branches


def _keep_sources(recording: TreeRecording, tree: Path) -> None:
    """Copy the files of the tree that findings name."""
    for path in sorted(named_paths(recording.findings)):
        if not os.path.isabs(path) and (tree / path).is_file():  # else of the installed torch
            target = recording.folder / _SOURCES / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree / path, target)
