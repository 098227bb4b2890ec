"""The functions of PyTorch that register Python, what each makes of a function, and what a registration is given."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from transforms.python.reach.lineage import ClassPlace
from transforms.python.reach.tree import Definition

TRACED = frozenset(
    {
        "register_fake",
        "_register_fake",
        "impl_abstract",
        "register_autograd",
        "register_vmap",
        "register_torch_dispatch",
        "py_impl",
        "register_meta",
        "register_decomposition",
        "register_inference_rule",
        "register_op_impl",
        "register_lowering",
        "lowering",
        "register_fast_op_impl",
        "register_prim",
        "register_jagged_func",
        "register_plain_decomp",
        "register_inplace",
        "elementwise_type_promotion_wrapper",
        "make_fx",
        "aot_function",
    }
)
"""What PyTorch calls with symbols."""
EAGER_TOO = frozenset({"triton_op", "register_autograd", "register_vmap", "register_torch_dispatch"})
"""What eager runs as well as tracing."""
FAKES = frozenset({"register_fake", "_register_fake", "impl_abstract", "triton_op", "register_meta"})
CONCRETE = frozenset({"custom_op", "register_kernel"})
"""What only eager runs: a symbol asks for the fake instead."""
BY_KEY = frozenset({"impl", "py_impl"})
OPERATORS = frozenset({"custom_op", "triton_op"})
"""What makes of a function an operator, so that a call of its name enters the dispatcher."""
DISPATCHED = FAKES - {"register_meta"} | CONCRETE | {"impl", "register_autograd", "register_vmap"}
"""What registers a function of an operator that is named."""
API = TRACED | CONCRETE | BY_KEY | OPERATORS
COMPILED = frozenset({"torch.compile", "torch.export.export"})
LEFT_TO_EAGER = re.compile(r"torch\.(?:compiler|_dynamo(?:\.\w+)*)\.disable|torch\._disable_dynamo")
"""What leaves a function to eager, with all that it calls where `recursive=False` is not given."""
TRACED_KEY = re.compile(
    r"(?:DispatchKey\.)?(?:\w*Meta|default|Composite\w+|Autograd\w*|Functionalize|ADInplaceOrView|BackendSelect|Python\w*"
    r"|FuncTorch\w*|Batched\w*|PreDispatch|Fake)?"
)
OPERATOR = re.compile(r"(?:(?:torch\.)?ops\.(\w+)|(aten|prims))\.(\w+)(?:\.\w+)?")
"""An operator as an expression names it."""
OVERLOAD = re.compile(r"default|overloadpacket|[A-Z]\w*")
"""An attribute of an operator that is the operator itself."""
MAPS = frozenset(("map", "tree_map", "tree_map_"))
"""Functions that call their first argument with each item of the next."""
DEPTH = 16
"""How many wrappers, aliases and imports lie between a registration and torch.library at the most."""
STEPS = 1000
"""Calls that are followed for one registration at the most."""


class Role(NamedTuple):
    """What a registration makes of a function. `opaque` says that its name is an operator's from then on."""

    why: str
    traced: bool
    inlined: bool = False
    eager: bool = False
    operator: str = ""
    opaque: bool = False
    kind: str = ""
    """"fake", "composite" for CompositeImplicitAutograd, or "default" for what all devices run, and symbols too where
    the operator has no fake."""
    dispatched: bool = False
    """Whether the dispatcher runs the function for an operator."""
    statement: int = 0
    """Which statement registers it; one that computes the operator's name does so for all that it registers."""


class Text(NamedTuple):
    """A string."""

    text: str


class Library(NamedTuple):
    """A torch.library.Library with the dispatch key that it registers for where a call names none.

    `defines` says that operators may be defined with it: it was made with "DEF" or "FRAGMENT".
    """

    namespace: str
    key: str
    defines: bool = False


class Operator(NamedTuple):
    """An operator, "" for one whose name is computed."""

    name: str


class Outside(NamedTuple):
    """What the tree does not define, by its dotted name, or a method of `receiver`."""

    name: str
    receiver: Value | None = None


class Local(NamedTuple):
    """A function of the tree."""

    definition: Definition


class Inner(NamedTuple):
    """A function inside a wrapper, with the wrapper's names."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope


class Bound(NamedTuple):
    """A function with some of its arguments, as functools.partial makes it."""

    function: Value
    arguments: Arguments


class Instance:
    """An object of such a class, with what is known of its attributes; no two are equal.

    `above` is the class whose bases alone are looked through, as `super()` does.
    """

    def __init__(
        self,
        kind: ClassPlace,
        attributes: dict[str, tuple[Value, ...]] | None = None,
        above: ClassPlace | None = None,
    ) -> None:
        self.kind = kind
        self.attributes = {} if attributes is None else attributes
        self.above = above

    def whole(self) -> Instance:
        """The object without what `super()` leaves out."""
        return Instance(self.kind, self.attributes)


class Pending(NamedTuple):
    """A registration that waits for its function, as decorators do."""

    role: Role


class Scope(NamedTuple):
    """Where an expression stands; `names` are the parameters and variables of a wrapper that is followed, else None."""

    path: str
    function: str
    names: dict[str, tuple[Value, ...]] | None = None


Value = Text | Library | Operator | Outside | Local | Inner | Bound | Pending | ClassPlace | Instance
Arguments = Sequence[tuple[str, tuple[Value, ...]]]


def named_by(value: Value) -> Text | None:
    """The name of a function or an operator, or the namespace of a library."""
    match value:
        case Operator(name) if name:
            return Text(name.partition("::")[2])
        case Local(definition):
            return Text(definition.function.own_name)
        case Inner(ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name)):
            return Text(name)
        case Library(namespace):
            return Text(namespace)
    return None


def names_operator(values: Sequence[Value]) -> bool:
    """Whether an argument may name an operator."""
    return any(isinstance(value, (Text, Operator)) for value in values)


def all_values(arguments: Arguments) -> Iterator[Value]:
    """What the arguments may be, in order."""
    return (value for _, values in arguments for value in values)


def functions_of(arguments: Arguments) -> tuple[Value, ...]:
    """The functions among the arguments."""
    values = (value.function if isinstance(value, Bound) else value for value in all_values(arguments))
    return tuple(value for value in values if isinstance(value, (Local, Inner)))


def with_bound(bound: Arguments, passed: Arguments) -> Arguments:
    """The arguments of a call of what functools.partial made."""
    positional = sum(slot.isdigit() for slot, _ in bound)
    moved = [(str(int(slot) + positional) if slot.isdigit() else slot, values) for slot, values in passed]
    named = {slot for slot, _ in moved}
    return [*(pair for pair in bound if pair[0] not in named), *moved]


def compiles(callee: Value) -> bool:
    """Whether a call of this value compiles what it is given."""
    match callee:
        case Outside(name=name):
            return name in COMPILED
        case Bound(function=function):
            return compiles(function)
        case Pending(role=role):
            return role.inlined
    return False


def hashable(arguments: Arguments) -> bool:
    """Whether a call with these arguments gives the same again.

    Objects change from call to call; functions inside of wrappers, and what is bound, have no hash.
    """
    for value in all_values(arguments):
        while isinstance(value, Outside) and value.receiver is not None:
            value = value.receiver
        if isinstance(value, (Instance, Inner, Bound)):
            return False
    return True


def identity(arguments: Arguments) -> tuple[object, ...]:
    """What tells the arguments of a call from those of others that have not ended."""
    return tuple((slot, tuple(map(_identity, values))) for slot, values in arguments)


def _identity(value: Value) -> object:
    match value:
        case Instance(kind=kind, attributes=attributes, above=above):
            return kind, id(attributes), above
        case Inner(node=node, scope=scope):
            return id(node), scope.path, scope.function, id(scope.names)
        case Bound(function=function, arguments=arguments):
            return _identity(function), identity(arguments)
        case Outside(name=name, receiver=receiver) if receiver is not None:
            return name, _identity(receiver)
    return value


def joined(before: tuple[Value, ...], values: Iterable[Value]) -> tuple[Value, ...]:
    """`before` with what of `values` is not among it: scopes, which may hold themselves, are not looked into."""
    among = list(map(_identity, before))
    return (*before, *(value for value in values if _identity(value) not in among))


def key_of(value: Value) -> str:
    """The dispatch key that an argument names, "?" where that cannot be told."""
    if isinstance(value, Text):
        return value.text
    return ".".join(value.name.split(".")[-2:]) if isinstance(value, Outside) else "?"


def role_of(role: Role, callee: Outside, name: str, rest: Arguments, arguments: Arguments) -> Role:
    """`role` as the registrar `name` has it; `rest` are the arguments behind the operator's name but for functions."""
    role = role._replace(opaque=name in OPERATORS, kind="fake" if name in FAKES else "")
    role = role._replace(dispatched=name in DISPATCHED)
    if name in CONCRETE:
        return role._replace(traced=False)
    if name in EAGER_TOO:
        return role._replace(eager=True)
    if name not in BY_KEY:
        return role
    in_place = [values for slot, values in rest if slot.isdigit() or slot in ("dispatch_key", "types")]
    keys = [key_of(value) for values in in_place for value in values or (Outside("?"),)]
    library = next((v for v in (callee.receiver, *all_values(arguments)) if isinstance(v, Library)), None)
    keys = keys or [library.key if library else ""]
    if name == "py_impl":  # a table that tracing alone reads; modes stand in it as keys do
        asked = [key for key in keys if "DispatchKey" not in key or TRACED_KEY.fullmatch(key)]
        if not isinstance(callee.receiver, (Operator, Pending, Local)):
            # Real Tensors alone get to that of a HigherOrderOperator (torch/_higher_order_ops/utils.py).
            asked = [key for key in asked if not key.endswith("CompositeExplicitAutograd")]
        return role._replace(traced=bool(asked))
    traced = [key for key in keys if TRACED_KEY.fullmatch(key)]
    if any(key.endswith("Meta") for key in traced):
        kind = "fake"
    elif any("CompositeImplicit" in key for key in traced):
        kind = "composite"
    else:
        kind = "default" if traced and all(key == "default" or "CompositeExplicit" in key for key in traced) else ""
    eager = any(not key.endswith("Meta") for key in keys)
    return role._replace(traced=bool(traced), eager=eager, kind=kind)


class Registry(Protocol):
    """Who takes what is found to be registered."""

    def registered(self, callee: Outside, name: str, arguments: Arguments) -> tuple[Value, ...]:
        """What a call of one of PyTorch's registrars gives."""

    def note(self, role: Role, arguments: Arguments) -> tuple[Value, ...]:
        """What a registration gives for the functions that it gets."""

    def left(self, functions: Iterable[Value], recursive: bool) -> None:
        """Functions are left to eager, and what they call where that is `recursive`."""

    def defined(self, schemas: Iterable[str]) -> None:
        """An operator gets its schema."""

    def object_of(self, definition: Definition) -> Instance | None:
        """What its decorators make of a function, where that is an object of the tree."""
