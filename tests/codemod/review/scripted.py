"""A review of a small tree, driven by keys that are written down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.text import Text

from codemod.bundle.shards import make_shards
from codemod.model.decisions import Choice, standing
from codemod.model.findings import Level
from codemod.model.groups import Group, make_groups
from codemod.model.paths import Listing
from codemod.model.plan import Plan
from codemod.planning.analysis import analyse
from codemod.planning.decision_store import DecisionStore
from codemod.review.items import make_items
from codemod.review.session import Session
from codemod.review.terminal.app import App, Surroundings
from codemod.review.terminal.screen import Closed
from codemod.review.terminal.view import View
from codemod.tree.cache import Cache
from codemod.tree.checkout import Checkout
from codemod.tree.project import CheckoutProject
from codemod.tree.sources import Sources
from codemod.writing.changes import make_changes
from tests.codemod.fake import transforms


class Keys:
    """A terminal on which someone types `keys`, and then hangs up."""

    pages = True

    def __init__(self, keys: Iterable[str], size: tuple[int, int] = (80, 24)) -> None:
        self._keys = iter(keys)
        self.size = size
        self.shown: list[list[str]] = []

    def draw(self, lines: Sequence[Text], cursor: bool = False) -> None:
        self.shown.append([line.plain for line in lines])

    def key(self) -> str:
        key = next(self._keys, "")
        if not key:
            raise Closed
        return key

    @contextmanager
    def aside(self) -> Iterator[None]:
        yield

    @property
    def last(self) -> list[str]:
        """The lines of the screen as it was left."""
        return self.shown[-1]


class Tree:
    """The files of a tree, its plan by the fake transform, and the reviews of it."""

    def __init__(self, root: Path, files: Mapping[str, bytes]) -> None:
        for path, content in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(content)
        self.root = root
        self.files = files
        self.store = DecisionStore(root / "journal")
        self.plan: Plan = analyse(CheckoutProject(Checkout(root, None), Cache(None)), transforms)
        self.groups = [group for group in make_groups(self.plan.findings) if group.edits]

    def session(self) -> Session:
        """A review that goes on where the last one ended."""
        shown = [group for group in self.groups if group.level <= Level.REVIEW]
        shards = make_shards(shown, sources=self.files)
        made = standing(self.groups, self.plan.files, self.store.load())
        return Session(make_items(shards, self.plan.findings), self.plan.files, made, self.store)

    def review(
        self, keys: Iterable[str], edit: Callable[[bytes], bytes] = bytes, size: tuple[int, int] = (80, 24)
    ) -> Keys:
        """Review with `keys`; `edit` is what the editor does to a text."""
        terminal = Keys(keys, size)
        read = Sources(self.root)
        around = Surroundings(read, self.groups, lambda item: (), self._refused, lambda text, suffix: edit(text))
        App(self.session(), View(read, {}), around, terminal).run()
        return terminal

    def choices(self) -> dict[str, Choice]:
        """What is decided, by the title of each decision."""
        return {
            decision.title: decision.choice for decision in standing(self.groups, self.plan.files, self.store.load())
        }

    def _refused(self, group: Group) -> str:
        listing = Listing(self.root, self.files)
        changes = make_changes(listing, self.plan, [group], transforms(), lambda count, files: list(map(count, files)))
        return changes.refused[0].reason if changes.refused else ""
