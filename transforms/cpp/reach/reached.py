"""Which functions symbolic tensors reach, and by which path.

The roots are what the dispatcher calls with symbolic tensors: kernels under composite, Meta, Autograd and functorch
keys in native_functions.yaml and in C++ registrations, the functions of derivatives.yaml, and the two methods of a
torch::autograd::Function. From there the call graph is followed, not through the dispatcher and not into code that
reads memory. Kernels of backends only see concrete tensors (c10/core/DispatchKey.h has the order of the keys).
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from codemod.model.callgraph import gather, shortest_ways, way
from codemod.model.findings import Step
from codemod.model.operators import Reach
from codemod.planning.naming import base_name
from transforms.cpp.reach.calls import Index, backend_folder, is_autograd_function, is_kernel
from transforms.cpp.reach.device import Launchers, is_device_code, shared
from transforms.cpp.reach.plain import looked_up, takes_no_symbols
from transforms.cpp.reading.facts import Call, FileFacts, Function, Registration
from transforms.schema.derivatives import Derivative, Derivatives
from transforms.schema.native_functions import NativeFunctions

SYMBOLIC_KEYS = re.compile(
    r"^(?:|CatchAll|Composite(?!\w*Nested)\w+|Meta|Autograd(?!Nested)\w*|ADInplaceOrView|FuncTorch\w+"
    r"|Functionalize|Autocast\w*)$"
)
_COMPOSITE_KEYS = re.compile(r"^(?:|Composite\w+|Meta)$")
# Tests, and what runs without symbolic shapes: TorchScript, lazy tensors, the profiler.
_LEFT_OUT = re.compile(
    r"(?:^|/)tests?/|_tests?\.(?:cpp|cc|h)$|(?:^|/)test_[^/]*$|^torch/csrc/(?:jit|lazy|onnx|profiler)/"
)
_BITS = bytes.maketrans(b"01", b"\0\1")
"""The digits of a binary number as numbers."""
# Code that runs above the backends whichever operator it serves: the autograd engine, and the vmap and grad transforms.
_AUTOGRAD = "torch/csrc/autograd/"
_FUNCTORCH = "at::functorch::"
# What c10::AutogradMetaInterface keeps for forward-mode derivatives (c10/core/TensorImpl.h).
_FORWARD_METHODS = frozenset({"fw_grad", "set_fw_grad"})
_MANUAL = "torch/csrc/autograd/FunctionsManual.cpp"


Node = tuple[str, int]
FORWARD = "forward-mode"
UNTRACED = "untraced-operator"


class Stop(NamedTuple):
    """Why no symbolic tensor works its way through a function: the refusal, "" where its own body is the reason."""

    refusal: str
    reach: Reach


class Root(NamedTuple):
    """A function that the dispatcher or autograd calls; `refusal` where that is not with symbolic tensors."""

    function: Function
    kind: str
    operator: str
    step: Step | None
    refusal: str = ""

    @property
    def node(self) -> Node:
        return self.function.path, self.function.start


def left_out(path: str) -> bool:
    """Whether nothing of a file is a root or on the way from one: tests, and what runs without symbolic shapes."""
    return _LEFT_OUT.search(path) is not None


def reached(
    facts: Mapping[str, FileFacts], natives: NativeFunctions | None, derivatives: Derivatives | None
) -> dict[Node, Reach]:
    """The functions that symbolic tensors reach, by path and `Function.start`."""
    return reached_and_stopped(facts, natives, derivatives)[0]


def reached_and_stopped(
    facts: Mapping[str, FileFacts],
    natives: NativeFunctions | None,
    derivatives: Derivatives | None,
    named: Callable[[str], bool] = lambda path: False,
    blocked: Collection[Node] = (),
) -> tuple[dict[Node, Reach], dict[Node, Stop]]:
    """The functions that symbolic tensors reach, and those that they only look as if they did.

    Of the latter, composite kernels read memory, pick a scalar type or launch a device's kernel: backend kernels
    whatever key they are registered under. So are helpers in device code that kernels call too. Others serve forward
    derivatives alone. `named` says which tests count; symbols get from `blocked` functions into such alone.
    """
    return Reacher(facts, natives, derivatives, named).reached_and_stopped(blocked)


class Reacher:
    """The call graph of what symbolic tensors reach. `edges`, by caller, is filled by `run`, which may be run again."""

    def __init__(
        self,
        facts: Mapping[str, FileFacts],
        natives: NativeFunctions | None,
        derivatives: Derivatives | None,
        named: Callable[[str], bool] = lambda path: False,
        untraced: Mapping[str, Derivative] | None = None,
    ) -> None:
        """`untraced` are composite operators that no symbol gets to, each with the entry whose formula calls it."""
        self.untraced = untraced or {}
        self.blocked: Collection[Node] = ()
        self.silent: Collection[Node] = ()
        """The backward methods of autograd functions whose forward no symbol passes: nothing is recorded for them."""
        self.facts = {path: facts[path] for path in sorted(facts) if named(path) or not left_out(path)}
        self.natives = natives
        self.derivatives = derivatives
        functions = [function for file in self.facts.values() for function in file.functions if function.body >= 0]
        generated = [function for file in self.facts.values() for function in file.generated]
        members = [member for file in self.facts.values() for member in file.members]
        self.index = Index([*functions, *generated], _operator_names(natives), members)
        self.nodes = {(f.path, f.start): f for f in functions}
        for function in generated:
            # One macro call may define several functions; they are reached together.
            earlier = self.nodes.get((function.path, function.start), function)
            calls = function.calls if earlier is function else earlier.calls + function.calls
            self.nodes[function.path, function.start] = dataclasses.replace(function, calls=calls)
        self.backend_kernels = _backend_kernels(natives)
        self.device = {path for path, file in self.facts.items() if is_device_code(file)}
        self.launchers = Launchers(self.index)
        self.inline = {
            path: [(r.start, r.end) for r in file.registrations if r.inline and SYMBOLIC_KEYS.match(r.key) is not None]
            for path, file in self.facts.items()
            if file.registrations
        }
        self.kinds: dict[Node, str] = {}
        self.reasons: dict[Node, Step | None] = {}
        self.labels: dict[Node, set[str]] = {}
        self.edges: dict[Node, dict[Node, int]] = {}
        self.stopped: dict[Node, Stop] = {}
        self.called: set[str] | None = None
        """The names of all functions that are called, once they were asked for."""
        self._roots: tuple[list[Root], dict[Node, Stop]] | None = None
        """All roots, and what is stopped before it is one."""
        self._callees: dict[Node, dict[Node, int]] = {}

    def reached_and_stopped(self, blocked: Collection[Node] = ()) -> tuple[dict[Node, Reach], dict[Node, Stop]]:
        """What the function of this name returns."""
        reach = self.run(blocked)
        return reach, {node: stop for node, stop in self.stopped.items() if node not in reach}

    def run(self, blocked: Collection[Node] = ()) -> dict[Node, Reach]:
        """The reached functions; symbols get from `blocked` ones into such alone."""
        if self._roots is None:
            self._roots = list(self.roots()), self.stopped
        roots, stopped = self._roots
        self.blocked, self.stopped, self.silent = blocked, dict(stopped), self._silenced({*blocked, *stopped})
        self.kinds, self.reasons, self.labels, self.edges = {}, {}, {}, {}
        refused: dict[Node, Root] = {}
        for root in roots:
            if root.node in self.silent:
                continue
            if root.refusal:
                refused.setdefault(root.node, root)
                continue
            self.kinds.setdefault(root.node, root.kind)
            self.labels.setdefault(root.node, set())
            if root.operator:
                self.labels[root.node].add(root.operator)
            if self.reasons.get(root.node) is None:
                self.reasons[root.node] = root.step
        self._set_aside(refused)
        # A path from an operator says more than that some code belongs to autograd.
        groups = [[n for n in self.kinds if self.labels[n]], [n for n in self.kinds if not self.labels[n]]]
        before = shortest_ways(groups, self.successors)
        helpers = {n: self.nodes[n] for n in before if n[0] in self.device and n not in self.kinds}
        left_alone = shared(self.index, self.nodes.values(), before, helpers)
        names = sorted({name for operators in self.labels.values() for name in operators})
        bits = {name: 1 << index for index, name in enumerate(names)}
        masks = {node: sum(bits[name] for name in operators) for node, operators in self.labels.items()}
        everything = gather(masks, self.successors)
        unpacked: dict[int, tuple[str, ...]] = {}
        result = {}
        for node in before:
            mask = everything[node]
            if mask not in unpacked:
                unpacked[mask] = tuple(itertools.compress(names, f"{mask:b}"[::-1].encode().translate(_BITS)))
            reach = Reach(unpacked[mask], self.steps(way(node, before)), self.kinds.get(node, "helper"))
            if node in left_alone:
                self.stopped[node] = Stop("", reach)
            else:
                result[node] = reach
        return result

    def _silenced(self, blocked: Collection[Node]) -> frozenset[Node]:
        ends = {(f.path, _space(f)) for f in map(self.nodes.__getitem__, blocked) if is_autograd_function(f, "forward")}
        nodes = self.nodes.items() if ends else ()
        return frozenset(n for n, f in nodes if is_autograd_function(f, "backward") and (f.path, _space(f)) in ends)

    def _set_aside(self, roots: Mapping[Node, Root]) -> None:
        """Stop at what `roots` lead to and no operator does; what of it runs for operators in general is no root."""
        inside = shortest_ways([[n for n in self.kinds if self.labels[n]]], self.successors)
        before = shortest_ways([list(roots)], self.successors)
        for node in before:
            if node not in inside:
                root = roots.get(node)
                steps = (root.step,) if root is not None and root.step is not None else ()
                operators = (root.operator,) if root is not None else ()
                reach = Reach(operators, steps, "helper" if root is None else root.kind)
                self.stopped[node] = Stop(roots[way(node, before)[0]].refusal, reach)
                self.kinds.pop(node, None)

    def steps(self, nodes: list[Node]) -> tuple[Step, ...]:
        reason = self.reasons[nodes[0]]
        steps = [] if reason is None else [reason]
        for caller, called in itertools.pairwise(nodes):
            text = f"{_title(self.nodes[caller])} calls {_title(self.nodes[called])}"
            steps.append(Step(caller[0], self.edges[caller][called], text))
        return tuple(steps)

    def successors(self, node: Node) -> dict[Node, int]:
        """What a reached function calls, with the lines of the calls."""
        if node not in self.edges:
            callees = {called: line for called, line in self._called_by(node).items() if called not in self.silent}
            if node in self.blocked:  # what blocks further on is still to be told
                callees = {called: line for called, line in callees.items() if called in self.blocked}
            self.edges[node] = callees
        return self.edges[node]

    def _called_by(self, node: Node) -> dict[Node, int]:
        if node not in self._callees:
            callees = self._callees[node] = {}
            caller = self.nodes[node]
            for call, functions in self.index.callees(caller, self.calls_of(caller)):
                for function in functions:
                    if not self.ends_at(function) and not self.backend_only(function):
                        callees.setdefault((function.path, function.start), call.line)
        return self._callees[node]

    def ends_at(self, function: Function) -> bool:
        """Whether symbols get no further than the call of a function: a kernel, or device code that comes to one."""
        return is_kernel(function) or (function.path in self.device and function in self.launchers)

    def calls_of(self, caller: Function) -> Iterator[Call]:
        """The calls of a function; of a block of registrations only those in lambdas that symbolic tensors reach."""
        spans = self.inline.get(caller.path, ())
        registers = any(r.start >= caller.start and r.end <= caller.end for r in self.facts[caller.path].registrations)
        for call in caller.calls:
            if not registers or any(start <= call.start < end for start, end in spans):
                yield call

    def is_unused(self, function: Function) -> bool:
        """Whether nothing calls a function that a header defines for whoever includes it."""
        if function.parent or not function.path.endswith(".h"):
            return False
        if self.called is None:
            functions = (f for file in self.facts.values() for f in (*file.functions, *file.generated))
            self.called = {call.callee.split("<")[0].rpartition("::")[2] for f in functions for call in f.calls}
        return function.name not in self.called

    def backend_only(self, function: Function) -> bool:
        """Whether native_functions.yaml names the function as a kernel, but for backends alone."""
        return function.name in self.backend_kernels and not function.parent and not function.internal

    def roots(self) -> Iterator[Root]:
        yield from self.native_roots()
        yield from self.registered_roots()
        yield from self.derivative_roots()
        for file in self.facts.values():
            for function in file.functions:
                if function.body >= 0 and is_autograd_function(function):
                    step = Step(function.path, function.line, f"{function.parent} is a torch::autograd::Function")
                    if not self.ends_at(function):
                        yield Root(function, "Autograd", "", step)
                    else:
                        self.stop(function, "Autograd", "", step)
                elif function.body >= 0 and function.parent and function.name in _FORWARD_METHODS:
                    self.stopped[function.path, function.start] = Stop(FORWARD, Reach((), (), "Autograd"))
                elif function.body >= 0 and not is_kernel(function) and not self.is_unused(function):
                    if file.path.startswith(_AUTOGRAD):
                        yield Root(function, "Autograd", "", None)
                    elif function.qualified.startswith(_FUNCTORCH):
                        yield Root(function, "FuncTorch", "", None)

    def native_roots(self) -> Iterator[Root]:
        if self.natives is None:
            return
        for entry, key, kernel in self.natives.kernels():
            if entry.structured or SYMBOLIC_KEYS.match(key) is None:
                continue
            written = kernel if "::" in kernel else f"native::{kernel}"
            kernels = [f for f in self.index.named(written) if not f.parent]
            exact = [f for f in kernels if len(f.params) == len(entry.schema.arguments)]
            step = Step(self.natives.path, entry.line, f"{entry.schema.base} is {key}")
            caller = self.untraced.get(entry.schema.base)
            if caller is not None and self.derivatives is not None:
                text = f"the derivative of {caller.schema.full_name} alone calls {entry.schema.base}"
                step = Step(self.derivatives.path, caller.line, text)
            for function in exact or kernels:
                if not is_kernel(function):
                    yield Root(function, key, entry.schema.base, step, UNTRACED if caller is not None else "")
                else:
                    self.stop(function, key, entry.schema.base, step)

    def registered_roots(self) -> Iterator[Root]:
        asked = looked_up(self.nodes.values())
        for file in self.facts.values():
            keys = _COMPOSITE_KEYS if backend_folder(file.path) else SYMBOLIC_KEYS
            for registration in file.registrations:
                if keys.match(registration.key) is None:
                    continue
                kind = registration.key or "CompositeImplicitAutograd"
                operator = base_name(registration.operator)
                title = registration.operator or "a kernel"
                step = Step(file.path, registration.line, f"{title} is registered for {kind}")
                for function in self.registered(file, registration):
                    if not self.ends_at(function) or (kind == "Meta" and not function.structured):
                        # What is registered for Meta runs without memory, whatever else a template does elsewhere.
                        if registration.operator.partition(".")[0] in asked or not takes_no_symbols(function):
                            yield Root(function, kind, operator, step)
                    else:
                        self.stop(function, kind, operator, step)

    def stop(self, function: Function, kind: str, operator: str, step: Step) -> None:
        """Note a composite kernel that reads memory."""
        if function.body >= 0 and not function.structured:
            reach = Reach(tuple(filter(None, (operator,))), (step,), kind)
            self.stopped.setdefault((function.path, function.start), Stop("", reach))

    def registered(self, file: FileFacts, registration: Registration) -> list[Function]:
        """The kernel that a registration names, or what encloses the lambda that it is."""
        if registration.function:
            definitions = self.index.named(registration.function, file.path)
            spaces = {_space(function) for function in file.functions}
            return [f for f in definitions if _space(f) in spaces] or definitions
        if not registration.inline:
            return []
        return [f for f in file.functions if f.body >= 0 and f.start <= registration.start < f.end]

    def derivative_roots(self) -> Iterator[Root]:
        callers = self.derivatives.callers() if self.derivatives is not None else {}
        path = self.derivatives.path if self.derivatives is not None else ""
        for name, entries in callers.items():
            for function in self.index.by_name.get(name, ()):
                if "autograd" in function.qualified.split("::"):
                    for entry in entries:
                        step = Step(path, entry.line, f"the derivative of {entry.schema.full_name} calls {name}")
                        refusal = "" if name in entry.in_backward else FORWARD
                        yield Root(function, "AutogradManual", entry.schema.base, step, refusal)
        for file in self.facts.values():
            if file.path.endswith(_MANUAL):
                for function in file.functions:
                    if function.body >= 0:
                        yield Root(function, "AutogradManual", "", None)


def _space(function: Function) -> str:
    """The scope of a function, its class included."""
    return function.qualified.rpartition("::")[0]


def _title(function: Function) -> str:
    return f"{function.parent}::{function.name}" if function.parent else function.name


def _backend_kernels(natives: NativeFunctions | None) -> frozenset[str]:
    """The names of the kernels that native_functions.yaml has under keys of backends and under no other."""
    keys: dict[str, set[bool]] = {}
    for _, key, kernel in natives.kernels() if natives is not None else ():
        keys.setdefault(kernel.rpartition("::")[2], set()).add(SYMBOLIC_KEYS.match(key) is not None)
    return frozenset(name for name, symbolic in keys.items() if symbolic == {False})


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
