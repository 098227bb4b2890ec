"""Calls made from an operator's schema: arguments are drawn, from fixed seeds, until eager accepts them."""

from __future__ import annotations

import random
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from . import causes
from .cases import Call
from .forks import limit, survive

TRIES = 4000
REFUSED = 50
"""How many draws are made to see why eager takes none."""
SECONDS = 3.0
STUCK = 3
"""Seconds of processor time after which a call is given up: arguments that do not fit together let some kernels run on
for ever."""
CALLS = 6
"""How many different calls of an overload are made."""
BASES = ((4, 5), (2, 3, 4), (2, 3, 4, 5), (4,), (4, 4), (2, 4, 4), (2, 3, 4, 5, 6), (2, 3, 8, 8))
"""Shapes that the tensors of one call are derived from."""
WORDS = ("mean", "sum", "valid", "same", "constant", "reflect", "none", "ij", "reduced", "n")
INDICES = ("index", "indices", "target", "offset", "length", "ptr", "label", "bins", "sorter")
"""Names, or parts of names, of tensors that hold whole numbers."""
FLAGS = ("mask", "condition")


def schemas(operator: str) -> list[Any]:
    """The schemas of an operator's overloads, none where this torch has no such operator."""
    return list(torch._C._jit_get_schemas_for_operator(operator))


def is_out(schema: Any) -> bool:
    """Whether the overload writes to `out` arguments."""
    return any(argument.is_out for argument in schema.arguments)


def writes(schema: Any) -> bool:
    """Whether the overload writes to its first argument."""
    first = schema.arguments[0] if schema.arguments else None
    return first is not None and first.alias_info is not None and first.alias_info.is_write and not is_out(schema)


def calls(operator: str, piece: str) -> Iterator[Call]:
    """Calls of the operator's overloads that exercise `piece` and that eager accepts."""
    overloads = schemas(operator)
    for schema in overloads:
        inplace = writes(schema)
        # An operator that exists in place only has no other form to run forward.
        only = inplace and piece in ("forward", "vmap") and all(writes(s) or is_out(s) for s in overloads)
        if is_out(schema) or (inplace != (piece == "inplace") and not only):
            continue
        if piece == "out" and not any(is_out(overload) for overload in overloads):
            continue
        yield from _calls(operator, schema, piece, inplace)


def _calls(operator: str, schema: Any, piece: str, inplace: bool) -> Iterator[Call]:
    namespace, _, name = operator.rpartition("::")
    overload = overload_of(operator, schema)
    callee = f"torch.ops.{namespace}.{name}" + ("" if piece == "out" else f".{schema.overload_name or 'default'}")
    gradient = piece in ("backward", "double_backward")
    for number in accepted(overload, schema, gradient):
        positional, named = Draw(number, gradient).arguments(schema)
        yield Call(callee, positional, named, mutates=inplace)


def accepted(overload: Any, schema: Any, gradient: bool) -> list[int]:
    """The numbers of the draws that eager accepts, of different kinds.

    They are tried in a process of their own: unforeseen arguments end some kernels with a signal.
    """
    kinds: dict[str, int] = {}

    def work(first: int) -> Iterator[tuple[int, Any]]:
        for number in range(first, TRIES):
            if time.process_time() > SECONDS or len(kinds) >= CALLS:  # a child's clock starts at 0
                return
            positional, named = Draw(number, gradient).arguments(schema)
            kind = repr([_kind(value) for value in (*positional, *named.values())])
            if kind in kinds:
                continue
            yield number, None
            limit(STUCK)
            if not _call(overload, positional, named):
                kinds[kind] = number
                yield number, [kind, number]

    for kind, number in survive(work):
        kinds[kind] = number
    return list(kinds.values())


def refusal(operator: str) -> str:
    """Eager's most frequent error for the first draws for the operator's overloads, "" where it has none."""
    messages: Counter[str] = Counter()
    for schema in schemas(operator):
        if is_out(schema):
            continue
        overload = overload_of(operator, schema)

        def work(first: int, schema: Any = schema, overload: Any = overload) -> Iterator[tuple[int, Any]]:
            for number in range(first, REFUSED):
                yield number, None
                yield number, _call(overload, *Draw(number, False).arguments(schema))

        messages.update(message for message in survive(work) if message)
    return messages.most_common(1)[0][0] if messages else ""


def overload_of(operator: str, schema: Any) -> Any:
    """The overload of an operator that has this schema."""
    namespace, _, name = operator.rpartition("::")
    return getattr(getattr(getattr(torch.ops, namespace), name), schema.overload_name or "default")


def _kind(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.dim(), value.dtype
    return [_kind(item) for item in value] if isinstance(value, list) else type(value).__name__


def _call(overload: Any, positional: list[Any], named: dict[str, Any]) -> str:
    """Eager's error for arguments that do not fit together, "" where it takes them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            overload(*(_copied(v) for v in positional), **{name: _copied(v) for name, v in named.items()})
    except Exception as error:
        return causes.first_line(error).split(". ")[0]
    return ""


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


class Draw:
    """Draws arguments. Tensors of one call have related shapes; an argument with a default is mostly left out."""

    def __init__(self, number: int, gradient: bool) -> None:
        self._source = random.Random(number)
        self._numbers = torch.Generator().manual_seed(number)
        self._gradient = gradient
        self._shape: tuple[int, ...] = ()
        self._drawn: list[tuple[int, ...]] = []

    def arguments(self, schema: Any) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments for `schema`; whether they fit together is for eager to decide."""
        self._shape = self._source.choice(BASES)
        self._drawn = [self._shape]
        alike = self._source.random() < 0.4
        positional: list[Any] = []
        named: dict[str, Any] = {}
        by_name = False
        for argument in schema.arguments:
            if argument.is_out:
                continue
            if argument.has_default_value() and self._source.random() < 0.7:
                by_name = True
                continue
            value = self.value(str(argument.real_type), argument.name, alike, argument.N)
            if by_name or argument.kwarg_only:
                named[argument.name] = value
            else:
                positional.append(value)
        return positional, named

    def value(self, kind: str, name: str, alike: bool, length: int | None = None) -> Any:
        """A value of a schema's type; a list of truths, which is an array, has the schema's `length`."""
        if kind.startswith("Optional["):
            return None if self._source.random() < 0.5 else self.value(kind[9:-1], name, alike, length)
        if kind == "List[bool]" and length:
            return [self._source.random() < 0.7 for _ in range(length)]
        if kind.startswith("List["):
            return self._list(kind[5:-1], name, alike)
        pick = self._source.choice
        if kind == "Tensor":
            return self._tensor(name, alike)
        if kind in ("int", "SymInt"):
            if "dim" in name or "axis" in name:
                return pick((0, 1, -1))
            return pick((1, 1, 2, 0, 3, 4, *self._shape))
        if kind == "bool":
            return pick((False, True))
        if kind in ("float", "SymFloat"):
            return pick((0.5, 1.0, 0.1))
        if kind == "number":
            return pick((2, 1, 0.5))
        return {"str": pick(WORDS), "ScalarType": pick((torch.float32, torch.int64))}.get(kind)

    def _list(self, kind: str, name: str, alike: bool) -> list[Any]:
        pick = self._source.choice
        if kind in ("int", "SymInt"):
            rank = len(self._shape)
            if "dim" in name or "axis" in name:
                return list(pick(((0,), (-1,), (0, 1), tuple(range(rank)))))
            some = pick((1, 2, 0, 3))
            same = (some,) * rank, (some,) * max(rank - 2, 1), (some,), (some,) * 2
            return list(pick((self._shape, self._shape, *same)))
        return [self.value(kind, name, alike) for _ in range(pick((1, 2, 2, 3)))]

    def _related(self) -> tuple[int, ...]:
        shape = self._shape
        pick = self._source.choice
        return pick((
            shape, shape, shape, shape[-1:], shape[:1], shape[1:2] or shape, shape[:-1], shape[1:], shape[::-1], (),
            (*shape[:-1], 1), (shape[-1], shape[-1]), (3 * shape[-1], shape[-1]), (4 * shape[-1], shape[-1]),
            (shape[0], shape[-1]), (shape[0] * 2, *shape[1:2], *([3] * (len(shape) - 2))), (1, *shape[1:]),
        ))  # fmt: skip

    def _tensor(self, name: str, alike: bool) -> torch.Tensor:
        shape = self._shape if alike else self._related()
        if not alike and self._source.random() < 0.4:
            shape = self._source.choice(self._drawn)
        self._drawn.append(shape)
        chance = self._source.random()
        if chance < (0.8 if any(part in name for part in INDICES) else 0.1):
            return torch.randint(0, 2, shape, generator=self._numbers)
        if any(part in name for part in FLAGS) and chance < 0.8:
            return torch.randint(0, 2, shape, generator=self._numbers).bool()
        return torch.rand(shape, generator=self._numbers, requires_grad=self._gradient)
