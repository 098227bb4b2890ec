"""The scratch folder in which a hostile tree is given to symfix: the tree, what lies beside it, and traps."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fuzz_promises import State, snapshot
from fuzz_trees import EXAMPLES, make_headers, make_tools
from hostile_trace import Run, watched

SECRET = "SECRET-OF-ANOTHER-FOLDER"
"""What files outside of the tree say; no output may."""

_SYMFIX_MOVES = frozenset({"index", "symfix", "objects", "refs", "logs", "packed-refs"})


@dataclass(frozen=True)
class Place:
    """One scratch folder. `compiler` says whether a real compiler is on the $PATH of its runs.

    `analyses` is a cache that runs in the same folder have left; without it each analysis is made anew. `run` is how
    symfix is run before anything is hostile.
    """

    folder: Path
    compiler: bool = False
    analyses: Path | None = None
    run: Run = watched

    @property
    def tree(self) -> Path:
        """The tree that symfix is given."""
        return self.folder / "tree"

    @property
    def outside(self) -> Path:
        """A folder of somebody else: nothing may be read or written there."""
        return self.folder / "outside"

    @property
    def victim(self) -> Path:
        """A file there."""
        return self.outside / "victim.txt"

    @property
    def git_elsewhere(self) -> Path:
        """The git folder where it is not in the tree."""
        return self.folder / "elsewhere.git"

    @property
    def side(self) -> Path:
        """Files that the command line names."""
        return self.folder / "side"

    @property
    def mark(self) -> Path:
        """The file that appears when a trap has sprung."""
        return self.folder / "marks" / "PWNED"

    @property
    def trap(self) -> str:
        """A shell command that makes the mark, and then fails."""
        return f"touch {self.mark}; false"

    @property
    def cache(self) -> Path:
        """The user's cache folder."""
        return self.folder / "cache"

    @cached_property
    def headers(self) -> Path:
        """A folder that is taken for torch's headers."""
        return make_headers(self.folder / "headers")

    @cached_property
    def tools(self) -> Path:
        """All of $PATH, but for what a real compiler needs."""
        tools = make_tools(self.folder / "tools")
        compiler = shutil.which("g++")
        if self.compiler and compiler:
            (tools / "g++").unlink()
            (tools / "g++").symlink_to(compiler)
        return tools

    @property
    def environment(self) -> dict[str, str]:
        """That of every run."""
        return {
            "PATH": f"{self.tools}{':/usr/bin' if self.compiler else ''}",
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(self.cache),
            "TMPDIR": str(self.folder / "tmp"),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CEILING_DIRECTORIES": str(self.folder),
        }

    def make(self) -> None:
        """Make the folder, with `examples/` less its library as the tree."""
        for name in ("outside", "side", "marks", "home", "tmp"):
            (self.folder / name).mkdir(parents=True)
        if self.analyses:
            shutil.copytree(self.analyses, self.cache)
        else:
            self.cache.mkdir()
        for path in (self.victim, self.outside / "template.md.j2", self.outside / "vocabulary.yaml"):
            path.write_text(f"{SECRET}\n- func: {SECRET}(Tensor self) -> Tensor\n", encoding="ascii")
        (self.folder / "home" / ".gitconfig").write_text(
            "[user]\n\tname = t\n\temail = t@example.org\n[init]\n\tdefaultBranch = main\n", encoding="ascii"
        )
        shutil.copytree(EXAMPLES, self.tree, ignore=shutil.ignore_patterns(".git", "__pycache__", "library"))

    def commit(self) -> None:
        """Commit all of the tree."""
        self.git("init", "-q", ".")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "start")

    def git(self, *arguments: str, folder: Path | None = None) -> str:
        """What git prints in the tree, or in `folder`; raises CalledProcessError where it fails."""
        process = subprocess.run(["git", *arguments], cwd=folder or self.tree, env=self.environment, check=True,
                              capture_output=True, text=True)  # fmt: skip
        return process.stdout

    def symfix(self, *arguments: str) -> bytes:
        """What symfix prints in the tree before anything is hostile."""
        log = self.folder / "before"
        return self.run([command(), *arguments], self.tree, self.environment, log, 120.0).out

    def write(self, path: str, text: str, executable: bool = False) -> Path:
        """Write a file of the tree; returns where it is."""
        place = self.tree / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        if executable:
            place.chmod(place.stat().st_mode | stat.S_IXUSR)
        return place

    def link(self, path: str, target: str) -> None:
        """Make a link of the tree; `target` is relative to the tree where it is not absolute."""
        place = self.tree / path
        place.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(target if os.path.isabs(target) else "../" * path.count("/") + target, place)

    def untouchable(self) -> Mapping[str, State]:
        """Everything that no command may change: all but the tree's own sources and what belongs to symfix."""
        states = {f"outside/{path}": state for path, state in snapshot(self.outside).items()}
        states |= {f"home/{path}": state for path, state in snapshot(self.folder / "home").items()}
        states |= {f"side/{path}": state for path, state in snapshot(self.side).items()}
        if (self.tree / ".git").is_dir():
            git = snapshot(self.tree / ".git", _SYMFIX_MOVES)
            states |= {f".git/{path}": state for path, state in git.items()}
        return states


def command() -> str:
    """The installed `symfix` of this environment. Raises SystemExit where there is none."""
    place = Path(sys.executable).with_name("symfix")
    if not place.exists():
        raise SystemExit(f"{place}: not found; install symfix into this environment first")
    return str(place)
