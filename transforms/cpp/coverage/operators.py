"""What is registered for each operator of a library, and whether symbols can pass it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from transforms.cpp.reach.calls import backend_folder, is_kernel
from transforms.cpp.reach.device import SUFFIXES
from transforms.cpp.reach.reached import Reacher, left_out
from transforms.cpp.reading.facts import FileFacts, Function, Registration
from transforms.python.reach.fakes import Fakes
from transforms.schema.schema import Schema, parse_schema

_SYMBOLIC = re.compile(r"Meta$|^CompositeExplicit")
_COMPOSITE = frozenset(("", "CatchAll", "CompositeImplicitAutograd"))
_ABOVE = re.compile(
    r"^(?:Autograd|Autocast|FuncTorch|ADInplaceOrView|Functionalize|Python|Batched|Tracer|BackendSelect)"
)
_AUTOGRAD = re.compile(r"^Autograd(?!Nested)")
_STABLE = re.compile(rb"\b(STABLE_)?TORCH_LIBRARY\w*\s*\(")
# Namespaces that are called by the dispatcher's functions and by the standard library's.
_FOREIGN = ("at::", "torch::", "std::", "c10::")


@dataclass(slots=True)
class Operator:
    """One operator: its definition and its kernels."""

    name: str
    path: str
    definition: Registration
    schema: Schema | None = None
    kernels: list[tuple[str, Registration]] = field(default_factory=list)
    """(file, registration) of each kernel."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why symbols cannot pass an operator."""

    operator: Operator
    kernel: Function | None
    """The function that reads memory: that of a backend, or what a composite calls. None where it is not known."""
    root: Function | None
    """The kernel that calls it, a composite or one for Autograd; None where it is the backend's own."""
    backends: tuple[str, ...] = ()
    """The keys that it has kernels for."""
    stable: bool = False
    """Whether its Meta or composite kernel is written with torch::stable, which has no symbolic accessor."""
    kernels: tuple[Function, ...] = ()
    """Those of its backends that are found, where these are all that it has."""
    faked: bool = False
    """Whether Python registers a fake for it, though `root` is run before that."""
    above: bool = False
    """Whether `root` is its kernel for Autograd."""


def operators(facts: Mapping[str, FileFacts]) -> dict[str, Operator]:
    """The operators that the tree defines, by name, with their kernels; `facts` are those of `with_libraries`."""
    defined: dict[str, Operator] = {}
    for path, file in sorted(facts.items()):
        for registration in file.registrations if not left_out(path) else ():
            if "::" in registration.operator and (registration.schema or not registration.key):
                earlier = defined.get(registration.operator)
                if earlier is None or (registration.schema and not earlier.definition.schema):
                    name = registration.operator
                    defined[name] = Operator(name, path, registration, _schema(registration.schema))
    for path, file in sorted(facts.items()):
        for registration in file.registrations if not left_out(path) else ():
            operator = defined.get(registration.operator)
            if operator is not None and (registration.function or registration.inline or registration.key):
                operator.kernels.append((path, registration))
    return defined


def _schema(text: str) -> Schema | None:
    try:
        return parse_schema(text)
    except ValueError:
        return None


def obstacles(
    facts: Mapping[str, FileFacts], fakes: Callable[[], Fakes], read: Callable[[str], bytes]
) -> Iterator[Obstacle]:
    """The operators of a tree outside PyTorch that symbols cannot pass; `fakes` gives those that Python registers."""
    reacher = Reacher(facts, None, None)
    for name, operator in sorted(operators(facts).items()):
        if _takes_tensors(operator, reacher):
            obstacle = _composite(operator, reacher) or _above(operator, reacher) or _below(operator, reacher, read)
            if obstacle is None:
                continue
            if obstacle.root is None:
                if not fakes().has(name):
                    yield obstacle
            elif obstacle.above or not fakes().replaces(name):  # both are run before any fake, which torch refuses
                yield replace(obstacle, faked=fakes().has(name))  # for a composite, unless another replaces that


def _composite(operator: Operator, reacher: Reacher) -> Obstacle | None:
    """The composite that comes to memory, of an operator that has no other kernel for symbols."""
    if any(_SYMBOLIC.search(registration.key) for _, registration in operator.kernels):
        return None
    kernels = (kernel for kernel in operator.kernels if kernel[1].key in _COMPOSITE)
    ways = next(filter(None, (_kernel_below(reacher, *kernel) for kernel in kernels)), None)
    return Obstacle(operator, ways[1], ways[0], _backends(operator)) if ways is not None else None


def _above(operator: Operator, reacher: Reacher) -> Obstacle | None:
    """The kernel for Autograd that comes to memory past the dispatcher, so that tracing comes to no fake."""
    kernels = (kernel for kernel in operator.kernels if _AUTOGRAD.match(kernel[1].key))
    ways = next(filter(None, (_kernel_below(reacher, *kernel) for kernel in kernels)), None)
    return Obstacle(operator, ways[1], ways[0], _backends(operator), above=True) if ways is not None else None


def _below(operator: Operator, reacher: Reacher, read: Callable[[str], bytes]) -> Obstacle | None:
    """What is beneath the place of a fake: kernels of torch::stable that stand for one, or of backends alone."""
    symbolic = [(path, r) for path, r in operator.kernels if _SYMBOLIC.search(r.key)]
    if any(not _is_stable(read(path), registration) for path, registration in symbolic):
        return None
    backends = _backends(operator)
    if symbolic:
        return Obstacle(operator, _first(reacher, symbolic), None, backends, stable=True)
    if any(registration.key in _COMPOSITE for _, registration in operator.kernels):
        return None
    if not backends or (operator.schema is not None and needs_none(operator.schema)):
        return None
    own = [(path, registration) for path, registration in operator.kernels if registration.key in backends]
    return Obstacle(operator, _first(reacher, own), None, backends, kernels=_all(reacher, own))


def _backends(operator: Operator) -> tuple[str, ...]:
    named = (r.key for _, r in operator.kernels if r.key not in _COMPOSITE and not _SYMBOLIC.search(r.key))
    return tuple(dict.fromkeys(key for key in named if not _ABOVE.match(key)))


def needs_none(schema: Schema) -> bool:
    """Whether tracing does without a fake: what writes and returns nothing (torch/_library/utils.py,
    can_generate_trivial_fake_impl)."""
    return not schema.returns and any(argument.written for argument in schema.arguments)


def _takes_tensors(operator: Operator, reacher: Reacher) -> bool:
    """Whether a tensor goes in: what takes none, as a version's number, is no matter of shapes."""
    if operator.schema is not None:
        return any(argument.type.startswith("Tensor") for argument in operator.schema.arguments)
    function = _first(reacher, operator.kernels)
    return function is not None and any("Tensor" in parameter.type for parameter in function.params)


def _first(reacher: Reacher, kernels: list[tuple[str, Registration]]) -> Function | None:
    """The function that the first of `kernels` names, None for lambdas and what is not found."""
    for path, registration in kernels:
        functions = reacher.index.named(registration.function, path) if registration.function else []
        if functions:
            return functions[0]
    return None


def _all(reacher: Reacher, kernels: list[tuple[str, Registration]]) -> tuple[Function, ...]:
    """The definitions that `kernels` name; none where one of them is not found, or is not the only one of its name."""
    named = [
        [f for f in reacher.index.named(registration.function, path) if f.body >= 0] if registration.function else []
        for path, registration in kernels
    ]
    return tuple(functions[0] for functions in named) if all(len(functions) == 1 for functions in named) else ()


def _is_stable(source: bytes, registration: Registration) -> bool:
    """Whether a registration stands in a block of STABLE_TORCH_LIBRARY (torch/csrc/stable/library.h)."""
    blocks = list(_STABLE.finditer(source, 0, registration.end))
    return bool(blocks) and blocks[-1][1] is not None


def _kernel_below(reacher: Reacher, path: str, registration: Registration) -> tuple[Function, Function] | None:
    """A composite kernel, and the first function below it that reads memory; None where it calls none.

    Operators that it calls are the dispatcher's matter, and other functions of the tree its own.
    """
    for root in reacher.registered(reacher.facts[path], registration):
        if not registration.inline and is_kernel(root):
            return root, root
        seen = {(root.path, root.start)}
        pending = [root]
        while pending:
            called = list(_called(reacher, pending.pop(0)))
            kernels = [function for function in called if is_kernel(function) and not function.structured]
            if kernels:  # one that everybody has the device for, where there are several
                return root, min(kernels, key=lambda function: function.path.endswith(SUFFIXES))
            fresh = {(function.path, function.start): function for function in called}
            pending += (function for node, function in fresh.items() if node not in seen)
            seen.update(fresh)
    return None


def _called(reacher: Reacher, function: Function) -> Iterator[Function]:
    """The functions that one calls: of backends too, which symbols only reach from a composite."""
    for call, callees in reacher.index.callees(function, reacher.calls_of(function)):
        yield from callees
        if not callees and not call.member and not call.callee.startswith(_FOREIGN):
            for named in reacher.index.named(call.callee, function.path):
                if backend_folder(named.path) and not named.parent and len(named.params) == call.arguments:
                    yield named
