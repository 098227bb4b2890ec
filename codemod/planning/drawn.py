"""The metas that were drawn for one checkout, kept between runs, and a plan with what they come to."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from codemod.borders.documents import load_document
from codemod.borders.files import read_below, read_file
from codemod.borders.quoting import json_text
from codemod.errors import SymfixError
from codemod.model.drawn import DRAWN, DrawnMeta, drawn_from_json, drawn_to_json
from codemod.model.groups import refuse_overlaps
from codemod.model.identity import with_ids
from codemod.model.plan import Plan
from codemod.model.transform import Transform, WritesMetas
from codemod.tree.project import CheckoutProject
from codemod.writing.files import make_folder, replace_file
from codemod.writing.write import locked

NAME = "metas.json"
_FORMAT = "symfix-metas", 1
_SHAPE: dict[str, Any] = {"operators": {str: {"state": str, "metas": [DRAWN]}}}


class DrawnStore:
    """The file `metas.json` in the folder `journal`, by operator; always complete."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self.path = journal / NAME

    def load(self) -> list[DrawnMeta]:
        """All that were drawn, by operator. Raises SymfixError where the file cannot be read."""
        return [meta for entry in self._read().values() for meta in map(drawn_from_json, entry["metas"])]

    def of(self, operator: str, state: str) -> list[DrawnMeta] | None:
        """What was drawn for an operator in this `state` of torch and symfix; None where nothing was yet."""
        entry = self._read().get(operator)
        return list(map(drawn_from_json, entry["metas"])) if entry is not None and entry["state"] == state else None

    def set(self, operator: str, state: str, metas: Iterable[DrawnMeta]) -> None:
        """Put `metas` in place of all that was drawn for an operator. Raises SymfixError where it cannot write."""
        try:
            make_folder(self._journal)
            with locked(self._journal, wait=True):
                entry = {"state": state, "metas": [drawn_to_json(meta) for meta in metas]}
                operators = dict(sorted({**self._read(), operator: entry}.items()))
                document = {"format": _FORMAT[0], "version": _FORMAT[1], "operators": operators}
                replace_file(self.path, json_text(document, indent=1).encode("ascii"))
        except OSError as error:
            raise SymfixError(f"{self.path}: what was drawn cannot be kept: {error.strerror}") from error

    def _read(self) -> dict[str, Any]:
        try:
            content = read_file(self.path)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise SymfixError(f"{self.path}: the drawn metas cannot be read: {error.strerror}") from error
        name, remedy = str(self.path), "remove it, and draw them again with symfix fix --mode 3"
        operators: dict[str, Any] = load_document(content, name, "file of drawn metas", _FORMAT, _SHAPE, remedy)[
            "operators"
        ]
        return operators


def with_drawn(
    plan: Plan, project: CheckoutProject, drawn: Sequence[DrawnMeta], transforms: Iterable[Transform]
) -> Plan:
    """`plan` with the findings that `transforms` make of what was drawn; it then rests on the files they read too."""
    before = dict(project.hashes)
    writers = [transform for transform in transforms if isinstance(transform, WritesMetas)]
    added = [finding for writer in writers for finding in writer.metas(project, drawn)]
    if not added:
        return plan
    files = {path: sha for path, sha in project.hashes.items() if path not in before or path in plan.files}
    findings = with_ids(refuse_overlaps([*plan.findings, *added]), lambda path: read_below(project.root, path))
    return dataclasses.replace(plan, findings=tuple(findings), files=dict(sorted({**plan.files, **files}.items())))
