"""Records of torch's structured trace: what a program writes below the folder that TORCH_TRACE names.

A line is `V1122 06:59:39.722000 PID torch/file.py:LINE] {JSON}`; a payload follows in lines that a tab opens
(torch/_logging/_internal.py, `trace_structured` and `TorchLogsFormatter`). File names of stacks are numbers of a table
that records of the kind `str` fill.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codemod.borders.files import read_file
from codemod.errors import SymfixError
from codemod.runner.assumptions import ASKERS, ASSUMED, CANNOT, NAMED, PASSES_ON, UNKNOWN

LARGEST = 1 << 30
"""The most bytes that are read of one trace; those of a large model have some hundred million."""

_HEADER = re.compile(r"^[VDIWEC]\d{4} \S+ \d+ \S+\] (\{.*)$")
_PROCESS = re.compile(rb"[VDIWEC]\d{4} \S+ (\d+) ")
_LONGEST_HEADER = 1 << 10
_PRINTED = re.compile(r'^\s*File "([^"]+)", line (\d{1,9}), in (\S+)\s*$')
GRAPH = "dynamo_output_graph"
"""The record of a graph that was captured, as Python (torch/_dynamo/output_graph.py)."""
_KINDS = frozenset(
    {
        "artifact", "compilation_metrics", "create_symbol", GRAPH, "dynamo_start", "guard_added_fast",
        "guard_added", "missing_fake_kernel", "mismatched_fake_kernel", "propagate_real_tensors",
        "propagate_real_tensors_provenance", "symbolic_shape_specialization",
    }
)  # fmt: skip
BREAK = "dynamo_graph_break_reason"
"""The artifact of a graph break (torch/_dynamo/symbolic_convert.py, `log_graph_break`)."""
_ARTIFACTS = frozenset({"recompile_reasons", "torch_version", BREAK, ASKERS, ASSUMED, CANNOT, NAMED, UNKNOWN})


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of Python on a stack. `text` is its source, "" where the trace does not say it."""

    path: str
    line: int
    function: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """An event of one process. `compilation` is "FRAME/COUNT", as torch numbers compilations; "" outside of any."""

    kind: str
    value: Mapping[str, Any]
    compilation: str
    stack: tuple[Frame, ...]
    """Where torch stood, the innermost frame last."""
    user_stack: tuple[Frame, ...]
    """The compiled program's own lines, the innermost last; empty once Dynamo has left them."""
    payload: str = ""
    attempt: int = 0
    """Which attempt of the compilation it is of: Dynamo begins again at a graph break, to end the graph there."""


def trace_files(path: Path) -> list[Path]:
    """The traces of a folder that TORCH_TRACE named, one a process, by name; or the one trace that `path` is.

    Raises SymfixError where there is none.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix == ".log" and file.is_file())
        if not files:
            raise SymfixError(f"{path}: holds no trace (*.log); run the program with TORCH_TRACE={path}")
        return files
    if not path.exists():
        raise SymfixError(f"{path}: there is no such trace; run the program with TORCH_TRACE=FOLDER")
    return [path]


def process_of(path: Path) -> str:
    """The number of the process that began a trace; "" where its first line does not say it."""
    try:
        with open(path, "rb") as file:
            match = _PROCESS.match(file.readline(_LONGEST_HEADER))
    except OSError:
        return ""
    return match[1].decode() if match else ""


def read_trace(path: Path) -> Iterator[Record]:
    """The records of one trace that speak of shapes, in their order. A last line that was cut off is passed over.

    Raises SymfixError where the file cannot be read, or holds no record at all.
    """
    try:
        lines = read_file(path, LARGEST).decode("utf-8", "replace").split("\n")
    except OSError as error:
        raise SymfixError(f"{path}: the trace cannot be read: {error.strerror}") from error
    names: dict[int, str] = {}
    any_record = False
    for number, line in enumerate(lines):
        match = _HEADER.match(line)
        document = _document(match[1]) if match else None
        if document is None:
            continue
        any_record = True
        interned = document.get("str")
        if isinstance(interned, list) and len(interned) == 2 and isinstance(interned[1], int):
            names[interned[1]] = str(interned[0])
            continue
        kind = next((key for key in document if key in _KINDS), "")
        value = document.get(kind)
        if not isinstance(value, dict) or (kind == "artifact" and value.get("name") not in _ARTIFACTS):
            continue
        yield Record(
            kind,
            value,
            _compilation(document),
            frames(value.get("stack"), names),
            frames(value.get("user_stack"), names),
            _payload(lines, number + 1) if document.get("has_payload") else "",
            document["attempt"] if isinstance(document.get("attempt"), int) else 0,
        )
    if not any_record:
        raise SymfixError(f"{path}: not a structured trace of torch; TORCH_TRACE=FOLDER makes one")


def frames(stack: object, names: Mapping[int, str]) -> tuple[Frame, ...]:
    """A stack as the trace holds it; what has not its form is left out."""
    if not isinstance(stack, list):
        return ()
    return tuple(
        Frame(_file(item.get("filename"), names), item["line"], str(item.get("name", "")), str(item.get("loc") or ""))
        for item in stack
        if isinstance(item, dict) and isinstance(item.get("line"), int) and item.get("name") != PASSES_ON
    )


def printed_frames(lines: Sequence[str]) -> Iterator[Frame]:
    """The frames among `lines`, as Python prints a stack."""
    for line, below in zip(lines, [*lines[1:], ""], strict=False):
        match = _PRINTED.match(line)
        if match:
            yield Frame(match[1], int(match[2]), match[3], "" if _PRINTED.match(below) else below.strip())


def _file(name: object, names: Mapping[int, str]) -> str:
    return names.get(name, "") if isinstance(name, int) else os.fspath(str(name))


def _document(text: str) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _compilation(document: Mapping[str, Any]) -> str:
    frame, count = document.get("frame_id"), document.get("frame_compile_id")
    return f"{frame}/{count}" if isinstance(frame, int) and isinstance(count, int) else ""


def _payload(lines: list[str], start: int) -> str:
    end = start
    while end < len(lines) and lines[end].startswith("\t"):
        end += 1
    return "\n".join(line[1:] for line in lines[start:end])
