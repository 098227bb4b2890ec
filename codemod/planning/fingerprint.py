"""Fingerprints: each recognises a finding by the code it is about, wherever that has moved in its file.

`codemod.model.identity` names what a group changes; a fingerprint names one finding, also one that changes nothing, and
stays the same when symfix learns to rewrite it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from codemod.model.findings import Finding
from codemod.model.groups import order
from codemod.model.identity import unnumbered
from codemod.terminal import encode, one_line
from codemod.tree.sources import Sources

_LENGTH = 16  # hexadecimal digits


def fingerprints(findings: Iterable[Finding], sources: Sources, path: str = "") -> dict[Finding, str]:
    """The fingerprint of each finding, 16 hexadecimal digits; none is given twice.

    It rests on the path, the rule, the function's name and the text of the lines the finding stands on, white space
    aside. Findings alike in all of these are counted in the order in which they stand. So give all findings of a plan,
    for the fingerprint of one depends on its likes. Those of one file are given the fingerprints that they had when it
    stood at `path`.
    """
    seen: Counter[str] = Counter()
    prints: dict[Finding, str] = {}
    for finding in sorted(findings, key=order):
        parts = (path or finding.path, finding.rule, unnumbered(finding.function), one_line(sources.lines(finding)))
        alike = "\0".join(parts)
        if finding not in prints:
            prints[finding] = hashlib.sha256(encode(f"{alike}\0{seen[alike]}")).hexdigest()[:_LENGTH]
            seen[alike] += 1
    return prints
