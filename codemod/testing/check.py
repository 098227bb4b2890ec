"""One call of an operator or a function in each mode of compiling, as a test asserts it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codemod.probe.answers import Report

_KINDS = {"crashes": "error", "hangs": "error", "throws": "error", "wrong": "wrong", "refuses": "refused",
          "recompiles": "recompiled", "guards": "guard"}  # fmt: skip
"""The kind of answer that stands for each status of a mode that asks for something."""


def symfix_probe(
    op: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    modes: Collection[str] | None = None,
    allow: Collection[str] = ("guard",),
) -> Report:
    """Ask what `torch.compile` makes of `op(*args, **kwargs)`; the report, where it is nothing that is not allowed.

    `op` is an operator (`torch.ops.mylib.scale`, an overload of it, what `custom_op` returns) or a function that a
    module holds under its name; `args` and `kwargs` are as `torch.library.opcheck` takes them: real tensors, those with
    `requires_grad` where gradients are to be asked. Tensors of the same kind and shape, with one size varying, stand in
    for them. `modes` are some of `codemod.probe.subjects.MODES`, all by default; `allow` has kinds of answers
    (`codemod.probe.answers.KINDS`) that are no failure. It runs in this process, as opcheck does: what ends a process
    ends the test's.

    Raises AssertionError with each answer, the line that caused it and whose that is; TypeError and ValueError where
    there is nothing to ask; what eager raises for the arguments.
    """
    from codemod.probe.answers import KINDS
    from codemod.probe.collect import Collector
    from codemod.probe.outcomes import report_of
    from codemod.probe.subjects import MODES
    from codemod.probe.trace import read_trace, trace_files
    from codemod.runner import calling

    __tracebackhide__ = True  # pytest shows the test's line
    _among("modes", modes or (), MODES)
    _among("allow", allow, KINDS)
    chosen = [mode for mode in MODES if modes is None or mode in modes]
    subject = calling.Subject(op)
    with TemporaryDirectory(prefix="symfix-probe-") as name:
        folder = Path(name)
        document = calling.probe(subject, args, kwargs or {}, chosen, folder)
        collector = Collector()
        if (folder / "traces").is_dir():
            for path in trace_files(folder / "traces"):
                collector.take(read_trace(path))
        report = report_of(subject.name, [document], collector.report())
    modes_of = report.subjects[0].modes
    if not any(modes_of[mode].cases for mode in chosen if mode != "fake" or len(chosen) == 1):
        raise ValueError(f"{subject.name}: no script could be made of these arguments, so nothing was asked")
    answers = [answer for answer in report.open if answer.kind not in allow]
    failing = [mode for mode, cell in modes_of.items() if cell.asks and _KINDS[cell.status] not in allow]
    if answers or failing:
        raise AssertionError(_message(report, failing, allow))
    return report


def _among(parameter: str, names: Collection[str], choices: Collection[str]) -> None:
    unknown = [name for name in names if name not in choices]
    if isinstance(names, str) or unknown:
        raise ValueError(f"{parameter}={names!r}: give a collection of {', '.join(choices)}")


def _message(report: Report, failing: Sequence[str], allow: Collection[str]) -> str:
    """The answers that are not allowed, with their lines; of a mode that has none, what its worst case says."""
    from codemod.probe.matrix import cause_lines
    from codemod.terminal import unstyled

    subject = report.subjects[0]
    answers = [answer for answer in report.open if answer.kind not in allow]
    lines = [f"symfix_probe: {subject.name} over torch {report.torch}", *cause_lines(answers)]
    said = {answer.function.rpartition(" ")[2] for answer in answers}
    lines += [f"{mode}: {subject.modes[mode].status}: {subject.modes[mode].message}" for mode in failing
              if mode not in said]  # fmt: skip
    return unstyled("\n".join(lines).rstrip())
