"""From changed functions back to the operators that run them: kernels, registrations, formulas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from transforms.cpp.overrides.signatures import kernels_of
from transforms.cpp.reach.reached import SYMBOLIC_KEYS, Node, Reacher
from transforms.cpp.reading.facts import FileFacts, Function, Registration
from transforms.schema.derivatives import Derivative, Derivatives
from transforms.schema.native_functions import NativeFunction, NativeFunctions


@dataclass(frozen=True, slots=True)
class Root:
    """A function that the dispatcher or autograd calls, and on whose account: exactly one of the three is set.

    A root with none is code that autograd or functorch runs for operators in general.
    """

    function: Function
    native: tuple[NativeFunction, str, str] | None = None
    """The entry, the dispatch key and the kernel as written."""
    registration: tuple[str, Registration] | None = None
    """The file and the registration."""
    derivative: Derivative | None = None

    @property
    def operator(self) -> str:
        """The operator's base name, qualified; "" where there is none."""
        if self.native is not None:
            return f"aten::{self.native[0].schema.base}"
        if self.registration is not None:
            name = self.registration[1].operator.partition(".")[0]
            return name if "::" in name else f"aten::{name}" if name else ""
        return f"aten::{self.derivative.schema.base}" if self.derivative is not None else ""


@dataclass(frozen=True, slots=True)
class Route:
    """A root that runs a changed function, and the functions on the shortest way there, the root first."""

    root: Root
    way: tuple[Node, ...]


class Routes:
    """All the routes of one tree."""

    def __init__(
        self, facts: Mapping[str, FileFacts], natives: NativeFunctions | None, derivatives: Derivatives | None
    ) -> None:
        self._reacher = Reacher(facts, natives, derivatives)
        self._reacher.run()
        self._natives = natives
        self._derivatives = derivatives
        self.index = self._reacher.index
        self.operators = frozenset(natives.schemas()) if natives is not None else frozenset[str]()
        """The base names of the tree's own operators."""
        self._callers: dict[Node, list[Node]] = defaultdict(list)
        for caller, called in self._reacher.edges.items():
            for node in called:
                self._callers[node].append(caller)
        self._roots: dict[Node, list[Root]] = defaultdict(list)
        for root in self._all_roots():
            self._roots[root.function.path, root.function.start].append(root)

    def function(self, node: Node) -> Function:
        """The function at a node of a route."""
        return self._reacher.nodes[node]

    def at(self, path: str, offsets: Iterable[int]) -> list[Node]:
        """The functions of the file `path` in which one of the byte `offsets` lies."""
        places = list(offsets)
        file = self._reacher.facts.get(path)
        functions = [] if file is None else [f for f in file.functions if f.body >= 0]
        return [(path, f.start) for f in functions if any(f.start <= place < f.end for place in places)]

    def to(self, changed: Node) -> list[Route]:
        """The routes to one function, the shortest first, each root by its shortest."""
        after: dict[Node, Node | None] = {changed: None}
        ring = [changed]
        routes: list[Route] = []
        while ring:
            for node in ring:
                way = tuple(_follow(node, after))
                routes += (Route(root, way) for root in self._roots.get(node, ()))
            following: list[Node] = []
            for node in ring:
                for caller in self._callers.get(node, ()):
                    if caller not in after:
                        after[caller] = node
                        following.append(caller)
            ring = following
        return routes

    def _all_roots(self) -> Iterator[Root]:
        reacher = self._reacher
        for entry, key, kernel in self._natives.kernels() if self._natives is not None else ():
            if SYMBOLIC_KEYS.match(key) is None:
                continue
            written = kernel if "::" in kernel else f"native::{kernel}"
            candidates = [f for f in reacher.index.named(written) if not f.parent]
            for function in kernels_of(entry.schema, candidates):
                yield Root(function, native=(entry, key, kernel))
        for file in reacher.facts.values():
            for registration in file.registrations:
                if registration.operator and SYMBOLIC_KEYS.match(registration.key) is not None:
                    for function in reacher.registered(file, registration):
                        yield Root(function, registration=(file.path, registration))
        callers = self._derivatives.callers() if self._derivatives is not None else {}
        for name, entries in callers.items():
            for function in reacher.index.by_name.get(name, ()):
                if "autograd" in function.qualified.split("::"):
                    yield from (Root(function, derivative=entry) for entry in entries)


def _follow(node: Node, after: Mapping[Node, Node | None]) -> Iterator[Node]:
    following: Node | None = node
    while following is not None:
        yield following
        following = after[following]
