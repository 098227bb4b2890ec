"""What `symfix apply` wrote last, kept so that `bundle` and `pr` take it instead of asking for a clean tree."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codemod.borders.documents import fit, load_json
from codemod.borders.files import read_below, read_file
from codemod.errors import SymfixError
from codemod.model.groups import Group
from codemod.model.paths import Listing
from codemod.model.plan import Plan
from codemod.writing.changes import Change, check_plan_names
from codemod.writing.files import make_folder, replace_file

_FORMAT = "symfix-applied"
_NAME, _PLAN = "applied.json", "applied-plan.json"
_DOCUMENT = {"format": frozenset([_FORMAT]), "head": str, "ids": [str], "files": {Path: [str]}, "plan": str}


@dataclass(frozen=True, slots=True)
class Applied:
    """Groups of a plan that were written when `head` was the last commit.

    `files` gives for each file the sha256 before and after.
    """

    head: str
    plan: Plan
    ids: frozenset[str]
    files: Mapping[str, tuple[str, str]]

    def as_left(self, root: Path) -> bool:
        """Whether every file is as it was written."""
        return all(_sha256_of(root, path) == new for path, (_, new) in self.files.items())


def keep_applied(journal: Path, head: str, plan: Plan, groups: Iterable[Group], changes: Sequence[Change]) -> None:
    """Note that `groups` of `plan` were written over the commit `head`. Raises OSError where it cannot be kept."""
    make_folder(journal)
    text = plan.to_json().encode("ascii")
    document = {
        "format": _FORMAT,
        "head": head,
        "ids": sorted(group.id for group in groups),
        "files": {change.path: [_sha256(change.old), _sha256(change.new)] for change in changes},
        "plan": _sha256(text),
    }
    replace_file(journal / _PLAN, text)
    replace_file(journal / _NAME, json.dumps(document, indent=1).encode("ascii"))


def load_applied(journal: Path, listing: Listing) -> Applied | None:
    """What was noted last in the folder `journal`; None where there is nothing, or nothing that can be used."""
    path = journal / _NAME
    try:
        document = load_json(read_file(path), str(path), "")
        fit(document, _DOCUMENT, str(path), "")
        text = read_file(journal / _PLAN)
        if _sha256(text) != document["plan"]:
            return None
        plan = Plan.from_json(text, str(journal / _PLAN))
        check_plan_names(listing, plan)
    except (OSError, SymfixError):
        return None
    files = {name: (pair[0], pair[1]) for name, pair in document["files"].items() if len(pair) == 2}
    return Applied(document["head"], plan, frozenset(document["ids"]), files)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _sha256_of(root: Path, path: str) -> str:
    try:
        return _sha256(read_below(root, path))
    except OSError:
        return ""
