"""What is done about each function, and at which level: from outcomes to findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tree_sitter import Tree

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.operators import Reach
from codemod.model.transform import Project
from codemod.planning.naming import base_name
from transforms.cpp.flow.answers import Rewrites, emit
from transforms.cpp.flow.assumptions import Key
from transforms.cpp.flow.engine import OWN_RESULT, RENAMED, parameter_origin
from transforms.cpp.flow.events import Event
from transforms.cpp.flow.members import member_origin
from transforms.cpp.flow.outcome import Outcome
from transforms.cpp.flow.propagate import Propagation
from transforms.cpp.flow.saved import is_saved
from transforms.cpp.flow.settled import (
    HelperTwin,
    RegisteredKernel,
    SettledMembers,
    SettledSignature,
    SymbolicArgument,
    SymbolicDerivative,
    SymbolicDispatch,
    SymbolicKernel,
    SymbolicSchema,
)
from transforms.cpp.flow.state import Emission
from transforms.cpp.flow.twins import is_twin, twin_name, twin_slot
from transforms.cpp.reach.alternatives import declares
from transforms.cpp.reach.headers import OWN_YAML
from transforms.cpp.reach.registered_kernels import Naming
from transforms.cpp.reach.schemas import Family
from transforms.cpp.reach.vocabulary import symint_name
from transforms.cpp.reading.definitions import find_declarator, spelled_types
from transforms.cpp.reading.facts import FileFacts, Function, Slot
from transforms.cpp.reading.lines import Lines
from transforms.cpp.reading.records import Member, find_member, is_header
from transforms.cpp.reading.syntax import parse
from transforms.cpp.reading.tree import build
from transforms.cpp.report import findings, group_name, question_findings

DERIVATIVES = "tools/autograd/derivatives.yaml"


class Sources:
    """The files that findings are made for, read and parsed once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._lines: dict[str, Lines] = {}
        self._trees: dict[str, tuple[Tree, bytes]] = {}

    def lines(self, path: str) -> Lines:
        """The bytes of a file and their lines."""
        if path not in self._lines:
            self._lines[path] = Lines(self._project.read(path))
        return self._lines[path]

    def tree(self, path: str) -> tuple[Tree, bytes]:
        """The tree of a file and the masked bytes it was made of."""
        if path not in self._trees:
            self._trees[path] = parse(self.lines(path).source)
        return self._trees[path]


def decide(
    project: Project,
    facts: Mapping[str, FileFacts],
    reach: Mapping[Key, Reach],
    base: Mapping[Key, Outcome],
    propagation: Propagation,
    rewrites: Rewrites,
    named: Mapping[str, Sequence[Naming]],
) -> Iterator[Finding]:
    """Every finding: safe for a function that converts whole and alone, for review what needs more than that."""
    groups = _groups(base, propagation)
    sources = Sources(project)
    for key in sorted({*base, *propagation.outcomes} - propagation.twins.keys()):
        before, after = base.get(key), propagation.outcomes.get(key)
        outcome = after or before
        assert outcome is not None
        function = outcome.function
        why = reach.get(key) or Reach((), (), "helper")
        lines = sources.lines(function.path)
        if after is None or before is None or not _whole(before) or not _extends(after, before):
            level = Level.REVIEW if after is not None or not _whole(outcome) else Level.SAFE
            group = groups.get(key) or group_name(function)
            yield from findings(outcome, why, lines, group, level)
            if level is Level.REVIEW:
                yield from question_findings(outcome, why, lines, group)
            else:
                yield from question_findings(outcome, why, lines, f"checks of {group}", outcome.emissions)
            continue
        yield from findings(before, why, lines, group_name(function), Level.SAFE)
        yield from question_findings(before, why, lines, f"checks of {group_name(function)}", before.emissions)
        earlier = {(e.start, e.end, e.new) for e in before.emissions}
        symbolic = frozenset[int]().union(*(e.origins for e in before.emissions))
        # What takes a value of each kind is in both groups: neither compiles without it.
        extra = tuple(e for e in after.emissions if (e.start, e.end, e.new) not in earlier or e.origins - symbolic)
        rest = replace(
            after,
            emissions=extra,
            unknown=(),
            sites=tuple(s for s in after.sites if s.origin in after.concrete),
            questions=tuple(question for question in after.questions if question not in before.questions),
        )
        yield from findings(rest, why, lines, groups[key], Level.REVIEW)
        yield from question_findings(rest, why, lines, groups[key])
    yield from _signatures(facts, reach, propagation, groups, sources, rewrites)
    yield from _twins(facts, reach, propagation, groups, sources, rewrites)
    yield from _members(reach, propagation, groups, sources, rewrites)
    yield from _registrations(facts, reach, propagation, groups, sources, rewrites, named)
    yield from _schemas(facts, reach, propagation, groups, sources, rewrites)


def _whole(outcome: Outcome) -> bool:
    """Whether every accessor in the function converts to the same in a graph; else it needs a person's eye."""
    guesses = outcome.roundings or outcome.unknown or outcome.lost or outcome.guarded or outcome.template
    return not (guesses or any(site.origin in outcome.concrete for site in outcome.sites))


def _extends(after: Outcome, before: Outcome) -> bool:
    return {(e.start, e.end, e.new) for e in before.emissions} <= {(e.start, e.end, e.new) for e in after.emissions}


def _groups(base: Mapping[Key, Outcome], propagation: Propagation) -> dict[Key, str]:
    """One group for all functions that stand or fall with the same settled slots."""
    parent: dict[Key, Key] = {}

    def find(key: Key) -> Key:
        parent.setdefault(key, key)
        while parent[key] != key:
            key = parent[key]
        return key

    for slot in propagation.settled:
        find((slot.path, slot.start))
    for key, outcome in (*propagation.outcomes.items(), *propagation.twins.items()):
        for slot in outcome.uses & propagation.settled:
            first, second = sorted((find(key), find((slot.path, slot.start))), key=lambda key: (key[1] < 0, key))
            parent[second] = first
    for family in propagation.families:
        owners = sorted({find((slot.path, slot.start)) for slot in family.slots}, key=lambda key: (key[1] < 0, key))
        for owner in owners[1:]:
            parent[find(owner)] = find(owners[0])
    for group in propagation.alternatives:
        first, *others = sorted({find(key) for key in group})
        parent.update(dict.fromkeys(others, first))
    functions = {key: o.function for key, o in {**base, **propagation.outcomes, **propagation.twins}.items()}
    return {key: f"helpers of {group_name(functions[find(key)])}" for key in parent if find(key) in functions}


def _signatures(
    facts: Mapping[str, FileFacts],
    reach: Mapping[Key, Reach],
    propagation: Propagation,
    groups: Mapping[Key, str],
    sources: Sources,
    rewrites: Rewrites,
) -> Iterator[Finding]:
    """The edits of the definitions and declarations of every helper that changes."""
    slots: dict[Key, set[int]] = {}
    for slot in propagation.settled:
        if not slot.member and not slot.operator and not is_twin(slot):
            slots.setdefault((slot.path, slot.start), set()).add(slot.index)
    if not slots:
        return
    functions = {owner: next(f for f in facts[owner[0]].functions if f.start == owner[1]) for owner in slots}
    namesakes = _namesakes(facts, functions.values())
    owners = {name: [key for key, function in functions.items() if function.name == name] for name in namesakes}
    renamed = propagation.renamed
    for path, file in facts.items():
        for function in file.functions:
            if function.name not in namesakes:
                continue
            own = (path, function.start)
            others = namesakes[function.name]
            mine = (key for key in owners[function.name] if declares(function, functions[key], others))
            key = own if own in slots else next(mine, None)
            if key is None:
                continue
            events = _signature_events(*sources.tree(path), function, slots[key], key in renamed)
            emissions = tuple(emission for event in events for emission in emit(rewrites, event))
            yield from _settled(function, emissions, reach.get(key), sources.lines(path), groups[key])


def _namesakes(facts: Mapping[str, FileFacts], functions: Iterable[Function]) -> dict[str, list[Function]]:
    """The definitions and declarations of the names of `functions`."""
    named: dict[str, list[Function]] = {function.name: [] for function in functions}
    for function in (function for file in facts.values() for function in file.functions):
        if function.name in named:
            named[function.name].append(function)
    return named


def _twins(
    facts: Mapping[str, FileFacts],
    reach: Mapping[Key, Reach],
    propagation: Propagation,
    groups: Mapping[Key, str],
    sources: Sources,
    rewrites: Rewrites,
) -> Iterator[Finding]:
    """The twins of helpers, behind their definitions and declarations."""
    slots = [twin_slot(slot) for slot in propagation.settled if is_twin(slot)]
    namesakes = _namesakes(facts, (body.function for body in propagation.twins.values()))
    for key, body in sorted(propagation.twins.items()):
        indexes = [slot.index for slot in slots if (slot.path, slot.start) == key]
        callers = {
            path for (path, _), o in propagation.outcomes.items() if any((s.path, s.start) == key for s in o.uses)
        }
        declarations = (
            function
            for path, file in facts.items()
            if path == key[0] or path in callers or is_header(path)
            for function in file.functions
            if declares(function, body.function, namesakes[body.function.name])
        )
        for function in (body.function, *declarations):
            lines, tree = sources.lines(function.path), sources.tree(function.path)
            changes = [(e.start, e.end, e.new) for e in (body.emissions if function.body >= 0 else ())]
            for event in _signature_events(*tree, function, indexes, renamed=False):
                changes += [(e.start, e.end, e.new) for e in emit(rewrites, event)]
            declarator = find_declarator(tree[0].root_node, function)
            name = declarator.child_by_field_name("declarator") if declarator is not None else None
            if name is not None:
                span = function.start, function.end
                named = build(name, tree[1])
                twin = HelperTwin(
                    frozenset({OWN_RESULT}), function.name, twin_name(function), lines, *span, named, changes
                )
                yield from _settled(function, tuple(emit(rewrites, twin)), reach.get(key), lines, groups[key])


def _settled(
    function: Function, emissions: tuple[Emission, ...], why: Reach | None, lines: Lines, group: str
) -> Iterator[Finding]:
    """The edits that settled with `function`, which symbols reach by `why`, else as a helper of what they reach."""
    outcome = Outcome(function, emissions, (), (), (), frozenset())
    yield from findings(outcome, why or Reach((), (), "helper"), lines, group, Level.REVIEW)


def _signature_events(
    tree: Tree, masked: bytes, function: Function, indexes: Collection[int], renamed: bool
) -> Iterator[Event]:
    """What changes in one definition or declaration whose slots at `indexes` are settled."""
    declarator = find_declarator(tree.root_node, function)
    if declarator is None:
        return
    types = spelled_types(declarator, indexes)
    if types is not None:
        origins = frozenset(parameter_origin(index) if index >= 0 else OWN_RESULT for index in indexes)
        yield SettledSignature(origins, function.name, [build(spelled, masked) for spelled in types])
    name = declarator.child_by_field_name("declarator")
    if renamed and name is not None:
        new = symint_name(function.name)
        yield SymbolicKernel(frozenset({RENAMED}), build(name, masked), function.name, new)


def _members(
    reach: Mapping[Key, Reach],
    propagation: Propagation,
    groups: Mapping[Key, str],
    sources: Sources,
    rewrites: Rewrites,
) -> Iterator[Finding]:
    """The edits of the structs whose members change; each is said of the first function that fills a member."""
    declarations: dict[tuple[str, int], tuple[str, Member, list[Slot]]] = {}
    for slot in sorted(propagation.settled, key=lambda slot: slot.member):
        owner, _, name = slot.member.rpartition("::")
        held = slot.member and not is_saved(slot)
        member = find_member(sources.tree(slot.path)[0].root_node, owner, name) if held else None
        if member is not None:
            declarations.setdefault((slot.path, member.declaration.start_byte), (owner, member, []))[2].append(slot)
    for (path, start), (owner, member, slots) in sorted(declarations.items(), key=lambda item: item[0]):
        key = min(key for key, outcome in propagation.outcomes.items() if not outcome.filled.isdisjoint(slots))
        masked = sources.tree(path)[1]
        declaration, spelled = (build(node, masked) for node in (member.declaration, member.spelled))
        members = [slot.member.rpartition("::")[2] for slot in slots]
        event = SettledMembers(frozenset({member_origin(start)}), owner, declaration, spelled, member.names, members)
        function, emissions = propagation.outcomes[key].function, tuple(emit(rewrites, event))
        yield from _settled(function, emissions, reach.get(key), sources.lines(path), groups[path, -1])


def _registrations(
    facts: Mapping[str, FileFacts],
    reach: Mapping[Key, Reach],
    propagation: Propagation,
    groups: Mapping[Key, str],
    sources: Sources,
    rewrites: Rewrites,
    named: Mapping[str, Sequence[Naming]],
) -> Iterator[Finding]:
    """The edits of the registrations that name kernels which gain the name `…_symint`."""
    functions = {(f.path, f.start): f for file in facts.values() for f in file.functions}
    renamed = {functions[key].name: key for family in propagation.families for key in sorted(family.kernels)}
    for name, key in sorted(renamed.items()):
        for place in named.get(name, ()):
            event = RegisteredKernel(frozenset({RENAMED}), place.start, place.end, name, place.new)
            function, emissions = replace(functions[key], path=place.path), tuple(emit(rewrites, event))
            yield from _settled(function, emissions, reach.get(key), sources.lines(place.path), groups[key])


def _schemas(
    facts: Mapping[str, FileFacts],
    reach: Mapping[Key, Reach],
    propagation: Propagation,
    groups: Mapping[Key, str],
    sources: Sources,
    rewrites: Rewrites,
) -> Iterator[Finding]:
    """The schemas, yaml entries and formulas of the families that hold."""
    names = {(f.path, f.start): f.name for file in facts.values() for f in file.functions}
    kernels = frozenset(names[key] for key in propagation.renamed)
    changes: dict[tuple[str, str], dict[tuple[int, int, str], Emission]] = {}
    operators: dict[str, set[str]] = {}
    whys: dict[str, Reach] = {}
    for family in propagation.families:
        slot = min(family.slots, key=lambda slot: (slot.path, slot.start, slot.index))
        group = groups[slot.path, slot.start]
        named = {base_name(family.operator)} if family.operator else {entry.schema.base for entry in family.entries}
        operators.setdefault(group, set()).update(named)
        for key in sorted({(slot.path, slot.start) for slot in family.slots} & reach.keys()):
            whys.setdefault(group, reach[key])
        for path, event in _schema_events(family, kernels, sources):
            emissions = changes.setdefault((path, group), {})
            emissions.update(((e.start, e.end, e.new), e) for e in emit(rewrites, event))
    for path, group in sorted(changes):
        lines = sources.lines(path)
        for (start, end, new), emission in sorted(changes[path, group].items()):
            line, column = lines.at(start)
            edit = Edit(path, start, end, lines.source[start:end], new.encode())
            yield Finding(
                path,
                start,
                end,
                line,
                column,
                Mode.DIRECT_THROW,
                emission.rule,
                Level.REVIEW,
                "",
                tuple(sorted(operators[group])),
                emission.message,
                edits=(edit,),
                reach=whys[group].steps if group in whys else (),
                group=group,
            )


def _schema_events(family: Family, kernels: frozenset[str], sources: Sources) -> Iterator[tuple[str, Event]]:
    """What changes in schemas with a family: (path, event). `kernels` are the names of all that are renamed."""
    origins = frozenset(parameter_origin(slot.index) for slot in family.slots)
    if family.operator:
        path, start, end = family.schema
        yield path, SymbolicArgument(origins, family.operator, start, end)
    for entry in family.entries:
        lines = sources.lines(OWN_YAML)
        renamed = sorted({kernel for _, kernel in entry.dispatch if kernel.rpartition("::")[2] in kernels})
        yield OWN_YAML, SymbolicSchema(origins, lines, entry.line, family.argument)
        yield OWN_YAML, SymbolicDispatch(origins, lines, entry.line, renamed)
    for derivative in family.derivatives:
        lines = sources.lines(DERIVATIVES)
        yield DERIVATIVES, SymbolicSchema(origins, lines, derivative.line, family.argument)
    for derivative, accessor in family.accessors:
        yield DERIVATIVES, SymbolicDerivative(origins, sources.lines(DERIVATIVES), derivative.line, accessor)
