"""The Python transform as the engine sees it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from codemod.model.drawn import DrawnMeta
from codemod.model.findings import Finding
from codemod.model.transform import Project, Prover, Rule
from codemod.tree.checkout import NATIVE_FUNCTIONS
from transforms.python.metas.drawn import findings as metas_of
from transforms.python.reach.bodies import Bodies
from transforms.python.reach.catching import caught_by_callers
from transforms.python.reach.composites import Composite, composites, entries_of, stand_ins
from transforms.python.reach.kernels import registrations_of, root_package
from transforms.python.reach.naming import decorated_operators
from transforms.python.reach.packages import import_path, place_of
from transforms.python.reach.passing import active, follow, made_by, needed_values, returned_values
from transforms.python.reach.reached import ELSEWHERE, TESTS, Reached, given_sympy, reach, scripted
from transforms.python.reach.signatures import give_types
from transforms.python.reach.tree import Definition, SourceTree, absolute, tree_path
from transforms.python.reach.unfaked import unfaked
from transforms.python.reach.unread import not_read, remarks
from transforms.python.reading.bodies import wanted_bodies
from transforms.python.reading.dated import minimum_at
from transforms.python.reading.extract import Parts, extract
from transforms.python.reading.facts import FileFacts
from transforms.python.reading.named import named_in
from transforms.python.reading.parsing import NestedTooDeep
from transforms.python.reading.public_names import MODULES, operators_by_function, public_names
from transforms.python.reading.sympy_calls import SympyCalls, sympy_calls
from transforms.python.writing.helpers import HOME, home_of
from transforms.python.writing.style_settings import Styles
from transforms.releases.data import FUNCTION, SOURCES, bound_in, names_in, python_names, releases
from transforms.releases.data import operators as released_operators
from transforms.releases.target import Target, installed_torch, target
from transforms.schema.native_functions import NativeFunction
from transforms.schema.schema import Schema

if TYPE_CHECKING:
    from transforms.python.jobs import FileJob

SYMBOLIC_SHAPES = SOURCES["symbolic_shapes"]
WORDS = {"symbolic_shapes": "", "sizevars": "sizevars.", "PythonPrinter": "PythonPrinter."}
"""The modules that say which names a PyTorch has, with what stands before the names of each."""
TOP = SOURCES["torch"]
_DEPRECATED = re.compile(r"^@\w*deprecated\((?:.*\n)+?def (\w+)", re.M)


class PythonTransform:
    """Mode 2: Python that asks for a size while tracing."""

    name = "python"
    suffixes: tuple[str, ...] = (".py",)

    def rules(self) -> Sequence[Rule]:
        """The rules, in the order in which they are asked."""
        from transforms.python.rules import load_rules

        return [place_rule.rule for place_rule in load_rules()]

    def parse_errors(self, path: str, source: bytes) -> int:
        """1 where Python does not compile the file, else 0."""
        try:
            Parts(source)
        except (SyntaxError, ValueError, NestedTooDeep):
            return 1
        return 0

    def analyse(self, project: Project) -> Iterable[Finding]:
        """Every finding in the selected files."""
        paths, elsewhere = _paths(project)
        selected = project.facts(extract, [path for path in paths if project.selected(path)])
        for line in not_read(selected.values()):
            project.remark(line)
        package = root_package(project)
        targets = (target for facts in selected.values() for _, target in facts.imports)
        if not any(absolute(target, package).partition(".")[0] == "torch" for target in targets):
            return []  # no tensors there, so the rest of the tree need not be read
        others = project.facts(extract, [path for path in paths if not project.selected(path)])
        facts = {**selected, **others}
        registrations = registrations_of(project, paths, lambda: facts)
        tree = registrations.tree
        if not is_torch(tree):
            for line in remarks(registrations.roles, project.selected):
                project.remark(line)
        torch = None if is_torch(tree) else target(project)
        named = partial(project.facts_of, named_in)
        functions = reach(tree, registrations, partial(_declared, project, torch), named, project.traced)
        pytorch = project.has(NATIVE_FUNCTIONS)
        missing_fakes = [] if pytorch else unfaked(project, registrations)
        with_sympy = [calls for calls in project.facts(sympy_calls, elsewhere).values() if calls.names]
        give_types(functions, registrations.roles, partial(_schemas, project, torch))
        replacing = stand_ins(tree, partial(_operators, project, torch), project.read)
        asked = (*functions, *(own for stand_in in replacing.values() for own in stand_in.own))
        body_of = Bodies(tree, asked, partial(project.facts_of, wanted_bodies)).of
        follow(tree, functions, body_of)
        jobs = self._jobs(tree, functions, project, with_sympy, composites(replacing, body_of), torch)
        in_functions = project.facts_of(_rewriter(), jobs, "python") if jobs else {}
        return [*missing_fakes, *(finding for file_findings in in_functions.values() for finding in file_findings)]

    def lacking(self, project: Project, path: str, line: int, text: str) -> str:
        """What the oldest torch that runs a line of `path` lacks of what `text` names; "" in PyTorch itself."""
        from transforms.python.writing.releases import functions_named, too_new

        if any(tree_file.endswith(SYMBOLIC_SHAPES) for tree_file in project.files((".py",))):
            return ""
        minimum = minimum_at(project.read(path), line, target(project).minimum)
        return too_new(functions_named(text), minimum)

    def metas(self, project: Project, drawn: Sequence[DrawnMeta]) -> Iterable[Finding]:
        """The metas of `drawn` for PyTorch's own operators."""
        return metas_of(project, drawn)

    def operators(self, project: Project) -> Collection[str]:
        """The operators that Python registers, without overloads."""
        registrations = registrations_of(project, _paths(project)[0])
        names = {n for definition in registrations.tree.definitions() for n in decorated_operators(definition.function)}
        names.update(registrations.operators.values())
        names.update(role.operator for roles in registrations.roles.values() for role in roles if role.dispatched)
        return frozenset(name.partition(".")[0] for name in names if name)

    def functions(self, project: Project) -> Mapping[str, tuple[str, ...]]:
        """The functions of torch.nn.functional and torch.functional, where the tree is PyTorch."""
        listed = set(project.files(self.suffixes))
        read = project.facts(public_names, [path for path in MODULES if path in listed])
        return {name: ops for names in read.values() for name, ops in operators_by_function(names).items()}

    def prover(self, project: Project, scratch: Path) -> Prover:
        """The prover for the tree of `project`."""
        from transforms.python.prover import PythonProver

        return PythonProver(project)

    def _jobs(
        self,
        tree: SourceTree,
        functions: Mapping[Definition, Reached],
        project: Project,
        with_sympy: Sequence[SympyCalls],
        standing_in: Mapping[Definition, Composite],
        torch: Target | None,
    ) -> dict[str, list[FileJob]]:
        from transforms.python.jobs import FileJob, Job

        # What the scope leaves out is rewritten by itself: functions of one file may share imports and lines.
        chosen: dict[tuple[str, bool], dict[str, Job]] = {}
        read_by_torchscript = scripted(tree, functions)
        caught = caught_by_callers(tree, functions)
        sympy = given_sympy(tree, functions, with_sympy)
        for definition, reached in functions.items():
            composite = standing_in.get(definition)
            if not (reached.body.conditions or composite) or not project.selected(definition.path):
                continue
            resolved = {name: tree.resolve(definition, name) for name in definition.function.calls}
            callees = {name: functions[d] for name, d in resolved.items() if d is not None and d in functions}
            if composite or active(reached, callees):
                within = project.in_scope(definition.path, reached.root)
                chosen.setdefault((definition.path, within), {})[definition.function.name] = Job(
                    parameters=reached.parameters,
                    returns=returned_values(callees),
                    needs=dict(needed_values(tree, functions, definition, callees)),
                    made=dict(made_by(tree, definition, callees)),
                    inlined=reached.inlined,
                    exported=reached.exported,
                    eager=reached.eager,
                    scripted=definition in read_by_torchscript,
                    sympy=definition in sympy,
                    reach=reached.path(),
                    operators=tuple(sorted(reached.operators)),
                    composite=composite,
                    root=reached.root,
                    caught=caught.get(definition, frozenset()),
                )
        home = next((home_of(path, project.read(path)) for path in tree.facts if tree_path(tree, path) == HOME), None)
        tops = [path for path in tree.facts if torch is None and tree_path(tree, path) == TOP]
        own = frozenset[str]().union(*project.facts(bound_in, tops).values())
        words = vocabulary(tree, torch, own)
        styles, minimum = Styles(project), torch.minimum if torch else None
        by_file: dict[str, list[FileJob]] = {}
        for (path, _), jobs in sorted(chosen.items()):
            place, style, meanings = tree.import_path(path), styles.of(path), tree.meanings(path)
            job = FileJob(path, place, jobs, words, style, home, minimum, meanings)
            by_file.setdefault(path, []).append(job)
        return by_file


def _rewriter() -> Callable[[str, bytes, list[FileJob]], list[Finding]]:
    """What gives the findings of a file; libcst is loaded where there is one to be rewritten."""
    from transforms.python.rewrite import findings_of

    return findings_of


def _paths(project: Project) -> tuple[list[str], list[str]]:
    """The Python files that are read, and what else there is but tests: no symbol reaches that.

    The files that say which names this PyTorch has are always read.
    """
    words = tuple(SOURCES[module] for module in (*WORDS, "torch"))
    listed = project.files((".py",))
    present, package = frozenset(listed), root_package(project)
    paths, elsewhere = [], []
    for path in listed:
        where = import_path(path, place_of(path, present), package)
        test = TESTS.search(path) is not None and not project.named(path)
        if where.endswith(words) or not (test or ELSEWHERE.search(where)):
            paths.append(path)
        elif not test:
            elsewhere.append(path)
    return paths, elsewhere


def _operators(project: Project, torch: Target | None, names: Collection[str]) -> Iterable[NativeFunction]:
    """The operators of those names: of the option's file, of the tree's own, or of the torch that is written for."""
    if project.vocabulary is not None:
        return entries_of(project.read(str(project.vocabulary.resolve())), names)
    if project.has(NATIVE_FUNCTIONS):
        return entries_of(project.read(NATIVE_FUNCTIONS), names)
    installed = torch.installed if torch is not None else installed_torch()
    if installed is not None:
        return entries_of(project.read(str(installed.yaml)), names)
    release = torch.release if torch is not None else None
    return released_operators(release or releases()[-1], names)


def _schemas(project: Project, torch: Target | None, names: Collection[str]) -> Iterable[Schema]:
    return (entry.schema for entry in _operators(project, torch, names)) if names else ()


def _declared(project: Project, torch: Target | None, names: Collection[str]) -> set[str]:
    """Of `names` those of operators, without overloads."""
    return {schema.base for schema in _schemas(project, torch, names)}


def is_torch(tree: SourceTree) -> bool:
    """Whether the tree is PyTorch's own Python, which runs with itself alone."""
    return any(tree_path(tree, path) == SYMBOLIC_SHAPES for path in tree.facts)


def vocabulary(tree: SourceTree, torch: Target | None, own: Collection[str] = ()) -> frozenset[str]:
    """The functions of symbolic_shapes; as `torch.x` those of torch, as `deprecated torch.x` what it deprecates; as
    `sizevars.x` and `PythonPrinter.x` methods.

    Of the tree at hand (`torch` None), whose torch/__init__.py binds `own`, else of the torch that is written for; what
    older ones deprecate is not known.
    """
    if torch is None:
        return _own_vocabulary({tree_path(tree, path): facts for path, facts in tree.facts.items()}, own)
    if torch.installed is None:
        release, prefixes = torch.release or releases()[-1], {**WORDS, "torch": FUNCTION}
        return frozenset(prefix + n for module, prefix in prefixes.items() for n in python_names(release, module))
    words: set[str] = set()
    for module, place in SOURCES.items():
        source = torch.installed.package / place.removeprefix("torch/")
        text = source.read_text(encoding="utf-8") if source.is_file() else ""
        words |= _words_in(module, place, text)
        if module not in WORDS and torch.minimum is None:
            words.update(f"deprecated torch.{name}" for name in _DEPRECATED.findall(text))
    return frozenset(words)


@lru_cache(len(SOURCES))  # a process that analyses again, as of `fix`, meets the same torch
def _words_in(module: str, place: str, text: str) -> frozenset[str]:
    if module in WORDS:
        return frozenset(WORDS[module] + name for name in names_in(module, text))
    return frozenset(FUNCTION + name for name in bound_in(place, text.encode("utf-8")))


def _own_vocabulary(here: Mapping[str, FileFacts], own: Collection[str]) -> frozenset[str]:
    words = {FUNCTION + name for name in own}
    for module, prefix in WORDS.items():
        functions = here[SOURCES[module]].functions if SOURCES[module] in here else ()
        names = (function.name for function in functions if module != "PythonPrinter" or prefix in function.name)
        words.update(prefix + name.rpartition(".")[2] if prefix else name for name in names)
    if TOP in here:
        deprecated = (f for f in here[TOP].functions if any("deprecated(" in text for text in f.decorators))
        words.update(f"deprecated torch.{function.name}" for function in deprecated)
    return frozenset(words)
