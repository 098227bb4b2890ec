"""The file in which the decisions of one checkout are kept between runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from codemod.borders.files import read_file
from codemod.errors import SymfixError
from codemod.model.decisions import Decision, from_json, to_json
from codemod.writing.files import make_folder, replace_file
from codemod.writing.write import locked

NAME = "decisions.json"
BACKUP = "decisions.before-forget.json"


class DecisionStore:
    """The file `decisions.json` in the folder `journal`; always complete, whatever runs are killed or write at once."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self.path = journal / NAME
        self.backup = journal / BACKUP
        """The file as it was before decisions were last forgotten; `symfix review --import` takes it."""

    def load(self) -> list[Decision]:
        """All decisions, the oldest first. Raises SymfixError where the file cannot be read."""
        try:
            content = read_file(self.path)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SymfixError(f"{self.path}: the decisions cannot be read: {error.strerror}") from error
        try:
            return from_json(content, str(self.path))
        except SymfixError as error:
            raise SymfixError(f"{error}; or forget them with: symfix review --forget --all") from error

    def set(self, ids: Iterable[str], decisions: Iterable[Decision]) -> None:
        """Put `decisions` in place of all that are known about `ids`. Raises SymfixError where it cannot write."""
        dropped = set(ids)
        added = list(decisions)
        self._update(lambda stored: [*(decision for decision in stored if decision.id not in dropped), *added])

    def add(self, decisions: Sequence[Decision]) -> None:
        """Add `decisions`, and keep what is known. Raises SymfixError where it cannot write."""
        if decisions:
            self._update(lambda stored: [*stored, *(decision for decision in decisions if decision not in stored)])

    def forget(self, ids: Collection[str]) -> list[Decision]:
        """Forget the decisions on `ids`, and return the latest on each; where there is any, `backup` is made anew.

        Raises SymfixError where the file cannot be read or written.
        """
        return self._forget(lambda decision: decision.id in ids)

    def forget_all(self) -> list[Decision] | None:
        """As `forget`, of everything; None for a file that cannot be read as decisions, which becomes `backup`."""
        try:
            self.load()
        except SymfixError:
            self._replace_with_backup()
            return None
        return self._forget(lambda decision: True)

    def _forget(self, dropped: Callable[[Decision], bool]) -> list[Decision]:
        forgotten: dict[str, Decision] = {}

        def change(stored: list[Decision]) -> list[Decision]:
            forgotten.update((decision.id, decision) for decision in stored if dropped(decision))
            if forgotten:
                replace_file(self.backup, to_json(stored).encode("ascii"))
            return [decision for decision in stored if not dropped(decision)]

        self._update(change)
        return list(forgotten.values())

    def _replace_with_backup(self) -> None:
        try:
            with locked(self._journal, wait=True):
                os.replace(self.path, self.backup)
        except OSError as error:
            raise SymfixError(f"{self.path}: cannot be moved to {BACKUP}: {error.strerror}") from error

    def _update(self, change: Callable[[list[Decision]], list[Decision]]) -> None:
        try:
            make_folder(self._journal)
            with locked(self._journal, wait=True):
                replace_file(self.path, to_json(change(self.load())).encode("ascii"))
        except OSError as error:
            raise SymfixError(f"{self.path}: the decision cannot be kept: {error.strerror}") from error
