"""What torch says where a dimension cannot be as dynamic as the program declares it: of torch.export, and of marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

SIZES = re.compile(r"[\w.\[\]]+\.size\(\d+\)")
"""Sizes in the texts of answers."""

_HEADINGS = ("Constraints violated (", "Specializations unexpectedly required (")
_CAUSES = r"(?P<causes>(?:\n +(?:-|\d+\.) [^\n]*)*)"
_VIOLATED = re.compile(rf"(?P<heading>(?:{'|'.join(map(re.escape, _HEADINGS))}).*?\))![^\n]*{_CAUSES}")
_CAUSE = re.compile(r"^ +(?:-|\d+\.) (.*?)(?:\. .*|\.)?$", re.M)
_FIXES = re.compile(r"^Suggested fixes:\n(?P<fixes>(?: +[^\n=]+ = [^\n]+(?:\n|$))+)", re.M)
_OF_PYTEST = re.compile(r"^E {3}", re.M)
_TRACEBACK = "Traceback (most recent call last)"
_LEADS_ON = ("direct cause of the following exception:", "another exception occurred:")


def violation(text: str) -> str:
    """The error of this kind that ends `text`: what is violated, and why, without advice; "" for another."""
    match = next(filter(None, map(_VIOLATED.search, last_errors(text))), None)
    if match is None:
        return ""
    causes = "; ".join(_CAUSE.findall(match["causes"]))
    return f"{match['heading']}{': ' if causes else ''}{causes}"


def is_violation(text: str) -> bool:
    """Whether the text of an answer is that of such an error."""
    return text.startswith(_HEADINGS)


def suggested_fixes(text: str) -> tuple[str, ...]:
    """The changes of `dynamic_shapes` that torch suggests in the error that ends `text`."""
    match = next(filter(None, map(_FIXES.search, last_errors(text))), None)
    return tuple(line.strip() for line in match["fixes"].splitlines()) if match else ()


def last_errors(text: str) -> Iterator[str]:
    """The last traceback of `text`, and those that led to it, the last first."""
    *earlier, last = _OF_PYTEST.sub("", text).split(_TRACEBACK)
    yield last
    for part in reversed(earlier):
        if not part.rstrip().endswith(_LEADS_ON):
            return
        yield part
