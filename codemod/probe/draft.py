"""What torch.export.draft_export reports, as `print(exported._report)` shows it (torch/export/_draft_export.py).

A section is `N. HEADING.`, what it is about, and two stacks, the program's own first; torch 2.6 prints one stack, and
other sentences around the same values.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from codemod.probe.answers import Answer
from codemod.probe.collect import DRAFT, real_tensors
from codemod.probe.places import asking, folder_of
from codemod.probe.spelling import guard_kind, in_arguments
from codemod.probe.trace import Frame

_HEADING = re.compile(
    r"^\d+\. (?P<kind>Missing fake kernel|Mismatched fake kernel|Guard Added|Constraint violation error"
    r"|Data dependent error)\.$"
)
_OPERATOR = re.compile(r"^\s*torch\.ops\.(?P<op>\S+) (?:is missing a|has a) fake kernel")
_REASON = re.compile(r"^\s*The reason for the mismatch is: (?P<reason>.+?)\s*\.$")
_GUARD = re.compile(r"^\s*Specifically, this guard was added: (?P<expression>.+), where (?P<sources>\{.*\})\.$")
_UNKNOWN = re.compile(r"^\s*When exporting, we were unable to .*?`(?P<expression>.+)`")
_TAKEN = re.compile(r"specialized to (?:a constant \(e\.g\. |evaluate to )`(?P<result>.+?)`")
_FRAME = re.compile(r"^\s*File (?P<path>.+), lineno (?P<line>\d{1,9}), in (?P<function>\S+)$")
_ADVICE = re.compile(r"^\s*(?P<shapes>dynamic_shapes = .+)$")


def read_draft(lines: Sequence[str]) -> list[Answer]:
    """The answers of a report that stands in `lines`; none where there is no such report."""
    starts = [number for number, line in enumerate(lines) if _HEADING.match(line)]
    sections = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=False)]
    torch = folder_of(match["path"] for line in lines if (match := _FRAME.match(line)))
    return [answer for section in sections for answer in _answers(section, torch)]


def _answers(section: Sequence[str], torch: str) -> Iterator[Answer]:
    operator, guard, unknown = (_first(pattern, section) for pattern in (_OPERATOR, _GUARD, _UNKNOWN))
    if operator is not None:
        reason = _first(_REASON, section)
        text = f"{operator['op']}: {reason['reason']}" if reason else operator["op"]
        yield Answer("fake", text, "", None, None, DRAFT)
        return
    if guard is not None:
        sources = _sources(guard["sources"])
        kind = guard_kind(guard["expression"]) if sources else "assert"  # those of no input are checked when it runs
        text = in_arguments(guard["expression"], sources)
    elif unknown is not None:
        taken = _first(_TAKEN, section)
        kind, text = "error", real_tensors(unknown["expression"], taken["result"] if taken else "")
    else:
        return
    stacks = _stacks(section)
    user, stack = (stacks[0], stacks[-1]) if stacks else ((), ())
    shapes = _first(_ADVICE, section) if kind != "assert" else None
    place, led, whose = asking(stack, [frame for frame in user if not frame.path.startswith(f"{torch}/")], torch)
    yield Answer(kind, text, whose, place, led, DRAFT, advice=f"it went on with {shapes['shapes']}" if shapes else "")


def _first(pattern: re.Pattern[str], lines: Sequence[str]) -> re.Match[str] | None:
    return next((match for line in lines if (match := pattern.search(line))), None)


def _sources(text: str) -> Mapping[str, str]:
    """The arguments by their symbols, as the report's Python shows them; none where that is no such dict."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return {}
    return {str(key): str(item) for key, item in value.items()} if isinstance(value, dict) else {}


def _stacks(section: Sequence[str]) -> list[tuple[Frame, ...]]:
    """The stacks of a section: runs of frames, below the last of which its source stands."""
    stacks: list[list[Frame]] = []
    inside = False
    for line in section:
        match = _FRAME.match(line)
        if match is not None:
            if not inside:
                stacks.append([])
            stacks[-1].append(Frame(match["path"], int(match["line"]), match["function"]))
        elif inside:
            last = stacks[-1].pop()
            stacks[-1].append(Frame(last.path, last.line, last.function, _source(line)))
        inside = match is not None
    return [tuple(stack) for stack in stacks]


def _source(line: str) -> str:
    """The source that stands below a stack, which the sentence around it ends with a colon or a full stop."""
    text = line.strip()
    return text[:-1] if text.endswith(("::", ".")) else text
