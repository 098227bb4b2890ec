"""The C++ analysis of a tree: facts, reach, flow in every reached function, findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from codemod.findings import Finding, Level
from codemod.operators import Reach
from codemod.transform import Project
from transforms.cpp import headers
from transforms.cpp.extract import extract
from transforms.cpp.facts import FileFacts, Function
from transforms.cpp.flow.outcome import Outcome, Task, analyse, tasks_by_file
from transforms.cpp.flow.state import Slot
from transforms.cpp.propagate import Key, Propagation, Propagator
from transforms.cpp.reach import reached
from transforms.cpp.report import Lines, findings, group_name
from transforms.cpp.rules import helper_signature
from transforms.cpp.syntax import parse
from transforms.schema import derivatives as derivatives_yaml
from transforms.schema.derivatives import Derivatives
from transforms.schema.native_functions import NativeFunctions

SUFFIXES = (".cpp", ".cc", ".cxx", ".h", ".hpp", ".cu", ".cuh", ".mm")
_PYTORCH = ("aten/src/ATen", "torch/csrc/autograd", "torch/csrc/utils", "c10/core", "c10/util")
_DERIVATIVES = "tools/autograd/derivatives.yaml"


@dataclass(frozen=True, slots=True)
class Tree:
    """What the stages of the analysis share."""

    project: Project
    facts: Mapping[str, FileFacts]
    own: NativeFunctions | None
    formulas: Derivatives | None
    reach: Mapping[Key, Reach]


def source_files(project: Project) -> list[str]:
    """The files whose facts matter: in a PyTorch checkout where operators and their helpers live, else all."""
    everything = project.files(SUFFIXES)
    if not (project.root / headers.OWN_YAML).is_file():
        return everything
    folders = tuple(f"{folder}/" for folder in _PYTORCH)
    named = not project.selected("")
    return [path for path in everything if path.startswith(folders) or (named and project.selected(path))]


def analyse_tree(project: Project) -> Iterator[Finding]:
    """Every finding in the selected files of a tree."""
    paths = source_files(project)
    sources = headers.locate(project)
    facts = project.facts(extract, paths)
    natives = headers.load_operators(project, sources.yaml)
    own = natives if sources.yaml == headers.OWN_YAML else None
    if own is None and (project.root / headers.OWN_YAML).is_file():
        own = headers.load_operators(project, headers.OWN_YAML)
    formulas = None
    if (project.root / _DERIVATIVES).is_file():
        formulas = project.facts(derivatives_yaml.load, [_DERIVATIVES]).get(_DERIVATIVES)
    tree = Tree(project, facts, own, formulas, reached(facts, own, formulas))
    vocabulary = headers.load_vocabulary(project, facts, sources, natives)
    chosen = [
        function
        for path, file in facts.items()
        if project.selected(path)
        for function in file.functions
        if function.body >= 0 and (path, function.start) in tree.reach and function.candidates
    ]
    tasks = [Task(path, project.read(path), tuple(found), vocabulary) for path, found in tasks_by_file(chosen).items()]
    results = project.map(analyse, tasks, "following values")
    base = {(o.function.path, o.function.start): o for outcomes in results for o in outcomes}
    names = _fixed_names(tree)
    propagation = Propagator(
        project,
        facts,
        vocabulary,
        lambda function: (function.path, function.start) in tree.reach,
        lambda function, index: _may_change(tree, names, function, index),
    ).run(base)
    yield from _report(tree, base, propagation)


def _fixed_names(tree: Tree) -> frozenset[str]:
    """Functions whose signature the dispatcher or generated code relies on."""
    names = {kernel.rpartition("::")[2] for _, _, kernel in tree.own.kernels()} if tree.own is not None else set()
    for file in tree.facts.values():
        names.update(registration.function.rpartition("::")[2] for registration in file.registrations)
    return frozenset(names)


def _may_change(tree: Tree, fixed: frozenset[str], function: Function, index: int) -> bool:
    if function.name in fixed or function.structured or function.parent or not tree.project.selected(function.path):
        return False
    called = tree.formulas.callers() if tree.formulas is not None else {}
    if function.name not in called:
        return True
    return index >= 0 and function.params[index].type.replace("const ", "").rstrip("&") in ("int64_t", "int")


def _report(tree: Tree, base: Mapping[Key, Outcome], propagation: Propagation) -> Iterator[Finding]:
    groups = _groups(base, propagation)
    sources: dict[str, Lines] = {}
    for key in sorted({*base, *propagation.outcomes}):
        before, after = base.get(key), propagation.outcomes.get(key)
        outcome = after or before
        assert outcome is not None
        function = outcome.function
        reach = tree.reach.get(key) or Reach((), (), "helper")
        lines = sources.setdefault(function.path, Lines(tree.project.read(function.path)))
        if after is None or before is None or not _whole(before) or not _extends(after, before):
            level = Level.REVIEW if after is not None or not _whole(outcome) else Level.SAFE
            yield from findings(outcome, reach, lines, groups.get(key) or group_name(function), level)
            continue
        yield from findings(before, reach, lines, group_name(function), Level.SAFE)
        known = {(e.start, e.end, e.new) for e in before.emissions}
        extra = tuple(e for e in after.emissions if (e.start, e.end, e.new) not in known)
        rest = replace(after, emissions=extra, unknown=(), sites=tuple(s for s in after.sites if s.origin in after.concrete))
        yield from findings(rest, reach, lines, groups[key], Level.REVIEW)
    yield from _signatures(tree, propagation.settled, groups, sources)


def _whole(outcome: Outcome) -> bool:
    """Whether every accessor in the function converts; one that converts in part needs a person's eye."""
    return not (outcome.unknown or outcome.lost or any(site.origin in outcome.concrete for site in outcome.sites))


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
    for key, outcome in propagation.outcomes.items():
        for slot in outcome.uses & propagation.settled:
            first, second = sorted((find(key), find((slot.path, slot.start))))
            parent[second] = first
    functions = {key: o.function for key, o in {**base, **propagation.outcomes}.items()}
    return {key: f"helpers of {group_name(functions[find(key)])}" for key in parent if find(key) in functions}


def _signatures(
    tree: Tree, settled: Iterable[Slot], groups: Mapping[Key, str], sources: dict[str, Lines]
) -> Iterator[Finding]:
    """The edits of the definitions and declarations of every helper that changes."""
    slots: dict[Key, set[int]] = {}
    for slot in settled:
        slots.setdefault((slot.path, slot.start), set()).add(slot.index)
    if not slots:
        return
    wanted = {owner: next(f for f in tree.facts[owner[0]].functions if f.start == owner[1]) for owner in slots}
    by_identity: dict[object, list[Key]] = {}
    for owner, function in wanted.items():
        by_identity.setdefault(headers.same_function(function), []).append(owner)
    names = {function.name for function in wanted.values()}
    for path, file in tree.facts.items():
        for function in file.functions:
            if function.name not in names:
                continue
            own = (path, function.start)
            declared = by_identity.get(headers.same_function(function), [])
            if own not in slots and not (function.body < 0 and declared):
                continue
            key = own if own in slots else declared[0]
            lines = sources.setdefault(path, Lines(tree.project.read(path)))
            emissions = helper_signature.rewrite(*parse(lines.source), function, frozenset(slots[key]))
            outcome = Outcome(function, tuple(emissions or ()), (), (), (), frozenset())
            reach = tree.reach.get(key) or Reach((), (), "helper")
            yield from findings(outcome, reach, lines, groups[key], Level.REVIEW)


