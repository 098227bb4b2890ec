"""Running a program with torch's structured trace on; its code and its arguments stay as they are."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from codemod.borders.documents import load_json, read_bounded
from codemod.errors import SymfixError
from codemod.probe.answers import Answer, Report, merged
from codemod.probe.collect import Collector
from codemod.probe.refused import with_refused
from codemod.probe.spelling import SYMBOL
from codemod.probe.texts import read_text
from codemod.probe.trace import process_of, read_trace, trace_files
from codemod.runner import asking, assumptions, recording

_KEPT_OUT = ", which PYTHONPATH brings: keep what is in it (PYTHONPATH=.:$PYTHONPATH), and give python no -I, -E or -S"
_FAILURES = frozenset({"error", "fake"})
OUT_OF_TIME = 124
"""The exit status of a run that was ended, as of timeout(1)."""
PRINTED, ERRORS = "printed", "errors"
"""The files beside the traces that hold what a program wrote, where that is kept."""


@dataclass(frozen=True, slots=True)
class Processes:
    """What a run shows of the processes of Python that a program starts, by a launcher or a shell's script too."""

    scripts: frozenset[str] = frozenset()
    """The files that they are started with."""
    imports: frozenset[str] = frozenset()
    """The folders that their imports look into."""
    loaded: frozenset[str] = frozenset()
    """Of the files that `recording.WATCHED` names, those that modules are made of."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program as it is started: its arguments, its working directory, and what its environment has more."""

    command: tuple[str, ...]
    folder: Path = field(default_factory=Path)
    environment: Mapping[str, str] = field(default_factory=dict)
    imports: tuple[Path, ...] = ()
    """Folders that its imports look into first."""
    processes: Processes = field(default_factory=Processes)
    """What an earlier run showed of them."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended. Its `folder` has `traces` and `records`, and is gone when the run's context is left."""

    status: int
    """Its exit status; that of a run out of time is 124, as of timeout(1)."""
    folder: Path

    @property
    def traces(self) -> list[Path]:
        """The traces, one a process; empty where nothing was compiled."""
        folder = self.folder / "traces"
        return trace_files(folder) if any(folder.iterdir()) else []

    @property
    def records(self) -> list[Path]:
        """What `codemod/runner/recording.py` wrote, one file a process, in the order in which they began."""
        return sorted((self.folder / "records").iterdir())

    @property
    def processes(self) -> Processes:
        """What `codemod/runner/recording.py` says of the processes, all together."""
        scripts: set[str] = set()
        imports: set[str] = set()
        loaded: set[str] = set()
        for path in (self.folder / "processes").iterdir():
            with suppress(SymfixError, LookupError, TypeError):  # cut off where the process was killed
                process = load_json(read_bounded(path).decode("utf-8", "replace"), "process", "")
                scripts.add(os.path.realpath(str(process["script"])))
                imports.update(os.path.realpath(str(entry)) for entry in process["imports"])
                loaded.update(map(str, process["files"]))
        scripts, imports = set(filter(os.path.isfile, scripts)), set(filter(os.path.isdir, imports))
        return Processes(frozenset(scripts), frozenset(imports), frozenset(loaded))

    @property
    def unattended(self) -> str:
        """Why nothing can be said of the run: a process that compiled, or all, ran without symfix's hook; "" else.

        What torch assumes is not traced there, results are not recorded, and everything is compiled.
        """
        attended = {path.name for path in (self.folder / "attended").iterdir()}
        if any(process_of(path) not in (*attended, "") for path in self.traces):
            return f"symfix's hook is kept out of a process that compiles{_KEPT_OUT}"
        if not attended and self.status != OUT_OF_TIME:
            return f"no Python that the program starts has symfix's hook{_KEPT_OUT}"
        return ""

    def report(self) -> Report:
        """What the traces say, and the errors that ended its processes, which torch.export does not trace."""
        report = self.collector().report()
        texts = [read_bounded(path).decode("utf-8", "replace") for path in sorted((self.folder / "raised").iterdir())]
        return replace(report, answers=tuple(merged(with_refused(with_raised(report.answers, texts), texts))))

    def collector(self) -> Collector:
        """What the traces say."""
        collector = Collector()
        for path in self.traces:
            collector.take(read_trace(path))
        return collector


def with_raised(answers: Sequence[Answer], texts: Iterable[str]) -> list[Answer]:
    """`answers`, of traces, with what they do not say of the errors whose texts ended processes, such as the line."""
    together = list(answers)
    failures = [answer for answer in answers if answer.kind in _FAILURES]
    for raised in (answer for text in texts for answer in read_text(text).answers):
        nowhere = [answer for answer in failures if not _frames(answer) and answer.kind == raised.kind
                   and says(answer.text, raised.text)]  # fmt: skip
        if raised.kind in _FAILURES and len(nowhere) == 1:
            (traced_answer,) = nowhere
            located = replace(raised, text=traced_answer.text, function=traced_answer.function,
                              count=traced_answer.count, advice=traced_answer.advice or raised.advice,
                              declared=traced_answer.declared)  # fmt: skip
            together[together.index(traced_answer)] = located
        elif not any(tells(answer, raised) for answer in failures):
            together.append(raised)
    return together


def _frames(answer: Answer) -> set[tuple[str, int]]:
    """The lines that an error is about, as a trace and the text with which it ended a process both have them.

    Where torch asked in a line of its own, that need not be the same in both, but the program's is.
    """
    return {(os.path.basename(frame.path), frame.line) for frame in answer.places}


def tells(answer: Answer, raised: Answer) -> bool:
    """Whether an answer of a trace is about the error of a text that ended a process."""
    lines, others = _frames(answer), _frames(raised)
    return (lines == others or not lines.isdisjoint(others)) and says(answer.text, raised.text)


def says(text: str, raised: str) -> bool:
    """Whether `text`, of a trace, is what an error's text says, perhaps with arguments in place of its symbols."""
    first, *pieces = SYMBOL.split(raised)
    if not pieces or text == raised:
        return text == raised
    place = len(first)
    for piece in pieces[:-1]:
        found = text.find(piece, place + 1)
        if found < 0:
            return False
        place = found + len(piece)
    return text.startswith(first) and text.endswith(pieces[-1]) and len(text) > place + len(pieces[-1])


@contextmanager
def traced(
    program: Program, *, records: bool = False, eager: bool = False, seconds: float | None = None
) -> Iterator[Ended]:
    """Run `program` to its end, whose traces are there for as long as the context is open.

    Its standard output goes to stderr, for stdout is the report's. With `records` both are kept in files instead, and
    so is what compiled functions return; with `eager` nothing is compiled. Raises SymfixError where it cannot be
    started.
    """
    executable = shutil.which(program.command[0])
    if executable is None:
        raise SymfixError(f"{program.command[0]}: there is no such program to run")
    with TemporaryDirectory(prefix="symfix-probe-") as name:
        folder = Path(name)
        for below in ("traces", "hook", "records", "raised", "attended", "processes"):
            (folder / below).mkdir()
        shutil.copyfile(assumptions.__file__, folder / "hook" / "sitecustomize.py")
        shutil.copyfile(asking.__file__, folder / "hook" / f"{assumptions.ASKING}.py")
        if records:
            shutil.copyfile(recording.__file__, folder / "hook" / f"{assumptions.RECORDING}.py")
        path = (str(folder / "hook"), *map(str, program.imports), os.environ.get("PYTHONPATH", ""))
        environment = {
            **os.environ, "TORCH_TRACE": str(folder / "traces"), **program.environment,
            "PYTHONPATH": os.pathsep.join(filter(None, path)), assumptions.RAISED: str(folder / "raised"),
            assumptions.ATTENDED: str(folder / "attended"),
        }  # fmt: skip
        if records:
            environment |= {recording.FOLDER: str(folder / "records"), "PYTHONHASHSEED": "0"}
            environment |= {recording.PROCESSES: str(folder / "processes")}
            environment |= {recording.EAGER: "1"} if eager else {}
        command = (os.path.abspath(executable), *program.command[1:])
        yield Ended(_run(command, program.folder, environment, folder if records else None, seconds), folder)


def _run(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], kept: Path | None, seconds: float | None
) -> int:
    try:
        if kept is None:
            return subprocess.run(command, cwd=cwd, env=environment, stdout=2, check=False).returncode
        with open(kept / PRINTED, "wb") as printed, open(kept / ERRORS, "wb") as errors:
            done = subprocess.run(command, cwd=cwd, env=environment, stdout=printed, stderr=errors,
                                  stdin=subprocess.DEVNULL, timeout=seconds, check=False)  # fmt: skip
            return done.returncode
    except subprocess.TimeoutExpired:
        return OUT_OF_TIME
    except OSError as error:
        raise SymfixError(f"{command[0]}: cannot be run: {error.strerror}") from error
