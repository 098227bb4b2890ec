"""What a value is, as far as symbolic shapes go: a Tensor, a size, a shape, a truth about sizes, or none of these.

What depends on a caller or on what a helper returns is a *parameter* value and names that dependency, so that a file
can be read by itself and the answer be filled in once the whole tree is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

PLAIN, TENSOR, TENSORS, INT, FLOAT, BOOL, SHAPE, TUPLE, SEQUENCE, PARAMETER = (
    "plain",
    "tensor",
    "tensors",
    "int",
    "float",
    "bool",
    "shape",
    "tuple",
    "sequence",
    "parameter",
)
SYMBOLIC = frozenset({INT, FLOAT, BOOL, SHAPE})


class Value(NamedTuple):
    """A kind, the parameters it depends on, and for tuples and sequences what they hold.

    `container` is "tuple" (torch.Size too) or "list" where that is known: the two are never equal.
    A value without dependencies is what it says whatever the callers do. A dependency is a parameter's name, or
    `()` and a callee as written for what that call returns.
    """

    kind: str
    dependencies: frozenset[str] = frozenset()
    items: tuple[Value, ...] = ()
    container: str = ""

    @property
    def symbolic(self) -> bool:
        """Whether it may hold a symbol, under the dependencies it names."""
        return self.kind in SYMBOLIC or (self.kind == PARAMETER) or any(item.symbolic for item in self.items)

    @property
    def certain(self) -> bool:
        """Whether it holds a symbol whatever the callers do."""
        if self.kind in (TUPLE, SEQUENCE):
            return any(item.certain for item in self.items)
        return self.kind in SYMBOLIC and not self.dependencies

    @property
    def held(self) -> str:
        """The container it is known to be, or ""."""
        return "tuple" if self.kind == TUPLE else self.container

    @property
    def shapelike(self) -> bool:
        """Whether it is a sequence of sizes, so that `==` compares element by element."""
        return self.kind == SHAPE or (self.kind in (TUPLE, SEQUENCE) and self.symbolic)


NOTHING = Value(PLAIN)
A_TENSOR, A_SIZE, A_TRUTH, A_FLOAT = Value(TENSOR), Value(INT), Value(BOOL), Value(FLOAT)
SOME_SHAPE = Value(SHAPE)
A_SHAPE = Value(SHAPE, container="tuple")

COUNT = re.compile(r"(?:^|_)(?:n?dims?|axis|axes|idx|index)\d?$|^(?:ndim|rank|dtype|device|layout)")
SIZE_NAMES = re.compile(r"(?:^|_)(?:sizes?|shape)$")
FIXED_SIZES = re.compile(r"kernel|group|block|chunk|step|window|batch_first|tile")


_LARGEST = 1000


def tuple_of(values: Sequence[Value]) -> Value:
    """A tuple of `values`; where they hold more than is worth following, only whether a symbol is among them."""
    held = list(values)
    for index in range(_LARGEST):
        if index == len(held):
            return Value(TUPLE, items=tuple(values))
        held += held[index].items
    touched = [value for value in values if value.symbolic]
    return Value(SHAPE, frozenset().union(*map(all_dependencies, touched)), container="tuple") if touched else NOTHING


def join(values: Iterable[Value]) -> Value:
    """The least value that covers all of them; a Tensor wins, since its operators are never ours."""
    best = NOTHING
    for value in values:
        if value == best or value.kind == PLAIN:
            continue
        if best.kind == PLAIN:
            best = value
        elif TENSOR in (value.kind, best.kind):
            best = A_TENSOR
        elif PARAMETER in (value.kind, best.kind):
            sure = best if value.kind == PARAMETER else value
            best = sure if sure.kind != PARAMETER else Value(PARAMETER, best.dependencies | value.dependencies)
        elif value.kind == best.kind:
            same = len(value.items) == len(best.items)
            items = tuple(map(join, zip(value.items, best.items, strict=False))) if same else ()
            certain = not (value.dependencies and best.dependencies)
            kind = value.kind if items or value.kind not in (TUPLE, SEQUENCE) else SHAPE
            held = value.held if value.held == best.held else ""
            best = Value(kind, frozenset() if certain else value.dependencies | best.dependencies, items, held)
        elif SHAPE in (value.kind, best.kind):
            best = SOME_SHAPE._replace(container=value.held if value.held == best.held else "")
    return best


def element(value: Value) -> Value:
    """What iterating over a value yields."""
    if value.kind == SHAPE:
        return Value(INT, value.dependencies)
    if value.kind == TENSORS:
        return A_TENSOR
    if value.kind in (TUPLE, SEQUENCE):
        return join(value.items)
    if value.kind == PARAMETER:
        return Value(PARAMETER, frozenset(f"{name}[]" for name in value.dependencies))
    return value if value.kind == TENSOR else NOTHING


def item(value: Value, index: int) -> Value:
    """What `value[index]` is."""
    if value.kind == TUPLE:
        return value.items[index] if -len(value.items) <= index < len(value.items) else NOTHING
    if value.kind == PARAMETER:
        return Value(PARAMETER, frozenset(f"{name}[{index}]" for name in value.dependencies))
    return element(value)


# A sequence of sequences, or a mapping.
SEQUENCE = r"(?:[Ll]ist|[Tt]uple|Sequence|Iterable)\["
NESTED = re.compile(rf"{SEQUENCE}[^\]]*{SEQUENCE}|\b(?:[Dd]ict|Mapping)\[")


def annotated(annotation: str, name: str) -> Value:
    """What a parameter is by its annotation and, for ranks and dims, its name."""
    text = annotation.replace("torch.", "")
    if COUNT.search(name):
        return NOTHING
    if NESTED.search(text):
        return NOTHING  # what an element is would take more than one step
    if re.search(r"\b(?:TensorSequenceType|TensorList)\b|(?:[Ll]ist|[Tt]uple|Sequence|Iterable)\[.*Tensor", text):
        return Value(TENSORS)
    if re.search(r"\b(?:Tensor|TensorLike|TensorLikeType|Parameter)\b", text):
        return A_TENSOR
    if re.search(r"\b(?:ShapeType|StrideType|Size)\b|\[(?:.*\W)?(?:SymInt|IntLikeType)\b", text):
        return SOME_SHAPE
    if re.search(r"\b(?:SymInt|IntLikeType)\b", text):
        return A_SIZE
    if re.search(r"\b(?:SymBool|BoolLikeType)\b", text):
        return A_TRUTH
    if not text or re.search(r"\bint\b", text):
        return Value(PARAMETER, frozenset({name}))
    return NOTHING


def of_root(annotation: str, name: str) -> Value:
    """What an operator's own parameter is: nobody in the tree calls it, so sizes go by their name."""
    value = annotated(annotation, name)
    if value.kind != PARAMETER:
        return value
    sized = SIZE_NAMES.search(name) and not FIXED_SIZES.search(name)
    many = not annotation or re.search(r"[Ll]ist|[Tt]uple|Sequence", annotation)
    return SOME_SHAPE if sized and many else NOTHING


def all_dependencies(value: Value) -> frozenset[str]:
    """The dependencies of a value and of what it holds."""
    return value.dependencies.union(*(all_dependencies(item) for item in value.items))
