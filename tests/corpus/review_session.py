"""Review a tree in `symfix review` as a person would, under tmux: does `apply --accepted` write what was accepted?

    python tests/corpus/review_session.py TREE [--operators 20]

A copy of TREE is made and committed. On a terminal of 160x50, then 80x24 and 60x20, the session decides the changes of
20 operators with every key that decides, edits one, takes one back, skips one, quits, comes back, finds that the review
goes on at what was skipped, and applies. What it then expects of each file is computed here, from the plan and from
what the screen said was in view when a key was pressed. Exit 1 where a file, or the list of changed files, is another.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from corpus_trees import copy_tree, symfix

PATIENCE = 180.0  # seconds; a cold analysis comes first
EDITOR = "sed -i '$s/$/ /'"  # a space at the end of the last line means nothing in any language
_TITLE = re.compile(
    r"^ (?P<operator>\S+)(?: \d+/\d+)? .*(?:safe|review)  (?P<state>\w+) \[(?P<place>\d+)/(?P<count>\d+)\]"
)
_LEFT = r" \d+ to decide$"
_PLACE = re.compile(r"^(\S+):(\d+)$")


class View(NamedTuple):
    """What the screen says is in view."""

    operator: str
    state: str
    place: int
    total: int
    site: tuple[str, int]


class Tmux:
    """A session of tmux that runs `command` in `folder`, on a server of its own."""

    def __init__(self, folder: Path, command: str = "bash --norc") -> None:
        self._server = ["tmux", "-L", folder.name, "-f", "/dev/null"]
        self._run("new-session", "-d", "-s", "review", "-x", "160", "-y", "50", "-c", str(folder), command)
        self._run("set", "-t", "review", "status", "off")

    def close(self) -> None:
        """End it, and what runs in it, where that has not ended by itself."""
        subprocess.run([*self._server, "kill-server"], capture_output=True, check=False)

    def pid(self) -> int:
        """The process id of the command."""
        return int(self._run("display-message", "-p", "-t", "review", "#{pane_pid}"))

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the terminal."""
        self._run("resize-window", "-t", "review", "-x", str(columns), "-y", str(lines))

    def press(self, *keys: str) -> None:
        """Press `keys`, as tmux names them."""
        self._run("send-keys", "-t", "review", *keys)

    def screen(self) -> list[str]:
        """The lines on the terminal."""
        return self._run("capture-pane", "-p", "-t", "review").splitlines()

    def await_line(self, pattern: str) -> str:
        """The first line that `pattern` matches, once there is one. Raises SystemExit where there is none."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = next((line for line in self.screen() if re.search(pattern, line)), None)
            if found is not None:
                return found
            time.sleep(0.05)
        raise SystemExit(f"no {pattern!r} on the screen:\n" + "\n".join(self.screen()))

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([*self._server, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"tmux {arguments[0]}: {done.stderr.strip()}")
        return done.stdout


class Reviewer:
    """Presses keys, and remembers what was in view: `chosen` maps the place of a change to y, n or e."""

    def __init__(self, terminal: Tmux) -> None:
        self._terminal = terminal
        self.chosen: dict[tuple[str, int], str] = {}
        self.skipped: list[View] = []

    def view(self) -> View:
        """What is in view. Raises SystemExit where the screen is no review."""
        self._terminal.await_line(_TITLE.pattern)
        lines = self._terminal.screen()
        title = _TITLE.match(lines[0])
        site = next((match for match in map(_PLACE.match, lines[1:6]) if match), None)
        if title is None or site is None:
            raise SystemExit("the screen shows no change:\n" + "\n".join(lines))
        place, count = int(title["place"]), int(title["count"])
        return View(title["operator"], title["state"], place, count, (site[1], int(site[2])))

    def decide(self, key: str) -> None:
        """Decide what is in view with y, n or e, or skip it with s."""
        view = self.view()
        if key == "s":
            self._terminal.press(key)
            self._terminal.await_line(rf"\[(?!{view.place}/)\d+/{view.total}\]")
            self.skipped.append(view)
        else:
            self._press(key, -1)
            self.chosen[view.site] = key

    def decide_rest(self, key: str) -> None:
        """Decide what is in view, and the rest of its operator, with a or d; first look at what that is."""
        first = view = self.view()
        sites = [first.site]
        while view.place < view.total:
            view = self._move("j", view.place + 1)
            if view.operator != first.operator:
                break
            if view.state == "undecided":
                sites.append(view.site)
        while view.place > first.place:
            view = self._move("k", view.place - 1)
        self._press(key, -len(sites))
        self.chosen.update(dict.fromkeys(sites, {"a": "y", "d": "n"}[key]))

    def take_back(self) -> None:
        """Undo the last decision."""
        self._press("u", 1)
        site = self.view().site
        if self.chosen.pop(site, None) is None:
            raise SystemExit(f"u went to {site}, which was not decided")

    def _move(self, key: str, place: int) -> View:
        self._terminal.press(key)
        self._terminal.await_line(rf"\[{place}/\d+\]")
        return self.view()

    def _press(self, key: str, change: int) -> None:
        """Press `key` and wait until the number of changes to decide is another by `change`."""
        left = int(self._terminal.await_line(_LEFT).split()[-3])
        self._terminal.press(key)
        self._terminal.await_line(rf"(^|\s){left + change} to decide$")


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--operators", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="symfix-corpus-") as scratch:
        return review_session(options.tree.resolve(), Path(scratch) / Path(scratch).name, options.operators)


def review_session(tree: Path, folder: Path, operators: int) -> int:
    """Review and apply in a copy of `tree`, the new `folder`; returns the exit code of the program."""
    copy_tree(tree, folder)
    git(folder, "init", "-q", ".")
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "before")
    plan = json.loads(symfix(["scan", "--level", "review", "--format", "json"], folder).stdout)
    return judge(folder, plan, review(folder, operators))


def review(folder: Path, operators: int) -> Reviewer:
    """The session; returns the reviewer with what was decided."""
    start = f"EDITOR={shlex.quote(EDITOR)} {shlex.quote(str(Path(sys.executable).with_name('symfix')))} review"
    with terminal_in(folder) as terminal:
        reviewer = Reviewer(terminal)
        # A short name: a line that fills the terminal is one with what is printed below it, once that gets wider.
        terminal.press(f"review() {{ {start}; }}", "Enter", "review", "Enter")
        reviewer.view()
        half(reviewer, operators // 2, ["y", "n", "a", "e", "undo", "s", "d"])
        terminal.press("q")
        terminal.await_line("symfix review goes on where this ended")
        terminal.press("clear", "Enter")
        terminal.resize(80, 24)
        terminal.press("review", "Enter")
        back = reviewer.view()
        if back.operator != reviewer.skipped[0].operator or back.state != "undecided":
            raise SystemExit(f"the review came back at {back}, not at {reviewer.skipped[0]}, which was skipped")
        terminal.resize(160, 50)
        half(reviewer, operators - operators // 2, ["n", "y", "a"])
        for columns, lines in ((80, 24), (60, 20), (160, 50)):
            terminal.resize(columns, lines)
            terminal.await_line("^" + "─" * (columns // 3))
            if any(len(line) > columns for line in terminal.screen()):
                raise SystemExit(f"the screen is wider than {columns} columns")
        terminal.press("q")
        print(terminal.await_line("^symfix: of "))
    return reviewer


def half(reviewer: Reviewer, operators: int, keys: list[str]) -> None:
    """Decide all changes of as many `operators`, an operator with one of `keys` in turn."""
    for number in range(operators):
        key = keys[number % len(keys)]
        name = reviewer.view().operator
        if key in ("a", "d"):
            reviewer.decide_rest(key)
            continue
        first = True
        while reviewer.view().operator == name and reviewer.view().state == "undecided":
            if key == "undo":
                if first:
                    reviewer.decide("y")
                    reviewer.take_back()
                reviewer.decide("n")
            else:
                reviewer.decide(key if first or key != "e" else "y")
            first = False


def judge(folder: Path, plan: dict[str, Any], reviewer: Reviewer) -> int:
    """Apply, and compare each file with what it should be; returns the exit code."""
    edits: dict[str, set[tuple[int, int, str]]] = {}
    edited: set[str] = set()
    for members in changes(plan):
        choice = reviewer.chosen.get((members[0]["path"], members[0]["line"]), "n")
        for edit in (edit for finding in members for edit in finding["edits"] if choice != "n"):
            edits.setdefault(edit["path"], set()).add((edit["start"], edit["end"], edit["new"]))
            edited |= {edit["path"]} if choice == "e" else set()
    symfix(["apply", "--accepted", "--no-check"], folder)
    wrong = []
    for path, chosen in sorted(edits.items()):
        old = subprocess.run(["git", "show", f"HEAD:{path}"], cwd=folder, capture_output=True, check=True).stdout
        new, at = b"", 0
        for start, end, text in sorted(chosen):
            new += old[at:start] + text.encode("utf-8", "surrogateescape")
            at = end
        found = (folder / path).read_bytes()
        expected = new + old[at:]
        if unspaced(found) != unspaced(expected) or (found != expected) != (path in edited):
            wrong.append(path)
    changed = set(git(folder, "diff", "--name-only").split())
    counts = {key: list(reviewer.chosen.values()).count(key) for key in "yne"}
    print(f"{counts['y']} accepted, {counts['n']} rejected, {counts['e']} edited, {len(reviewer.skipped)} skipped")
    print(f"{len(edits)} files should change, {len(changed)} did, {len(edited)} with the reviewer's words")
    for path in wrong:
        print(f"{path}: not what was accepted")
    for path in sorted(changed ^ edits.keys()):
        print(f"{path}: {'changed' if path in changed else 'not changed'}")
    good = bool(edited) and not wrong and changed == edits.keys()
    print("apply wrote exactly what was accepted" if good else "apply did not write what was accepted")
    return 0 if good else 1


def unspaced(source: bytes) -> list[bytes]:
    """The lines of `source` without spaces at their ends."""
    return [line.rstrip(b" ") for line in source.split(b"\n")]


def changes(plan: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The findings of each change of a plan, in the order of their places."""
    found: dict[str, list[dict[str, Any]]] = {}
    for finding in sorted(plan["findings"], key=lambda f: (f["path"], f["start"], f["end"], f["rule"], f["message"])):
        if finding["id"]:
            found.setdefault(finding["id"], []).append(finding)
    return list(found.values())


@contextmanager
def terminal_in(folder: Path) -> Iterator[Tmux]:
    """A terminal, ended whatever happens."""
    terminal = Tmux(folder)
    try:
        yield terminal
    finally:
        terminal.close()


def git(folder: Path, *arguments: str) -> str:
    """Run git; returns what it prints."""
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    raise SystemExit(main())
