"""From the records of a trace to answers: one for each thing that a compilation did about a size."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from codemod.borders.documents import load_json
from codemod.errors import SymfixError
from codemod.probe.advice import STATIC, advice_about
from codemod.probe.answers import ARROW, Answer, Compilation, Report, merged
from codemod.probe.breaks import Break, advice_for, graph_break
from codemod.probe.contraction import ORDER_ADVICE, asks_for_order
from codemod.probe.declaring import Declaration, advice_of, declarations
from codemod.probe.fakes import lacking
from codemod.probe.places import (
    COMPILED,
    asking,
    compiled_frame,
    folder_of,
    in_full,
    is_compiled,
    owner,
    schema_owner,
    torch_folder,
)
from codemod.probe.spelling import SYMBOL, guard_kind, in_arguments, short_floats, spelled
from codemod.probe.symbolic_forms import advice_instead
from codemod.probe.trace import BREAK, GRAPH, Frame, Record, printed_frames
from codemod.probe.violations import violation
from codemod.runner.asking import argument_in, askers_in
from codemod.runner.assumptions import ASKERS, ASSUMED, CANNOT, NAMED, UNKNOWN
from codemod.runner.causes import LENGTH, TELLING

DRAFT = "draft_export"
"""What answers are about that torch.export.draft_export gives."""
_OF_DRAFT = frozenset(
    {
        "guard_added", "missing_fake_kernel", "mismatched_fake_kernel", "propagate_real_tensors",
        "propagate_real_tensors_provenance",
    }
)  # fmt: skip
_MADE_CONSTANT = "it was made a constant when it was first compiled, by the line that specialized names"
_SYMBOLIC = "a SymInt in the schema, and a kernel that takes one, keep it symbolic"
_EXCEPTION = re.compile(r"^GuardOnDataDependentSymNode: (?=.)")  # what a traceback has before what a trace says
_EXPRESSION = re.compile(r"(?P<what>Could not .*?data-dependent expression )(?P<expression>.+?)(?: \(unhinted: .*)?$")
_DEPENDENT = re.compile(r"data-dependent expression (.+?) \(unhinted: ")
_ATTRIBUTE = re.compile(r"[\w.\[\]]+\.[A-Za-z_]\w*")  # of what `spelled` gives: neither a size nor an argument itself
LOCATION = re.compile(r"(?P<path>[^\s()#]{1,1000}?):(?P<line>\d{1,9}) in (?P<function>[^\s()]+)")
_GRAPH_LINE = re.compile(r"# File: [^\n]*?:\d+ in (\S+?),? code:")
_ROW = re.compile(r"^(?:\d+/\d+: )+(.*)$", re.S)
_NEXT_ROW = re.compile(r"\n\s*(?=\d+/\d+: )")
_USER_STACK = "\nUser stack trace:\n"  # behind a reason, since torch 2.13
_ABOUT_SIZES = re.compile(
    r"data-dependent|symbolic sizes|SymInt|unbacked|Constraints violated|DataDependent|dynamic", re.I
)


@dataclass(slots=True)
class Collector:
    """Takes the records of a program's processes, and gives the report of all of them."""

    torch: str = ""
    """The version that ran."""
    captured: set[str] = field(default_factory=set)
    """The names of the functions that are in a graph, their own or a caller's, as far as the trace shows it."""
    _cannot: dict[str, None] = field(default_factory=dict)
    _folder: str = ""
    _paths: set[str] = field(default_factory=set)
    """All that stacks name."""
    _answers: list[Answer] = field(default_factory=list)
    _functions: dict[str, Compilation] = field(default_factory=dict)
    _counts: dict[Compilation, int] = field(default_factory=dict)
    _specialized: set[tuple[str, str]] = field(default_factory=set)
    _constants: dict[str, set[str]] = field(default_factory=dict)
    """What became a constant, each with its values."""
    _asked: Mapping[str, Any] = field(default_factory=dict)
    """What of C++ leads to the record that comes next."""
    _equal: tuple[str, frozenset[str], int] = ("", frozenset(), 0)
    """The guard before, where it is an equality: its compilation, its symbols, and the number of answers with it."""
    _traced: dict[str, tuple[int, set[str]]] = field(default_factory=dict)
    """The last attempt of each compilation, with the functions that it traced."""
    _broken: tuple[str, Break | None, int] = ("", None, 0)
    """The last graph break: its compilation, and the index of the answer about it."""
    _sizes: dict[tuple[str, str], int | None] = field(default_factory=dict)
    """The size in the run of each symbol of a compilation, None where it is not seen."""
    _takes: frozenset[str] = frozenset()
    """The parameters of mark_unbacked, in the torch that ran."""
    _unknown: dict[str, Record] = field(default_factory=dict)
    """Where the last error arose about each expression whose value is unknown."""

    def take(self, records: Iterable[Record]) -> None:
        """Answer the records of one process."""
        sources: dict[str, dict[str, str]] = {}
        self._functions = {}
        self._specialized = set()
        self._asked, self._unknown = {}, {}
        for record in _once(records):
            self._folder = self._folder or torch_folder(record.stack) or folder_of(f.path for f in record.stack)
            self._paths.update(frame.path for frame in (*record.stack, *record.user_stack))
            self._capture(record)
            if record.kind == "create_symbol" or record.value.get("name") == NAMED:
                names = sources.setdefault(record.compilation, {})
                names[str(record.value.get("symbol"))] = str(record.value.get("source", ""))
                size = record.value.get("size")
                self._sizes[record.compilation, str(record.value.get("symbol"))] = size if type(size) is int else None
                takes = record.value.get("takes")
                self._takes = frozenset(map(str, takes)) if isinstance(takes, list) else self._takes
            else:
                if record.kind == "dynamo_start":
                    sources.pop(record.compilation, None)
                own = record.value.get("symbol_to_sources")
                named = {str(key): str(source) for key, source in own.items()} if isinstance(own, dict) else {}
                self._answer(record, {**sources.get(record.compilation, {}), **named})
                if record.value.get("name") != ASKERS:
                    self._asked = {}

    def report(self) -> Report:
        """What was answered so far."""
        compilations = (replace(compiled, count=count) for compiled, count in self._counts.items())
        answers = merged(list(self._amended()))
        return Report(self.torch, tuple(compilations), tuple(answers), cannot=tuple(self._cannot))

    def _amended(self) -> Iterator[Answer]:
        """The answers, with what only the whole run shows: which numbers of objects stayed as they were (`kept`),

        and that a size was not static from the start, but made a constant by a line of the program.
        """
        again = "\n".join(answer.text for answer in self._answers if answer.kind == "recompiled")
        varied = {name for name, values in self._constants.items() if len(values) > 1} | set(_ATTRIBUTE.findall(again))
        constants = {(answer.function, answer.text.partition(" == ")[0]) for answer in self._answers
                     if answer.kind == "specialized"}  # fmt: skip
        for answer in self._answers:
            static = STATIC.search(answer.text) if answer.kind == "recompiled" else None
            if static is not None and (answer.function, f"{spelled(static[1])}.size({static[2]})") in constants:
                answer = replace(answer, advice=_MADE_CONSTANT)
            changed = answer.kept and not varied.isdisjoint(_ATTRIBUTE.findall(answer.text))
            yield replace(answer, kept=False) if changed else answer

    def _answer(self, record: Record, sources: Mapping[str, str]) -> None:
        value = record.value
        if record.kind == "dynamo_start":
            self._start(record)
        elif record.kind in ("guard_added_fast", "guard_added"):
            self._guard(record, sources)
        elif record.kind == "symbolic_shape_specialization" and value.get("reason") != "find":  # looked up, not asked
            self._drop_guard(record)
            name = spelled(next((str(source) for source in value.get("sources") or ()), str(value.get("symbol"))))
            number = short_floats(str(value.get("value")))
            self._add(record, "specialized", f"{name} == {number}", names=[name])
            self._constants.setdefault(name, set()).add(number)
        elif record.kind == "compilation_metrics" and value.get("fail_type"):
            self._failure(record, sources)
        elif record.kind in ("missing_fake_kernel", "mismatched_fake_kernel"):
            reason = f": {str(value['reason']).strip()}" if value.get("reason") else ""
            self._add(record, "fake", f"{value.get('op', 'an operator')}{reason}")
        elif record.kind.startswith("propagate_real_tensors"):
            self._add(record, "error", real_tensors(str(value.get("expr")), str(value.get("result"))))
        elif record.kind == "artifact":
            self._artifact(record, sources)

    def _capture(self, record: Record) -> None:
        """Keep the names of traced functions until the graph that holds them is captured."""
        attempt, names = self._traced.get(record.compilation, (0, set()))
        if record.kind == "dynamo_start" or record.attempt != attempt:
            names = set()
        names.update(frame.function for frame in record.user_stack)
        self._traced[record.compilation] = record.attempt, names
        if record.kind == GRAPH:
            self.captured |= names.union(_GRAPH_LINE.findall(record.payload))

    def _artifact(self, record: Record, sources: Mapping[str, str]) -> None:
        name = record.value.get("name")
        if name == "torch_version":
            document = _table(record.payload)
            self.torch = self.torch or str(document.get("pytorch_version", ""))
        elif name == "recompile_reasons":
            compiled = self._functions.get(_frame_number(record))
            label = compiled.label if compiled is not None else ""
            for reason in _reasons(record.payload):
                self._answers.append(recompilation(reason, label, self._folder, self._paths))
        elif name == BREAK:
            broken = graph_break(record.payload)
            if broken is not None and not broken.of_shapes:
                self._add(
                    Record(record.kind, record.value, record.compilation, (), broken.stack), "unrelated", broken.text
                )
            elif broken is not None:
                self._broken = record.compilation, broken, len(self._answers)
                where = self._arisen(record, broken.text, broken.stack)
                declared = self._declarations(record, broken.text, sources)
                text, advice = first_sentence(broken.text, sources), advice_for(broken.setting)
                self._add(where, "break", text, advice, declared=declared)
        elif name == ASKERS:
            self._asked = record.value
        elif name == CANNOT:
            sentences = record.value.get("sentences")
            self._cannot.update(dict.fromkeys(map(str, sentences)) if isinstance(sentences, list) else {})
        elif name == UNKNOWN:
            self._unknown[str(record.value.get("expr"))] = record
        elif name == ASSUMED:
            self._add(record, "assumed", in_arguments(f"{record.value.get('expr')}", sources)
                      + f" is {record.value.get('result')}")  # fmt: skip

    def _start(self, record: Record) -> None:
        """A compilation begins. `torch._dynamo.reset` has them numbered from 0 again, as after each test of many."""
        self._specialized = {each for each in self._specialized if each[0] != record.compilation}
        if record.stack and record.compilation:
            frame = compiled_frame(record.stack, self._folder)
            compiled = Compilation(frame.function, frame.path, frame.line, 0)
            self._functions[_frame_number(record)] = compiled
            self._counts[compiled] = self._counts.get(compiled, 0) + 1

    def _guard(self, record: Record, sources: Mapping[str, str]) -> None:
        expression = str(record.value.get("expr", ""))
        deferred = any(frame.function == "guard_or_defer_runtime_assert" for frame in record.stack)
        kind = "assert" if deferred or record.value.get("prefix") == "runtime_assert" else guard_kind(expression)
        names = [spelled(sources.get(symbol, symbol)) for symbol in SYMBOL.findall(expression)]
        self._add(record, kind, in_arguments(expression, sources), names=names)
        if expression.startswith("Eq(") and self._answers:
            self._equal = record.compilation, frozenset(SYMBOL.findall(expression)), len(self._answers)

    def _drop_guard(self, record: Record) -> None:
        """Forget the guard that has just made the one size in it a constant, `x.size(0) - 4 == 0`: it says no more."""
        symbols = frozenset([str(record.value.get("symbol"))])
        if self._equal == (record.compilation, symbols, len(self._answers)) and self._answers[-1].kind == "guard":
            self._answers.pop()

    def _failure(self, record: Record, sources: Mapping[str, str]) -> None:
        value = record.value
        reason = str(value.get("fail_reason") or value["fail_type"])
        path, line = value.get("fail_user_frame_filename"), value.get("fail_user_frame_lineno")
        user = Frame(str(path), line, "") if path and isinstance(line, int) else None
        fake = "" if TELLING.search(reason) else lacking(reason)
        if fake:  # its line is torch's own call of the operator; the error that ends the process has the program's
            self._add(Record(record.kind, value, record.compilation, (), ()), "fake", fake)
            return
        compilation, broken, index = self._broken
        if broken is not None and compilation == record.compilation and broken.stands_at(path, line):
            self._answers[index] = replace(self._answers[index], kind="error")  # in a callee: nothing goes on there
            return
        if not (_ABOUT_SIZES.search(reason) or _ABOUT_SIZES.search(str(value["fail_type"]))):
            return
        where = self._arisen(record, reason, (user,) if user is not None else ())
        declared = self._declarations(record, reason, sources)
        self._add(where, "error", first_sentence(reason, sources), declared=declared)

    def _declarations(self, record: Record, reason: str, sources: Mapping[str, str]) -> tuple[Declaration, ...]:
        """What the program may declare of its unknown sizes, so that torch need not ask what `reason` is about."""
        asked = _DEPENDENT.search(reason)
        held = {name: size for (compiled, name), size in self._sizes.items() if compiled == record.compilation}
        return declarations(asked[1], sources, self._takes, held) if asked else ()

    def _arisen(self, record: Record, reason: str, user_stack: tuple[Frame, ...]) -> Record:
        """`record` at the lines where what `reason` names arose: those of the trace, else those of the program.

        What of C++ asked is then that of the same place.
        """
        expression = _DEPENDENT.search(reason)
        arose = self._unknown.get(expression[1]) if expression else None
        if arose is not None and arose.compilation == record.compilation:
            self._asked = arose.value
            return replace(arose, user_stack=arose.user_stack or user_stack)
        functions = askers_in(reason)
        self._asked = {"functions": functions, "argument": "" if functions else argument_in(reason)}
        return Record(record.kind, record.value, record.compilation, (), user_stack)

    def _add(
        self, record: Record, kind: str, text: str, advice: str = "", names: Sequence[str] = (),
        declared: tuple[Declaration, ...] = (),
    ) -> None:  # fmt: skip
        """An answer whose `text` is about `names`, as `spelled` gives them. What may be `declared` is advice too."""
        advice = advice or advice_of(declared)
        if kind == "specialized":  # is traced where it comes about, with the guard, and where it is looked up later
            if (record.compilation, text) in self._specialized:
                return
            self._specialized.add((record.compilation, text))
        native, argument = asked_by(self._asked)
        place, user, whose = asking(record.stack, record.user_stack, self._folder, bool(native or argument))
        kept = bool(names) and all(map(_ATTRIBUTE.fullmatch, names))
        compiled = self._functions.get(_frame_number(record))
        label = compiled.label if compiled is not None else DRAFT if _is_draft(record) else ""
        whose = whose if record.stack or record.user_stack else ""
        whose = schema_owner(argument) if argument and is_compiled(whose) else whose
        advice = _SYMBOLIC if whose not in (COMPILED, "") and "(int" in argument else advice
        advice = ORDER_ADVICE if asks_for_order(record.stack) else advice
        advice = (kind == "specialized" and advice_instead(native, argument)) or advice
        self._answers.append(Answer(kind, text, whose, place, user, label, advice=advice, native=native,
                                    argument=argument, kept=kept, stack=record.user_stack,
                                    declared=declared))  # fmt: skip


def asked_by(asked: Mapping[str, Any]) -> tuple[str, str]:
    """(the C++ functions that asked, the argument that is a plain number) of what `codemod/runner` wrote of that."""
    functions = asked.get("functions")
    return ARROW.join(map(str, functions)) if isinstance(functions, list) else "", str(asked.get("argument") or "")


def _is_draft(record: Record) -> bool:
    return record.kind in _OF_DRAFT or "symbol_to_sources" in record.value


def _once(records: Iterable[Record]) -> Iterator[Record]:
    """`records` without what is said twice where torch traces in detail (TORCH_DTRACE, draft_export).

    `guard_added` stands before the `guard_added_fast` of the same guard, which has the whole stack, and tells it the
    arguments; `propagate_real_tensors_provenance` stands after the `propagate_real_tensors` of the same expression
    (torch/fx/experimental/symbolic_shapes.py).
    """
    held: Record | None = None
    last: tuple[str, object] = ("", None)
    for record in records:
        expression = record.value.get("expr")
        if held is not None and (record.kind, expression) == ("guard_added_fast", held.value.get("expr")):
            named = {"symbol_to_sources": held.value.get("symbol_to_sources")}
            record = replace(record, value={**record.value, **named})
        elif held is not None:
            yield held
        held = record if record.kind == "guard_added" else None
        again = record.kind == "propagate_real_tensors_provenance" and last == ("propagate_real_tensors", expression)
        last = (record.kind, expression)
        if held is None and not again:
            yield record
    if held is not None:
        yield held


def real_tensors(expression: str, result: str) -> str:
    """What is said of a value that draft_export had to take from the real tensors: `export` stops there."""
    return f"Could not guard on data-dependent expression {expression}; {result} for the real tensors"


def recompilation(reason: str, function: str, torch: str, paths: Collection[str] = ()) -> Answer:
    """The answer for a guard that did not hold, in torch's words: `CONDITION  # SOURCE  # FILE:LINE in FUNCTION (…)`.

    The source is where the condition came from; where torch says that it only comes first, its advice stands instead.
    Of the file there is the end: its whole path is in the stack below the reason, or among `paths`.
    """
    said, _, stack = reason.partition(_USER_STACK)
    condition, _, comment = " ".join(said.split()).partition(" # ")
    match = LOCATION.search(comment)
    advice = advice_about(said)
    if match is None or advice:
        return Answer("recompiled", spelled(condition.strip()), "", None, None, function, advice=advice)
    source = comment[: match.start()].rstrip(" #")
    led = {frame.path for frame in printed_frames(stack.splitlines())}
    place = in_full(Frame(match["path"], int(match["line"]), match["function"], source), torch, led or paths)
    return Answer("recompiled", spelled(condition.strip()), owner(place, torch), place, None, function)


def _frame_number(record: Record) -> str:
    """The number of the function that is compiled; the reasons to compile it again come before that begins."""
    return record.compilation.partition("/")[0]


def first_sentence(reason: str, sources: Mapping[str, str] = {}) -> str:
    """The first cause of an error's text, without advice; with arguments for the symbols of its expression."""
    reason = reason.replace("\\n", "\n")  # an error within another's text
    match = TELLING.search(reason)
    said = match[0] if match else spelled(violation(reason)) or reason.strip().partition("\n")[0]
    cause = " ".join(said.split())
    sentence = _EXCEPTION.sub("", cause)
    asked = _EXPRESSION.match(sentence)
    return (f"{asked['what']}{in_arguments(asked['expression'], sources)}" if asked else sentence)[:LENGTH]


def _reasons(payload: str) -> list[str]:
    """The reasons of a recompilation: a JSON list of texts since torch 2.4, or lines `0/1: reason`."""
    text = payload.strip()
    if text.startswith("["):
        try:
            items = load_json(text, "reasons", "")
        except SymfixError:
            items = []
        reasons = [str(item).strip() for item in items] if isinstance(items, list) else []
    else:
        reasons = _NEXT_ROW.split(text)
    return [row[1] if (row := _ROW.match(reason)) else reason for reason in reasons if reason]


def _table(payload: str) -> Mapping[str, object]:
    try:
        document = load_json(payload or "{}", "payload", "")
    except SymfixError:
        return {}
    return document if isinstance(document, dict) else {}
