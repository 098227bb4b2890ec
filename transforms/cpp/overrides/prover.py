"""What `symfix prove` asks about C++ code: which operators run a change, and how they are built."""

from __future__ import annotations

import functools
import os
import platform
import re
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from pathlib import Path

from codemod.borders.files import read_below
from codemod.model.findings import Finding
from codemod.model.transform import Override, Part, Project
from transforms.cpp.decisions import DERIVATIVES
from transforms.cpp.overrides.autograd import AutogradCode
from transforms.cpp.overrides.registering import (
    UNREGISTERED,
    over_installed,
    registering,
    registration_text,
    unregistered,
)
from transforms.cpp.overrides.roots import Root, Route, Routes
from transforms.cpp.overrides.templates import registrations_of
from transforms.cpp.reach import headers
from transforms.cpp.reach.calls import BACKEND_FOLDERS
from transforms.cpp.reach.reached import Node
from transforms.cpp.reach.sources import joined_facts, names_of_extensions, source_files
from transforms.cpp.reading.facts import FileFacts
from transforms.cpp.reading.marks import is_template
from transforms.schema import derivatives as derivatives_yaml

SOURCES = (".cpp", ".cc", ".cxx")
HEADERS = (".h", ".hpp")
# What a C++ compiler can be tried on: sources for devices that launch no kernel themselves compile as C++.
_COMPILED, _INCLUDED = (*SOURCES, ".cu", ".mm"), (*HEADERS, ".cuh")
_TESTS = re.compile(r"(?:^|/)(?:tests?|benchmarks?)/|(?:^|/)(?:test_[^/]*|[^/]*_test)\.\w+$")
_PROCESSORS = ("-DHAVE_AVX2_CPU_DEFINITION", "-DHAVE_AVX512_CPU_DEFINITION")
# Operators that are run for one changed function; a helper of many is shown by those nearest to it.
_OPERATORS = 2


class CppProver:
    """Implements `codemod.model.transform.Prover`."""

    def __init__(self, project: Project, scratch: Path) -> None:
        self._project = project
        self._pytorch = (project.root / headers.OWN_YAML).is_file()
        self._autograd = AutogradCode(project.root, scratch)
        self._routes: Routes | None = None
        self._is_template = functools.cache(lambda path: is_template(project.read(path)))

    @property
    def version(self) -> str:
        """That of version.txt of a PyTorch tree, without the suffix of a development version."""
        try:
            text = read_below(self._project.root, "version.txt").decode("ascii")
        except (OSError, ValueError):
            return ""
        number = re.match(r"\d+\.\d+\.\d+", text)
        return number[0] if number is not None and self._pytorch else ""

    @property
    def include(self) -> Sequence[str]:
        """Where PyTorch's sources look for headers; of any other tree, its root and the folders that hold headers.

        A header's own folder or one around it: `include/lib/f.h` is included as `lib/f.h`.
        """
        if self._pytorch:
            return "aten/src", ""
        folders: set[str] = set()
        for path in self._project.files(HEADERS):
            while (path := path.rpartition("/")[0]) and path not in folders:
                folders.add(path)
        return "", *sorted(f for f in folders if f.rpartition("/")[2] in ("include", "csrc", "src"))

    @property
    def flags(self) -> Sequence[str]:
        """As PyTorch builds itself: one header for each operator, kernels for the processors of its machine.

        A library is given the name of its extension, which may be the namespace of its operators, where that is known.
        """
        if not self._pytorch:
            names = names_of_extensions(self._project, source_files(self._project))
            return (f"-DTORCH_EXTENSION_NAME={names.pop() if len(names) == 1 else 'symfix_extension'}",)
        # Parameters of DispatchStubImpl's methods depend on these (ATen/native/DispatchStub.h, cmake/Codegen.cmake).
        processors = _PROCESSORS if platform.machine() in ("x86_64", "AMD64") else ()
        return "-DAT_PER_OPERATOR_HEADERS", *processors

    @property
    def definitions(self) -> Mapping[str, str]:
        """The source of each function; of a library outside PyTorch for those that do not stand with its operators."""
        sources = (file for path, file in self._facts.items() if path.endswith(SOURCES))
        functions = [function for file in sources for function in file.functions]
        return {f.qualified: f.path for f in functions if f.body >= 0 and not f.internal}

    prelude = UNREGISTERED

    def checked(self, paths: Sequence[str], built: Collection[str]) -> Sequence[str]:
        """The changed sources, and for each changed header one that includes it itself, one of `built` if it can be.

        Templates are left out: no compiler reads them.
        """
        paths = [path for path in paths if not self._is_template(path)]
        sources = dict.fromkeys(path for path in paths if path.endswith(_COMPILED))
        for path in paths:
            if path.endswith(_INCLUDED):
                users = sorted(self._users(path), key=lambda user: (user not in built, not user.endswith(SOURCES)))
                sources.update(dict.fromkeys(users[:1]))
        return tuple(sources)

    def _users(self, path: str) -> list[str]:
        name = path.rpartition("/")[2].encode()
        pattern = re.compile(rb'#[ \t]*include[ \t]*[<"](?:[^>"\n]*/)?' + re.escape(name) + rb'[>"]')
        sources = (p for p in source_files(self._project) if p.endswith(_COMPILED))
        return [source for source in sources if pattern.search(read_below(self._project.root, source))]

    def overrides(self, findings: Sequence[Finding], named: Collection[str] = ()) -> Sequence[Override]:
        """One override for each operator that runs an edit of `findings`, two operators for each changed function."""
        places: dict[str, set[int]] = defaultdict(set)
        for finding in findings:
            for edit in finding.edits:
                places[edit.path].add(edit.start)
        routes = self.routes
        chosen: dict[str, list[Route]] = defaultdict(list)
        reasons: list[str] = []
        for path, offsets in sorted(places.items()):
            if not path.endswith((*SOURCES, *HEADERS)):
                continue
            if self._is_template(path):
                reasons.append(f"{path} is a template: it takes the build of the library to make C++ of it")
                continue
            changed = routes.at(path, offsets)
            for node in changed:
                found = [route for route in routes.to(node) if route.root.operator] or self._by_templates(node)
                node_routes = [route for route in found if not any(self._is_template(path) for path, _ in route.way)]
                if not node_routes:
                    reasons.append(f"no operator is known to run {routes.function(node).name}")
                for operator in _nearest(node_routes, named):
                    chosen[operator] += (route for route in node_routes if route.root.operator == operator)
        overrides = [override for operator, ways in chosen.items() for override in self._override(operator, ways)]
        return overrides or [Override((), reason=reason) for reason in reasons[:1]]

    def companions(self, operators: Sequence[str]) -> Sequence[Override]:
        """The C++ of a library outside PyTorch with the namespace of one of `operators`, whose Python has changed.

        The modules that register an operator in Python may do so for others of the library as well.
        """
        if self._pytorch:
            return ()
        overrides = []
        for operator in (operator for operator in operators if "::" in operator):
            named = [file.path for file in self._facts.values() if _registers(file, f"{operator.partition('::')[0]}::")]
            paths = sorted(path for path in named if self._is_built(path))
            if paths:
                overrides.append(Override((operator,), parts=self._whole(operator, paths), again=()))
        return overrides

    def _is_built(self, path: str) -> bool:
        """Whether a compiler makes a part of a library of a file as it stands."""
        return path.endswith(SOURCES) and not _TESTS.search(path) and not self._is_template(path)

    def _by_templates(self, node: Node) -> list[Route]:
        """The routes from the registrations of a function's own file that reach it by macros and templates."""
        path, function = node[0], self.routes.function(node)
        file = self._facts.get(path)
        registrations = registrations_of(function, file, self._project.read(path)) if file is not None else ()
        return [Route(Root(function, registration=(path, registration)), (node,)) for registration in registrations]

    @property
    def routes(self) -> Routes:
        """The routes of the whole tree, found when first asked for."""
        if self._routes is None:
            project = self._project
            natives = formulas = None
            if self._pytorch:
                natives = headers.load_operators(project, headers.OWN_YAML)
                formulas = project.facts(derivatives_yaml.load, [DERIVATIVES]).get(DERIVATIVES)
            self._routes = Routes(self._facts, natives, formulas)
        return self._routes

    @functools.cached_property
    def _facts(self) -> Mapping[str, FileFacts]:
        return joined_facts(self._project, source_files(self._project))

    def _override(self, operator: str, ways: Sequence[Route]) -> list[Override]:
        overrides: list[Override] = []
        natives = [route for route in ways if route.root.native is not None]
        own = {route.root.function for route in natives}
        # A kernel that other files register once more, for vmap say, is run by its own operator already.
        registered = [r for r in ways if r.root.registration is not None and r.root.function not in own]
        if natives:
            overrides.append(self._of_natives(natives))
        if registered:
            overrides.append(self._of_registrations(operator, registered))
        formulas = {r.root.derivative.schema: r for r in ways if r.root.derivative is not None}
        if formulas:
            derivatives = [route.root.derivative for route in formulas.values() if route.root.derivative is not None]
            called = {route.root.function.name for route in ways if route.root.derivative is not None}
            overrides += self._autograd.overrides(called, derivatives, self.routes.operators)
        return overrides or [Override((operator,), reason="the code that autograd generates does not call it")]

    def _of_natives(self, ways: Sequence[Route]) -> Override:
        """Kernels of native_functions.yaml: their sources, with the kernels registered again."""
        kernels: dict[str, list[Root]] = defaultdict(list)
        for route in ways:
            if route.root.function.path.endswith(SOURCES):
                kernels[route.root.function.path].append(route.root)
        paths = self._sources(ways)
        registered = {path: registration_text(roots, self.routes.index) for path, roots in kernels.items()}
        parts = [Part(path, unregistered(self._project.read(path)), registered.get(path, "")) for path in paths]
        pieces = {_piece(route.root) for route in ways}
        operators = dict.fromkeys(_operator(route.root, self.routes.operators) for route in ways)
        return Override(tuple(operators), tuple(sorted(pieces)), tuple(parts))

    def _of_registrations(self, operator: str, ways: Sequence[Route]) -> Override:
        """Files that register kernels themselves: loaded, they do so again."""
        files = [route.root.registration[0] for route in ways if route.root.registration is not None]
        paths = sorted({*self._sources(ways), *(path for path in files if path.endswith(SOURCES))})
        keys = {route.root.registration[1].key for route in ways if route.root.registration is not None}
        pieces = ("vmap",) if all(key.startswith("FuncTorch") for key in keys) else ()
        if self._pytorch:
            parts = [Part(path, registering(self._project.read(path))) for path in paths]
            return Override((operator,), pieces, tuple(parts))
        return Override((operator,), pieces, self._whole(operator, paths), again=self._again(ways))

    def _whole(self, operator: str, paths: Sequence[str]) -> tuple[Part, ...]:
        """All of a library outside PyTorch, as far as it compiles; `paths` have to.

        That is what lies in the folder that holds all that registers in the operator's namespace.
        """
        namespace = operator.partition("::")[0]
        own = [file.path for file in self._facts.values() if _registers(file, f"{namespace}::")]
        folder = os.path.commonpath([path.rpartition("/")[0] or "." for path in (*own, *paths)] or ["."])
        below = "" if folder in ("", ".") else f"{folder}/"
        listed = self._project.files(SOURCES, (below,))
        remaining = [path for path in listed if path not in paths and self._is_built(path)]
        return (*(Part(path) for path in paths), *(Part(path, required=False) for path in remaining))

    def _again(self, ways: Sequence[Route]) -> tuple[Part, ...]:
        """The sources on the ways, with the kernels there registered over those of the installed library."""
        kernels: dict[str, dict[tuple[str, str, str], None]] = defaultdict(dict)
        for route in ways:
            function, registration = route.root.function, route.root.registration
            if registration is not None and function.path.endswith(SOURCES):
                _, entry = registration
                key = entry.key or "CompositeImplicitAutograd"
                kernels[function.path][entry.operator, key, function.qualified] = None
        return tuple(
            Part(path, UNREGISTERED, over_installed(tuple(kernels.get(path, ())))) for path in self._sources(ways)
        )

    def _sources(self, ways: Iterable[Route]) -> list[str]:
        """The sources of all functions on the ways, sorted."""
        nodes: set[Node] = {node for route in ways for node in route.way}
        return sorted({path for path, _ in nodes if path.endswith(SOURCES)})


def _registers(file: FileFacts, operator: str) -> bool:
    """Whether a file of C++ defines the operator, or registers a kernel of it; `space::` is any of a namespace."""
    names = (registration.operator.partition(".")[0] for registration in file.registrations)
    return any(name.startswith(operator) if operator.endswith("::") else name == operator for name in names)


def _nearest(routes: Sequence[Route], named: Collection[str]) -> list[str]:
    """The operators to run: `named` ones, those of the nearest roots, those of one backend last: it may be absent."""
    distances: dict[str, int] = {}
    for route in routes:
        distances.setdefault(route.root.operator, len(route.way))

    def rank(name: str) -> tuple[bool, bool, int, int, str]:
        words = name.partition("::")[2].split("_")
        return name not in named, not BACKEND_FOLDERS.isdisjoint(words), distances[name], len(name), name

    return sorted(distances, key=rank)[:_OPERATORS]


def _operator(root: Root, operators: Container[str]) -> str:
    """The operator to run: for an in-place variant, the one of `operators` that it is a variant of, if there is one."""
    variant = _piece(root) == "inplace" and root.operator[:-1].removeprefix("aten::") in operators
    return root.operator[:-1] if variant else root.operator


def _piece(root: Root) -> str:
    assert root.native is not None
    schema = root.native[0].schema
    if schema.outputs:
        return "out"
    if schema.base.endswith("_") and not schema.base.endswith("__"):
        return "inplace"
    return "forward"
