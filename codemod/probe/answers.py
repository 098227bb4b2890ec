"""What was answered about one program: its compilations, and what each assumed about sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from codemod.borders.documents import load_document, read_bounded
from codemod.borders.quoting import json_text
from codemod.errors import SymfixError
from codemod.probe import subjects
from codemod.probe.declaring import Declaration
from codemod.probe.places import COMPILED, TORCH
from codemod.probe.subjects import Subject, read_subject
from codemod.probe.trace import Frame

KINDS = {
    "error": "could not be compiled",
    "wrong": "another result than eager's",
    "refused": "sizes or strides that eager takes fail when what was compiled is called with them",
    "break": "a graph break: what stands behind it is compiled apart",
    "specialized": "a size or number became a constant: each other value compiles again",
    "recompiled": "compiled again",
    "guard": "only sizes that satisfy it are served by what was compiled",
    "assumed": "assumed for sizes that are unknown, without a check when it runs",
    "fake": "the fake kernel is missing, or is not like the real one",
    "assert": "checked when it runs",
    "unrelated": "a graph break for another reason than sizes: what stands behind it is compiled apart",
}
"""Each kind of answer and what it means, those that need somebody most first."""

ARROW = " → "
"""Between the functions of `Answer.native`."""
_VERSION = ("symfix-probe", 1)
_FRAME = {"path": str, "line": int, "function": str, "text": str}
_SHAPE = {
    "torch": str,
    "compilations": [{"function": str, "path": str, "line": int, "count": int}],
    "answers": [
        {
            "kind": frozenset(KINDS), "text": str, "owner": str, "function": str, "count": int,
            "place": (None, _FRAME), "user": (None, _FRAME), "advice": str, "finding": str, "command": str,
            "native?": str, "argument?": str, "kept?": bool,
        }
    ],
    "subjects?": [subjects.SHAPE], "cannot?": [str],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compilation:
    """A function that Dynamo compiled, and how often."""

    function: str
    path: str
    line: int
    count: int

    @property
    def label(self) -> str:
        """The name that answers have as `function`."""
        return f"{self.function} ({Path(self.path).name}:{self.line})"


@dataclass(frozen=True, slots=True)
class Answer:
    """One thing that compilations did about a size.

    `text` speaks of arguments (`x.size(0) > 5`) where the trace knows them. `place` is the line that asked, `user` the
    compiled program's line that led there where that is another; None where the trace does not say. `owner` is whose
    `place` is: "your code", "torch", "C++ of torch", "Python's library", or a package's name. `finding` and `command`
    are filled where the source at `place` has a finding of `scan`.
    """

    kind: str
    text: str
    owner: str
    place: Frame | None
    user: Frame | None
    function: str
    count: int = 1
    advice: str = ""
    finding: str = ""
    command: str = ""
    native: str = ""
    """The functions of torch's C++ that asked, the caller first: "corrcoef → cov"; "" where that is not known."""

    argument: str = ""
    """The schema argument that is a plain number and was given a size: "argument dims (int[]) of aten::roll"."""

    kept: bool = False
    """About a number that an object keeps (`self.drop.p`), which had one value as long as the program ran."""

    stack: tuple[Frame, ...] = field(default=(), compare=False)
    """The compiled program's lines that led there, of all that are counted; no part of a report that is written."""

    declared: tuple[Declaration, ...] = field(default=(), compare=False)
    """What the program may declare of its sizes, each of which answers the question; no part of one either."""

    @property
    def whose(self) -> str:
        """`owner`, with the functions that asked, or the argument, where it is C++."""
        return ": ".join(filter(None, (self.owner, self.native or self.argument)))

    @property
    def places(self) -> tuple[Frame, ...]:
        """`place` and `user`, as far as the trace says them."""
        return tuple(frame for frame in (self.place, self.user) if frame is not None)

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All lines that are known to have led there."""
        return (*self.places, *self.stack)

    @property
    def asks(self) -> bool:
        """Whether somebody has something to do: not about what the code requires anyway, or torch takes upon itself.

        Nor about numbers that never change: a model asks as often about the probability of each of its dropouts.
        """
        assumed = self.kind == "assumed" and self.owner in (TORCH, COMPILED)
        return self.kind not in ("assert", "unrelated") and not assumed and not self.kept

    @property
    def identity(self) -> tuple[str, ...]:
        """What makes two answers of two runs the same, whatever lines were added above them."""
        place = (Path(self.place.path).name, self.place.function, self.place.text) if self.place else ("", "", "")
        return (self.kind, self.text, self.function.partition(" (")[0], *place)


@dataclass(frozen=True, slots=True)
class Report:
    """All that a program or operators answered. `torch` is the version that ran, "" where the trace does not say."""

    torch: str
    compilations: tuple[Compilation, ...]
    answers: tuple[Answer, ...]
    subjects: tuple[Subject, ...] = ()
    """The operators that were asked for; an answer's `function` is then an operator and a mode: `topk out`."""
    cannot: tuple[str, ...] = ()
    """What this torch cannot tell, a sentence each."""

    @property
    def open(self) -> tuple[Answer, ...]:
        """The answers that ask for something."""
        return tuple(answer for answer in self.answers if answer.asks)

    def to_json(self) -> str:
        """The report as a document that `read_report` takes."""
        plain = replace(self, answers=())
        answers = [asdict(replace(answer, stack=(), declared=())) for answer in self.answers]
        for answer in answers:
            del answer["stack"], answer["declared"]
        return json_text({"format": _VERSION[0], "version": _VERSION[1], **asdict(plain), "answers": answers})


def read_report(path: Path) -> Report:
    """The report that `symfix probe --format json` wrote to `path`. Raises SymfixError where it is none."""
    try:
        content = read_bounded(path)
    except OSError as error:
        raise SymfixError(f"{path}: the report cannot be read: {error.strerror}") from error
    return parse_report(content, str(path))


def parse_report(content: bytes, name: str) -> Report:
    """The report in `content`. Raises SymfixError, which calls it `name`, where it is none."""
    remedy = "symfix probe --format json writes one"
    document = load_document(content, name, "report of symfix probe", _VERSION, _SHAPE, remedy)
    return Report(
        document["torch"],
        tuple(Compilation(**item) for item in document["compilations"]),
        tuple(
            Answer(**{**item, "place": _frame(item["place"]), "user": _frame(item["user"])})
            for item in document["answers"]
        ),
        tuple(read_subject(item) for item in document.get("subjects", ())),
        tuple(document.get("cannot", ())),
    )


def _frame(item: Mapping[str, Any] | None) -> Frame | None:
    return None if item is None else Frame(**item)


def merged(answers: Sequence[Answer]) -> list[Answer]:
    """`answers` with equal ones as one that is counted, in the order of their kinds."""
    counted: dict[Answer, int] = {}
    stacks: dict[Answer, dict[Frame, None]] = {}
    for answer in answers:
        plain = replace(answer, count=1)
        counted[plain] = counted.get(plain, 0) + answer.count
        stacks.setdefault(plain, {}).update(dict.fromkeys(answer.stack))
    ranks = list(KINDS)
    ranked = sorted(counted, key=lambda answer: (answer.function, ranks.index(answer.kind)))
    return [replace(answer, count=counted[answer], stack=tuple(stacks[answer])) for answer in ranked]


def regressed(before: Report, after: Report) -> list[Answer]:
    """The answers that ask for something in `after` and are not in `before`, of operators that `before` has too."""
    earlier = {answer.identity for answer in before.open}
    both = {subject.name for subject in before.subjects}
    return [
        answer
        for answer in after.open
        if answer.identity not in earlier and (not after.subjects or answer.function.rpartition(" ")[0] in both)
    ]
