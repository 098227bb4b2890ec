"""What the rules say at the places of one function that ask for a size."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from codemod.model.findings import Level
from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.made import given_on
from transforms.python.flow.nodes import called, registered, variables_in
from transforms.python.flow.sites import LOWERINGS, OF_LOWERINGS, Site, is_fixed_by_export, is_traced, sites
from transforms.python.flow.values import Value
from transforms.python.jobs import FileJob, Job
from transforms.python.reading.dated import minimum_at
from transforms.python.reading.extract import Scope
from transforms.python.rules import load_rules
from transforms.python.rules.size_oblivious import successor
from transforms.python.writing.logic import Undecided
from transforms.python.writing.names import HELPER, MODULES, Layout, Names
from transforms.python.writing.place import EXPORTED, Place, Rewrite
from transforms.python.writing.releases import absent, released
from transforms.python.writing.spans import Spans
from transforms.python.writing.whole import ASKING, Paths

NESTED = ("nested", "its code is nested too deep to be followed: split it up, then run symfix again")
"""A refusal's code, and the reason."""
_GUARDED = frozenset({"traced-assert", "asked-assert", "asked-anyway"})
"""Refusals of what stops no call: its guard is what holds anyway."""


@dataclass(slots=True)
class Answer:
    """A rule's answer at one site, and the names it needs."""

    rule: str
    rewrite: Rewrite
    used: set[str]
    start: int
    end: int
    stops: bool = False
    """Whether a call that comes here stops, as it is left."""
    exported: bool = False
    """Whether torch.compile keeps the symbol by itself, so that calls of torch.export alone stop here."""


def answers(scope: Scope, values: Interpreter, layout: Layout, names: Names, job: Job, file: FileJob) -> list[Answer]:
    """The answers in a function, rewrites withdrawn where the same call stops at a place that is left as it is."""
    function = scope.node
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    found = list(_each(scope, values, layout, names, job, file))
    if any(not answer.rewrite.changes and _asks_truth(site, values) for site, answer in found):
        refused = {(site.kind, site.expression): answer for site, answer in found if not answer.rewrite.changes}
        values.forget_truths()
        found = list(_each(scope, values, layout, names, job, file))
        # Why a place was left, and with it the truth, is no reason that only holds since the truth is forgotten.
        found = [
            (s, answer if answer.rewrite.changes else refused.get((s.kind, s.expression), answer))
            for s, answer in found
        ]
    return _whole(function, found)


def _asks_truth(site: Site, values: Interpreter) -> bool:
    """Whether a place asks, or stores, a truth that is kept as one where it is stored."""
    stored = {target.id for target in getattr(site.node, "targets", ()) if isinstance(target, ast.Name)}
    return not values.truths.kept.isdisjoint(variables_in(site.expression) | stored)


def _whole(function: ast.FunctionDef | ast.AsyncFunctionDef, answers: Sequence[tuple[Site, Answer]]) -> list[Answer]:
    """The answers, rewrites withdrawn where the same call stops at a place that is left, or whose own is withdrawn."""
    kept = [answer for _, answer in answers]
    while True:
        left: list[tuple[Site, Answer]] = []
        for (site, _), answer in zip(answers, kept, strict=True):
            asks = site.kind in ASKING and (site.value.certain or site.value.surely_tensor)
            if asks and not answer.rewrite.changes and answer.rewrite.refusal not in _GUARDED:
                left.append((site, answer))
                answer.stops = not answer.exported and answer.rewrite.refusal != EXPORTED
        rewritten = [index for index, answer in enumerate(kept) if answer.rewrite.changes]
        if not left or not rewritten:
            return kept
        for exported in sorted({kept[index].exported for index in rewritten}):
            stops = [(site, answer) for site, answer in left if exported or answer.stops]
            paths = Paths(function, [site.node for site, _ in stops])
            for index in (index for index in rewritten if kept[index].exported == exported):
                if kept[index].rewrite.always:
                    continue
                message, general = kept[index].rewrite.message, kept[index].rewrite.general
                if (stop := paths.stop(answers[index][0].node, general)) is not None:
                    line = getattr(stops[stop][0].node, "lineno", 0)
                    reason = f"the same call {stops_at(line, stops[stop][1].rewrite)}"
                    withdrawn = Rewrite(Level.MANUAL, message, reason=reason, refusal="half")
                    kept[index] = replace(kept[index], rewrite=withdrawn, used=set())
        if all(kept[index].rewrite.changes for index in rewritten):
            return kept


def stops_at(line: int, refusal: Rewrite) -> str:
    """How a reason goes on that tells where a call stops."""
    link = ", left as" if refusal.refusal == "half" else ":"
    return f"stops at line {line}{link} {refusal.reason}"


def _each(
    scope: Scope, values: Interpreter, layout: Layout, names: Names, job: Job, file: FileJob
) -> Iterator[tuple[Site, Answer]]:
    """Each place that asks for a size, with what the first rule that knows it says."""
    vocabulary = file.vocabulary
    of_torch = LOWERINGS.search(file.place) is not None
    function = scope.node
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    consumed = Spans()
    all_sites = list(sites(scope.nodes, values))
    arrays = {id(site.node) for site in all_sites if site.kind == "array"}
    if job.composite is not None:
        all_sites.insert(0, Site("composite", function, function.decorator_list[0], Value("bool")))
    for site in all_sites:
        start, end = layout.start(site.expression), layout.end(site.expression)
        if consumed.holds(start, end):
            continue
        if site.kind == "sizevars" and f"sizevars.{called(site.node)}" in vocabulary:
            continue
        if of_torch and site.kind not in OF_LOWERINGS:
            continue
        if site.kind == "deprecated" and vocabulary and successor(site.node) not in vocabulary:
            continue  # in this PyTorch it is not deprecated
        if site.kind in ("array", "copied") and not job.inlined:
            continue  # Python itself computes, and torch.tensor reads numbers as others do
        if job.inlined and site.kind == "coercion" and not arrays.isdisjoint(map(id, getattr(site.node, "args", ()))):
            continue  # what numpy gives is no symbol any more
        if site.kind == "read" and not job.exported:
            continue  # Dynamo reads the number by itself
        if site.kind == "inferred" and job.inlined:
            continue  # the size that torch infers serves as well there
        if site.kind == "out" and (names.local or not job.inlined or job.scripted):
            continue  # only a compiled function of the user's is compiled again
        if site.kind == "counted" and (names.shared or job.inlined or not registered(function)):
            continue  # elsewhere the number itself is part of the graph
        if site.kind == "chunks" and not (names.shared and names.home):
            continue  # what else can be written is longer than what it would replace
        if job.inlined and is_traced(site) and not (job.exported and is_fixed_by_export(site)):
            continue  # Dynamo keeps the symbol by itself
        names.used = set()
        place = Place(site, function, scope.nodes, values, layout, names, job.composite)
        rule, rewrite = _first(place)
        if place.exported and rewrite.refusal:
            rewrite = rewrite._replace(refusal=EXPORTED)  # whatever the reason, torch.compile does not stop there
        wrapped = {"guard_or_false", "guard_or_true"} if HELPER in names.used else set()
        needed = {name for name in names.used - {HELPER} if not name.startswith(MODULES)} | wrapped
        if not (rewrite.changes or rewrite.refusal):  # as it is written no truth of a size is asked
            continue
        minimum = minimum_at(layout.source, layout.line_of(start), file.minimum)
        rewrite = released(_beside_stored(rewrite, place), layout, needed, minimum)
        if rewrite.changes and (gone := ", ".join(absent(rewrite, layout, needed, vocabulary))):
            rewrite = Rewrite(Level.MANUAL, rewrite.message, reason=f"this PyTorch has no {gone}", refusal="vocabulary")
        onward = given_on(site.node, scope.nodes, job.made) if rewrite.changes and site.kind == "coercion" else None
        if onward is not None:
            reason = f"`{onward[0]}` makes a number of it all the same ({onward[1]})"
            rewrite = Rewrite(Level.MANUAL, rewrite.message, reason=reason, refusal="half")
        if rewrite.changes:
            whole = [change for change in rewrite.changes if change.start <= start and end <= change.end]
            for first, last in [(change.start, change.end) for change in whole] or [(start, end)]:
                consumed.add(first, last)
        if site.kind in ("if", "while", "assert") and isinstance(site.node, ast.stmt):
            start = layout.start(site.node)
        yield site, Answer(rule, rewrite, set(names.used), start, end, exported=place.exported)


def _beside_stored(rewrite: Rewrite, place: Place) -> Rewrite:
    """A safe rewrite for review where it asks a truth that is only one where a change for review is applied."""
    if rewrite.level != Level.SAFE or not _asks_truth(place.site, place.values):
        return rewrite
    return rewrite._replace(level=Level.REVIEW, reason=rewrite.reason or "asks a truth that a change for review keeps")


def _first(place: Place) -> tuple[str, Rewrite]:
    """The first rule that knows a place, and what it says."""
    for place_rule in load_rules():
        try:
            place.names.used = set()
            rewrite = place_rule.rewrite(place)
        except Undecided as undecided:
            message = f"{place_rule.rule.name} does not apply"
            return place_rule.rule.name, Rewrite(Level.MANUAL, message, reason=str(undecided), refusal="undecided")
        except (cst.ParserSyntaxError, SyntaxError, UnicodeDecodeError) as error:
            reason = f"libcst does not read this expression: {type(error).__name__}"
            return place_rule.rule.name, Rewrite(Level.MANUAL, "not rewritten", reason=reason, refusal="unreadable")
        except RecursionError:
            code, reason = NESTED
            return place_rule.rule.name, Rewrite(Level.MANUAL, "not rewritten", reason=reason, refusal=code)
        if rewrite is not None:
            return place_rule.rule.name, rewrite
    raise AssertionError("the last rule knows every place")
