"""What `symfix pr` has done so far, so that a run that was killed can be taken up again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from codemod.errors import SymfixError
from codemod.writing.write import replace_file

_FORMAT = "symfix-pulls"


@dataclass(frozen=True, slots=True)
class Entry:
    """One branch: the commit that was pushed last, and the address of its pull request, "" until it is known."""

    pushed: str
    url: str = ""


class Journal:
    """Entries by `REMOTE BRANCH`, on disk after every change."""

    def __init__(self, path: Path) -> None:
        """Raises SymfixError where the file is damaged."""
        self._path = path
        self._entries: dict[str, Entry] = {}
        try:
            document = json.loads(path.read_bytes())
            if document["format"] == _FORMAT:
                self._entries = {str(key): Entry(**entry) for key, entry in document["branches"].items()}
        except FileNotFoundError:
            pass
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SymfixError(f"{path}: damaged; remove it, and GitHub is asked what there is") from error

    def get(self, remote: str, branch: str) -> Entry | None:
        """What is known of a branch."""
        return self._entries.get(f"{remote} {branch}")

    def put(self, remote: str, branch: str, entry: Entry) -> None:
        """Keep what was done. Raises OSError where it cannot be written."""
        self._entries[f"{remote} {branch}"] = entry
        self._path.parent.mkdir(parents=True, exist_ok=True)
        entries = {key: asdict(one) for key, one in sorted(self._entries.items())}
        replace_file(self._path, json.dumps({"format": _FORMAT, "branches": entries}, indent=1).encode("ascii"))
