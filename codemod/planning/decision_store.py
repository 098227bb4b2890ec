"""The decisions made in one checkout, kept between runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from codemod.documents import read_bounded
from codemod.errors import SymfixError
from codemod.model.decisions import Decision, from_json, to_json
from codemod.writing.write import locked, replace_file

NAME = "decisions.json"


class DecisionStore:
    """The file `decisions.json` in the folder `journal`; whole at any moment, whoever is killed or writes beside."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self.path = journal / NAME

    def load(self) -> list[Decision]:
        """All decisions, the oldest first. Raises SymfixError where the file cannot be read."""
        try:
            content = read_bounded(self.path, regular=True)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SymfixError(f"{self.path}: the decisions cannot be read: {error.strerror}") from error
        try:
            return from_json(content, str(self.path))
        except SymfixError as error:
            raise SymfixError(f"{error}; or forget them with: symfix review --forget") from error

    def set(self, ids: Iterable[str], decisions: Iterable[Decision]) -> None:
        """Put `decisions` in place of all that are known about `ids`. Raises SymfixError where it cannot write."""
        dropped = set(ids)
        added = list(decisions)
        self._update(lambda known: [*(one for one in known if one.id not in dropped), *added])

    def add(self, decisions: Sequence[Decision]) -> None:
        """Add `decisions`, and keep what is known. Raises SymfixError where it cannot write."""
        if decisions:
            self._update(lambda known: [*known, *(one for one in decisions if one not in known)])

    def clear(self) -> None:
        """Forget everything. Raises SymfixError where the file cannot be removed."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise SymfixError(f"{self.path}: cannot be removed: {error.strerror}") from error

    def _update(self, change: Callable[[list[Decision]], list[Decision]]) -> None:
        try:
            self._journal.mkdir(parents=True, exist_ok=True)
            with locked(self._journal, wait=True):
                replace_file(self.path, to_json(change(self.load())).encode("ascii"))
        except OSError as error:
            raise SymfixError(f"{self.path}: the decision cannot be kept: {error.strerror}") from error
