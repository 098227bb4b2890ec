"""The C++ analysis of a tree: facts, reach, flow in every reached function, findings."""

from __future__ import annotations

import functools
import itertools
import operator
from collections import defaultdict
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from codemod.model.findings import Finding
from codemod.model.operators import Reach
from codemod.model.transform import Project
from codemod.planning.naming import base_name
from transforms.cpp.coverage.operators import obstacles, operators
from transforms.cpp.coverage.placing import Homes
from transforms.cpp.coverage.report import Sources, missing_fake
from transforms.cpp.decisions import DERIVATIVES, decide
from transforms.cpp.flow.assumptions import Assumptions, Key
from transforms.cpp.flow.dead_ends import composite_kernels, with_dead_ends
from transforms.cpp.flow.outcome import Outcome
from transforms.cpp.flow.outcomes import Outcomes
from transforms.cpp.flow.propagate import Propagation, Propagator
from transforms.cpp.flow.twins import twin_name
from transforms.cpp.reach import headers, kernels
from transforms.cpp.reach.alternatives import are_alternatives
from transforms.cpp.reach.calls import KernelsAlone, comes_to_kernel, is_autograd_function, is_kernel
from transforms.cpp.reach.device import is_device_code
from transforms.cpp.reach.fakes import with_symbols
from transforms.cpp.reach.kept import Kept
from transforms.cpp.reach.operator_schemas import definitions, operator_families
from transforms.cpp.reach.reached import Reacher
from transforms.cpp.reach.registered_kernels import Naming, namings, renamable
from transforms.cpp.reach.schemas import Family, Schemas, integer_arguments
from transforms.cpp.reach.sources import DeviceCode, is_pytorchs, joined_facts, source_files
from transforms.cpp.reach.unread import remarks
from transforms.cpp.reach.untraced import alone_in_formulas, untraceable_operators
from transforms.cpp.reach.vocabulary import ACCESSORS, Vocabulary, has_symbolic_twin
from transforms.cpp.reading.facts import FileFacts, Function
from transforms.cpp.reading.lines import Lines
from transforms.cpp.report import around_marks, group_name, question_findings
from transforms.cpp.rules import load_rewrites
from transforms.python.reach.fakes import fakes_of
from transforms.python.reach.kernels import python_kernels, registrations_of, source_paths
from transforms.python.reach.registrations import Registrations
from transforms.schema import derivatives as derivatives_yaml
from transforms.schema import references
from transforms.schema.native_functions import NativeFunctions
from transforms.schema.schema import Schema

_ASKING = (b"TORCH_", b"if", b"std::m", b"?")
"""What stands in a function that checks sizes, branches on them, or takes the smaller or larger of them."""
_LONGEST_TWIN = 40
"""The lines of a helper that a second body may stand beside."""


@dataclass(frozen=True, slots=True)
class Tree:
    """What the stages of the analysis share."""

    project: Project
    facts: Mapping[str, FileFacts]
    own: NativeFunctions | None
    in_formulas: frozenset[str]
    """Names of functions that the formulas of derivatives.yaml call."""
    reach: Mapping[Key, Reach]
    for_devices: frozenset[object]
    """What `headers.same_function` says of the functions that device code declares."""
    functions: Mapping[str, Sequence[Function]]
    """The definitions and declarations of each name."""


def analyse_tree(project: Project) -> Iterator[Finding]:
    """Every finding in the selected files of a tree."""
    paths = source_files(project)
    own = None
    if project.has(headers.OWN_YAML):
        own = headers.load_operators(project, headers.OWN_YAML)
    sources = headers.locate(project)
    facts = joined_facts(project, paths)
    formulas = None
    if project.has(DERIVATIVES):
        formulas = project.facts(derivatives_yaml.load, [DERIVATIVES]).get(DERIVATIVES)

    @functools.cache
    def in_python() -> Registrations:
        return registrations_of(project, source_paths(project))

    entered = with_symbols(facts, partial(python_kernels, project, in_python)) if own is None else facts
    untraceable = untraceable_operators(project, facts, own)
    reacher = Reacher(entered, own, formulas, project.named, alone_in_formulas(facts, untraceable, formulas))
    reach, stopped = reacher.reached_and_stopped()
    in_formulas = frozenset(formulas.callers() if formulas is not None else ())
    functions: defaultdict[str, list[Function]] = defaultdict(list)
    for function in (function for file in facts.values() for function in file.functions):
        functions[function.name].append(function)
    tree = Tree(project, facts, own, in_formulas, reach, _declared_for_devices(facts), functions)
    if own is None:
        for line in remarks(facts, project.selected, project.named):
            project.remark(line)
    with_body = [
        function
        for path, file in facts.items()
        if project.selected(path)
        for function in file.functions
        if function.body >= 0 and (path, function.start) in tree.reach
    ]
    if own is None and not (with_body or stopped or any(file.registrations or file.blocks for file in facts.values())):
        return  # no operator is defined there: the rest need not be read
    at_home = own is not None and sources.yaml == headers.OWN_YAML
    schemas = own.schemas() if own is not None and at_home else headers.load_schemas(project, sources)
    vocabulary = headers.load_vocabulary(project, facts, sources, schemas, asked=bool(with_body))
    composites: Mapping[str, Collection[Key]] = {}
    assumptions = Assumptions()
    if own is not None:
        registered = _registered(project)
        unserved = references.unserved(registered, own.entries) | references.internal(untraceable)
        vocabulary = replace(vocabulary, unserved=unserved)
        assumptions = Assumptions(dead_operators=references.readers(registered, own.entries))
        composites = composite_kernels(own, {*registered, *_symbolic(schemas)}, itertools.chain(*functions.values()))
    reached = [function for function in with_body if not has_symbolic_twin(vocabulary, function)]
    names = _fixed_names(tree)
    integers = integer_arguments(facts)
    device = DeviceCode(project)
    kept = Kept(project, paths, functions)
    families, names_of_kernels = _families(tree, device, Schemas(facts, own, None if at_home else schemas, formulas))
    libraries = facts if own is None else {path: file for path, file in facts.items() if not is_pytorchs(path)}
    own_operators = operator_families(libraries, reacher.registered, project.read) if with_body else ()
    families += (f for f in own_operators if not kept.named_unread(base_name(f.operator)))
    if kept.incomplete:
        families = []
    asking = frozenset(name for file in facts.values() for name in file.asking_macros)
    vocabulary = replace(vocabulary, defined=definitions(libraries), asking_macros=asking)
    followed = Outcomes(project, vocabulary, load_rewrites())

    def propagated(outcomes: Mapping[Key, Outcome], tree: Tree, dead: Assumptions) -> Propagation:
        return Propagator(
            project,
            facts,
            followed,
            dead,
            lambda function: (function.path, function.start) in tree.reach,
            lambda function, index: (
                (function.path, function.start) not in dead.dead_ends
                and _may_change(tree, names, device, function, index)
                and not kept.keeps(function, index)
                and not ((function.name, index) in integers and not function.internal and not _is_wrapper(function))
                and not has_symbolic_twin(vocabulary, function)
            ),
            families,
            lambda function: (
                (function.path, function.start) not in dead.dead_ends
                and _may_have_twin(tree, names, vocabulary, function)
                and kept.may_have_symbols(function)
                and kept.can_be_written(function, range(-1, len(function.params)))
            ),
        ).run(_with_sites(outcomes, tree, vocabulary))

    launched = vocabulary.unserved if own is not None else KernelsAlone(vocabulary.functions)
    candidates = list(_candidates(project, reached, vocabulary, launched))
    outcomes = followed.of(candidates, assumptions)
    blocked = frozenset(key for key, outcome in outcomes.items() if outcome.blocked)
    if blocked:
        reach, stopped = reacher.reached_and_stopped(blocked)
        tree = replace(tree, reach=reach)
    propagation = propagated(outcomes, tree, assumptions)
    first = {**outcomes, **propagation.outcomes}
    live, twins = tree.reach, frozenset(propagation.twins)
    shallow = replace(assumptions, settled=propagation.settled, renamed=propagation.renamed)
    while True:  # a helper that gains a twin is no dead end, and which of them do depends on the dead ends
        found = with_dead_ends(
            shallow,
            first.values(),
            [f for f in reached if (f.path, f.start) in live and (f.path, f.start) not in twins],
            composites,
            followed.of,
        )
        if not found.dead_ends:
            break
        blocked |= found.dead_ends
        reach, stopped = reacher.reached_and_stopped(blocked)
        tree = replace(tree, reach=reach)
        dead = Assumptions(dead_ends=found.dead_ends, dead_operators=found.dead_operators)
        outcomes = followed.of(candidates, dead)
        propagation = propagated(outcomes, tree, dead)
        if twins <= propagation.twins.keys():
            break
        twins &= propagation.twins.keys()
    followed.keep()
    base = _with_sites(outcomes, tree, vocabulary)
    decided = list(decide(project, facts, tree.reach, base, propagation, load_rewrites(), names_of_kernels))
    for key, outcome in outcomes.items():
        if key in tree.reach and key not in base and key not in propagation.outcomes:
            lines = Lines(project.read(key[0]))
            decided += question_findings(outcome, tree.reach[key], lines, f"checks of {group_name(outcome.function)}")
    yield from around_marks(decided, project.read)
    covered: set[Key] = set()
    fake_sources = Sources(project.read, schemas, reacher.index)
    homes = Homes(project, in_python, operators(libraries))
    for obstacle in obstacles(libraries, functools.cache(lambda: fakes_of(in_python(), project.read)), project.read):
        if obstacle.root is not None:
            covered.add((obstacle.root.path, obstacle.root.start))
        if project.selected(obstacle.operator.path):
            yield missing_fake(obstacle, fake_sources, homes)
    selected = {key: why for key, why in stopped.items() if project.selected(key[0]) and key not in covered}
    yield from kernels.findings({(f.path, f.start): f for path, _ in selected for f in facts[path].functions}, selected)


def _families(tree: Tree, device: DeviceCode, schemas: Schemas) -> tuple[list[Family], Mapping[str, Sequence[Naming]]]:
    """The families whose kernels can be renamed, and where registrations name these."""
    families = schemas.families()
    if not any(family.kernels for family in families):
        return families, {}
    kernel_names = {(f.path, f.start): f.name for file in tree.facts.values() for f in file.functions}
    named = namings(tree.facts, tree.project.read)
    fixed = {name for name, places in named.items() if not all(tree.project.selected(p.path) for p in places)}

    def is_free(family: Family) -> bool:
        names = {kernel_names[key] for key in family.kernels}
        return names.isdisjoint(fixed) and not any(map(device.calls_kernel, names))

    return list(renamable([family for family in families if is_free(family)], tree.facts, named)), named


def _candidates(
    project: Project, functions: Sequence[Function], vocabulary: Vocabulary, launched: Container[object]
) -> Iterator[Function]:
    """Those of `functions` that may hold a site, or call a kernel, one of `launched`."""
    for path, in_file in itertools.groupby(functions, operator.attrgetter("path")):
        source = functools.cache(functools.partial(project.read, path))
        for function in in_file:
            if (
                _calls_accessor(function, vocabulary)
                or comes_to_kernel(function, launched)
                or _asks_for_size(source()[function.start : function.end])
            ):
                yield function


def _with_sites(outcomes: Mapping[Key, Outcome], tree: Tree, vocabulary: Vocabulary) -> dict[Key, Outcome]:
    return {key: o for key, o in outcomes.items() if key in tree.reach and _calls_accessor(o.function, vocabulary)}


def _symbolic(schemas: Mapping[str, Sequence[Schema]]) -> Iterator[str]:
    """The operators that say of themselves that they take symbols."""
    return (name for name, overloads in schemas.items() if any(schema.has_symint for schema in overloads))


def _registered(project: Project) -> frozenset[str]:
    """The operators that the Python of a PyTorch checkout registers a function for."""
    paths = [path for path in project.files((".py",)) if path.startswith(references.FOLDERS)]
    return frozenset().union(*project.facts(references.load, paths).values())


def operators_of_tree(project: Project) -> frozenset[str]:
    """The operators that the tree declares and registers, without overloads."""
    facts = joined_facts(project, source_files(project))
    names = {registration.operator for file in facts.values() for registration in file.registrations}
    if project.has(headers.OWN_YAML):
        own = headers.load_operators(project, headers.OWN_YAML)
        names.update(f"aten::{entry.schema.base}" for entry in own.entries)
    return frozenset(name.partition(".")[0] for name in names if name)


def _asks_for_size(function: bytes) -> bool:
    """Whether a function that has no accessor to change may ask something of a size that is symbolic as written."""
    return any(symbol in function for symbol in (b"sym_", b"SymInt", b"symint::")) and any(
        asked in function for asked in _ASKING
    )


def _calls_accessor(function: Function, vocabulary: Vocabulary) -> bool:
    """Whether a function may hold a site: `x.size(0)`, `at::size(x, 0)`, or a helper that asks and has a twin."""
    free = (call.callee.rpartition("::")[2] for call in function.calls if not call.member)
    return bool(function.candidates) or any(name in ACCESSORS or vocabulary.asks_for_size(name) for name in free)


def _fixed_names(tree: Tree) -> frozenset[str]:
    """Functions whose signature the dispatcher or generated code relies on."""
    names = {kernel.rpartition("::")[2] for _, _, kernel in tree.own.kernels()} if tree.own is not None else set()
    for file in tree.facts.values():
        pending = [registration for block in file.blocks for registration in block.registrations]
        names.update(r.function.rpartition("::")[2] for r in (*file.registrations, *pending))
    return frozenset(names)


def _reached_device_code(tree: Tree, function: Function) -> bool:
    return is_device_code(tree.facts[function.path]) and (function.path, function.start) in tree.reach


def _declared_for_devices(facts: Mapping[str, FileFacts]) -> frozenset[object]:
    return frozenset(
        headers.same_function(function)
        for file in facts.values()
        if is_device_code(file)
        for function in file.functions
    )


def _may_change(tree: Tree, fixed: frozenset[str], device: DeviceCode, function: Function, index: int) -> bool:
    in_class = function.parent and not (is_autograd_function(function, "forward") and index > 0)
    if function.name in fixed or function.structured or in_class or not tree.project.selected(function.path):
        return False
    for_devices = tree.for_devices and headers.same_function(function) in tree.for_devices
    if for_devices and not _reached_device_code(tree, function):
        return False
    if index >= 0 and function.params[index].type.replace("const ", "").rstrip("&") in ("int64_t", "int"):
        return True  # an integer converts to the SymInt that is then wanted
    return function.name not in tree.in_formulas and (function.internal or not device.calls(function.name))


def _is_wrapper(function: Function) -> bool:
    """Whether a function calls, through the dispatcher, the operator that it has the name of."""
    return any(lookup.operator.partition(".")[0].endswith(f"::{function.name}") for lookup in function.lookups)


def _may_have_twin(tree: Tree, fixed: frozenset[str], vocabulary: Vocabulary, function: Function) -> bool:
    """Whether a twin of a helper may be written: of no kernel, method or template, none long or defined twice."""
    if function.name in fixed or function.structured or function.parent or function.template:
        return False
    if is_kernel(function) or is_device_code(tree.facts[function.path]):
        return False
    if vocabulary.functions.get(twin_name(function)):
        return False
    own = headers.same_function(function)
    named = tree.functions[function.name]
    if any(are_alternatives(function, other) for other in named):
        return False
    declared = [f.path for f in named if headers.same_function(f) == own]
    body = tree.project.read(function.path)[function.start : function.end]
    return all(map(tree.project.selected, declared)) and body.count(b"\n") < _LONGEST_TWIN
