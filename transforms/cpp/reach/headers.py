"""Loads the vocabulary: of the tree's own yaml and headers, of `--vocabulary`, or of the torch that is written for."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codemod.errors import SymfixError, system_error
from codemod.model.transform import Project
from transforms.cpp.reach.released import ReleasedFunctions, ReleasedSchemas, released_names
from transforms.cpp.reach.vocabulary import ACCESSORS, Vocabulary
from transforms.cpp.reading.extract import extract
from transforms.cpp.reading.facts import FileFacts, Function
from transforms.cpp.reading.types import Type, parse_type
from transforms.releases.target import PACKAGED, target
from transforms.releases.version import Release
from transforms.schema.native_functions import NativeFunctions, load
from transforms.schema.schema import Schema

OWN_YAML = "aten/src/ATen/native/native_functions.yaml"
_HEADER_FOLDERS = ("aten/src/ATen", "c10/core", "c10/util", "ATen", "torch/csrc/autograd")
_FOLDERS = tuple(f"{folder}/" for folder in _HEADER_FOLDERS)


@dataclass(frozen=True, slots=True)
class Sources:
    """The yaml that lists the operators, and the folder with the headers that belong to it (None: the tree's own).

    Of a release that travels with symfix there is neither.
    """

    yaml: str = ""
    headers: Path | None = None
    release: Release | None = None


def locate(project: Project) -> Sources:
    """The vocabulary to use. Raises SymfixError where `--torch` names a release that nothing is known of."""
    chosen = project.vocabulary
    if chosen is not None:
        suffix = Path(OWN_YAML).parts
        root = chosen.resolve()
        if root.parts[-len(suffix) :] == suffix and (root.parents[len(suffix) - 1] / "c10").is_dir():
            return Sources(str(root), root.parents[len(suffix) - 1])
        suffix = ("torchgen", *Path(PACKAGED).parts)
        if root.parts[-len(suffix) :] == suffix and (root.parents[len(suffix) - 1] / "torch/include/c10").is_dir():
            return Sources(str(root), root.parents[len(suffix) - 1] / "torch/include")
        return Sources(str(root))
    if project.has(OWN_YAML):
        return Sources(OWN_YAML)
    torch = target(project)
    if torch.installed is None:
        return Sources(release=torch.release)
    return Sources(str(torch.installed.yaml), torch.installed.package / "include")


def load_schemas(project: Project, sources: Sources) -> Mapping[str, tuple[Schema, ...]]:
    """The schemas of the vocabulary's operators by base name. Raises SymfixError where they cannot be read."""
    if sources.release is not None:
        return ReleasedSchemas(sources.release)
    return load_operators(project, sources.yaml).schemas()


def load_operators(project: Project, yaml: str) -> NativeFunctions:
    """The operators of `yaml`, from the cache where they are known. Raises SymfixError where it cannot be read."""
    operators = project.facts(load, [yaml])
    if yaml in operators:
        return operators[yaml]
    try:
        return load(yaml, project.read(yaml))
    except OSError as error:
        raise SymfixError(system_error(error)) from error
    except ValueError as error:
        raise SymfixError(str(error)) from error


def load_vocabulary(
    project: Project,
    facts: Mapping[str, FileFacts],
    sources: Sources,
    schemas: Mapping[str, tuple[Schema, ...]],
    asked: bool = True,
) -> Vocabulary:
    """Schemas, helpers and names at hand: of the tree, and of the vocabulary's headers.

    A PyTorch tree has helpers of its own, so that only symbolic ones are taken from another version's headers. Where
    no function is there to ask for what headers say (`asked`), the plan still names them, but they are not parsed.
    """
    alone = not project.has(OWN_YAML)
    functions: dict[str, list[Function]] = {}
    names: set[str] = set()
    members: dict[tuple[str, str], str] = {}
    aliases: dict[str, str] = {}
    for path, file in facts.items():
        for function in file.functions:
            functions.setdefault(function.name, []).append(function)
        for parent, member, spelled in file.members:
            members.setdefault((parent, member), spelled)
        aliases.update(file.aliases)
        if sources.headers is None and path.endswith((".h", ".hpp", ".cuh")):
            names |= _names(file)
    if sources.headers is not None and not asked:
        for path in _header_paths(sources.headers):
            project.read(path)
    elif sources.headers is not None:
        theirs = project.facts(extract, _header_paths(sources.headers))
        listed = itertools.chain.from_iterable(file.functions for file in theirs.values())
        concrete = frozenset(() if alone else (_kinds(function) for function in listed if not _is_symbolic(function)))
        for file in theirs.values():
            names |= _names(file)
            for name, spelled in file.aliases:
                aliases.setdefault(name, spelled)
            for function in file.functions:
                if alone or (_is_symbolic(function) and not _is_converted(function, functions, concrete)):
                    functions.setdefault(function.name, []).append(function)
    if alone and sources.headers is None and sources.release is None and "sym_size" in schemas:
        # A yaml without headers: the accessors of TensorBase.h are as old as this operator (PyTorch 2.0).
        names |= {f"sym_{accessor}" for accessor in ACCESSORS}
    classes = {parent for parent, _ in members} | {f.parent for group in functions.values() for f in group if f.parent}
    released = None
    if sources.release is not None:
        released = ReleasedFunctions(sources.release)
        macros, others = released_names(sources.release)
        aliases = {**others, **aliases}
        names |= macros | others.keys() | released.keys()
        classes |= released.classes()
    merged = MergedFunctions(functions, released or {})
    operators = {f.name for name in ("operator+", "operator/=") for f in merged.get(name, ()) if f.parent == "SymInt"}
    mixes = operators != {"operator+"}
    return Vocabulary(schemas, merged, frozenset(names), members, aliases, frozenset(classes), mixes_integers=mixes)


class MergedFunctions(Mapping[str, tuple[Function, ...]]):
    """Functions by name, each definition merged with its declarations when the name is first asked for.

    Those of a release that travels with symfix come behind the others.
    """

    def __init__(
        self, declared: Mapping[str, Sequence[Function]], released: Mapping[str, Sequence[Function]] | None = None
    ) -> None:
        self._declared = declared
        self._released = released or {}
        self._merged: dict[str, tuple[Function, ...]] = {}

    def __getitem__(self, name: str) -> tuple[Function, ...]:
        if name not in self._merged:
            if name not in self:
                raise KeyError(name)
            both = (*self._declared.get(name, ()), *self._released.get(name, ()))
            self._merged[name] = tuple(merge_declarations(both))
        return self._merged[name]

    def __contains__(self, name: object) -> bool:
        return name in self._declared or name in self._released

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._declared, *self._released)))

    def __len__(self) -> int:
        return len(self._declared.keys() | self._released.keys())


def same_function(function: Function) -> tuple[str, str, tuple[Type, ...]]:
    """What a declaration and its definition have in common."""
    return function.name, function.parent, tuple(parse_type(parameter.type) for parameter in function.params)


def merge_declarations(functions: Iterable[Function]) -> Iterator[Function]:
    """One Function for a definition and its declarations, with the default arguments of the latter."""
    groups: dict[tuple[str, str, tuple[Type, ...]], list[Function]] = {}
    for function in functions:
        groups.setdefault(same_function(function), []).append(function)
    for members in groups.values():
        definitions = [function for function in members if function.body >= 0]
        if not definitions or len(members) == 1:
            yield members[0]
            continue
        for function in definitions:
            defaults = [
                next((member.params[i].default for member in members if member.params[i].default), "")
                for i in range(len(function.params))
            ]
            yield replace(
                function, params=tuple(replace(p, default=d) for p, d in zip(function.params, defaults, strict=True))
            )


def _names(file: FileFacts) -> set[str]:
    return {f.name for f in file.functions} | {name for name, _ in file.aliases} | set(file.macros)


def _is_symbolic(function: Function) -> bool:
    return "Sym" in function.returns or any("Sym" in parameter.type for parameter in function.params)


def _kinds(function: Function) -> tuple[str, str, tuple[str, ...]]:
    """What a helper has in common with what it becomes when it takes SymInts."""
    return function.parent, function.name, tuple(parse_type(parameter.type).kind for parameter in function.params)


def _is_converted(
    function: Function, own: Mapping[str, Sequence[Function]], concrete: Container[tuple[str, str, tuple[str, ...]]]
) -> bool:
    """Whether a symbolic function of another version's headers is what became of a concrete one of the tree.

    Where that version has the concrete one too, its symbolic one is another overload.
    """
    kinds = _kinds(function)
    mine = [f for f in own.get(function.name, ()) if _kinds(f) == kinds]
    return bool(mine) and kinds not in concrete and not any(map(_is_symbolic, mine))


def holds_vocabulary(path: str) -> bool:
    """Whether a file below the folder of headers counts; those of single operators repeat what others declare."""
    return path.endswith(".h") and path.startswith(_FOLDERS) and "/ops/" not in path


def _header_paths(root: Path) -> list[str]:
    paths = (path for folder in _HEADER_FOLDERS if (root / folder).is_dir() for path in (root / folder).rglob("*.h"))
    return sorted(str(path) for path in paths if holds_vocabulary(path.relative_to(root).as_posix()))
