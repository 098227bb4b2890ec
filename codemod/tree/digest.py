"""A digest of a value, the same in every process: equal values have equal ones, and others do not."""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import marshal
from collections.abc import Callable, Mapping
from typing import Any

_PLAIN = frozenset({str, bytes, int, float, bool, type(None)})
# Later versions write down which strings are one object, which is not the same in every process.
_WITHOUT_REFERENCES = 2


def digest(value: object) -> str:
    """The sha256 of a value made of texts, numbers, bytes, enums, dataclasses and containers of these.

    The order of a set does not count, that of a mapping does. Raises TypeError for a value of another kind.
    """
    return hashlib.sha256(_written(_plain(value))).hexdigest()


def _plain(value: Any) -> Any:
    kind = type(value)
    return value if kind in _PLAIN else _form(kind)(value)  # type: ignore[arg-type]


@functools.cache
def _form(kind: type[Any]) -> Callable[[Any], Any]:
    """What makes tuples, texts and numbers of values of `kind`."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    if issubclass(kind, enum.Enum):
        return lambda value: (name, value.name)
    if dataclasses.is_dataclass(kind):
        fields = [field.name for field in dataclasses.fields(kind)]
        return lambda value: (name, *[_plain(getattr(value, field)) for field in fields])
    if issubclass(kind, (tuple, list)):
        return lambda value: (name, *map(_plain, value))
    if issubclass(kind, (set, frozenset)):
        return lambda value: (name, *sorted((_plain(item) for item in value), key=_written))
    if issubclass(kind, Mapping):
        return lambda value: (name, *[(_plain(key), _plain(item)) for key, item in value.items()])
    raise TypeError(f"{name} has no digest")


def _written(plain: Any) -> bytes:
    return marshal.dumps(plain, _WITHOUT_REFERENCES)
