"""One round of fuzz.py: a tree made from its seed, changed, given to symfix, and what did not hold."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from fuzz_documents import make_pyproject, mutate_yaml
from fuzz_mutations import mutations_of
from fuzz_promises import (
    Bounds,
    Span,
    State,
    Violation,
    check_printable,
    check_run,
    check_syntax,
    check_unchanged,
    differences,
    edits_of,
    made_edits,
    snapshot,
)
from fuzz_server import Outcome, Server
from fuzz_special import SPECIALS, sources_of
from fuzz_trees import OPERATORS, Source

_GIT_MOVES = frozenset({"index", "symfix"})
"""What belongs to symfix in the git folder, and what git itself refreshes."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all rounds of a worker share. `tools` is all of $PATH, `headers` stand for torch's."""

    server: Server
    source: Source
    bounds: Bounds
    tools: Path
    headers: Path


@dataclass(slots=True)
class Round:
    """A round in the folder `folder`, which is new. Its parts are made one after the other from `chance`."""

    around: Surroundings
    folder: Path
    chance: Random
    changes: list[str] = field(default_factory=list)
    """What was done to the tree, in words."""
    culprits: list[str] = field(default_factory=list)
    """The files that were changed, which messages have to name."""
    runs: list[Outcome] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    edits: int = 0
    """Edits that `apply` was seen to make, at least one in each of `written` files."""
    written: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    under_git: bool = True
    _beside: dict[str, State] = field(default_factory=dict)

    @property
    def tree(self) -> Path:
        """The tree that symfix is given."""
        return self.folder / "tree"

    @property
    def side(self) -> Path:
        """A folder beside it, for files that the command line names."""
        return self.folder / "side"

    @property
    def environment(self) -> dict[str, str]:
        """That of every run, and of git."""
        return {
            "PATH": str(self.around.tools),
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "TMPDIR": str(self.folder / "tmp"),
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CEILING_DIRECTORIES": str(self.folder),
        }

    def build(self) -> None:
        """Make the tree, change it, and commit it mostly."""
        for name in ("home", "cache", "tmp", "side", "outside", "log"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "home" / ".gitconfig").write_text(
            "[user]\n\tname = t\n\temail = t@example.org\n[init]\n\tdefaultBranch = main\n", encoding="ascii"
        )
        (self.folder / "outside" / "victim.txt").write_bytes(b"nobody may change this\n")
        (self.folder / "outside" / "secret.cpp").write_bytes(b"int64_t secret(at::Tensor x) { return x.size(0); }\n")
        sources = self.around.source.build(self.tree, self.chance)
        for _ in range(self.chance.choice((1, 1, 2, 3))):
            self._change_file(self.chance.choice(sources))
        if self.chance.random() < 0.25:
            self._change_yaml(self.chance.choice((OPERATORS, OPERATORS, "tools/autograd/derivatives.yaml")))
        if self.chance.random() < 0.15:
            text = make_pyproject(self.chance)
            (self.tree / "pyproject.toml").write_bytes(text)
            self._changed("pyproject.toml", "made up")
            self.culprits += re.findall(r'"([^"]*[./][^"]*)"', text.decode("latin-1"))
        late = self.chance.random() < 0.4
        if not late:
            self._plant()
        self.under_git = self.chance.random() < 0.8
        if self.under_git:
            self._commit()
        if late:
            self._plant()
        if not self.under_git:
            self.culprits.append("tree")
        self._beside = self._snapshot_beside()

    def _change_file(self, path: str) -> None:
        place = self.tree / path
        if path.endswith(".yaml") or not place.is_file():
            return
        mutations = mutations_of(path)
        name = self.chance.choice(list(mutations))
        place.write_bytes(mutations[name](place.read_bytes(), self.chance))
        self._changed(path, name)

    def _change_yaml(self, path: str) -> None:
        place = self.tree / path
        if place.is_file():
            place.write_bytes(mutate_yaml(place.read_bytes(), self.chance))
            self._changed(path, "YAML")

    def _plant(self) -> None:
        for _ in range(self.chance.choice((0, 0, 0, 1, 1, 2))):
            name = self.chance.choice(list(SPECIALS))
            try:
                for path in SPECIALS[name](self.tree, self.chance):
                    self._changed(path, name)
            except OSError as error:  # what another change of this round stands in the way of
                self.changes.append(f"{name}: {error.strerror}")

    def _changed(self, path: str, what: str) -> None:
        self.changes.append(f"{path!r}: {what}")
        self.culprits.append(path)

    def _commit(self) -> None:
        if os.path.lexists(self.tree / ".git"):
            self.under_git = False
            return
        self.git("init", "-q", ".")
        if self.git("add", "-A"):  # as for an encoding that the files have not: none is in the last commit then
            self.culprits += sources_of(self.tree)
        self.git("commit", "-q", "--allow-empty", "-m", "start")

    def git(self, *arguments: str) -> int:
        """Run git in the tree; returns its exit code, for there are trees that it does not take either."""
        return subprocess.run(["git", *arguments], cwd=self.tree, env=self.environment, capture_output=True,
                              check=False).returncode  # fmt: skip

    def symfix(self, *arguments: str, form: str = "text", named: Sequence[str] = (), writes: Sequence[str] = (),
               megabytes: int = 0, seconds: float = 0) -> Outcome:  # fmt: skip
        """Run the command in the tree, and note what did not hold.

        `named` are more files that a message may be about, `writes` the parts of the tree ("." for all, ".git" for
        the git folder) that this run is to change, `megabytes` and `seconds` what it may take if that is more than
        others may.
        """
        before = self.files(), self._git_files()
        log = self.folder / "log" / f"{len(self.runs) + 1:02}-{arguments[0]}"
        usual = self.around.bounds
        bounds = replace(usual, megabytes=max(megabytes, usual.megabytes), seconds=max(seconds, usual.seconds))
        run = self.around.server.run(arguments, self.tree, self.environment, log, bounds.limit, 1.5 * bounds.seconds)
        self.runs.append(run)
        violations = check_run(run, bounds, [*self.culprits, *named])
        if not run.timed_out:
            violations += check_printable(run, form, self.files().keys() if form == "github" else ())
        if "." not in writes:
            violations += check_unchanged(f"{arguments[0]} writes nothing", before[0], self.files())
        if ".git" not in writes:
            violations += check_unchanged("the git folder stays as it is", before[1], self._git_files())
        beside = self._snapshot_beside()
        violations += check_unchanged("nothing outside of the tree changes", self._beside, beside)
        self._beside = beside
        leftovers = sorted(os.listdir(self.folder / "tmp"))
        if leftovers and not run.timed_out:
            violations.append(Violation("no temporary file is left", leftovers[0], arguments[0]))
            shutil.rmtree(self.folder / "tmp")
            (self.folder / "tmp").mkdir()
        self.violations += violations
        return run

    def files(self) -> dict[str, State]:
        """The tree as it is, without its git folder."""
        return snapshot(self.tree, {".git"})

    def _git_files(self) -> dict[str, State]:
        """What no run may change in the git folder; a link of that name, which a round may plant, is of `files`."""
        folder = self.tree / ".git"
        return snapshot(folder, _GIT_MOVES) if folder.is_dir() and not folder.is_symlink() else {}

    def _snapshot_beside(self) -> dict[str, State]:
        return snapshot(self.folder, {"tree", "cache", "tmp", "log", "side", "patched"})

    def change(self, level: str, more: Sequence[str] = (), plan: bytes = b"", twice: bool = True) -> None:
        """diff, apply, and apply again with the options `more`.

        `plan` holds all edits that there are to make; where it is empty, as of a scan that was refused, the files are
        compared with the diff alone.
        """
        before = self.files()
        options = ["--level", level, *more]
        diff = self.symfix("diff", *options, form="patch", named=more)
        if self.chance.random() < 0.15:
            other = self.symfix("diff", *options, "--no-cache", "--jobs", "3", form="patch", named=more)
            if (other.out, other.code) != (diff.out, diff.code) and not (other.timed_out or diff.timed_out):
                self._break("the diff is deterministic", "diff with --no-cache --jobs 3 is another")
        patched = self.patched(before, diff.out)
        quietly = (*options, "--no-check", "--allow-dirty", "--allow-no-vcs")
        applied = self.symfix("apply", *quietly, named=more, writes=(".",))
        if diff.timed_out or applied.timed_out or diff.code < 0 or applied.code < 0:
            return
        after = self.files()
        if diff.code != applied.code:
            message = applied.err.decode("utf-8", "replace").strip().rpartition("\n")[2][:150]
            self._break("diff says what apply does", f"diff exits {diff.code}, apply {applied.code}: {message}")
        self.violations += check_unchanged("git apply gives what apply writes", patched, after)
        self._check_written(before, after, edits_of(plan) if plan else None)
        if twice:
            again = self.symfix("apply", *quietly, named=more, writes=(".",))
            self.violations += check_unchanged("a second apply changes nothing", after, self.files())
            if again.code == 1:
                self._break("a second apply changes nothing", "it exits 1")

    def _check_written(self, before: dict[str, State], after: dict[str, State],
                       edits: dict[str, list[Span]] | None) -> None:  # fmt: skip
        for path in differences(before, after):
            old, new = before.get(path), after.get(path)
            if old is None or new is None or old.mode != new.mode:
                self._break("apply changes bytes only", f"{path!r} is new, gone or of another mode")
                continue
            self.written += 1
            if edits is not None:
                count = made_edits(old.content, new.content, edits.get(path, ()))
                if count is None:
                    self._break("bytes outside an edit", f"{path!r} is not what edits alone make of it")
                self.edits += count or 0
            self.violations += check_syntax(path, old.content, new.content)

    def patched(self, before: dict[str, State], diff: bytes) -> dict[str, State]:
        """What `git apply` of `diff` makes of the files `before`."""
        target = self.folder / "patched"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        if not diff:
            return before
        for path, state in before.items():
            place = target / path
            if stat.S_ISDIR(state.mode):
                place.mkdir(parents=True, exist_ok=True)
            elif stat.S_ISLNK(state.mode):
                place.parent.mkdir(parents=True, exist_ok=True)
                os.symlink(state.content, place)
            elif stat.S_ISREG(state.mode):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(state.content)
        process = subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=target, env=self.environment,
                              input=diff, capture_output=True, check=False)  # fmt: skip
        if process.returncode:
            message = process.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            self._break("git apply takes the diff", message[:200])
            return before
        states = snapshot(target)
        return {path: state._replace(content=states[path].content) if path in states else state
                for path, state in before.items()}  # fmt: skip

    def _break(self, promise: str, detail: str) -> None:
        self.violations.append(Violation(promise, detail))

    def count_refusals(self, plan: bytes) -> None:
        """Count the findings of a plan that are left alone, by their codes."""
        try:
            codes = [finding["refusal"] for finding in json.loads(plan)["findings"]]
        except (ValueError, KeyError, TypeError, RecursionError):
            return
        self.refusals.update(code for code in codes if code)


def round_chance(seed: int, number: int) -> Random:
    """The generator of a round: the same on every machine."""
    return Random(int.from_bytes(hashlib.sha256(f"{seed}:{number}".encode()).digest()[:8], "big"))
