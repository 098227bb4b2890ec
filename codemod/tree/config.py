"""[tool.symfix] of a checkout's pyproject.toml: the command line's options under their own names."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codemod.errors import SymfixError
from codemod.tree.checkout import configured

# Each key and the type of its value; `[str]` is a list of strings, `{str: str}` a table of them.
_KEYS: Mapping[str, Any] = {
    "paths": [str],
    "op": [str],
    "mode": [int],
    "rule": [str],
    "level": str,
    "vocabulary": str,
    "jobs": int,
    "no-cache": bool,
    "format": str,
    "baseline": str,
    "exit-zero": bool,
    "allow-dirty": bool,
    "allow-no-vcs": bool,
    "group": str,
    "max-files": int,
    "max-lines": int,
    "template": str,
    "max-open": int,
    "remote": str,
    "repo": str,
    "base": str,
    "repro": {str: str},
}
FORMATS = ("text", "json", "csv", "github", "sarif", "baseline")
"""What `scan` prints."""

_CHOICES = {
    "level": ("safe", "review", "manual"),
    "format": FORMATS,
    "mode": (1, 2, 3, 4),
    "group": ("operator", "file", "module"),
}
_POSITIVE = ("jobs", "max-files", "max-lines", "max-open")


def read_config(root: Path) -> dict[str, Any]:
    """The options of the checkout at `root`, keyed as the command's parameters (`no_cache`).

    Lists come back as tuples and paths resolved against `root`.
    Raises SymfixError, which names file and key, on what the command line would not take.
    """
    path = root / "pyproject.toml"
    if not configured(path):
        return {}
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        tool = tomllib.loads(path.read_text(encoding="utf-8")).get("tool")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SymfixError(f"{path}: not TOML: {error}") from error
    table = tool.get("symfix", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise SymfixError(f"{path}: [tool.symfix] is not a table of options")
    return {str(key).replace("-", "_"): _checked(path, root, key, value) for key, value in table.items()}


def _checked(path: Path, root: Path, key: str, value: Any) -> Any:
    expected = _KEYS.get(key)
    if expected is None:
        raise SymfixError(f"{path}: [tool.symfix] has no option {key!r}; it knows {', '.join(_KEYS)}")
    if isinstance(expected, dict):
        return _scripts(path, root, key, value)
    if isinstance(expected, list):
        values = value if isinstance(value, list) else [value]
        kind, plural = expected[0], True
    else:
        values, kind, plural = [value], expected, False
    choices = _CHOICES.get(key)
    for one in values:
        if type(one) is not kind:
            raise SymfixError(f"{path}: [tool.symfix] {key}: {one!r} is not {_named(kind)}")
        if choices and one not in choices:
            raise SymfixError(f"{path}: [tool.symfix] {key}: {one!r} is not one of {', '.join(map(str, choices))}")
    if key in _POSITIVE and value < 1:
        raise SymfixError(f"{path}: [tool.symfix] {key}: {value} is not a positive number")
    if key in ("paths", "vocabulary", "baseline", "template"):
        values = [root / one for one in values]
    return tuple(values) if plural else values[0]


def _scripts(path: Path, root: Path, key: str, value: Any) -> dict[str, Path]:
    if not isinstance(value, dict):
        raise SymfixError(f"{path}: [tool.symfix] {key}: {value!r} is not a table of operators and their scripts")
    for operator, file in value.items():
        if not isinstance(file, str) or not (root / file).is_file():
            raise SymfixError(f"{path}: [tool.symfix.{key}] {operator}: {file!r} is not a file of the checkout")
    return {operator: root / file for operator, file in value.items()}


def _named(kind: type) -> str:
    return {str: "a string", int: "a whole number", bool: "true or false"}[kind]
