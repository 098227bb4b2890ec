"""Ids of changes, made of their content and not of line numbers, by which decisions name them.

They are no fingerprints: those name single findings (see `codemod.planning.fingerprint`).
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from codemod.digest import digest
from codemod.model.edits import Edit
from codemod.model.findings import Finding
from codemod.model.groups import Group, make_groups, order

_LENGTH = 16  # hexadecimal digits
_NEAR = 1000  # bytes
_NUMBER = re.compile(r"#\d+")


def with_ids(findings: Iterable[Finding], read: Callable[[str], bytes]) -> list[Finding]:
    """`findings`, sorted, each with the id of its group's change; "" where the group edits nothing.

    `read` gives the bytes of a file, those the edits were made for.
    """
    groups = make_groups(findings)
    changing = [group for group in groups if group.edits]
    ids = dict(zip(map(id, changing), change_ids(changing, read), strict=True))
    named = (dataclasses.replace(f, id=ids.get(id(group), "")) for group in groups for f in group.findings)
    return sorted(named, key=order)


def change_ids(groups: Sequence[Group], read: Callable[[str], bytes]) -> list[str]:
    """An id for each of `groups`, in their order, which tells what is changed into what and where, but no position.

    It rests on paths, the names of functions, rules, the edits' bytes, and the lines that they touch. Of changes alike
    in all of this, as in two overloads of one name, the first ends in "-1of2": the count tells when one has gone and
    the others have another place.
    """
    paths = {path for group in groups for path in group.paths}
    sources = {path: read(path) for path in paths}
    digests = [_digest(group, sources) for group in groups]
    alike = Counter(digests)
    seen: Counter[str] = Counter()
    ids = []
    for name in digests:
        seen[name] += 1
        ids.append(name if alike[name] == 1 else f"{name}-{seen[name]}of{alike[name]}")
    return ids


def unnumbered(function: str) -> str:
    """The name of a function as its file has it: `_` for `_#2`, which is another one where a third `_` is added."""
    return _NUMBER.sub("", function)


def _digest(group: Group, sources: dict[str, bytes]) -> str:
    places = sorted({(finding.path, unnumbered(finding.function), finding.rule) for finding in group.findings})
    parts: list[str | bytes] = [part for place in places for part in place]
    for edit in group.edits:
        parts += (edit.path, edit.old, edit.new, _lines(sources[edit.path], edit))
    return digest(*parts)[:_LENGTH]


def _lines(source: bytes, edit: Edit) -> bytes:
    """The whole lines that `edit` touches, without white space at either end; of a long line what is near it."""
    first, last = max(0, edit.start - _NEAR), edit.end + _NEAR
    start, end = source.rfind(b"\n", first, edit.start), source.find(b"\n", edit.end, last)
    return source[start + 1 if start >= 0 else first : end if end >= 0 else last].strip()
