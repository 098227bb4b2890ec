"""The guard for which an exported program refuses what it is called with.

torch.export puts the guards that it made into the program, as assertions that Python writes in its own way
(torch/export/_unlift.py, `_guards_fn`): `-1 + 2 * (x.size()[0] // 4) == 23` is `2*((x.size(0)//4)) - 1 == 23`, with the
same sizes, numbers and comparison. The line that made a guard is only in the trace.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from codemod.probe.answers import Answer
from codemod.probe.spelling import spelled
from codemod.probe.violations import SIZES, last_errors

ADVICE = "the exported program refuses for it what it was called with"
_FAILED = re.compile(r"^AssertionError: Guard failed: (.+)$", re.M)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
_COMPARISON = re.compile(r"[=!]=|[<>]=?")


def with_refused(answers: Sequence[Answer], texts: Iterable[str]) -> list[Answer]:
    """`answers`, of a trace, with ADVICE at the guards that failed in the errors whose texts ended processes."""
    failed = {_made_of(guard) for text in texts for error in last_errors(text) for guard in _FAILED.findall(error)}
    return [replace(answer, advice=ADVICE) if _is_one_of(answer, failed) else answer for answer in answers]


def is_refused(answer: Answer) -> bool:
    """Whether an answer is the guard for which an exported program refused an input."""
    return answer.advice == ADVICE


def _is_one_of(answer: Answer, failed: Collection[tuple[tuple[str, ...], ...]]) -> bool:
    return answer.kind in ("guard", "specialized") and _made_of(answer.text) in failed


def _made_of(guard: str) -> tuple[tuple[str, ...], ...]:
    """What the text of a guard has, however it is written: sizes, numbers, and what compares them."""
    text = spelled(guard)
    compared = _COMPARISON.findall(text.replace(">", "<"))
    return tuple(tuple(sorted(each)) for each in (SIZES.findall(text), _NUMBER.findall(SIZES.sub("", text)), compared))
