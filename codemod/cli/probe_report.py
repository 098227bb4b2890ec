"""What `symfix probe` does: it asks a running torch about the shapes of a program, and joins that with the source."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from codemod.cli.samples import with_samples
from codemod.errors import SymfixError
from codemod.terminal import note, show, write

if TYPE_CHECKING:
    from codemod.probe.answers import Answer, Report
    from codemod.probe.subjects import Regression

_FACTORY = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
"""A function of a module, as --module names it."""
_PROGRAM = "PROGRAM"
"""What stands in a command for the program that compiles."""
_STEP = 25  # operators between two lines of progress


def print_report(context: click.Context, parameters: dict[str, Any]) -> int:
    """Ask what the parameters name, and print the answers; returns the exit code."""
    from codemod.probe.answers import read_report, regressed
    from codemod.probe.subjects import worsened

    earlier = read_report(parameters["compare"]) if parameters["compare"] else None
    report, status = _asked(parameters)
    if not parameters["no_source"]:
        report = dataclasses.replace(report, answers=_with_findings(context, report, parameters["command"]))
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
    subjects = parameters["op"] or parameters["module"]
    if sum(map(bool, (command, parameters["trace"], parameters["error"], subjects))) != 1:
        raise SymfixError("name one thing to ask: a program after --, --op GLOB, --module PKG:FACTORY, --trace PATH,"
                          " or --error FILE")  # fmt: skip
    if parameters["backend"] and not subjects:
        raise SymfixError("--backend goes with --op or --module; a program names its own")
    if parameters["executor"] and not subjects:
        raise SymfixError("--executor goes with --op or --module; a program runs here")
    if subjects:
        return _operators(parameters), 0
    if parameters["error"]:
        return read_text(text_of(parameters["error"])), 0
    collector = Collector()
    if parameters["trace"]:
        for path in trace_files(parameters["trace"]):
            collector.take(read_trace(path))
        return collector.report(), 0
    with traced(Program(tuple(command))) as ended:
        report = ended.report()
        if ended.traces and ended.unattended:
            note(f"symfix: {ended.unattended}; what torch assumes without a check is not shown")
        if not ended.traces and not report.answers:
            note("symfix: the program compiled nothing, or its torch writes no structured trace (2.4 and later do)")
        return report, ended.status


def _operators(parameters: dict[str, Any]) -> Report:
    """What the operators of --op and the modules of --module answer, with progress on stderr."""
    from contextlib import closing

    from codemod.model.choices import BACKENDS
    from codemod.probe.operators import joined, probe_all, select
    from codemod.prove.executor import make_executor
    from codemod.prove.isolate import terminable
    from codemod.prove.target import find_target
    from codemod.tree.pool import default_jobs, progress

    for name in parameters["module"]:
        if not _FACTORY.fullmatch(name):
            raise SymfixError(f"--module {name}: names no factory; write its module and its name, as pkg.models:make")
    homes = [name.partition(":")[0] for name in parameters["module"]]
    jobs = parameters["jobs"] or default_jobs()
    with terminable(), make_executor(parameters["executor"], jobs) as executor:
        globs, imports = (*parameters["op"], *parameters["module"]), (*parameters["imports"], *homes)
        target = find_target(parameters["python"])
        if any(glob.partition("::")[0] in (glob, "aten") for glob in parameters["op"]):
            target = with_samples(target, parameters["install"])
        selection = select(target, globs, tuple(dict.fromkeys(imports)), parameters["backend"] or BACKENDS[0])
        total, kept = len(selection.names), 0
        reports: list[Report] = []
        ended = probe_all(selection, executor, jobs)
        with closing(ended), progress("Probing", total) as advance:
            for report, was_kept in ended:
                reports.append(report)
                kept += was_kept
                advance(1)
                if len(reports) % _STEP == 0 and not sys.stderr.isatty():
                    note(f"symfix: {len(reports):,} of {total:,} operators")
    if kept:
        note(f"symfix: {kept:,} of {total:,} operators were answered by an earlier run")
    return joined(reports, selection)


def text_of(name: str) -> str:
    """The text of a file that somebody pasted an error into, of standard input for "-"."""
    from codemod.borders.documents import read_bounded

    try:
        content = sys.stdin.buffer.read() if name == "-" else read_bounded(Path(name))
    except OSError as error:
        raise SymfixError(f"{name}: the text cannot be read: {error.strerror}") from error
    return content.decode("utf-8", "replace")


def _with_findings(context: click.Context, report: Report, program: Sequence[str]) -> tuple[Answer, ...]:
    """The answers of `report`, joined with the findings of the enclosing checkout; as they are where there is none.

    `program` is the command that was run, if one was.
    """
    from codemod.cli.running import begin
    from codemod.cli.scan import scan
    from codemod.model.scope import Scope
    from codemod.model.transform import load_transforms
    from codemod.planning.analysis import analyse
    from codemod.probe.join import Commands, joined, lines_below, places_below
    from codemod.tree.checkout import find_checkout

    root = find_checkout(Path()).root
    paths = places_below(report.open, root)
    if not paths:
        return report.answers
    options = scan.make_context("scan", [str(root / path) for path in paths], parent=context.parent)
    try:
        run = begin(options, options.params)
        default = run.project.scope
        run.project.scope, run.project.traced = Scope(), lines_below(report.open, root)
        plan = analyse(run.project, load_transforms)
    except SymfixError as error:
        note(f"symfix: without findings of the source: {error}")
        return report.answers
    commands = Commands(root, os.getcwd(), default.name, tuple(program) or (_PROGRAM,))
    return joined(report.answers, plan.findings, commands)


def _print(report: Report, answers: list[Answer], worse: list[Regression], parameters: dict[str, Any]) -> None:
    from codemod.probe.matrix import cause_lines, matrix_lines, matrix_markdown, regression_lines, totals
    from codemod.probe.report import markdown_lines, text_lines
    from codemod.probe.sarif import sarif_log
    from codemod.tree.checkout import find_checkout

    if parameters["format"] == "json":
        chosen = dataclasses.replace(report, answers=tuple(answers))
        write(chosen.to_json().encode("ascii") + b"\n")
    elif parameters["format"] == "html":
        from codemod.probe.page.html import render

        write(render(report, answers))
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
