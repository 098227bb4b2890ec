"""One function analysed: what a worker process sends back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tree_sitter import Tree

from transforms.cpp.flow.answers import Rewrites
from transforms.cpp.flow.assumptions import NOTHING_ASKED, Assumptions, Trace
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.marked import Marked
from transforms.cpp.flow.noted import Lookup, noting
from transforms.cpp.flow.signs import roundings
from transforms.cpp.flow.solve import solve
from transforms.cpp.flow.state import Emission, Rounding, Sink, Site
from transforms.cpp.flow.whole import is_blocked, is_stuck
from transforms.cpp.reach.vocabulary import Vocabulary
from transforms.cpp.reading.definitions import find_definition
from transforms.cpp.reading.facts import Function, Slot
from transforms.cpp.reading.marks import is_template, unread_accessor
from transforms.cpp.reading.syntax import parse_file, parse_span
from transforms.cpp.reading.tree import build
from transforms.recursion import TooDeep

LOST_BY_PARSER = "parse-error"


@dataclass(frozen=True, slots=True)
class Task:
    """The functions of one file to analyse, with all that this needs."""

    path: str
    source: bytes
    functions: tuple[Function, ...]
    vocabulary: Vocabulary
    assumptions: Assumptions
    passive: frozenset[int] = frozenset()
    """Starts of functions that no symbolic tensor reaches; they are only asked whether they can follow."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The decisions about one function."""

    function: Function
    emissions: tuple[Emission, ...]
    refusals: tuple[Sink, ...]
    sites: tuple[Site, ...]
    unknown: tuple[Site, ...]
    concrete: frozenset[int]
    """Origins that stay concrete, parameters and results included."""
    uses: frozenset[Slot] = frozenset()
    conflicts: frozenset[Slot] = frozenset()
    wanted: frozenset[Slot] = frozenset()
    """Parameters of the function itself that have to be symbolic where it is to serve what it calls."""
    filled: frozenset[Slot] = frozenset()
    """Settled members that are given a symbolic value."""
    dropped: frozenset[tuple[Slot, int]] = frozenset()
    """Settled results that cannot be taken, each with its origin."""
    unreadable: tuple[Site, ...] = ()
    iterators: tuple[tuple[int, int], ...] = ()
    gives: frozenset[int] = frozenset()
    """The indexes of results that are symbolic on some way out."""
    questions: tuple[tuple[Emission, ...], ...] = ()
    """The edits of each check and each branch on sizes that can do without an answer."""
    guarded: bool = False
    """Whether a loop is counted by a guard, or a shortcut asks for one."""
    roundings: tuple[Rounding, ...] = ()
    """The quotients that a graph may round otherwise."""
    blocked: bool = False
    """Whether every way through comes to a kernel."""
    stuck: bool = False
    """Whether every way through comes to something that stays concrete, or to a kernel."""
    template: bool = False
    """Whether the file is a template: what is made of it is not seen."""
    lost: str = ""
    """The refusal, where the function was not read: nothing in it is edited."""
    reason: str = ""
    """Why it was not read."""
    trace: Trace = NOTHING_ASKED
    """What it rests on."""


def analyse(rewrites: Rewrites, task: Task) -> tuple[list[Outcome], frozenset[Lookup]]:
    """The outcome of every function of a task, as `rewrites` convert it, and what was looked up in the vocabulary.

    Runs in a worker process.
    """
    lookups: set[Lookup] = set()
    task = replace(task, vocabulary=noting(task.vocabulary, lookups))
    outcomes = [
        _analyse_alone(rewrites, task, function) or _analyse_in_file(rewrites, task, function)
        for function in task.functions
    ]
    return outcomes, frozenset(lookups)


def _analyse_alone(rewrites: Rewrites, task: Task, function: Function) -> Outcome | None:
    """The outcome of a function parsed by itself; None where it can only be read in its file."""
    tree, masked = parse_span(task.source, function.start, function.end)
    if tree.root_node.has_error:
        return None
    outcome = analyse_function(rewrites, task, tree, masked, function)
    return None if outcome.lost == LOST_BY_PARSER else outcome


def _analyse_in_file(rewrites: Rewrites, task: Task, function: Function) -> Outcome:
    return analyse_function(rewrites, task, *parse_file(task.source), function)


def analyse_function(rewrites: Rewrites, task: Task, tree: Tree, masked: bytes, function: Function) -> Outcome:
    """Analyse one function of a parsed file."""
    template = is_template(task.source)
    unread = unread_accessor(task.source, function.start, function.end) if template else None
    if unread is not None:
        line = task.source.count(b"\n", 0, unread) + 1
        reason = f"line {line} of the template is not read with it, a macro or a second branch, and asks for sizes"
        return Outcome(function, (), (), (), (), frozenset(), lost="template", reason=reason)
    definition = find_definition(tree.root_node, function)
    if definition is None:
        reason = "the parser lost the function in a macro or a preprocessor branch; convert it by hand"
        return Outcome(function, (), (), (), (), frozenset(), lost=LOST_BY_PARSER, reason=reason)
    root = build(definition, masked)
    marks = Marked(task.source, root) if template else None
    flow = Flow(
        function,
        root,
        task.vocabulary,
        rewrites,
        task.assumptions,
        passive=function.start in task.passive,
        marks=marks,
    )
    try:
        solve(flow)
        if marks is not None and marks.has_branches_in_signature():
            flow.conflicts |= flow.asked.settled_of(function)
        blocked, stuck, rounded = is_blocked(flow), is_stuck(flow), roundings(flow)
    except TooDeep as refused:
        return Outcome(function, (), (), (), (), frozenset(), lost="too-deep", reason=f"it is {refused}",
                       trace=flow.asked.trace())  # fmt: skip
    finally:
        for node in root.walk():  # a tree whose nodes know their parents is never freed, as the collector is off
            node.parent = None
    return Outcome(
        function,
        tuple(sorted(flow.emissions.values(), key=lambda e: (e.start, e.end))),
        tuple(flow.refusals),
        tuple(flow.sites.values()),
        tuple(flow.unknown_receivers.values()),
        frozenset(flow.concrete),
        frozenset(flow.uses),
        frozenset(flow.conflicts),
        frozenset(flow.wanted),
        frozenset(flow.filled),
        frozenset(flow.dropped),
        tuple(flow.unreadable_sites.values()),
        tuple(flow.iterators.values()),
        frozenset(flow.gives),
        questions=tuple(_answers(flow)),
        guarded=bool(flow.guarded) or flow.guarded_truths,
        roundings=rounded,
        blocked=blocked,
        stuck=stuck,
        template=template,
        trace=flow.asked.trace(),
    )


def _answers(flow: Flow) -> Iterator[tuple[Emission, ...]]:
    """The edits of each question; none across a mark of a template, where another rendering asks another one."""
    for question in flow.questions:
        emissions = tuple(flow.answers(question))
        if flow.marks is None or not flow.marks.asks_across(emissions):
            yield emissions


def tasks_by_file(functions: Iterable[Function]) -> dict[str, list[Function]]:
    """Functions grouped by file, in order."""
    out: dict[str, list[Function]] = {}
    for function in sorted(functions, key=lambda f: (f.path, f.start)):
        out.setdefault(function.path, []).append(function)
    return out
