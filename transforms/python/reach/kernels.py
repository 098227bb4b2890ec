"""What the Python of a tree registers in the place of an operator's kernels, for those who read these in C++."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from codemod.model.transform import Project
from transforms.python.reach.reached import TESTS
from transforms.python.reach.registrations import Registrations
from transforms.python.reach.tree import SourceTree
from transforms.python.reading.extract import extract
from transforms.python.reading.facts import FileFacts

FAKE, COMPOSITE = "fake", "composite"
_WORDS = {FAKE: (b"register_fake", b"impl_abstract", b"Meta"), COMPOSITE: (b"CompositeImplicitAutograd",)}


class PythonKernels(NamedTuple):
    """Operators, `lib::name` without overloads, by what is registered for them."""

    fakes: frozenset[str] = frozenset()
    """A fake, or a Meta kernel."""
    composites: frozenset[str] = frozenset()
    """A kernel under CompositeImplicitAutograd."""


def mentioned(path: str, source: bytes) -> frozenset[str]:
    """The kinds that a file may register."""
    return frozenset(kind for kind, words in _WORDS.items() if any(word in source for word in words))


def source_paths(project: Project) -> list[str]:
    """The Python files of a tree, tests left out unless they are named."""
    return [path for path in project.files((".py",)) if not TESTS.search(path) or project.named(path)]


def root_package(project: Project) -> str:
    """The name of the package that the root of the tree is, "" where it is none."""
    return project.root.name if "__init__.py" in project.files((".py",)) else ""


def registrations_of(
    project: Project, paths: Sequence[str], facts: Callable[[], Mapping[str, FileFacts]] | None = None
) -> Registrations:
    """What the files of `paths` register, with the tree that they are, made once for all who ask for the same.

    `facts` gives those of the files where they are read already.
    """

    def made() -> Registrations:
        package = root_package(project)
        read = facts() if facts is not None else project.facts(extract, paths)
        return Registrations(SourceTree({path: read[path] for path in paths if path in read}, package))

    return project.once((registrations_of, *paths), made)


def python_kernels(project: Project, registrations: Callable[[], Registrations], kinds: Iterable[str]) -> PythonKernels:
    """What the tree registers of `kinds`; `registrations` are only asked where a file mentions one."""
    paths = source_paths(project)
    if not any(mention.intersection(kinds) for mention in project.facts(mentioned, paths).values()):
        return PythonKernels()
    roles = registrations().roles.values()
    kinds_of = [(role.kind, role.operator) for several in roles for role in several if role.traced and role.operator]
    return PythonKernels(
        frozenset(operator for kind, operator in kinds_of if kind == FAKE),
        frozenset(operator for kind, operator in kinds_of if kind == COMPOSITE),
    )
