"""Metas that were drawn from what the kernels of a running torch show, as they are kept between runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from codemod.borders.documents import Shape

_LINE = re.compile(r"[^\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]+")
DRAWN: Shape = {
    "operator": re.compile(r"\w+::\w+"), "overload": re.compile(r"\w+\.\w+"), "torch": re.compile(r"[\w.+-]*"),
    "parameters": [re.compile(rf"\*|\w+(?:={_LINE.pattern})?")], "body": [_LINE], "outputs": [re.compile(r"\w+")],
    "functional": re.compile(r"(?:\w+\.\w+)?"), "samples": int, "fatal?": int, "unbacked": str, "reason": str,
}  # fmt: skip
"""What `drawn_from_json` takes: names, and one line of Python each, for they are written into a source."""


@dataclass(frozen=True, slots=True)
class DrawnMeta:
    """A meta for one overload that has no way to trace, or the `reason` why none could be drawn."""

    operator: str
    """Qualified, without overload."""
    overload: str
    """`foo.default`, without namespace."""
    torch: str
    """The version of the torch whose kernel was run."""
    parameters: tuple[str, ...] = ()
    """As Python has them: `self`, `dim=None`, `*`."""
    body: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    """The names of the out arguments, of an out variant."""
    functional: str = ""
    """Of an out variant: the overload among those drawn that it may be registered with."""
    samples: int = 0
    """How many calls it equals its kernel on."""
    unbacked: str = ""
    """How a compile with unbacked sizes ends: "passes", or why it stops."""
    reason: str = ""
    fatal: int = 0
    """How many calls were left out, for the kernel alone ends its process on each."""


def drawn_to_json(meta: DrawnMeta) -> dict[str, Any]:
    """The entry that `drawn_from_json` reads."""
    return asdict(meta)


def drawn_from_json(entry: Mapping[str, Any]) -> DrawnMeta:
    """The meta of an entry of the shape `DRAWN`."""
    lists = {name: tuple(entry[name]) for name in ("parameters", "body", "outputs")}
    return DrawnMeta(**{**entry, **lists})
