"""The review's controller on a terminal: what each key does, and what is drawn after it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from codemod.errors import SymfixError
from codemod.model.decisions import Choice, with_edits
from codemod.model.edits import Edit
from codemod.model.groups import Group
from codemod.prove.evidence import Evidence
from codemod.reporting.report import plural
from codemod.review.editing import Draft, clash
from codemod.review.items import Item, searchable
from codemod.review.session import Session
from codemod.review.terminal.screen import Closed, Terminal
from codemod.review.terminal.view import CHOICES, View
from codemod.terminal import shorten, visible
from codemod.tree.sources import Sources

HELP = (
    ("y", "accept, and go to the next undecided change"),
    ("n", "reject: not offered again until its code changes"),
    ("a  d", "accept, reject this and the rest of its operator"),
    ("s", "skip to the next undecided change"),
    ("e", "edit in $EDITOR what it writes, and accept that"),
    ("u", "take the last decision back"),
    ("j  k", "next, previous change (also right and left)"),
    ("J  K", "next, previous operator"),
    ("space  b", "a page down, up (also the arrows and Page keys)"),
    ("/", "search names and code; / Enter finds the next"),
    ("q", "leave: what is decided is kept (also Ctrl-C)"),
    ("?", "this help"),
)
_ABOVE = 3  # lines shown above one that was searched for
_KEY_LINE = "y accept  n reject  a/d rest of operator  s skip  e edit  u undo  j/k move  / search  ? help  q quit"
_SHORT_KEY_LINE = "y n a d s e u j k / space b q · ? help"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the review needs of its run."""

    sources: Sources
    groups: Sequence[Group]
    """Every change of the plan: what an edit may not meet."""
    evidence: Callable[[Item], Sequence[Evidence]]
    refused: Callable[[Group], str]
    """Why a group cannot be written as it is; "" where it can."""
    edit: Callable[[bytes, str], bytes]
    """The text that the user's editor makes of one, for a file with a suffix."""


class App:
    """A review on a full screen."""

    def __init__(self, session: Session, view: View, around: Surroundings, screen: Terminal, notice: str = "") -> None:
        self._session = session
        self._view = view
        self._around = around
        self._screen = screen
        self._console = Console()
        self._top = 0
        self._message = Text(notice)
        if session.counts()[None] == 0:
            self._say("everything is decided; j and k show every change, q leaves")
        self._search = ""
        self._searchable: list[str] = []
        self._evidence: dict[str, Sequence[Evidence]] = {}
        self._body: list[Text] = []
        self._body_of: object = None
        self._keys: Mapping[str, Callable[[], None]] = {
            "y": lambda: self._decide(Choice.ACCEPT),
            "n": lambda: self._decide(Choice.REJECT),
            "a": lambda: self._decide_rest(Choice.ACCEPT),
            "d": lambda: self._decide_rest(Choice.REJECT),
            "s": self._skip,
            "e": self._edit,
            "u": self._undo,
            "j": lambda: self._move(1),
            "right": lambda: self._move(1),
            "k": lambda: self._move(-1),
            "left": lambda: self._move(-1),
            "J": lambda: self._move_operator(1),
            "K": lambda: self._move_operator(-1),
            " ": lambda: self._scroll(self._page),
            "pagedown": lambda: self._scroll(self._page),
            "b": lambda: self._scroll(-self._page),
            "pageup": lambda: self._scroll(-self._page),
            "down": lambda: self._scroll(1),
            "enter": lambda: self._scroll(1),
            "up": lambda: self._scroll(-1),
            "home": lambda: self._scroll(-len(self._body)),
            "end": lambda: self._scroll(len(self._body)),
            "/": self._find,
            "?": self._help,
            "resize": lambda: None,
            "escape": lambda: None,
        }

    def run(self) -> None:
        """Take keys until the user leaves, or the terminal goes. Raises KeyboardInterrupt for Ctrl-C."""
        with contextlib.suppress(Closed):
            while self._press():
                pass

    def _press(self) -> bool:
        """Show the change, take a key and follow it; returns False for the one that ends the review."""
        self._draw()
        key = self._screen.key()
        if key in ("q", "Q"):
            return False
        if key != "resize":
            self._message = Text()
        try:
            self._keys.get(key, lambda: self._say("that key does nothing; ? lists those that do"))()
        except SymfixError as error:
            self._say(str(error), "red")
        return True

    # Deciding

    def _decide(self, choice: Choice) -> None:
        item = self._session.item
        more = self._session.decide(choice)
        self._top = 0
        self._report(choice, item, 1, more)

    def _decide_rest(self, choice: Choice) -> None:
        item = self._session.item
        count = self._session.decide_rest(choice)
        self._top = 0
        self._report(choice, item, count, self._session.counts()[None] > 0)

    def _report(self, choice: Choice, item: Item, count: int, more: bool) -> None:
        name, colour = CHOICES[choice]
        what = f"{name} {item.shard.name}" + (f", {plural(count, 'change')}" if count > 1 else "")
        end = "" if more else "; everything is decided: q leaves, u takes it back"
        follow = ""
        if item.waiting:
            when = "it is ignored by a comment" if choice is Choice.REJECT else "it is written"
            follow = f"; {plural(len(item.waiting), 'overlapping finding')} will be offered once {when}"
        self._say(what + follow + end, colour)

    def _skip(self) -> None:
        if not self._session.advance():
            self._say("everything is decided; j and k still show every change")
        self._top = 0

    def _undo(self) -> None:
        if self._session.undo():
            self._top = 0
            self._say("taken back")
        else:
            self._say("nothing to take back in this session; k goes to what was decided before")

    def _edit(self) -> None:
        item, around = self._session.item, self._around
        decision = self._session.decisions.get(item.id)
        edits = decision.edits if decision and decision.choice is Choice.EDIT and decision.edits else item.group.edits
        files = {path: around.sources.of(path) for path in dict.fromkeys(edit.path for edit in edits)}
        edited = self._written(item, Draft(edits, files))
        if edited is not None:
            more = self._session.decide(Choice.EDIT, edited)
            self._top = 0
            self._report(Choice.EDIT, item, 1, more)

    def _written(self, item: Item, draft: Draft) -> tuple[Edit, ...] | None:
        """The user's edits of `draft`, once they can be written; None where the user gives up, which is said."""
        text = before = draft.text()
        while True:
            with self._screen.aside():
                text = self._around.edit(text, draft.suffix)
            if text == before:
                self._say("not edited; nothing was decided")
                return None
            try:
                edits = draft.read(text)
                problem = "" if edits is None else self._problem(item, edits)
            except SymfixError as error:
                edits, problem = None, str(error)
            if not problem:
                if edits is None:
                    self._say("the edit is given up; nothing was decided")
                return edits
            if not self._goes_on(f"{problem}\ne edits on, any other key gives the edit up"):
                self._say("the edit is given up; nothing was decided")
                return None

    def _goes_on(self, question: str) -> bool:
        """Whether the user answers e."""
        key = "resize"
        while key == "resize":
            self._say(question, "red")
            self._draw()
            key = self._screen.key()
        return key == "e"

    def _problem(self, item: Item, edits: tuple[Edit, ...]) -> str:
        if not edits:
            return "that is what stands there already (n rejects the change)"
        place = clash(edits, item.group, self._around.groups)
        if place:
            return f"that edits what the change at {place} writes too; decide it there"
        return self._around.refused(with_edits(item.group, edits))

    # Moving

    def _move(self, by: int) -> None:
        if self._session.move(by):
            self._top = 0
        else:
            self._say("this is the last change" if by > 0 else "this is the first change")

    def _move_operator(self, by: int) -> None:
        session = self._session
        here = session.item.shard.name
        start = session.at
        while session.move(by) and session.item.shard.name == here:
            pass
        if session.item.shard.name == here:
            session.at = start
            self._say("this is the last operator" if by > 0 else "this is the first operator")
            return
        session.move(1 - session.item.place)
        self._top = 0

    @property
    def _room(self) -> int:
        """How many lines of the change are shown at once."""
        columns, rows = self._screen.size
        return max(1, rows - 3 - len(self._last(columns))) if self._screen.pages else len(self._body)

    @property
    def _page(self) -> int:
        return max(1, self._room - 1)

    def _scroll(self, by: int) -> None:
        last = max(0, len(self._body) - self._room)
        if by > 0 and self._top == last:
            self._say("this is the end of the change")
        self._top = min(max(0, self._top + by), last)

    def _find(self) -> None:
        typed = self._ask("/")
        if typed is None:
            return
        self._search = typed.strip().lower() or self._search
        if not self._search:
            return
        session = self._session
        if not self._searchable:
            self._searchable = [searchable(item, self._around.sources) for item in session.items]
        count = len(session.items)
        around = [(session.at + step) % count for step in range(1, count + 1)]
        first = [place for place in around if session.items[place].place == 1]
        named = [place for place in first if session.items[place].shard.name.lower() == self._search]
        for place in [*(named if typed else ()), *around]:
            if self._search in self._searchable[place]:
                wrapped = "; the search began again at the top" if place <= session.at else ""
                self._say(f"found {self._search!r}{wrapped}")
                session.at = place
                self._show(self._search)
                return
        self._say(f"no change holds {self._search!r}", "red")

    def _show(self, text: str) -> None:
        """Scroll to the first line of the change in view that holds `text`, where it is not on the first page."""
        self._top = 0
        self._render(self._session.item, self._screen.size[0])
        at = next((number for number, line in enumerate(self._body) if text in line.plain.lower()), 0)
        if at >= self._room:
            self._scroll(at - _ABOVE)

    def _ask(self, prompt: str) -> str | None:
        """A line that the user types; None where Escape gives it up."""
        typed = ""
        while True:
            self._draw(Text(prompt + typed))
            key = self._screen.key()
            if key == "enter":
                return typed
            if key == "escape" or (key == "backspace" and not typed):
                return None
            if key == "backspace":
                typed = typed[:-1]
            elif len(key) == 1 and key.isprintable():
                typed += key

    def _help(self) -> None:
        lines = [Text.assemble(f"  {keys:<8}", (what, "")) for keys, what in HELP]
        lines += [Text(), Text("  any key goes on", "dim")]
        self._screen.draw(lines)
        while self._screen.key() == "resize":
            self._screen.draw(lines)

    # Showing

    def _say(self, text: str, style: str = "") -> None:
        self._message = Text("\n".join(map(visible, text.split("\n"))), style)

    def _draw(self, prompt: Text | None = None) -> None:
        columns, rows = self._screen.size
        session = self._session
        item = session.item
        self._render(item, columns)
        self._top = min(self._top, max(0, len(self._body) - self._room))
        body = self._body[self._top : self._top + self._room]
        body += [Text()] * (self._room - len(body))
        last = [prompt] if prompt else self._last(columns)
        lines = [self._title(item, columns), *body, self._rule(columns), self._state(), *last]
        self._screen.draw(lines[-rows:], cursor=prompt is not None)

    def _render(self, item: Item, columns: int) -> None:
        decision = self._session.decisions.get(item.id)
        states = [self._shard_state(name) for name in item.shard.bases]
        key = (item.id, decision, columns, tuple(states))
        if self._body_of == key:
            return
        if item.id not in self._evidence:
            self._evidence[item.id] = self._around.evidence(item)
        edited = decision is not None and decision.choice is Choice.EDIT  # no evidence is of these edits
        self._body = self._view.lines(item, decision, () if edited else self._evidence[item.id], states, columns)
        self._body_of = key

    def _shard_state(self, name: str) -> tuple[str, str]:
        choices = {self._session.choice(item) for item in self._session.items if item.shard.name == name}
        if len(choices) != 1:
            return name, "partly decided" if choices else "not in this review"
        choice = choices.pop()
        return name, CHOICES[choice][0] if choice else "undecided"

    def _title(self, item: Item, columns: int) -> Text:
        session = self._session
        place = f" [{session.at + 1}/{len(session.items)}]"
        choice = session.choice(item)
        state, colour = CHOICES[choice] if choice else ("undecided", "")
        level = item.group.level.name.lower()
        part = f" {item.place}/{len(item.shard.groups)}" if len(item.shard.groups) > 1 else ""
        right = f"{level}  {state}{place} "
        name = shorten(f" {item.shard.name}{part}", max(8, columns - len(right) - 1))
        title = Text(name.ljust(columns - len(right)), "bold reverse")
        title.append(f"{level}  ", "reverse")
        title.append(state, f"bold {colour} reverse" if colour else "reverse")
        title.append(f"{place} ", "reverse")
        return title

    def _rule(self, columns: int) -> Text:
        below = len(self._body) - self._top - self._room
        label = f" {below} more lines: space " if below > 0 else ""
        return Text("─" * max(0, columns - len(label)) + label, "dim")

    def _state(self) -> Text:
        counts = self._session.counts()
        line = Text(" ")
        for choice, (name, colour) in CHOICES.items():
            if counts[choice]:
                line.append(f"{counts[choice]} {name}  ", colour)
        return line.append(f"{counts[None]} to decide")

    def _last(self, columns: int) -> list[Text]:
        """What there is to say, else the keys, in lines of at most `columns`."""
        if self._message:
            return list(self._message.wrap(self._console, columns))
        return [Text(" " + (_KEY_LINE if len(_KEY_LINE) < columns else _SHORT_KEY_LINE), "dim")]
