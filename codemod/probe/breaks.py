"""Graph breaks for the sake of shapes, as Dynamo's structured trace tells them.

What stands behind a break is compiled apart, and guards on what the break left. The graph breaks where code asks about
a size that is not known, and where a number or a shape depends on data. For each of the latter two Dynamo has a setting
that keeps the value in the graph, unknown (torch/_dynamo/config.py, `capture_scalar_outputs` and
`capture_dynamic_output_shape_ops`). Breaks for other reasons are no matter of shapes, but the sizes behind them are
asked about apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemod.probe.trace import Frame, printed_frames
from codemod.runner.causes import TELLING

SCALARS, SHAPES = "capture_scalar_outputs", "capture_dynamic_output_shape_ops"
_NUMBER, _SHAPE = "a number is read from a tensor's data", "a shape depends on data"
_READS_NUMBER = re.compile(rf"{SCALARS}|\bTensor\.item\b|\bdata.dependent operator\b", re.I)
_BRANCH = "attempted to jump with SymNodeVariable"
_OPERATOR = re.compile(r"\b(?:aten|[a-z_]\w*)\.\w+\.(?:default|[A-Z]\w*)\b")
_HEADLINE = re.compile(r"^(?:Graph Break Reason: )?([^\n]*\S)[ ]*\n[ ]+Explanation:", re.M)
_REASON = re.compile(r"^(?:Graph Break )?Reason: (?:Unsupported: )?([^\n]*\S)", re.M)
_PROGRAM = re.compile(r"User code traceback:|Graph break: from user code at:")
_TORCH = "Traceback (most recent call last):"
_LOGGED = re.compile(r"Graph break (?:in user code at |from `)")
_LOGGER = re.compile(r"(?:\[rank\d+\]:\s?)?[VDIWEC]\d{4} \S+ \d+ (\S+)\] \[(\S+)\] (?:\[__\w+\] ?)?")
_LONGEST = 400
"""Lines of a log that one break takes at most."""


@dataclass(frozen=True, slots=True)
class Break:
    """One graph break: what it says, and the program's lines, the innermost last.

    `setting` is the one of Dynamo that keeps the value in the graph; "" where that takes another line. `of_shapes` says
    whether a size, or a value that depends on data, is the reason.
    """

    text: str
    setting: str
    stack: tuple[Frame, ...]
    of_shapes: bool = True

    def stands_at(self, path: object, line: object) -> bool:
        """Whether it is the program's line `line` of the file `path` that breaks the graph."""
        return bool(self.stack) and (self.stack[-1].path, self.stack[-1].line) == (path, line)


def graph_break(payload: str) -> Break | None:
    """The break that an artifact's payload tells; None where it gives no reason."""
    reason, *rest = _PROGRAM.split(payload, maxsplit=1)
    below = rest[0] if rest else ""
    asked, operator = TELLING.search(reason), _OPERATOR.search(reason)
    stack = tuple(printed_frames(below.partition(_TORCH)[0].splitlines()))
    if asked is not None:
        return Break(asked[0], "", stack)
    if _BRANCH in reason:
        return Break("a branch on a size or a number that is not known", "", stack)
    if SHAPES in reason:
        return Break(_SHAPE + (f": {operator[0]}" if operator else ""), SHAPES, stack)
    if _READS_NUMBER.search(reason):
        return Break(_NUMBER, SCALARS, stack)
    said = _HEADLINE.search(reason) or _REASON.search(reason)
    return Break(said[1].strip(), "", stack, of_shapes=False) if said is not None else None


def logged_breaks(lines: Sequence[str]) -> Iterator[tuple[range, Break | None]]:
    """The graph breaks in what logging printed, each with the lines that it takes; of one and the same, the first.

    None stands for one that is no matter of shapes.

    Lines have what logging puts before them, or nothing: a break then goes on to the next.
    """
    starts = [number for number, line in enumerate(lines) if _LOGGED.match(_LOGGER.sub("", line, count=1))]
    said: set[tuple[str, tuple[Frame, ...]]] = set()
    for start, following in zip(starts, [*starts[1:], len(lines)], strict=False):
        logger = _LOGGER.match(lines[start])
        end = start + 1
        while end < min(following, start + _LONGEST):
            other = _LOGGER.match(lines[end])
            if logger is not None and (other is None or other.groups() != logger.groups()):
                break
            end += 1
        found = graph_break("\n".join(_LOGGER.sub("", line, count=1) for line in lines[start:end]))
        compilation = logger[2] if logger is not None else str(start)
        found = found if found is not None and found.of_shapes else None
        again = found is not None and (compilation, found.stack[-1:]) in said
        if found is not None and not again:
            said.add((compilation, found.stack[-1:]))
        yield range(start, end), None if again else found


def advice_for(setting: str) -> str:
    """What a setting of Dynamo does, said to the reader; "" for none."""
    return f"torch._dynamo.config.{setting} = True keeps it in the graph, unknown" if setting else ""


def setting_against(text: str) -> str:
    """The setting that keeps in the graph what an answer of this text is about; "" for none."""
    return SCALARS if text == _NUMBER else SHAPES if text.startswith(_SHAPE) else ""
