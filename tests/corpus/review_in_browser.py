"""Review a tree's changes in Chromium with real clicks and keys, take the decisions over, and apply them.

    python tests/corpus/review_in_browser.py TREE [--operators 20] [--screenshots DIR]

In a copy of TREE: `symfix review --html`, a session that accepts, rejects, decides the rest of an operator, skips and
undoes, a reload in between, Export, `symfix review --import`, and `symfix apply --accepted`. What the page exports is
compared with what was pressed, and the files with the edits of the accepted changes: exit 1 where they differ.
Needs chromium.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chromium import Chromium, Element, browser, missing
from corpus_trees import changed_files, copy_tree, symfix

from codemod.model.edits import apply_edits
from codemod.model.groups import make_groups
from codemod.model.plan import Plan


def page_data(page: Path) -> dict[str, Any]:
    """The data that a page holds."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("ascii"), re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


class Session:
    """A reviewer at the page, who remembers what they decided: `choices`, by the id of a change."""

    def __init__(self, driver: Chromium, page: Path) -> None:
        self.driver = driver
        self.choices: dict[str, str] = {}
        self._before: list[dict[str, str]] = []
        self._url = page.as_uri()
        shards = page_data(page)["shards"]
        self._ids: list[str] = [
            group.get("decision", {}).get("id", "") for shard in shards for group in shard["groups"]
        ]
        changes = {
            shard["name"]: [group["decision"]["id"] for group in shard["groups"] if "decision" in group]
            for shard in shards
        }
        self.operators = {name: changes[name] for name in sorted(changes, key=lambda name: -len(changes[name]))}
        driver.open(self._url)

    def most_first(self) -> None:
        """Order the operators by their changes, the most first, with the keyboard."""
        self.find("#order").click()
        self.press("End", "Enter")
        self.find("#operators").press("Home")

    def find(self, css: str) -> Element:
        """The first element that `css` selects."""
        return self.driver.find(css)

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        self.driver.press(*keys)

    @property
    def operator(self) -> str:
        """The operator that is shown."""
        return self.find("main h2").text.partition(" ")[0]

    @property
    def change(self) -> str:
        """The id of the change that the keys speak of, "" for what is left alone."""
        return self._ids[int(self.find(".card.current").attribute("data-group"))]

    def decide(self, key: str) -> None:
        """Press `y`, `n`, `a` or `d`."""
        rest = [change for change in self.operators[self.operator] if change not in self.choices]
        self._remember(rest if key in "ad" else [self.change], "accept" if key in "ya" else "reject")
        self.press(key)

    def click(self, name: str) -> None:
        """Click the button `accept` or `reject` of the change that the keys speak of."""
        self._remember([self.change], name)
        self.find(f".card.current button.{name}").click()

    def undo(self) -> None:
        """Press `u`."""
        self.choices = self._before.pop()
        self.press("u")

    def reload(self) -> None:
        """Leave the page and come back to it: what was decided is kept, what could be undone is not."""
        self._before.clear()
        self.driver.open("about:blank")
        self.driver.open(self._url)

    def export_to(self, downloads: Path) -> Path:
        """Click Export and download to the folder `downloads`; the file."""
        self.driver.download_to(downloads)
        target = downloads / "symfix-decisions.json"
        target.unlink(missing_ok=True)
        self.find("#export").click()
        self.find("#download").click()
        for _ in range(500):
            if target.exists() and target.read_bytes().endswith(b"}\n"):
                break
            time.sleep(0.02)
        self.press("Escape")
        return target

    def take(self, decisions: Path) -> str:
        """Load a file of decisions into the page; what the page says about it."""
        self.find("#export").click()
        self.find("#import").choose_file(decisions)
        for _ in range(500):
            status = self.find("dialog [role=status]").text
            if status:
                break
            time.sleep(0.02)
        self.press("Escape")
        return status

    def _remember(self, ids: Sequence[str], choice: str) -> None:
        self._before.append(dict(self.choices))
        self.choices |= dict.fromkeys(ids, choice)


def review(session: Session, count: int) -> None:
    """Decide about the first `count` operators, each in another way."""
    names = [name for name, changes in session.operators.items() if changes][:count]
    for number, name in enumerate(names):
        assert session.operator == name, (session.operator, name)
        changes = session.operators[name]
        match number % 6:
            case 0:
                for change in changes:
                    assert session.change == change
                    session.decide("y")
            case 1:
                for _ in changes:
                    session.decide("n")
            case 2:
                session.decide("y")
                session.undo()
                assert session.change == changes[0]
                session.decide("a")
            case 3:
                session.decide("d")
                session.undo()
                assert session.operator == name
                session.decide("d")
            case 4:
                session.click("reject")
                session.click("accept")
                session.press("]")
            case _:  # skipped, card by card, or left
                session.press("s", "k", "]") if len(changes) > 1 else session.press("]")


def exported(path: Path) -> dict[str, str]:
    """What a file of decisions says, by id."""
    return {entry["id"]: entry["choice"] for entry in json.loads(path.read_bytes())["decisions"]}


def misapplied(before: Path, after: Path, plan: Plan, choices: Mapping[str, str]) -> list[str]:
    """The files of `after` that are not those of `before` with the accepted changes made, and nothing else."""
    edits = [e for g in make_groups(plan.findings) if choices.get(g.id) == "accept" for e in g.edits]
    wrong = []
    paths = {edit.path for edit in edits}
    for path in sorted(paths.union(changed_files(before, after))):
        expected = apply_edits((before / path).read_bytes(), (edit for edit in edits if edit.path == path))
        if (after / path).read_bytes() != expected:
            wrong.append(path)
    return wrong


def whole_session(tree: Path, scratch: Path, count: int, screenshots: Path | None = None) -> list[str]:
    """Run it all in a copy of `tree` below `scratch`; what went wrong, empty where nothing did."""
    copy = copy_tree(tree, scratch / tree.name)
    page = scratch / "review.html"
    symfix(["review", "--html", str(page)], copy)
    plan = Plan.from_json(symfix(["scan", "--format", "json", "--exit-zero"], copy).stdout)
    wrong: list[str] = []
    with browser() as driver:
        session = Session(driver, page)
        session.most_first()
        review(session, count // 2)
        session.reload()
        session.most_first()
        print(f"{len(session.choices)} decisions, then the page is loaded again")
        decisions = session.export_to(scratch)
        wrong += differences("after the reload the page exports", exported(decisions), session.choices)
        session.take(decisions)
        for name in [name for name, changes in session.operators.items() if changes][: count // 2]:
            del session.operators[name]
        session.press("/", "Escape")
        while session.operator not in session.operators or not session.operators[session.operator]:
            session.press("]")
        review(session, count - count // 2)
        session.decide("y")
        session.undo()
        decisions = session.export_to(scratch)
        wrong += differences("the page exports", exported(decisions), session.choices)
        wrong += driver.complaints()
        if screenshots is not None:
            driver.screenshot(screenshots / "session.png")
    with browser(dark=True) as driver:  # a reviewer on another machine
        status = Session(driver, page).take(decisions)
        if not status.startswith(f"Took {len(session.choices)} of {len(session.choices)} "):
            wrong.append(f"loading the file of decisions: {status}")
        wrong += driver.complaints()
    symfix(["review", "--import", str(decisions)], copy)
    symfix(["review", "--export", str(scratch / "kept.json")], copy)
    wrong += differences("symfix review --export says", exported(scratch / "kept.json"), session.choices)
    symfix(["apply", "--accepted", "--no-check", "--allow-no-vcs"], copy)
    wrong += (f"{path}: not what was accepted" for path in misapplied(tree, copy, plan, session.choices))
    accepted = sum(choice == "accept" for choice in session.choices.values())
    print(f"{len(session.choices)} decisions in {count} operators, {accepted} of them accepted;"
          f" apply changed {len(changed_files(tree, copy))} files")  # fmt: skip
    return wrong


def differences(what: str, found: Mapping[str, str], expected: Mapping[str, str]) -> list[str]:
    """A line for each id about which the two differ."""
    return [
        f"{what} {found.get(key, 'nothing')} for {key}, not {expected.get(key, 'nothing')}"
        for key in sorted(found.keys() | expected.keys())
        if found.get(key) != expected.get(key)
    ]


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--operators", type=int, default=20)
    parser.add_argument("--screenshots", type=Path, metavar="DIR")
    options = parser.parse_args()
    if missing():
        raise SystemExit(f"{missing()}: not installed")
    with tempfile.TemporaryDirectory(prefix="symfix-review-") as scratch:
        wrong = whole_session(options.tree.resolve(), Path(scratch), options.operators, options.screenshots)
    print(*wrong or ["the page, the command and the files agree"], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
