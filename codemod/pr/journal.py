"""The record of what `symfix pr` has done, so that a killed run can be resumed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from codemod.borders.documents import fit, load_json
from codemod.borders.files import read_file
from codemod.errors import SymfixError
from codemod.writing.files import make_folder, replace_file

_FORMAT = "symfix-pulls"
_DOCUMENT = {"format": frozenset([_FORMAT]), "branches": {str: {"pushed": str, "url?": str}}}


@dataclass(frozen=True, slots=True)
class Entry:
    """One branch: the commit that was pushed last, and the address of its pull request, "" until there is one."""

    pushed: str
    url: str = ""


class Journal:
    """Entries by `REMOTE BRANCH`, on disk after every change."""

    def __init__(self, path: Path) -> None:
        """Raises SymfixError where the file cannot be read or is damaged."""
        self._path = path
        self._entries: dict[str, Entry] = {}
        remedy = "remove it, and GitHub is asked what there is"
        try:
            document = load_json(read_file(path), str(path), remedy)
        except FileNotFoundError:
            return
        except OSError as error:
            raise SymfixError(f"{path}: cannot be read: {error.strerror}; {remedy}") from error
        fit(document, _DOCUMENT, str(path), remedy)
        self._entries = {key: Entry(**entry) for key, entry in document["branches"].items()}

    def get(self, remote: str, branch: str) -> Entry | None:
        """The entry of a branch, None where there is none."""
        return self._entries.get(f"{remote} {branch}")

    def put(self, remote: str, branch: str, entry: Entry) -> None:
        """Record what was done. Raises OSError where it cannot be written."""
        self._entries[f"{remote} {branch}"] = entry
        make_folder(self._path.parent)
        entries = {key: asdict(entry) for key, entry in sorted(self._entries.items())}
        replace_file(self._path, json.dumps({"format": _FORMAT, "branches": entries}, indent=1).encode("ascii"))
