"""Registered decompositions that tracing never reaches, because the operator's C++ composite is traced in their place.

`register_decomposition` fills a table for what is left in a graph. An operator that C++ composes of others
(CompositeImplicitAutograd) leaves nothing of itself there, and where its C++ asks for a size, Python that would not
ask is of no help. `py_impl(DispatchKey.CompositeImplicitAutograd)` puts the Python in the place of the C++, as
torch/_decomp does for `matmul`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from codemod.errors import SymfixError
from transforms.python.reach.tree import Definition, SourceTree, tree_path
from transforms.python.reading.facts import Body, Function
from transforms.schema.native_functions import COMPOSITE_IMPLICIT, NativeFunction, load
from transforms.schema.schema import Argument, Schema

REGISTERED = re.compile(r"^(?:\w+\.)*register_decomposition\b")
NEUTRAL = re.compile(r"^(?:\w+\.)*(?:register_decomposition|out_wrapper)\b")
OVERLOAD = re.compile(r"\baten\.(\w+)(?:\.(\w+))?")
REPLACED = re.compile(r"\baten\.(\w+)(?:\.(\w+))?\.py_impl\b")
PRIMITIVES = "torch/_prims/__init__.py"
IN_ATEN = re.compile(rb"\.impl_aten\s*=(?!=)")
"""Where primitives get the function that does the same in ATen; torch 1.13 has none."""
ENTRY = r"^- func: (?:{})(?:\.\w+)?\(.*\n(?:(?!- func:).*\n?)*"

# Tags in native_functions.yaml of what Python does otherwise (ATen/native/tags.yaml): other random numbers for the same
# seed, and another choice of when an argument is returned as it is.
OWN = frozenset({"nondeterministic_seeded", "maybe_aliasing_or_mutating"})


class Composite(NamedTuple):
    """What a decomposition can stand in for, and the functions whose primitives have no derivative yet."""

    overloads: tuple[str, ...]
    """As `fft_fft.default`."""
    bodies: tuple[str, ...]
    """The decomposition and the helpers of its own that call `prims`."""
    runs: tuple[str, ...] = ()
    """What it runs of its own file, itself and what other decompositions there run that it forwards to."""


class StandIn(NamedTuple):
    """A decomposition that can stand in for a composite, if a function of `own` asks for a size."""

    composite: Composite
    own: tuple[Definition, ...]
    """The decomposition, and what it runs of its own file."""


def composites(
    stand_ins: Mapping[Definition, StandIn], body_of: Callable[[Definition], Body]
) -> dict[Definition, Composite]:
    """Those of `stand_ins` that ask for a size, and those that forward to such."""
    asking = {d for d, stand_in in stand_ins.items() if any(body_of(own).conditions for own in stand_in.own)}
    chosen: dict[Definition, Composite] = {}
    for definition, stand_in in stand_ins.items():
        run = [definition, *(other for other in asking if _forwards(definition, stand_ins[other].composite))]
        if definition in asking or run[1:]:
            names = {own.function.name for d in run if d.path == definition.path for own in stand_ins[d].own}
            chosen[definition] = stand_in.composite._replace(runs=tuple(sorted(names)))
    return chosen


def stand_ins(
    tree: SourceTree, operators: Callable[[Collection[str]], Iterable[NativeFunction]], read: Callable[[str], bytes]
) -> dict[Definition, StandIn]:
    """The decompositions that can stand in for a composite; `operators` gives those of native_functions.yaml by name.

    `read` gives the bytes of a file of the tree.

    Left out are those that would change what PyTorch differentiates, draws, aliases or accepts: operators that draw
    random numbers, write to or may return a view of an argument, Python that reaches `prims`, which have no
    derivatives, in code that others use too, and what other wrappers do to the arguments before.
    """
    registered = {d: names for d in tree.definitions() if (names := dict(_registered(d.function)))}
    if not registered:
        return {}
    primitives = next((path for path in tree.facts if tree_path(tree, path) == PRIMITIVES), None)
    in_aten = primitives is None or IN_ATEN.search(read(primitives)) is not None
    taken = {
        operator
        for d in tree.definitions()
        for decorator in d.function.decorators
        for operator in REPLACED.findall(decorator)
    }
    schemas = _schemas(operators({base for names in registered.values() for base, _ in names}))
    users = _Users(tree, registered)
    replacements: dict[Definition, StandIn] = {}
    for definition, names in registered.items():
        overloads = tuple(
            f"{base}.{schema.overload or 'default'}"
            for base, overload in names
            for schema in schemas.get(base, ())
            if overload in ("", schema.overload or "default")
            and (base, schema.overload or "default") not in taken
            and matches(definition.function, schema)
        )
        if not overloads:
            continue
        reached = _reached(tree, definition)
        bodies = tuple(body.function.name for body in reached if _primitives(body.function))
        own = all(
            body is definition or (body.path == definition.path and users.private(body))
            for body in reached
            if _primitives(body.function)
        )
        if own and (in_aten or not bodies):
            in_file = tuple(body for body in reached if body.path == definition.path)
            replacements[definition] = StandIn(Composite(overloads, bodies), in_file)
    return replacements


def _registered(function: Function) -> Iterator[tuple[tuple[str, str], None]]:
    if "." not in function.name and all(NEUTRAL.search(decorator) for decorator in function.decorators):
        for decorator in function.decorators:
            if REGISTERED.search(decorator):
                for base, overload in OVERLOAD.findall(decorator):
                    yield (base, overload), None


def entries_of(yaml: bytes, names: Collection[str]) -> Sequence[NativeFunction]:
    """The operators of those names in a native_functions.yaml. Raises SymfixError where one of them is broken."""
    pattern = re.compile(ENTRY.format("|".join(map(re.escape, sorted(names)))).encode(), re.MULTILINE)
    blocks = b"".join(match[0] for match in pattern.finditer(yaml))
    try:
        return load("native_functions.yaml", blocks).entries if blocks else ()
    except ValueError as error:
        raise SymfixError(str(error)) from error


def _schemas(operators: Iterable[NativeFunction]) -> dict[str, list[Schema]]:
    """The functional overloads of those of the operators that are composites and nothing else."""
    overloads: dict[str, list[Schema]] = {}
    kernels: set[str] = set()
    for entry in operators:
        if _composite(entry):
            overloads.setdefault(entry.schema.base, []).append(entry.schema)
        elif not entry.schema.outputs:
            kernels.add(entry.schema.base)
    return {base: schemas for base, schemas in overloads.items() if base not in kernels}


def _composite(entry: NativeFunction) -> bool:
    annotated = any(argument.annotation for argument in (*entry.schema.arguments, *entry.schema.returns))
    if annotated or not OWN.isdisjoint(entry.tags):
        return False
    tensors = all(returned.type == "Tensor" for returned in entry.schema.returns)
    return tensors and [key for key, _ in entry.dispatch] == [COMPOSITE_IMPLICIT]


def matches(function: Function, schema: Schema) -> bool:
    """Whether a function takes what the dispatcher passes: as many arguments in the same order, with equal defaults."""
    positional = [argument for argument in schema.arguments if not argument.kwarg_only]
    named = {argument.name: argument for argument in schema.arguments if argument.kwarg_only}
    own = dict(function.defaults)
    if len(positional) > len(function.parameters) or len(function.parameters) != len(schema.arguments):
        return False
    pairs = list(zip([name for name, _ in function.parameters], positional, strict=False))
    pairs += [(name, named[name]) for name, _ in function.parameters[len(positional) :] if name in named]
    return len(pairs) == len(schema.arguments) and all(_default(own.get(name), argument) for name, argument in pairs)


def _default(written: str | None, argument: Argument) -> bool:
    if not argument.default:
        return True
    if written is None:
        return False
    try:
        own, declared = ast.literal_eval(written), ast.literal_eval(argument.default)
    except (ValueError, SyntaxError):
        return written == argument.default
    return bool(_listed(own) == _listed(declared) and type(own) is type(declared)) or _listed(own) == declared


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _reached(tree: SourceTree, definition: Definition) -> list[Definition]:
    """A definition and everything of the tree that it calls."""
    reached = {definition: None}
    queue = [definition]
    while queue:
        caller = queue.pop()
        for name in caller.function.calls:
            callee = tree.resolve(caller, name)
            if callee is not None and callee not in reached:
                reached[callee] = None
                queue.append(callee)
    return list(reached)


class _Users:
    """Who uses the helpers of the tree; each file is gone through once."""

    def __init__(self, tree: SourceTree, registered: Mapping[Definition, object]) -> None:
        self._tree = tree
        self._registered = registered
        self._imported = {target for facts in tree.facts.values() for _, target in facts.imports}
        self._callers: dict[str, dict[str, list[Definition]]] = {}

    def private(self, helper: Definition) -> bool:
        """Whether a helper serves nothing but registered decompositions of its own file, by way of others or not."""
        pending, seen = [helper], {helper}
        while pending:
            path, name = pending[-1].path, pending.pop().function.name
            if not name.startswith("_") or f"{self._tree.module_name(path)}.{name}" in self._imported:
                return False
            callers = {caller for caller in self._of(path, name) if caller not in self._registered} - seen
            pending += callers
            seen |= callers
        return True

    def _of(self, path: str, name: str) -> Sequence[Definition]:
        """The functions of a file that call another of it by its name."""
        if path not in self._callers:
            callers = self._callers[path] = {}
            for function in self._tree.facts[path].functions:
                definition = self._tree.definition(path, function.name)
                for callee in function.calls:
                    if definition is not None:
                        callers.setdefault(callee, []).append(definition)
        return self._callers[path].get(name, ())


def _primitives(function: Function) -> bool:
    return any(callee.startswith("prims.") for callee in function.calls)


def _forwards(definition: Definition, other: Composite) -> bool:
    """Whether a decomposition calls, as `torch.fft.fftn`, an operator whose own one is put in place."""
    operators = {name.partition(".")[0] for name in other.overloads}
    called = (callee.removeprefix("torch.").replace(".", "_") for callee in definition.function.calls)
    return any(name in operators for name in called)
