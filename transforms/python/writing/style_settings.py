"""The style of each file of a tree, as the nearest settings of black, ruff or flake8 say it.

Settings are read as data: a number of columns, whether a trailing comma keeps a call on several lines, and the oldest
Python. They are looked for as the formatters do it, from the folder of a file up to the root; in one folder black's go
before ruff's, and ruff's before flake8's, which formats nothing and only says how long a line may be. Where none
says a width, the lines of the file do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from codemod.borders.documents import LARGEST_SETTINGS, load_toml
from codemod.borders.private import say_once
from codemod.errors import SymfixError
from codemod.model.paths import upwards
from codemod.model.transform import Project
from codemod.terminal import visible
from transforms.python.writing.style import OLDEST, WIDTH, Style

_TOML = (".ruff.toml", "ruff.toml", "pyproject.toml")
_INI = (".flake8", "setup.cfg", "tox.ini")
_LIMITS = range(20, 321)  # those that ruff takes


class Styles:
    """The styles of the files of a tree. Settings that cannot be read cost one line on stderr, and no more."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._listed = set(project.files((*_TOML, *_INI)))
        self._by_folder: dict[str, Style] = {}
        self._tables: dict[str, Mapping[str, Any]] = {}

    def of(self, path: str) -> Style:
        """The style of a file."""
        folder = path.rpartition("/")[0]
        if folder not in self._by_folder:
            self._by_folder[folder] = self._style(folder)
        return self._by_folder[folder]

    def _style(self, folder: str) -> Style:
        tables = [self._settings(place) for place in upwards(folder)]
        python = next(filter(None, (_python(settings) for settings in tables)), OLDEST)
        for settings in tables:
            limit = _limit(settings)
            if limit is not None:
                return Style(limit, _magic_trailing_comma(settings), python)
        return Style(python=python, assumed=True)

    def _settings(self, folder: str) -> Mapping[str, Any]:
        """The tables "black", "ruff", "flake8" and "project" of the settings in a folder, those that are there."""
        if folder not in self._tables:
            settings: dict[str, Any] = {}
            for name in (*_TOML, *_INI):
                path = f"{folder}/{name}" if folder else name
                if path in self._listed:
                    for table, values in self._read(path, name).items():
                        settings.setdefault(table, values)
            self._tables[folder] = settings
        return self._tables[folder]

    def _read(self, path: str, name: str) -> dict[str, Any]:
        shown = visible(path)
        try:
            content = self._project.read(path)
            if len(content) > LARGEST_SETTINGS:
                raise SymfixError(f"{shown}: larger than {LARGEST_SETTINGS >> 20} MB")
            if name in _INI:
                return {"flake8": _section(content, shown)}
            document = load_toml(content, shown)
        except (OSError, SymfixError) as error:
            reason = f"{shown}: {error.strerror}" if isinstance(error, OSError) else str(error)
            say_once(f"{reason}; how this tree formats Python is not read from there")
            return {}
        if name != "pyproject.toml":
            return {"ruff": document}
        tool = _table(document, "tool")
        return {
            **{key: _table(tool, key) for key in ("black", "ruff") if key in tool},
            "project": _table(document, "project"),
        }


def _section(content: bytes, name: str) -> Mapping[str, str]:
    """The section [flake8] of an INI file. Raises SymfixError where it is none."""
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(content.decode("utf-8"))
    except (configparser.Error, ValueError) as error:
        raise SymfixError(f"{name}: not INI: {visible(str(error)).splitlines()[0]}") from None
    return dict(parser["flake8"]) if parser.has_section("flake8") else {}


def _limit(settings: Mapping[str, Any]) -> int | None:
    """The longest line; None where the settings of a folder do not say it, 88 where they say that black formats."""
    black, ruff = _table(settings, "black"), _table(settings, "ruff")
    flake8 = _table(settings, "flake8").get("max-line-length", "")
    written = flake8.split("#")[0].strip() if isinstance(flake8, str) else ""
    candidates = [
        black.get("line-length"),
        WIDTH if black else None,
        ruff.get("line-length"),
        WIDTH if "format" in ruff else None,
        int(written) if re.fullmatch(r"\d{1,4}", written, re.ASCII) else None,
    ]
    return next((limit for limit in candidates if type(limit) is int and limit in _LIMITS), None)


def _magic_trailing_comma(settings: Mapping[str, Any]) -> bool:
    formatters = (_table(settings, "black"), _table(_table(settings, "ruff"), "format"))
    return not any(table.get("skip-magic-trailing-comma") is True for table in formatters)


def _python(settings: Mapping[str, Any]) -> int:
    """The minor version of the oldest Python 3 that settings name, 0 where they name none."""
    named = _table(settings, "black").get("target-version") or _table(settings, "ruff").get("target-version")
    versions = re.findall(r"\bpy3(\d{1,2})\b", str(named)[:200])
    required = re.search(r">=\s*3\.(\d{1,2})\b", str(_table(settings, "project").get("requires-python"))[:200])
    return min(map(int, versions), default=int(required[1]) if required else 0)


def _table(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, Mapping) else {}
