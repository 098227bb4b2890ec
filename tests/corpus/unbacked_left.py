"""The OpInfo entries that still fail with all sizes unbacked over a patched torch, by reason, as a table in Markdown.

    python tests/corpus/unbacked_left.py before.json after.json --torch COPY [--loaded RUN] \\
        > tests/corpus/unbacked_2_13_0.md

The runs are those of audit_unbacked.py; nothing is compiled. Where PyTorch blames a line of Python, the reason is what
symfix says of that line in COPY. RUN is one over COPY with what `--load` and `--metas` add: what it cures is listed.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from corpus_torch import require_torch
from corpus_trees import symfix

from codemod.terminal import one_line, shorten

EXPRESSION = re.compile(r"data-dependent expression (.+?) \(unhinted")
GUARD = re.compile(r"Guard failed on the same frame it was created.*?: (?:\d+/\d+: )?(.+?)(?:  #|\n|$)", re.DOTALL)
PLACE = re.compile(r"(torch/\S+\.py):(\d+)")
ASSERTED = "PyTorch takes unknown sizes to be equal where it broadcasts, and asserts it; those of the sample differ"
REASONS = (
    (r"Guard failed on the same frame", ASSERTED),
    (r"does not support running with fake tensors|no meta kernel", "the operator has no meta, or none that is dense"),
    (r"PendingUnbackedSymbol", "PyTorch loses the symbol of a size that it computes"),
    (r"Unsupported", "Dynamo does not trace the call"),
    (r"RuntimeError when making fake tensor call", "the meta refuses what the kernel takes for empty tensors"),
)
IN_CPP = (
    (r"specialized integer", "C++ takes the number itself: an int of the schema, a loop, how many tensors there are"),
    (r"[<>]", "C++ asks which of two sizes is larger"),
    (r"Mod\(", "C++ asks for a remainder"),
    (r"(?:Eq|Ne)\((?:[^,]+, [01]|[01], [^,]+)\)", "C++ asks whether a size is 0 or 1"),
    (r"(?:Eq|Ne)\(", "C++ asks whether a size is another, or a number"),
)
NOT_SAID = "symfix says nothing of this line"
CALLERS = re.compile(r"torch/(?:_dynamo/|_ops\.py|utils/_stats\.py)")  # they call operators for others
LINES = 3
"""So many lines above the line of an operand its statement may begin."""


Said = Mapping[tuple[str, int], str]
"""What symfix says of a line that it leaves, by file and line."""


class Left(NamedTuple):
    """An entry that fails: why, at which line of torch, and what was asked there."""

    entry: str
    reason: str
    place: str
    asked: str


def reasons_by_line(copy: Path) -> dict[tuple[str, int], str]:
    """What symfix says of each line of the copy that it leaves as it is, by file and line."""
    plan = json.loads(symfix(["scan", "--level", "manual", "--format", "json", "--exit-zero", "torch"], copy).stdout)
    findings = [finding for finding in plan["findings"] if finding["reason"] and not finding["edits"]]
    return {(f"torch/{finding['path']}".replace("torch/torch/", "torch/"), finding["line"]): finding["reason"]
            for finding in findings}  # fmt: skip


def left_over(
    before: Mapping[str, Any], after: Mapping[str, Any], said: Mapping[tuple[str, int], str]
) -> Iterator[Left]:
    """The entries that fail in both runs, each with its first failing sample."""
    for entry in sorted(before.keys() & after.keys()):
        if not {"pass", "skip"} & {before[entry]["outcome"], after[entry]["outcome"]}:
            failing = (sample for sample in after[entry]["samples"] if sample["outcome"] not in ("pass", "skip"))
            sample = next(failing, after[entry])
            yield explained(entry, sample.get("where", ""), sample.get("message", ""), said)


def explained(entry: str, where: str, message: str, said: Said) -> Left:
    """Why an entry fails, by the line that PyTorch blames and the message."""
    asked = match[1] if (match := EXPRESSION.search(message) or GUARD.search(message)) else message
    place = match[0] if (match := PLACE.search(where)) and not CALLERS.match(match[0]) else ""
    for pattern, reason in REASONS:
        if re.search(pattern, message):
            return Left(entry, reason, place, asked)
    if where.startswith("C++") or "specialized integer" in message:
        question = message if "specialized integer" in message else asked
        return Left(entry, next((r for pattern, r in IN_CPP if re.search(pattern, question)), "C++ asks"), place, asked)
    path, _, line = place.rpartition(":")
    last = int(line or 0)
    above = (said[path, number] for number in range(last, last - LINES - 1, -1) if (path, number) in said)
    return Left(entry, next(above, NOT_SAID), place, asked)


def report(left: Sequence[Left], failed: int, version: str, cured: Sequence[str] = ()) -> Iterator[str]:
    """The lines of the document; `cured` are those of the entries that pass with the C++ and the metas loaded."""
    groups: dict[str, list[Left]] = defaultdict(list)
    for entry in left:
        groups[entry.reason].append(entry)
    yield f"# OpInfo entries that fail with all sizes unbacked, over a patched torch {version}"
    yield ""
    yield f"Made by `tests/corpus/unbacked_left.py`. Of {failed} entries that fail before, {len(left)} fail after."
    yield "Where C++ asks, it is the composite kernel of the operator or its schema, and the line is that of the Python"
    yield "that calls it, if that is no part of Dynamo; an installed torch holds none of that C++ to rewrite."
    if cured:
        yield ""
        yield f"With the C++ that symfix writes in 2.6.0 and the metas that it draws, {len(cured)} of them pass:"
        yield f"{', '.join(f'`{entry}`' for entry in cured)}."
    yield ""
    yield "| entries | why they stay |"
    yield "|---|---|"
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    for reason, entries in ordered:
        yield f"| {len(entries)} | {cell(reason)} |"
    for reason, entries in ordered:
        yield from ("", f"## {shorten(one_line(reason), 110)}", "")
        if reason == ASSERTED:
            yield ", ".join(f"`{entry.entry}`" for entry in entries)
            continue
        yield "| entry | line | asked |"
        yield "|---|---|---|"
        for entry in entries:
            yield f"| `{entry.entry}` | {cell(entry.place)} | {cell(entry.asked)} |"


def cell(text: str) -> str:
    """A text that fits into a cell of a table."""
    return shorten(one_line(text), 120).replace("|", "\\|")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the document and return 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("before", type=Path, help="the run over the plain torch")
    parser.add_argument("after", type=Path, help="the run over the patched torch")
    parser.add_argument("--torch", type=Path, required=True, metavar="COPY", help="the folder of the patched torch")
    parser.add_argument("--loaded", type=Path, metavar="RUN", help="a run over COPY with libraries and metas loaded")
    arguments = parser.parse_args(argv)
    require_torch(arguments.torch)
    before, after = (json.loads(path.read_text("utf-8")) for path in (arguments.before, arguments.after))
    version = re.search(r"__version__ = '([\d.]+)", (arguments.torch / "torch" / "version.py").read_text("utf-8"))
    failed = sum(result["outcome"] not in ("pass", "skip") for result in before.values())
    left = list(left_over(before, after, reasons_by_line(arguments.torch)))
    loaded = json.loads(arguments.loaded.read_text("utf-8")) if arguments.loaded else {}
    cured = [entry.entry for entry in left if loaded.get(entry.entry, {}).get("outcome") == "pass"]
    print("\n".join(report(left, failed, version[1] if version else "", cured)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
