"""Short descriptions of PyTorch's exceptions: the first cause, without C++ frames and advice."""

from __future__ import annotations

import os
import re
import traceback
from typing import Any

from . import asking
from .assumptions import ASKED

LENGTH = 600
NOISE = re.compile(
    r"Exception raised from .*|C\+\+ CapturedTraceback:.*|\nframe #\d.*|\n\nfrom user code:.*"
    r"|\nDeveloper debug context.*|\n\nSet TORCH.*",
    re.S,
)
TELLING = re.compile(
    r"Cannot call \w+\(\) on tensor with symbolic sizes/strides[^\n]*"
    r"|TensorIterator does not support symbolic shapes[^\n]*"
    r"|SymIntArrayRef expected to contain only concrete integers[^\n]*"
    r"|when unpacking SymInt, expected int[^\n]*"
    r"|Expected a value of type 'List\[int\]'[^\n]*"
    r"|GuardOnDataDependentSymNode[^\n]*|Could not (?:guard on data-dependent expression|extract specialized)[^\n]*"
    r"|PendingUnbackedSymbolNotFound[^\n]*"
)
"""Sentences that name the cause; they are looked for first, wherever the error text holds them."""
MACHINERY = re.compile(
    r"/torch/(?:__init__|_subclasses/\w+|fx/experimental/(?:symbolic_shapes|sym_node|recording|_\w+))\.py$"
    r"|/functools\.py$"
)
CAUSE = re.compile(r"Caused by: .*\((\S+:\d+ in \w+)\)")


def chain(error: BaseException) -> list[BaseException]:
    """The error and what caused it, the first cause last."""
    causes = [error]
    while (inner := causes[-1].__cause__ or causes[-1].__context__) is not None and inner not in causes:
        causes.append(inner)
    return causes


def telling(message: str) -> bool:
    """Whether a description names symbolic sizes as the cause."""
    return TELLING.match(message) is not None


def first_line(error: BaseException) -> str:
    """The type and the first line of an error's text."""
    lines = NOISE.sub("", str(error)).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:LENGTH]


def describe(error: BaseException) -> str:
    """The error's description of its cause, and the line of PyTorch's Python that asked, where that is found."""
    causes = chain(error)
    for cause in reversed(causes):
        match = TELLING.search(str(cause))
        if match:
            return f"{match[0].strip()}{_place(causes)}"[:LENGTH]
    return f"{first_line(causes[-1])}{_place(causes)}"[:LENGTH]


def asked(error: BaseException) -> dict[str, Any]:
    """What of C++ asked for what an error refuses: `functions`, the caller first, else an `argument` of an operator."""
    for cause in reversed(chain(error)):
        recorded: dict[str, Any] | None = getattr(cause, ASKED, None)
        if recorded is not None:
            return recorded
        functions = asking.askers_in(str(cause))
        argument = "" if functions else asking.argument_in(str(cause))
        if functions or argument:
            return {"functions": functions, "argument": argument}
    return {}


def _place(causes: list[BaseException]) -> str:
    place = where(causes)
    return f" [{place}]" if place else ""


def where(causes: list[BaseException], outside: bool = False) -> str:
    """The innermost line of torch that is not its machinery, as `torch/file.py:line in function`, "" where unknown.

    "C++ below torch/…" where that line is a call and the question came from C++. A line that is not torch's has the
    whole path of its file, where `outside` asks for such, unless it is a repro's.
    """
    cause = CAUSE.search(str(causes[0]))
    for error in reversed(causes):
        frames = traceback.extract_tb(error.__traceback__)
        indices = [i for i, frame in enumerate(frames) if not MACHINERY.search(frame.filename)]
        if not indices:
            continue
        last = frames[indices[-1]]
        above = frames[indices[-1] + 1].filename if indices[-1] + 1 < len(frames) else ""
        if "/_dynamo/variables/" in last.filename and cause:
            traced = _traced(causes)
            if traced is None or not cause[1].startswith("_dynamo/"):
                return cause[1]
            last, above = traced, ""  # Dynamo asked, for this line
        if "/torch/" not in last.filename:
            own = last.filename.startswith("<") or os.path.dirname(last.filename) == os.path.dirname(__file__)
            return f"{last.filename}:{last.lineno} in {last.name}" if outside and not own else ""
        place = f"torch/{last.filename.rpartition('/torch/')[2]}:{last.lineno} in {last.name}"
        return f"C++ below {place}" if above.endswith(("sym_node.py", "fake_tensor.py")) else place
    return ""


def _traced(causes: list[BaseException]) -> traceback.FrameSummary | None:
    """The innermost line that Dynamo was tracing, as its exceptions say it."""
    stacks = (getattr(error, "real_stack", None) for error in causes)
    return next((stack[-1] for stack in stacks if stack), None)
