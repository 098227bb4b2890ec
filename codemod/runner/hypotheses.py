"""From what a kernel showed to a meta that says the same: the first rule that fits all observations.

A result is like an argument, or of the shape that several broadcast to, or an argument without a dimension, or each of
its sizes is one of an argument. Its strides are those of `empty_like`, contiguous, or by columns. Nothing is said where
no rule fits, or where too little was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch._meta_registrations
from torch._prims_common import make_contiguous_strides_for
from torch.utils import _pytree as pytree

ENOUGH = 8
"""So many calls have to be accepted."""
_NONE = (RuntimeError, LookupError, ArithmeticError, ValueError, TypeError, AttributeError)
"""What a rule raises that does not fit the arguments."""
KINDS = 4
"""So many have to differ in the shapes of their tensors."""
Bound = Mapping[str, Any]
Shape = Callable[[Bound], "tuple[int, ...]"]


@dataclass(frozen=True)
class Rule:
    """A shape: as Python, and computed. `like` is the argument whose shape it is, if it is one's.

    `fixed` says that it has as many dimensions whatever the arguments have.
    """

    text: str
    shape: Shape
    like: str = ""
    fixed: bool = False


class NoRule(Exception):
    """No rule fits; the message says what was seen."""


def body(each: Any, seen: Sequence[tuple[Bound, Any]]) -> list[str]:
    """The lines of the meta's body. Raises NoRule."""
    if len(seen) < ENOUGH:
        raise NoRule(f"eager accepts {len(seen)} of the calls that are made, of which {ENOUGH} are wanted")
    kinds = {
        tuple(tuple(leaf.shape) for leaf in pytree.tree_leaves(bound) if isinstance(leaf, torch.Tensor))
        for bound, _ in seen
    }
    if len(kinds) < KINDS:
        raise NoRule(f"eager accepts calls of {len(kinds)} kinds, of which {KINDS} are wanted")
    if any(observation["changed"] for _, observation in seen):
        raise NoRule("it changes the sizes, strides or dtype of an argument")
    counts = {len(observation["results"]) for _, observation in seen}
    if len(counts) != 1:
        raise NoRule("it gives several results, at times more of them")
    results = [result(each, [(bound, o["results"][index]) for bound, o in seen]) for index in range(counts.pop())]
    if not results:
        return ["return None" if not each.returns else "return []"]
    return [f"return {', '.join(results)}"]


def result(each: Any, seen: Sequence[tuple[Bound, Any]]) -> str:
    """The expression of one result. Raises NoRule."""
    present = [(bound, value) for bound, value in seen if value is not None]
    if len(present) < len(seen):
        return _masked(each, seen, present)
    if any(not isinstance(value, dict) or value["layout"] != "torch.strided" for _, value in seen):
        raise NoRule("a result is no dense tensor")
    shared = {tuple(value["shared"]) for _, value in seen}
    if len(shared) != 1:
        raise NoRule("a result shares the memory of an argument at times")
    (names,) = shared
    if names:
        same = all(_spelled(bound[names[0]]) == [v["shape"], v["stride"], v["dtype"]] for bound, v in seen)
        if len(names) == 1 and same:
            return str(names[0])
        raise NoRule("a result is a view of an argument")
    for rule in shapes(each, seen):
        if all(_fits(rule, bound, value) for bound, value in seen):
            said = _of_shape(each, rule, seen)
            if said:
                return said
    if said := _elementwise(each, seen):
        return said
    raise NoRule(f"no rule gives the shapes, strides and dtypes that were seen, as {_shown(seen)}")


def _elementwise(each: Any, seen: Sequence[tuple[Bound, Any]]) -> str:
    """What TensorIterator gives for all tensors, or for some of them: its strides are those of no single argument."""
    names = tensors(each, seen)
    subsets = [names, *([name] for name in names), *([a, b] for i, a in enumerate(names) for b in names[i + 1 :])]
    for chosen in subsets:
        text = f"elementwise_meta({', '.join(chosen)}, type_promotion=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)"
        if chosen and all(_gives(text, chosen, bound, value) for bound, value in seen):
            return text
    return ""


def _gives(text: str, names: Sequence[str], bound: Bound, value: Any) -> bool:
    alike = {
        name: torch.empty_strided(bound[name].shape, bound[name].stride(), dtype=bound[name].dtype, device="meta")
        for name in names
    }
    try:
        made = eval(text, {**vars(torch._meta_registrations), **alike})
    except _NONE:
        return False
    shape, _, dtype = _spelled(made)
    return [shape, dtype] == [value["shape"], value["dtype"]] and _strided(value, list(made.stride()))


def _masked(each: Any, seen: Sequence[tuple[Bound, Any]], present: Sequence[tuple[Bound, Any]]) -> str:
    """A result that is there where a flag says so."""
    for argument in each.arguments:
        kind = str(argument.type)
        for index in range(argument.N or 0) if kind == "List[bool]" else [None] if kind == "bool" else []:
            flags = [bound[argument.name] if index is None else bound[argument.name][index] for bound, _ in seen]
            if present and all(flag == (value is not None) for flag, (_, value) in zip(flags, seen, strict=True)):
                name = argument.name if index is None else f"{argument.name}[{index}]"
                return f"({result(each, present)} if {name} else None)"
    raise NoRule("a result is undefined at times")


def _spelled(value: Any) -> list[Any]:
    return [list(value.shape), list(value.stride()), str(value.dtype)] if isinstance(value, torch.Tensor) else []


def _shown(seen: Sequence[tuple[Bound, Any]]) -> str:
    bound, value = seen[0]
    shapes = [f"{name} {tuple(v.shape)}" for name, v in bound.items() if isinstance(v, torch.Tensor)]
    return f"{tuple(value['shape'])} {value['dtype']} for {', '.join(shapes)}"


def _fits(rule: Rule, bound: Bound, value: Any) -> bool:
    try:
        return bool(list(rule.shape(bound)) == value["shape"])
    except _NONE:
        return False


def tensors(each: Any, seen: Sequence[tuple[Bound, Any]]) -> list[str]:
    """The arguments that are tensors in every call."""
    return [a.name for a in each.arguments if all(isinstance(bound.get(a.name), torch.Tensor) for bound, _ in seen)]


def shapes(each: Any, seen: Sequence[tuple[Bound, Any]]) -> Iterator[Rule]:
    """The rules to try, the plainest first."""
    names = tensors(each, seen)
    for name in names:
        yield Rule(f"{name}.shape", partial(_part, name, slice(None)), name)
    yield Rule("()", lambda bound: (), fixed=True)
    if len(names) > 1:
        pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
        for several in (*pairs, tuple(names)):
            text = f"_broadcast_shapes({', '.join(f'{name}.shape' for name in several)})"
            yield Rule(text, partial(_broadcast, several))
    yield from _reduced(each, names)
    for name in names:
        yield Rule(f"{name}.shape[:-1]", partial(_part, name, slice(None, -1)))
        yield Rule(f"{name}.shape[1:]", partial(_part, name, slice(1, None)))
        for second in names:
            if second != name:
                yield Rule(f"({name}.shape[0], *{second}.shape[1:])", partial(_first_of, name, second))
        yield Rule(f"(*{name}.shape[:-2], sym_min({name}.shape[-2], {name}.shape[-1]))", partial(_by_matrix, name))
    yield from _by_size(each, names, seen)


def _reduced(each: Any, names: Sequence[str]) -> Iterator[Rule]:
    """An argument without the dimension that another names, or with one element there."""
    kinds = {a.name: str(a.type) for a in each.arguments}
    if kinds.get("dim") not in ("int", "Optional[int]") or kinds.get("keepdim") != "bool":
        return
    for name in names:

        def shape(bound: Bound, name: str = name) -> tuple[int, ...]:
            tensor, dim = bound[name], bound["dim"]
            dims = set(range(tensor.dim())) if dim is None else {dim % max(tensor.dim(), 1)}
            kept = ((1 if index in dims else size) for index, size in enumerate(tensor.shape))
            return tuple(kept) if bound["keepdim"] else tuple(s for i, s in enumerate(tensor.shape) if i not in dims)

        dims = "None if dim is None else (dim,)" if kinds["dim"] != "int" else "(dim,)"
        reduce = f"utils.reduction_dims({name}.shape, {dims})"
        yield Rule(f"_compute_reduction_shape({name}, {reduce}, keepdim)", shape)


def _by_size(each: Any, names: Sequence[str], seen: Sequence[tuple[Bound, Any]]) -> Iterator[Rule]:
    """Each size is one of an argument's, or an integer that is given."""
    ranks = {len(value["shape"]) for _, value in seen}
    if len(ranks) != 1 or not (rank := ranks.pop()):
        return
    sizes: list[Rule] = []
    for place in range(rank):
        wanted = [value["shape"][place] for _, value in seen]
        fitting = next((atom for atom in _atoms(each, names) if _agrees(atom, seen, wanted)), None)
        if fitting is None:
            return
        sizes.append(fitting)
    text = f"({', '.join(atom.text for atom in sizes)}{',' if rank == 1 else ''})"
    yield Rule(text, lambda bound: tuple(atom.shape(bound)[0] for atom in sizes), fixed=True)


def _agrees(atom: Rule, seen: Sequence[tuple[Bound, Any]], wanted: Sequence[int]) -> bool:
    try:
        return all(atom.shape(bound)[0] == size for (bound, _), size in zip(seen, wanted, strict=True))
    except _NONE:
        return False


def _atoms(each: Any, names: Sequence[str]) -> Iterator[Rule]:
    """Single sizes, the plainest first."""
    plain: list[Rule] = []
    for name in names:
        plain += (Rule(f"{name}.shape[{i}]", partial(_size, name, i)) for i in (0, 1, 2, 3, 4, -1, -2, -3))
        plain.append(Rule(f"{name}.numel()", partial(_total, name)))
    for argument in each.arguments:
        if str(argument.type) == "int":
            plain.append(Rule(argument.name, partial(_number, argument.name)))
        elif str(argument.type) == "List[int]":
            plain += (Rule(f"{argument.name}[{i}]", partial(_element, argument.name, i)) for i in (0, 1, 2))
    yield from plain
    for sign, number in (("+", 1), ("-", -1)):
        yield from (Rule(f"{atom.text} {sign} 1", partial(_more, atom, number)) for atom in plain)
    yield from (Rule(str(number), partial(_constant, number)) for number in (3, 2, 1))
    for number in (2, 3):
        yield from (Rule(f"{atom.text} // {number}", partial(_divided, atom, number)) for atom in plain)
        yield from (Rule(f"{number} * {atom.text}", partial(_times, atom, number)) for atom in plain)
    for atom in plain:
        for second in plain:
            yield Rule(f"{atom.text} // {second.text}", partial(_quotient, atom, second))
            yield Rule(f"sym_min({atom.text}, {second.text})", partial(_least, atom, second))


def _part(name: str, part: slice, bound: Bound) -> tuple[int, ...]:
    return tuple(bound[name].shape[part])


def _broadcast(names: Sequence[str], bound: Bound) -> tuple[int, ...]:
    return tuple(torch.broadcast_tensors(*(bound[name] for name in names))[0].shape)  # type: ignore[no-untyped-call]


def _first_of(name: str, second: str, bound: Bound) -> tuple[int, ...]:
    return (bound[name].shape[0], *bound[second].shape[1:])


def _by_matrix(name: str, bound: Bound) -> tuple[int, ...]:
    return (*bound[name].shape[:-2], min(bound[name].shape[-2:]))


def _size(name: str, index: int, bound: Bound) -> tuple[int, ...]:
    return (bound[name].shape[index],)


def _total(name: str, bound: Bound) -> tuple[int, ...]:
    return (bound[name].numel(),)


def _number(name: str, bound: Bound) -> tuple[int, ...]:
    return (int(bound[name]),)


def _element(name: str, index: int, bound: Bound) -> tuple[int, ...]:
    return (int(bound[name][index]),)


def _constant(number: int, bound: Bound) -> tuple[int, ...]:
    return (number,)


def _more(atom: Rule, number: int, bound: Bound) -> tuple[int, ...]:
    return (atom.shape(bound)[0] + number,)


def _divided(atom: Rule, number: int, bound: Bound) -> tuple[int, ...]:
    return (atom.shape(bound)[0] // number,)


def _times(atom: Rule, number: int, bound: Bound) -> tuple[int, ...]:
    return (atom.shape(bound)[0] * number,)


def _quotient(atom: Rule, divisor: Rule, bound: Bound) -> tuple[int, ...]:
    return (atom.shape(bound)[0] // divisor.shape(bound)[0],)


def _least(atom: Rule, second: Rule, bound: Bound) -> tuple[int, ...]:
    return (min(atom.shape(bound)[0], second.shape(bound)[0]),)


def _of_shape(each: Any, rule: Rule, seen: Sequence[tuple[Bound, Any]]) -> str:
    """The expression of a tensor of that shape with the dtype and strides that were seen; "" where there is none."""
    names = tensors(each, seen)
    dtypes = {value["dtype"] for _, value in seen}
    typed = [name for name in names if all(str(bound[name].dtype) == v["dtype"] for bound, v in seen)]
    fixed = len(dtypes) == 1 and not typed
    if not typed and not fixed:
        return ""
    order = [*([rule.like] if rule.like in typed else []), *typed, *([rule.like] if rule.like else []), *names]
    base = order[0]
    dtype = f", dtype={next(iter(dtypes))}" if fixed else "" if base in typed else f", dtype={typed[0]}.dtype"
    if not _strides_matter(rule, seen):
        raise NoRule("no call shows which strides a result has where an argument's are permuted")
    if all(_strided(value, _contiguous(value["shape"])) for _, value in seen):
        if rule.like == base:
            return f"torch.empty_like({base}{dtype}, memory_format=torch.contiguous_format)"
        return f"{base}.new_empty({rule.text}{dtype})"
    if all(_strided(value, _by_columns(value["shape"])) for _, value in seen):
        said = dtype.removeprefix(", dtype=") or f"{base}.dtype"
        columns = f"make_contiguous_strides_for({rule.text}, row_major=False)"
        return f"torch.empty_strided({rule.text}, {columns}, dtype={said}, device={base}.device)"
    for name in dict.fromkeys([*([rule.like] if rule.like else []), *names]):
        if all(list(bound[name].shape) == v["shape"] and _strided(v, _kept(bound[name])) for bound, v in seen):
            dtype = f", dtype={next(iter(dtypes))}" if fixed else "" if name in typed else f", dtype={typed[0]}.dtype"
            return f"torch.empty_like({name}{dtype})"
    return ""


def _strides_matter(rule: Rule, seen: Sequence[tuple[Bound, Any]]) -> bool:
    """Whether a call shows which strides a result has: permuted ones were given, or there is one order alone."""
    if rule.fixed and all(len(value["shape"]) < 2 for _, value in seen):
        return True
    return any(
        sum(size > 1 for size in value["shape"]) > 1
        and any(_permuted(tensor) for tensor in bound.values() if isinstance(tensor, torch.Tensor))
        for bound, value in seen
    )


def _permuted(tensor: torch.Tensor) -> bool:
    """Whether a tensor's dimensions lie in another order than theirs in memory."""
    steps = [stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]
    return tensor.numel() > 0 and steps != sorted(steps, reverse=True)


def _strided(value: Any, stride: Sequence[int]) -> bool:
    """Whether a result has these strides, where they matter: of dimensions with more than one element."""
    if 0 in value["shape"]:
        return True
    compared = zip(value["shape"], value["stride"], stride, strict=True)
    return all(step == expected for size, step, expected in compared if size > 1)


def _by_columns(shape: Sequence[int]) -> list[int]:
    return list(make_contiguous_strides_for(tuple(shape), row_major=False))


def _contiguous(shape: Sequence[int]) -> list[int]:
    return list(torch.empty(tuple(shape), device="meta").stride())


def _kept(tensor: torch.Tensor) -> list[int]:
    return list(torch.empty_like(torch.empty_strided(tensor.shape, tensor.stride(), device="meta")).stride())
