"""What `symfix prove` asks about Python: which operators run a changed function, and where it is installed."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from codemod.model.findings import Finding
from codemod.model.operators import operator_name
from codemod.model.transform import Override, Project
from codemod.tree.checkout import holds_pytorch
from transforms.python.reach.kernels import root_package
from transforms.python.reach.naming import decorated_operators
from transforms.python.reach.packages import Place
from transforms.python.reach.reached import COMPOSITE, TESTS
from transforms.python.reach.registrations import Registrations
from transforms.python.reach.tree import Definition, SourceTree
from transforms.python.reading.extract import extract

SUFFIX = ".py"
# Operators that are run for one changed function; a helper of many is shown by those nearest to it.
_OPERATORS = 2


class PythonProver:
    """Implements `codemod.model.transform.Prover`."""

    version = ""
    include: Sequence[str] = ()
    flags: Sequence[str] = ()
    definitions: Mapping[str, str] = MappingProxyType({})
    prelude = ""

    def __init__(self, project: Project) -> None:
        listed = project.files((SUFFIX,))
        self._project = project
        self._listed = [path for path in listed if not TESTS.search(path)]
        self._package = root_package(project)
        self._tree: SourceTree | None = None
        self._callers: dict[str, list[Definition]] = {}

    def checked(self, paths: Sequence[str], built: Collection[str]) -> Sequence[str]:
        """Nothing: there is no compiler to ask."""
        return ()

    def overrides(self, findings: Sequence[Finding], named: Collection[str] = ()) -> Sequence[Override]:
        """One override for each operator that runs a changed function, two operators for each.

        A library's function that none runs stands for itself, by its dotted name: a script of the user's may run it.
        """
        tree = self.tree
        functions: dict[str, set[str]] = defaultdict(set)
        modules: dict[str, set[str]] = defaultdict(set)
        reasons: dict[str, str] = {}
        changed_functions: dict[tuple[str, str], set[str]] = defaultdict(set)
        added: dict[str, set[str]] = defaultdict(set)
        """The modules that get what they have not had, by operator."""
        for finding in findings:
            edited = {edit.path for edit in finding.edits if edit.path.endswith(SUFFIX)}
            if finding.path.endswith(SUFFIX) and edited:
                changed_functions[finding.path, finding.function].update(edit.path for edit in finding.edits)
            elif edited:  # what Python adds to operators of C++
                for operator in finding.operators:
                    modules[operator] |= edited
                    added[operator] |= edited
        for (path, name), edited in sorted(changed_functions.items()):
            changed = tree.definition(path, name)
            operators = list(self._operators(changed)) if changed is not None else []
            if not operators:
                shown = f"{tree.module_name(path)}.{name}"
                reasons[shown] = f"no operator is known to run {name}"
                if self._packages() is None:
                    reasons[shown] += f"; a script of yours may, as {shown} in [tool.symfix.repro]"
                modules[shown] |= edited
            operators.sort(key=lambda way: way[0] not in named)
            for operator, entry in operators[:_OPERATORS]:
                modules[operator] |= edited
                functions[operator].add(f"{tree.module_name(entry.path)}.{entry.function.name}")
        packages = self._packages()
        overrides = []
        for operator, changed_modules in modules.items():
            if packages is not None and operator in reasons:
                overrides.append(Override((), reason=reasons[operator]))
                continue
            places = self._places(operator, changed_modules, added[operator]) if packages is None else ()
            overrides.append(
                Override(
                    (operator,),
                    modules=tuple(sorted(changed_modules)),
                    packages=packages,
                    functions=tuple(sorted(functions[operator])),
                    imports=tuple(place.module for place in places),
                    roots=tuple(dict.fromkeys(place.root for place in places)),
                    fakes=packages is not None and operator in added,
                    reason=reasons.get(operator, ""),
                )
            )
        provable = [override for override in overrides if not override.reason]
        return provable or overrides[:1]

    def companions(self, operators: Sequence[str]) -> Sequence[Override]:
        """What a library's Python registers for `operators` of its C++."""
        if self._packages() is not None or not self._listed:
            return ()
        overrides = []
        for operator in operators:
            places = self._places(operator, ())
            if places:
                imports = tuple(place.module for place in places)
                roots = tuple(dict.fromkeys(place.root for place in places))
                overrides.append(Override((operator,), imports=imports, roots=roots))
        return overrides

    def _places(self, operator: str, changed: Collection[str], added: Collection[str] = ()) -> tuple[Place, ...]:
        """The modules to import: those that register anything for an operator, and `added`; else the `changed` ones."""
        paths = {d.path for named, d in self._registrations if named == operator}.union(added) or changed
        return tuple(self.tree.place(path) for path in sorted(paths) if path.endswith(SUFFIX))

    @functools.cached_property
    def _registrations(self) -> Sequence[tuple[str, Definition]]:
        """(operator, function) for all that the Python of a library registers; PyTorch's own is told by other signs."""
        if self._packages() is not None:
            return ()
        roles = Registrations(self.tree).roles
        return [(role.operator, definition) for definition, of in roles.items() for role in of if role.operator]

    @property
    def tree(self) -> SourceTree:
        """The files of the tree, read when first asked for, tests left out."""
        if self._tree is None:
            self._tree = SourceTree(self._project.facts(extract, self._listed), self._package)
            callers: dict[str, list[Definition]] = defaultdict(list)
            for definition in self._tree.definitions():
                for name in definition.function.calls:
                    callee = self._tree.resolve(definition, name)
                    for meant in (*filter(None, (callee,)), *self._tree.overriding(definition, name)):
                        callers[meant.place].append(definition)
            self._callers = callers
        return self._tree

    def _packages(self) -> str | None:
        """Where the tree's root stands among installed packages, None where it is no copy of an installed one."""
        if self._package:
            return f"{self._package}/"
        return "" if holds_pytorch(self._project.root) else None

    def _operators(self, changed: Definition) -> Iterator[tuple[str, Definition]]:
        """(operator, its registered function) for what runs a function, the nearest first."""
        seen, ring = {changed.place}, [changed]
        yielded: set[str] = set()
        while ring:
            following: list[Definition] = []
            for definition in sorted(ring, key=lambda definition: definition.place):
                for operator in (
                    decorated_operators(definition.function)
                    or self._reference(definition)
                    or [name for name, registered in self._registrations if registered is definition]
                ):
                    if operator not in yielded:
                        yielded.add(operator)
                        yield operator, definition
                for caller in self._callers.get(definition.place, ()):
                    if caller.place not in seen:
                        seen.add(caller.place)
                        following.append(caller)
            ring = following

    def _reference(self, definition: Definition) -> list[str]:
        """The operator that a public function of the references and composites is named after."""
        where = self.tree.import_path(definition.path)
        name = "" if "." in definition.function.name else operator_name(definition.function.name, "aten")
        public = name and not definition.function.name.startswith("_")
        inside = where.startswith("torch/_refs/") or COMPOSITE.search(where) is not None
        return [name] if public and inside else []
