"""Options that are kept in files: [tool.symfix] of a checkout's pyproject.toml, and the user's own config.toml.

A checkout may be anybody's. So its file says what is looked at and reported, and names files of the checkout alone.
What symfix is trusted with (`allow-dirty`, `allow-no-vcs`), and to whom something is sent in the user's name (`remote`,
`repo`, `label`, `cc`), is said on the command line or in the user's own file. How much is done at once (`jobs`,
`max-open`) the checkout may lower.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codemod.borders.documents import LARGEST_SETTINGS, load_toml
from codemod.borders.files import read_below
from codemod.borders.private import read_settings, say_once
from codemod.errors import SymfixError
from codemod.model.choices import FORMATS, LEVELS, MOST_JOBS, SCOPES, SHARD_KINDS
from codemod.terminal import visible
from codemod.tree.checkout import Checkout, options_of

# Each key and the type of its value; `[str]` is a list of strings, `{str: str}` a table of them.
_KEYS: Mapping[str, Any] = {
    "paths": [str],
    "op": [str],
    "mode": [int],
    "rule": [str],
    "level": str,
    "vocabulary": str,
    "torch": str,
    "scope": str,
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
    "label": [str],
    "cc": [str],
    "repro": {str: str},
}
VERSION = re.compile(r"\d{1,3}\.\d{1,3}(?:\.\d{1,3})?", re.ASCII)
"""A release of torch."""
USERS_ALONE = ("allow-dirty", "allow-no-vcs", "remote", "repo", "label", "cc")
"""The keys that a checkout cannot set."""

_CHOICES = {
    "level": LEVELS,
    "format": FORMATS,
    "mode": (1, 2, 3, 4),
    "scope": SCOPES,
    "group": SHARD_KINDS,
}
_OLD_NAMES = {"min-torch": "torch"}
_POSITIVE = ("jobs", "max-files", "max-lines", "max-open")
_FILES = ("vocabulary", "baseline", "template")
# Their text goes into pull requests: an ignored file, as one with the user's tokens, is none to be published.
_PUBLISHED = ("template", "repro")


@dataclass(frozen=True, slots=True)
class Config:
    """The options of one file, keyed as the command's parameters (`no_cache`); lists are tuples, paths absolute."""

    path: Path
    values: dict[str, Any] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    """The keys that it has and cannot set."""


def read_config(checkout: Checkout) -> Config:
    """What the pyproject.toml of `checkout` says.

    Raises SymfixError, which names file and key, on what the command line would not take, and on the name of a file
    that is none of the checkout, links followed.
    """
    root = checkout.root
    path = root / "pyproject.toml"
    if not _inside(path, root):
        return Config(path)
    try:
        content = read_below(root, path.name, LARGEST_SETTINGS)
    except FileNotFoundError:
        return Config(path)
    except OSError as error:
        say_once(f"{path}: cannot be read ({error.strerror}), so options of it are not known")
        return Config(path)
    table = options_of(content, str(path))
    if table is None:
        return Config(path)
    if not isinstance(table, dict):
        raise SymfixError(f"{path}: [tool.symfix] is not a table of options")

    def place(key: str, name: str) -> Path:
        file = root / name
        expected = Path.exists if key == "paths" else Path.is_file
        if not (_usable(name) and expected(file) and _inside(file, root)):
            what = "file or folder" if key == "paths" else "file"
            raise SymfixError(
                f"{path}: [tool.symfix] {key}: {name!a} is no {what} of the checkout; name one that lies in it"
            )
        if key in _PUBLISHED and os.path.relpath(os.path.realpath(file), root) not in checkout.names():
            raise SymfixError(f"{path}: [tool.symfix] {key}: {name!a} is ignored by git, or third party; name another")
        return file

    values = _values(f"{path}: [tool.symfix]", table, place)
    own = {key.replace("-", "_") for key in USERS_ALONE}
    allowed = {name: value for name, value in values.items() if name not in own}
    return Config(path, allowed, tuple(key for key in USERS_ALONE if key in table))


def read_user_config() -> Config:
    """What `symfix/config.toml` in $XDG_CONFIG_HOME, else in ~/.config, says; paths are relative to its folder.

    Nothing, which is said on stderr, where others may have written it. Raises SymfixError as `read_config`.
    """
    path = user_config()
    try:
        content = read_settings(path)
    except (FileNotFoundError, NotADirectoryError):
        return Config(path)
    except PermissionError as error:
        say_once(f"{visible(str(path))}: {error.strerror}; until then it is not read")
        return Config(path)
    except OSError as error:
        raise SymfixError(f"{path}: cannot be read: {error.strerror}") from error

    def place(key: str, name: str) -> Path:
        if key == "paths" or not _usable(name):
            raise SymfixError(f"{path}: {key}: {name!a} cannot be said for every tree; say it in its pyproject.toml")
        return path.parent / os.path.expanduser(name)

    return Config(path, _values(f"{path}:", load_toml(content, str(path)), place))


def user_config() -> Path:
    """Where the user's own options are; the file need not be there."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return Path(base if os.path.isabs(base) else os.path.expanduser("~/.config"), "symfix", "config.toml")


def _values(where: str, table: Mapping[str, Any], place: Callable[[str, str], Path]) -> dict[str, Any]:
    """The options of `table`; `place` gives the file that a key names. Raises SymfixError that begins with `where`."""
    return {
        _OLD_NAMES.get(key, key).replace("-", "_"): _checked(where, key, value, place) for key, value in table.items()
    }


def _checked(where: str, key: str, value: Any, place: Callable[[str, str], Path]) -> Any:
    expected = _KEYS.get(_OLD_NAMES.get(key, key))
    if expected is None:
        raise SymfixError(f"{where} has no option {key!a}; it knows {', '.join(_KEYS)}")
    if isinstance(expected, dict):
        return _scripts(where, key, value, place)
    if isinstance(expected, list):
        values = value if isinstance(value, list) else [value]
        kind, plural = expected[0], True
    else:
        values, kind, plural = [value], expected, False
    choices = _CHOICES.get(key)
    for item in values:
        if type(item) is not kind:
            raise SymfixError(f"{where} {key}: {_shown(item)} is not {_named(kind)}")
        if choices and item not in choices:
            raise SymfixError(f"{where} {key}: {_shown(item)} is not one of {', '.join(map(str, choices))}")
    if key in _POSITIVE and value < 1:
        raise SymfixError(f"{where} {key}: {_shown(value)} is not a positive number")
    if key in ("torch", "min-torch") and not VERSION.fullmatch(value):
        raise SymfixError(f"{where} {key}: {_shown(value)} is not a version such as 2.4")
    if key == "jobs":
        values = [min(value, MOST_JOBS)]
    if key == "paths" or key in _FILES:
        values = [place(key, item) for item in values]
    return tuple(values) if plural else values[0]


def _scripts(where: str, key: str, value: Any, place: Callable[[str, str], Path]) -> dict[str, Path]:
    if not isinstance(value, dict):
        raise SymfixError(f"{where} {key}: {_shown(value)} is not a table of operators and their scripts")
    for operator, file in value.items():
        if not isinstance(file, str) or not place(key, file).is_file():
            raise SymfixError(f"{where} {key}: {_shown(file)}, the script of {operator!a}, is no file; name another")
    return {operator: place(key, file) for operator, file in value.items()}


def _inside(path: Path, root: Path) -> bool:
    """Whether `path`, links followed, lies in `root` and not in a git folder."""
    real, base = os.path.realpath(path), os.path.realpath(root)
    below = os.path.relpath(real, base).split(os.sep)
    return os.pardir not in below and ".git" not in [part.lower() for part in below]


def _usable(name: str) -> bool:
    return bool(name) and "\0" not in name


def _shown(value: Any) -> str:
    """`value` as it may stand in a line for the user."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _named(kind: type) -> str:
    return {str: "a string", int: "a whole number", bool: "true or false"}[kind]
