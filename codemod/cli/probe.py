"""`symfix probe`: what a running torch says about the shapes of a program, joined with what its source says."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codemod.cli.root import group
from codemod.errors import SymfixError
from codemod.model.choices import MOST_JOBS
from codemod.terminal import note, show, write

if TYPE_CHECKING:
    from codemod.probe.answers import Answer, Report
    from codemod.probe.subjects import Regression

FACTORY = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
"""A function of a module, as --module names it."""
_STEP = 25  # operators between two lines of progress


@group.command()
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--trace", type=click.Path(path_type=Path, exists=True), metavar="PATH",
              help="Read this trace, or folder of traces, that TORCH_TRACE made; nothing is run.")  # fmt: skip
@click.option("--error", metavar="FILE",
              help="Read the text of an error or of TORCH_LOGS from this file, - for standard input.")  # fmt: skip
@click.option("--op", multiple=True, metavar="GLOB",
              help="Ask operators: topk, 'linalg.*', 'mylib::*', '*' for all that PyTorch has samples of.")  # fmt: skip
@click.option("--module", multiple=True, metavar="PKG:FACTORY",
              help="Ask a module: FACTORY() returns it and its arguments, or what makes them of a size.")  # fmt: skip
@click.option("--import", "imports", multiple=True, metavar="MODULE",
              help="Import this module first, which brings a library's operators. Repeatable.")  # fmt: skip
@click.option("--python", type=click.Path(path_type=Path), metavar="PATH",
              help="The interpreter whose torch has the operators."
              "  [default: the active virtual environment's, else symfix's own]")  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, MOST_JOBS), metavar="N",
              help="Operators at a time.  [default: one for each processor]")  # fmt: skip
@click.option("--compare", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
              help="Report only what this earlier report (--format json) does not hold.")  # fmt: skip
@click.option("--all", "everything", is_flag=True,
              help="Also what is checked when it runs, and what torch's own code assumes.")  # fmt: skip
@click.option("--no-source", is_flag=True, help="Do not look for findings at the lines that are named.")
@click.option("--format", type=click.Choice(["text", "json", "markdown", "sarif"]), default="text",
              show_default=True, help="json is a report that --compare takes.")  # fmt: skip
@click.option("--exit-zero", is_flag=True, help="Exit 0 also where there is something to report.")
@click.pass_context
def probe(context: click.Context, /, **parameters: Any) -> int:
    """Ask the running torch which lines guard, specialize and compile again.

    \b
      symfix probe -- python train.py           run it, and say what was compiled
      symfix probe -- pytest tests/test_it.py   the same of a test run
      symfix probe --trace FOLDER               what TORCH_TRACE=FOLDER recorded
      symfix probe --error - < error.txt        an error, or a log of TORCH_LOGS
      symfix probe --op 'linalg.*'              operators, mode by mode
      symfix probe --op 'mylib::*' --import mylib
      symfix probe --module mylib.models:tiny   a module, mode by mode
    \b
      symfix probe --format json -- python train.py > before.json
      symfix probe --compare before.json -- python train.py   what is new?

    The program runs as it is, with its own torch; its output goes to stderr. Each answer names the line that asked,
    whose it is, and the change that symfix can make to your source there. Operators run on PyTorch's own samples, or
    on arguments that fit their schema, each in a process of its own; what they answer is kept until their code
    changes, so a run that was stopped goes on. Exit 0 where nothing asks for anything.
    """
    from codemod.probe.answers import read_report, regressed
    from codemod.probe.subjects import worsened

    earlier = read_report(parameters["compare"]) if parameters["compare"] else None
    report, status = _asked(parameters)
    if not parameters["no_source"]:
        report = dataclasses.replace(report, answers=_with_findings(context, report))
    answers = regressed(earlier, report) if earlier is not None else list(report.answers)
    worse = worsened(earlier.subjects, report.subjects) if earlier is not None else []
    _print(report, answers, worse, parameters)
    if status:
        note(f"symfix: the program ended with {status}")
    anything = bool(worse) or any(answer.asks for answer in answers)
    return 1 if anything and not parameters["exit_zero"] else 0


def _asked(parameters: dict[str, Any]) -> tuple[Report, int]:
    """The report of the one subject that was named, and the exit status of the program, if one was run."""
    from codemod.probe.collect import Collector
    from codemod.probe.script import Program, traced
    from codemod.probe.texts import read_text
    from codemod.probe.trace import read_trace, trace_files

    command: Sequence[str] = parameters["command"]
    asked = parameters["op"] or parameters["module"]
    if sum(map(bool, (command, parameters["trace"], parameters["error"], asked))) != 1:
        raise SymfixError("name one thing to ask: a program after --, --op GLOB, --module PKG:FACTORY, --trace PATH,"
                          " or --error FILE")  # fmt: skip
    if asked:
        return _operators(parameters), 0
    if parameters["error"]:
        return read_text(text_of(parameters["error"])), 0
    collector = Collector()
    if parameters["trace"]:
        for path in trace_files(parameters["trace"]):
            collector.take(read_trace(path), path.name)
        return collector.report(), 0
    with traced(Program(tuple(command))) as ended:
        if not ended.traces:
            note("symfix: the program compiled nothing, or its torch writes no structured trace (2.4 and later do)")
        return ended.collector().report(), ended.status


def _operators(parameters: dict[str, Any]) -> Report:
    """What the operators of --op and the modules of --module answer, with progress on stderr."""
    from contextlib import closing

    from codemod.probe.operators import joined, probe_all, select
    from codemod.prove.isolate import terminable
    from codemod.prove.target import find_target
    from codemod.tree.pool import default_jobs, progress

    target = find_target(parameters["python"])
    for name in parameters["module"]:
        if not FACTORY.fullmatch(name):
            raise SymfixError(f"--module {name}: names no factory; write its module and its name, as pkg.models:make")
    homes = [name.partition(":")[0] for name in parameters["module"]]
    with terminable():
        globs, imports = (*parameters["op"], *parameters["module"]), (*parameters["imports"], *homes)
        selection = select(target, globs, tuple(dict.fromkeys(imports)))
        total, kept = len(selection.names), 0
        reports: list[Report] = []
        ended = probe_all(selection, parameters["jobs"] or default_jobs())
        with closing(ended), progress("Probing", total) as advance:
            for report, was_kept in ended:
                reports.append(report)
                kept += was_kept
                advance(1)
                if len(reports) % _STEP == 0 and not sys.stderr.isatty():
                    note(f"symfix: {len(reports):,} of {total:,} operators")
    if kept:
        note(f"symfix: {kept:,} of {total:,} operators were answered by an earlier run")
    return joined(reports, selection.torch)


def text_of(name: str) -> str:
    """The text of a file that somebody pasted an error into, of standard input for "-"."""
    from codemod.borders.documents import read_bounded

    try:
        content = sys.stdin.buffer.read() if name == "-" else read_bounded(Path(name))
    except OSError as error:
        raise SymfixError(f"{name}: the text cannot be read: {error.strerror}") from error
    return content.decode("utf-8", "replace")


def _with_findings(context: click.Context, report: Report) -> tuple[Answer, ...]:
    """The answers of `report`, joined with the findings of the enclosing checkout; as they are where there is none."""
    from codemod.cli.running import begin
    from codemod.cli.scan import scan
    from codemod.model.transform import load_transforms
    from codemod.planning.analysis import analyse
    from codemod.probe.join import joined, places_below
    from codemod.tree.checkout import find_checkout

    root = find_checkout(Path()).root
    paths = places_below(report.open, root)
    if not paths:
        return report.answers
    options = scan.make_context("scan", [str(root / path) for path in paths], parent=context.parent)
    try:
        run = begin(options, options.params)
        plan = analyse(run.project, load_transforms)
    except SymfixError as error:
        note(f"symfix: without findings of the source: {error}")
        return report.answers
    return joined(report.answers, plan.findings, root, os.getcwd())


def _print(report: Report, answers: list[Answer], worse: list[Regression], parameters: dict[str, Any]) -> None:
    from codemod.probe.matrix import cause_lines, matrix_lines, matrix_markdown, regression_lines, totals
    from codemod.probe.report import markdown_lines, text_lines
    from codemod.probe.sarif import sarif_log
    from codemod.tree.checkout import find_checkout

    if parameters["format"] == "json":
        chosen = dataclasses.replace(report, answers=tuple(answers))
        write(chosen.to_json().encode("ascii") + b"\n")
    elif parameters["format"] == "sarif":
        write(sarif_log(answers, find_checkout(Path()).root))
    elif parameters["format"] == "markdown":
        show((matrix_markdown if report.subjects else markdown_lines)(report, answers))
    elif report.subjects and parameters["compare"]:
        show([*regression_lines(worse), *cause_lines([a for a in answers if a.asks]), totals(report)])
    elif report.subjects:
        show(matrix_lines(report, answers, parameters["everything"]))
    else:
        show(text_lines(report, answers, parameters["everything"]))
