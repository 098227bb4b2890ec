"""Which functions symbolic tensors reach, and by which path.

The roots are what the dispatcher calls with symbolic tensors: kernels under composite, Meta, Autograd and functorch
keys in native_functions.yaml and in C++ registrations, the functions of derivatives.yaml, and the two methods of a
torch::autograd::Function. From there the call graph is followed, not through the dispatcher and not into code that
reads memory. Kernels of backends only see concrete tensors (c10/core/DispatchKey.h has the order of the keys).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from codemod.callgraph import gather, shortest_ways, way
from codemod.findings import Step
from codemod.operators import Reach
from transforms.cpp.calls import Index, is_kernel
from transforms.cpp.facts import FileFacts, Function, Registration
from transforms.schema.derivatives import Derivatives
from transforms.schema.native_functions import NativeFunctions

_SYMBOLIC_KEYS = re.compile(
    r"^(?:|Composite\w+|Meta|Autograd(?!Nested)\w*|ADInplaceOrView|FuncTorch\w+|Batched|VmapMode|Functionalize|Autocast\w*"
    r"|Named|BackendSelect|Conjugate|Negative|ZeroTensor|CatchAll)$"
)
_TESTS = re.compile(r"(?:^|/)tests?/|_tests?\.(?:cpp|cc|h)$|(?:^|/)test_[^/]*$")
_MANUAL = "torch/csrc/autograd/FunctionsManual.cpp"


def reached(
    facts: Mapping[str, FileFacts], natives: NativeFunctions | None, derivatives: Derivatives | None
) -> dict[tuple[str, int], Reach]:
    """The functions that symbolic tensors reach, by path and `Function.start`."""
    return _Reacher(facts, natives, derivatives).run()


Node = tuple[str, int]


class _Reacher:
    def __init__(
        self, facts: Mapping[str, FileFacts], natives: NativeFunctions | None, derivatives: Derivatives | None
    ) -> None:
        self.facts = {path: facts[path] for path in sorted(facts) if _TESTS.search(path) is None}
        self.natives = natives
        self.derivatives = derivatives
        functions = [function for file in self.facts.values() for function in file.functions]
        self.index = Index(functions, _operator_names(natives))
        self.nodes = {(f.path, f.start): f for f in functions if f.body >= 0}
        self.kinds: dict[Node, str] = {}
        self.reasons: dict[Node, Step | None] = {}
        self.labels: dict[Node, set[str]] = {}
        self.edges: dict[Node, dict[Node, int]] = {}

    def run(self) -> dict[Node, Reach]:
        for function, kind, operator, step in self.roots():
            node = (function.path, function.start)
            self.kinds.setdefault(node, kind)
            self.labels.setdefault(node, set())
            if operator:
                self.labels[node].add(operator)
            if self.reasons.get(node) is None:
                self.reasons[node] = step
        before = shortest_ways(self.kinds, self.successors)
        names = sorted({name for found in self.labels.values() for name in found})
        bits = {name: 1 << index for index, name in enumerate(names)}
        masks = {node: sum(bits[name] for name in found) for node, found in self.labels.items()}
        everything = gather(masks, self.successors)
        unpacked: dict[int, tuple[str, ...]] = {}
        result = {}
        for node in before:
            mask = everything[node]
            if mask not in unpacked:
                unpacked[mask] = tuple(name for index, name in enumerate(names) if mask >> index & 1)
            result[node] = Reach(unpacked[mask], self.steps(way(node, before)), self.kinds.get(node, "helper"))
        return result

    def steps(self, nodes: list[Node]) -> tuple[Step, ...]:
        reason = self.reasons[nodes[0]]
        found = [] if reason is None else [reason]
        for caller, called in zip(nodes, nodes[1:], strict=False):
            text = f"{self.nodes[caller].name} calls {self.nodes[called].name}"
            found.append(Step(caller[0], self.edges[caller][called], text))
        return tuple(found)

    def successors(self, node: Node) -> dict[Node, int]:
        """What a reached function calls, with the lines of the calls."""
        if node not in self.edges:
            self.edges[node] = found = {}
            caller = self.nodes[node]
            for call in caller.calls:
                for function in self.index.called(caller, call):
                    if not is_kernel(function):
                        found.setdefault((function.path, function.start), call.line)
        return self.edges[node]

    def roots(self) -> Iterator[tuple[Function, str, str, Step | None]]:
        yield from self.native_roots()
        yield from self.registered_roots()
        yield from self.derivative_roots()
        for file in self.facts.values():
            for function in file.functions:
                if function.body >= 0 and _is_autograd_function(function):
                    step = Step(function.path, function.line, f"{function.parent} is a torch::autograd::Function")
                    yield function, "Autograd", "", step

    def native_roots(self) -> Iterator[tuple[Function, str, str, Step | None]]:
        if self.natives is None:
            return
        for entry, key, kernel in self.natives.kernels():
            if entry.structured or _SYMBOLIC_KEYS.match(key) is None:
                continue
            written = kernel if "::" in kernel else f"native::{kernel}"
            found = [f for f in self.index.named(written) if not f.parent and not f.structured]
            exact = [f for f in found if len(f.params) == len(entry.schema.arguments)]
            step = Step(self.natives.path, entry.line, f"{entry.schema.base} is {key}")
            for function in exact or found:
                yield function, key, entry.schema.base, step

    def registered_roots(self) -> Iterator[tuple[Function, str, str, Step | None]]:
        for file in self.facts.values():
            for registration in file.registrations:
                if _SYMBOLIC_KEYS.match(registration.key) is not None:
                    kind = registration.key or "CompositeImplicitAutograd"
                    operator = registration.operator.rpartition("::")[2].partition(".")[0]
                    text = f"{registration.operator} is registered for {kind}"
                    step = Step(file.path, registration.line, text)
                    for function in self.registered(file, registration):
                        yield function, kind, operator, step

    def registered(self, file: FileFacts, registration: Registration) -> list[Function]:
        if registration.function:
            found = self.index.named(registration.function, file.path)
            return [f for f in found if not f.structured]
        if registration.schema and registration.end - registration.start < len(registration.schema) + 24:
            return []
        return [f for f in file.functions if f.body >= 0 and f.start <= registration.start < f.end]

    def derivative_roots(self) -> Iterator[tuple[Function, str, str, Step | None]]:
        callers = self.derivatives.callers() if self.derivatives is not None else {}
        path = self.derivatives.path if self.derivatives is not None else ""
        for name, entries in callers.items():
            for function in self.index.by_name.get(name, ()):
                if "autograd" in function.qualified.split("::"):
                    for entry in entries:
                        step = Step(path, entry.line, f"the derivative of {entry.schema.full_name} calls {name}")
                        yield function, "AutogradManual", entry.schema.base, step
        for file in self.facts.values():
            if file.path.endswith(_MANUAL):
                for function in file.functions:
                    if function.body >= 0:
                        yield function, "AutogradManual", "", None


def _is_autograd_function(function: Function) -> bool:
    return function.name in ("forward", "backward") and bool(
        function.parent and function.params and "AutogradContext" in function.params[0].type
    )


def _operator_names(natives: NativeFunctions | None) -> frozenset[str]:
    """The names under which the C++ API calls operators."""
    if natives is None:
        return frozenset()
    names: set[str] = set()
    for entry in natives.entries:
        names.add(entry.schema.base)
        if entry.schema.outputs:
            names.update((f"{entry.schema.base}_out", f"{entry.schema.base}_outf"))
        names.update(entry.symint_names)
        names.update(generated.partition(".")[0] + "_out" for generated in entry.autogen)
    return frozenset(names)
