"""From the decisions about a function to the findings a user reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode, Step
from codemod.model.operators import Reach
from codemod.terminal import one_line
from transforms.cpp.flow.marked import REFUSAL
from transforms.cpp.flow.outcome import Outcome
from transforms.cpp.flow.state import Emission, Sink, Site
from transforms.cpp.reading import SUFFIXES
from transforms.cpp.reading.facts import Function
from transforms.cpp.reading.lines import Lines
from transforms.cpp.reading.literals import with_comments
from transforms.cpp.reading.marks import Masked, masked
from transforms.cpp.rules import leak, size_check, tensor_iterator

_CUT = "it would be edited across a mark of the template"


def group_name(function: Function) -> str:
    """The name of the group that holds all edits of a function; the same as long as its name and place are."""
    return f"{function.path}:{function.qualified}:{function.line}"


def findings(outcome: Outcome, reach: Reach, lines: Lines, group: str, level: Level) -> Iterator[Finding]:
    """Every finding about one function: what is edited, what stays and why."""
    if outcome.lost:
        yield _finding(
            outcome.function,
            reach,
            outcome.function.start,
            outcome.function.body,
            lines,
            leak.NAME,
            Level.MANUAL,
            f"`{outcome.function.name}` cannot be read",
            refusal=outcome.lost,
            reason=outcome.reason,
            place=outcome.function.body,
        )
        return
    sites = {site.origin: site for site in outcome.sites}
    sinks: dict[int, Sink] = {}
    for sink in outcome.refusals:
        for origin in sink.origins:
            sinks.setdefault(origin, sink)
    for emissions in _together(outcome.emissions, lines):
        yield replace(
            _edited(outcome.function, reach, emissions, sites, lines, group, level),
            reason=_rounds(outcome, emissions, lines),
        )
    for site in outcome.sites:
        if site.origin in outcome.concrete:
            yield _refused(outcome, reach, site, lines, sinks.get(site.origin))
    for site in outcome.unreadable:
        yield _concrete(outcome, reach, site, lines, "parse-error", "it stands in code that cannot be parsed")
    for start, end in outcome.iterators:
        yield _finding(
            outcome.function,
            reach,
            start,
            end,
            lines,
            tensor_iterator.NAME,
            Level.MANUAL,
            "a TensorIterator is built",
            refusal=tensor_iterator.REFUSAL,
            reason=tensor_iterator.REASON,
            mode=tensor_iterator.MODE,
        )
    for site in outcome.unknown:
        yield _finding(
            outcome.function,
            reach,
            site.start,
            site.end,
            lines,
            "sym-accessor",
            Level.MANUAL,
            f"`{site.receiver}` calls `{site.api}`",
            refusal="unknown-receiver",
            reason=f"the type of `{site.receiver}` is not known, so it may be no Tensor",
        )


def _rounds(outcome: Outcome, emissions: Iterable[Emission], lines: Lines) -> str:
    """What an edit changes for negative numbers in a graph; "" where it changes nothing."""
    origins = frozenset[int]().union(*(emission.origins for emission in emissions))
    for rounding in outcome.roundings:
        if not origins.isdisjoint(rounding.origins):
            what = "remainder has the divisor's sign" if rounding.token == "%" else "quotient rounds down"
            text = masked(lines.source).restored(rounding.text)
            place = f"line {lines.at(rounding.start)[0]}"
            return f"a negative {what} in a graph, and C++ rounds toward zero: see `{one_line(text)}` on {place}"
    return ""


def question_findings(
    outcome: Outcome, reach: Reach, lines: Lines, group: str, needed: Iterable[Emission] = ()
) -> Iterator[Finding]:
    """The checks and branches on sizes that can do without an answer, for review.

    `needed` are the edits of another change, without which they do not compile; the two hold them together.
    """
    sites = {site.origin: site for site in outcome.sites}
    shared = tuple(_edit(outcome.function, emission, lines) for emission in needed)
    for emissions in outcome.questions:
        finding = _edited(outcome.function, reach, list(emissions), sites, lines, group, Level.REVIEW)
        yield replace(finding, mode=size_check.MODE, edits=(*finding.edits, *shared))
        shared = ()


def around_marks(decided: Sequence[Finding], read: Callable[[str], bytes]) -> Iterator[Finding]:
    """The findings; those of a group one of whose edits would cut or delete a mark of a template have none."""
    edited = {edit.path for finding in decided for edit in finding.edits if edit.path.endswith(SUFFIXES)}
    templates = {path: template for path in sorted(edited) if (template := masked(read(path))).template}
    cut = {finding.group for finding in decided if any(_cuts(edit, templates) for edit in finding.edits)}
    for finding in decided:
        if finding.edits and finding.group in cut:
            yield replace(finding, edits=(), level=Level.MANUAL, refusal=REFUSAL, reason=_CUT, group="")
        else:
            yield finding


def _cuts(edit: Edit, templates: Mapping[str, Masked]) -> bool:
    new = edit.new.decode("utf-8", "surrogateescape")
    return edit.path in templates and templates[edit.path].deletes(edit.start, edit.end, new)


def _together(emissions: Iterable[Emission], lines: Lines) -> Iterator[list[Emission]]:
    """Emissions that are one change to the reader: the same rule and message on one line."""
    groups: dict[tuple[str, str, int], list[Emission]] = {}
    for emission in emissions:
        groups.setdefault((emission.rule, emission.message, lines.at(emission.start)[0]), []).append(emission)
    yield from groups.values()


def _edited(
    function: Function,
    reach: Reach,
    emissions: list[Emission],
    sites: dict[int, Site],
    lines: Lines,
    group: str,
    level: Level,
) -> Finding:
    first, last = emissions[0], emissions[-1]
    restored = masked(lines.source).restored
    origins = sorted(set().union(*(emission.origins for emission in emissions)))
    flow = tuple(
        Step(
            function.path,
            lines.at(origin)[0],
            f"`{sites[origin].api}` of `{restored(sites[origin].receiver)}`: {lines.text(origin)}",
        )
        for origin in origins
        if origin in sites and origin != first.start
    )
    edits = tuple(_edit(function, emission, lines) for emission in emissions)
    return _finding(
        function,
        reach,
        first.start,
        last.end,
        lines,
        first.rule,
        level,
        first.message,
        flow=flow,
        edits=edits,
        group=group,
    )


def _edit(function: Function, emission: Emission, lines: Lines) -> Edit:
    start, end = emission.start, emission.end
    new = masked(lines.source).restored(emission.new).encode("utf-8", "surrogateescape")
    return Edit(function.path, start, end, lines.source[start:end], with_comments(lines.source, start, end, new))


def _refused(outcome: Outcome, reach: Reach, site: Site, lines: Lines, sink: Sink | None) -> Finding:
    flow = (Step(outcome.function.path, lines.at(sink.start)[0], lines.text(sink.start)),) if sink else ()
    refusal = sink.code if sink else "unknown-use"
    reason = f"its value {sink.reason}" if sink else "its value goes where symfix cannot follow"
    return _concrete(outcome, reach, site, lines, refusal, reason, flow)


def _concrete(
    outcome: Outcome, reach: Reach, site: Site, lines: Lines, refusal: str, reason: str, flow: tuple[Step, ...] = ()
) -> Finding:
    receiver = f"`{site.receiver}.{site.api}`" if site.receiver else f"`{site.api}`"
    return _finding(
        outcome.function,
        reach,
        site.start,
        site.end,
        lines,
        leak.NAME,
        Level.MANUAL,
        f"{receiver} stays concrete",
        refusal=refusal,
        reason=reason,
        flow=flow,
        mode=leak.MODE,
    )


def _finding(
    function: Function,
    reach: Reach,
    start: int,
    end: int,
    lines: Lines,
    rule: str,
    level: Level,
    message: str,
    *,
    refusal: str = "",
    reason: str = "",
    flow: tuple[Step, ...] = (),
    edits: tuple[Edit, ...] = (),
    group: str = "",
    mode: Mode = Mode.DIRECT_THROW,
    place: int | None = None,
) -> Finding:
    """A finding in the words of its source, at the line of `place`, by default of `start`."""
    restored = masked(lines.source).restored
    line, column = lines.at(start if place is None else place)
    return Finding(
        function.path,
        start,
        end,
        line,
        column,
        mode,
        rule,
        level,
        function.qualified,
        reach.operators,
        restored(message),
        restored(reason),
        refusal,
        reach.steps,
        flow,
        edits,
        group,
    )
