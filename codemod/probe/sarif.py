"""Answers as SARIF 2.1.0, at the lines of a tree that caused them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codemod import __version__
from codemod.borders.quoting import sarif
from codemod.digest import digest
from codemod.probe.answers import KINDS, Answer
from codemod.probe.report import place_text
from codemod.probe.trace import Frame
from codemod.reporting.report import plural
from codemod.reporting.sarif import artifact, sarif_document

_LEVELS = {"error": "error", "wrong": "error", "refused": "error", "fake": "error", "assumed": "note", "assert": "note"}
"""The level of each kind; that of others is a warning."""


def sarif_log(answers: Sequence[Answer], root: Path) -> bytes:
    """The document of those of `answers` that ask for something at a line of `root`, or were led to by one.

    How many have no such line is said in it.
    """
    kinds = list(KINDS)
    results, left = [], 0
    for answer in (answer for answer in answers if answer.asks):
        frame = next((f for f in answer.places if _relative(f, root)), None)
        if frame is None:
            left += 1
        else:
            results.append(_result(answer, frame, root, kinds.index(answer.kind)))
    outside = f"left out: {plural(left, 'answer')} at no line of this tree; symfix probe shows all"
    notifications = [{"level": "note", "message": {"text": outside}}] if left else []
    return sarif_document(__version__, [_rule(kind) for kind in kinds], results, notifications, "symfix/probe", root)


def _rule(kind: str) -> dict[str, Any]:
    meaning = {"text": f"{KINDS[kind].capitalize()}."}
    level = {"level": _LEVELS.get(kind, "warning")}
    described = {"shortDescription": meaning, "fullDescription": meaning, "help": meaning}
    return {"id": kind, **described, "defaultConfiguration": level}


def _result(answer: Answer, frame: Frame, root: Path, index: int) -> dict[str, Any]:
    place = answer.place if answer.place is not None and answer.place != frame else None
    parts = [f"{KINDS[answer.kind]}: {answer.text}", f"asked at {place_text(place)}" if place is not None else ""]
    message = sarif("; ".join(filter(None, (*parts, answer.advice, answer.finding, answer.command))))
    fingerprint = digest(*answer.identity)
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": artifact(_relative(frame, root)),
            "region": {"startLine": max(frame.line, 1)},
        }
    }
    if frame.function:
        location["logicalLocations"] = [{"fullyQualifiedName": frame.function, "kind": "function"}]
    return {
        "ruleId": answer.kind,
        "ruleIndex": index,
        "level": _LEVELS.get(answer.kind, "warning"),
        "message": {"text": message},
        "locations": [location],
        "partialFingerprints": {"symfix/v1": fingerprint, "primaryLocationLineHash": f"{fingerprint}:1"},
        "properties": {"function": answer.function, "owner": answer.whose, "count": answer.count},
    }


def _relative(frame: Frame, root: Path) -> str:
    """The path below `root` of a frame's file; "" for one that lies elsewhere or is gone."""
    path = os.path.realpath(os.path.join(root, frame.path))
    base = f"{os.path.realpath(root)}{os.sep}"
    return path[len(base) :] if frame.path and path.startswith(base) and os.path.isfile(path) else ""
