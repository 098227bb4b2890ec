"""Documents that somebody else may have written: read whole, of a bounded size and depth, and of an expected shape."""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemod.errors import SymfixError

if TYPE_CHECKING:
    import yaml

LARGEST = 64 << 20
"""Bytes of the largest document that is read; the plan of all of PyTorch 2.6.0 has less than a quarter of that."""
LARGEST_SETTINGS = 1 << 20
"""Bytes of the largest file of settings, and of the largest template, that is read."""

WRONG_VALUES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a YAML loader raises for values that their tag does not fit, such as a date in the 13th month."""

_YAML_LEVELS = 16  # those of PyTorch's files, from 1.13 on, are four, and there is no alias in them
# libyaml's scanner, which runs ahead of the events, ends at 1,000 levels with this, in wheels of PyYAML from 6.0.4 on.
_SCANNED_TOO_DEEP = "exceeded maximum nesting depth"
_LONGEST_NUMBER = 19  # digits; no offset, line or size has more
# Tables in tables in tables: time and memory grow with the square of the depth of a dotted key.
_DOTTED = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){32}""")
_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", Path: "the name of a file"}

Shape = Any
"""What a value of a document has to be.

`str`, `int`, `float` or `bool`; `Path`: text that can name a file; a pattern that a text matches in full; a frozenset
of texts and numbers; None; `[SHAPE]`: a list; `{str: SHAPE}` and `{Path: SHAPE}`: a table with any keys;
`{"key": SHAPE, "other?": SHAPE}`: a table with these keys and no others, where `other` may be absent;
`(SHAPE, SHAPE)`: any of these.
"""


def read_bounded(path: Path, largest: int = LARGEST) -> bytes:
    """The bytes of a file that the user names on the command line, which may be a pipe from another command.

    Not for symfix's own files: `codemod.borders.files.read_file` takes regular files alone, and waits for none.
    Raises OSError where it cannot be read or has more than `largest` bytes.
    """
    with open(path, "rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise OSError(None, f"larger than {largest >> 20} MB", str(path))
    return content


def load_json(content: str | bytes, name: str, remedy: str) -> Any:
    """The value of a JSON text.

    Raises SymfixError, which calls the text `name` and says `remedy`, where it is no JSON, is nested too deep for
    Python, names a key twice, or holds a number that is not finite or has more than 19 digits.
    """
    try:
        return json.loads(content, object_pairs_hook=_table, parse_constant=_no_number, parse_int=_whole,
                          parse_float=_finite)  # fmt: skip
    except ValueError as error:
        raise SymfixError(f"{name}: not JSON ({_line(error)}); {remedy}") from None
    except RecursionError:
        raise SymfixError(f"{name}: not JSON (nested too deep); {remedy}") from None


def load_document(
    content: str | bytes, name: str, title: str, version: tuple[str, int], shape: Shape, remedy: str
) -> dict[str, Any]:
    """The table of a JSON document of symfix, whose `format` and `version` are those of `version` and that has `shape`.

    Raises SymfixError, which calls it `name`, where it is none, of another version or damaged; `title` is what such a
    document is called in a sentence, and `remedy` what to do.
    """
    document = load_json(content, name, remedy)
    if not isinstance(document, dict) or document.get("format") != version[0]:
        raise SymfixError(f"{name}: not a {title}; {remedy}")
    if document.get("version") != version[1]:
        number = document.get("version")
        raise SymfixError(f"{name}: {title} version {number!a}, but this symfix reads {version[1]}; {remedy}")
    fit(document, {"format": str, "version": int, **shape}, name, remedy)
    return document


def load_toml(content: bytes, name: str) -> dict[str, Any]:
    """The table of a TOML text. Raises SymfixError, which calls it `name`, where it is none or is nested too deep."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        text = content.decode("utf-8")
        if _DOTTED.search(text):
            raise SymfixError(f"{name}: not TOML: nested too deep")
        table: dict[str, Any] = tomllib.loads(text)
        return table
    except ValueError as error:
        raise SymfixError(f"{name}: not TOML: {_line(error)}") from None
    except RecursionError:
        raise SymfixError(f"{name}: not TOML: nested too deep") from None


def load_yaml(content: bytes, name: str) -> Any:
    """The value of a YAML text. Raises SymfixError, as `yaml_loader` does."""
    import yaml

    try:
        return yaml_loader(content, name).get_single_data()
    except (yaml.YAMLError, *WRONG_VALUES) as error:
        raise SymfixError(f"{name}: not YAML: {_line(error)}") from None


def yaml_loader(content: bytes, name: str) -> yaml.SafeLoader:
    """A safe loader for a YAML text, of bounded depth and without aliases.

    Raises SymfixError, with `name` and the line, where it is none, is nested more than 16 levels deep or holds an
    alias: what composes the text calls itself for each level, and what names an alias again and again is long in full.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        for event in yaml.parse(content, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                alias = _short(str(event.anchor))
                raise SymfixError(f"{name}:{_line_of(event)}: the alias *{alias}; write out what it means")
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > _YAML_LEVELS:
                    raise SymfixError(f"{name}:{_line_of(event)}: nested more than {_YAML_LEVELS} levels deep")
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
        return loader(content)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{name}:{mark.line + 1 if mark is not None else 1}"
        problem = getattr(error, "problem", None) or _line(error)
        if problem == _SCANNED_TOO_DEEP:
            raise SymfixError(f"{place}: nested more than {_YAML_LEVELS} levels deep") from None
        raise SymfixError(f"{place}: not YAML: {problem}") from None


def _line_of(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1


def fit(value: Any, shape: Shape, name: str, remedy: str) -> None:
    """Raise SymfixError, which calls the document `name`, says where and `remedy`, where `value` has not `shape`."""
    try:
        check(value, shape)
    except ValueError as error:
        raise SymfixError(f"{name}: damaged ({error}); {remedy}") from None


def check(value: Any, shape: Shape, place: str = "") -> None:
    """Raise ValueError, which names the place below `place`, where `value` has not `shape`."""
    if isinstance(shape, Mapping):
        _check_table(value, shape, place)
    elif isinstance(shape, list):
        if type(value) is not list:
            raise ValueError(f"{place or 'the document'} is not a list")
        for index, item in enumerate(value):
            check(item, shape[0], f"{place}[{index}]")
    elif isinstance(shape, tuple):
        if not any(_fits(value, alternative, place) for alternative in shape[:-1]):
            check(value, shape[-1], place)
    else:
        _check_simple(value, shape, place or "the document")


def _check_table(value: Any, shape: Mapping[Any, Shape], place: str) -> None:
    if type(value) is not dict:
        raise ValueError(f"{place or 'the document'} is not a table")
    prefix = f"{place}." if place else ""
    for key in (str, Path):
        if key in shape:
            for name, item in value.items():
                _check_simple(name, key, f"a key of {place or 'the document'}")
                check(item, shape[key], f"{prefix}{_short(name)}")
            return
    expected = {key.removesuffix("?"): item for key, item in shape.items()}
    for name in value.keys() - expected.keys():
        raise ValueError(f"{prefix}{_short(name)} is not expected")
    for name, item in expected.items():
        if name in value:
            check(value[name], item, prefix + name)
        elif name in shape:
            raise ValueError(f"{prefix}{name} is missing")


def _check_simple(value: Any, shape: Shape, place: str) -> None:
    if shape is None:
        if value is not None:
            raise ValueError(f"{place} is not null")
    elif isinstance(shape, frozenset):
        if not any(type(value) is type(choice) and value == choice for choice in shape):
            raise ValueError(f"{place} is not one of {', '.join(sorted(map(str, shape)))}")
    elif isinstance(shape, re.Pattern):
        if type(value) is not str or not shape.fullmatch(value):
            raise ValueError(f"{place} is not of the form {shape.pattern}")
    elif type(value) is not (str if shape is Path else shape) and not (shape is float and type(value) is int):
        raise ValueError(f"{place} is not {_NAMES[shape]}")
    elif isinstance(value, str):
        # A lone surrogate other than those that stand for bytes can be written nowhere.
        if not value.isascii() and not _writable(value):
            raise ValueError(f"{place} is not text")
        if shape is Path and (not value or "\0" in value):
            raise ValueError(f"{place} is not {_NAMES[Path]}")


def _fits(value: Any, shape: Shape, place: str) -> bool:
    try:
        check(value, shape, place)
    except ValueError:
        return False
    return True


def _writable(text: str) -> bool:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {_short(twice)} stands twice in one table")
    return table


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {_short(digits)} is too large")
    return number


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


def _short(text: str) -> str:
    """`text` as it may stand in a line for the user."""
    return ascii(text[:60])[1:-1]
