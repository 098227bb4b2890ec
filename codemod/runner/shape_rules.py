"""Shapes that a result may have, as Python says them: the rules that `hypotheses` tries, the plainest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

MISFITS = (RuntimeError, LookupError, NameError, ArithmeticError, ValueError, TypeError, AttributeError)
"""What a rule raises that does not fit the arguments."""
LAST = 4
"""So many of the last sizes may be others than an argument's."""
DIFFERENT = 4
"""So many different sizes show that they are computed."""
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
    for name in names:  # kernels may see a tensor without dimensions as one with one element
        yield Rule(f"{name}.shape or (1,)", partial(_part_or_single, name))
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
    """Each size is one of an argument's, or an integer that is given, or computed of such; or the last ones are."""
    ranks = {len(value["shape"]) for _, value in seen}
    if len(ranks) == 1 and (rank := ranks.pop()):
        sizes = _sizes(each, names, seen, range(rank))
        if sizes:
            text = f"({', '.join(size.text for size in sizes)}{',' if rank == 1 else ''})"
            yield Rule(text, partial(_joined, None, sizes), fixed=True)
        return
    for name in names:
        for count in range(1, LAST + 1):
            if not all(_begins(value["shape"], bound[name], count) for bound, value in seen):
                continue
            sizes = _sizes(each, names, seen, range(-count, 0))
            if sizes:
                text = f"(*{name}.shape[:-{count}], {', '.join(size.text for size in sizes)})"
                yield Rule(text, partial(_joined, (name, count), sizes))


def _begins(shape: Sequence[int], tensor: torch.Tensor, count: int) -> bool:
    """Whether a shape is a tensor's, but for the last `count` sizes."""
    return len(shape) == tensor.dim() >= count and list(shape[:-count]) == list(tensor.shape[:-count])


def _sizes(each: Any, names: Sequence[str], seen: Sequence[tuple[Bound, Any]], places: Iterable[int]) -> list[Rule]:
    """A rule for the size at each of `places`; empty where there is none for one of them."""
    sizes: list[Rule] = []
    for place in places:
        wanted = [value["shape"][place] for _, value in seen]
        fitting = next((atom for atom in _atoms(each, names, len(set(wanted))) if _agrees(atom, seen, wanted)), None)
        if fitting is None:
            return []
        sizes.append(fitting)
    return sizes


def _joined(first: tuple[str, int] | None, sizes: Sequence[Rule], bound: Bound) -> tuple[int, ...]:
    start = () if first is None else tuple(bound[first[0]].shape[: -first[1]])
    return (*start, *(size.shape(bound)[0] for size in sizes))


def _agrees(atom: Rule, seen: Sequence[tuple[Bound, Any]], wanted: Sequence[int]) -> bool:
    try:
        return all(atom.shape(bound)[0] == size for (bound, _), size in zip(seen, wanted, strict=True))
    except MISFITS:
        return False


def _atoms(each: Any, names: Sequence[str], different: int) -> Iterator[Rule]:
    """Single sizes, the plainest first; what is computed only for enough `different` ones."""
    plain: list[Rule] = []
    for name in names:
        plain += (_computed(f"{name}.shape[{i}]") for i in (0, 1, 2, 3, 4, -1, -2, -3))
        plain.append(_computed(f"{name}.numel()"))
    for argument in each.arguments:
        if str(argument.type) == "int":
            plain.append(_computed(argument.name))
        elif str(argument.type) == "List[int]":
            plain += (_computed(f"{argument.name}[{i}]") for i in (0, 1, 2))
    yield from plain
    yield from (_computed(str(number)) for number in (3, 2, 1))
    if different < DIFFERENT:
        return
    yield from _windows(each, names)
    for sign in ("+", "-"):
        yield from (_computed(f"{atom.text} {sign} 1") for atom in plain)
    for number in (2, 3):
        yield from (_computed(f"{atom.text} // {number}") for atom in plain)
        yield from (_computed(f"{number} * {atom.text}") for atom in plain)
    for atom in plain:
        for second in plain:
            yield _computed(f"{atom.text} // {second.text}")
            yield _computed(f"sym_min({atom.text}, {second.text})")


def _windows(each: Any, names: Sequence[str]) -> Iterator[Rule]:
    """How often a window fits along a dimension, or how far windows reach, which begin at each element of it."""
    counts = {a.name: a.N for a in each.arguments if str(a.type) == "List[int]" and a.N}
    if not {"kernel_size", "stride", "padding"} <= counts.keys():
        return
    for name in names:
        for i in range(counts["kernel_size"]):
            size, stride, padding = f"{name}.shape[{i - counts['kernel_size']}]", f"stride[{i}]", f"padding[{i}]"
            reach = f"(kernel_size[{i}] - 1)"
            reach = f"dilation[{i}] * {reach}" if "dilation" in counts else reach
            yield _computed(f"({size} + 2 * {padding} - {reach} - 1) // {stride} + 1")
            if "output_padding" in counts:
                yield _computed(f"({size} - 1) * {stride} - 2 * {padding} + {reach} + output_padding[{i}] + 1")


def _computed(text: str) -> Rule:
    """A size that is said in Python."""
    code = compile(text, text, "eval")
    return Rule(text, lambda bound: (int(eval(code, {"sym_min": min, **bound})),))


def _part(name: str, part: slice, bound: Bound) -> tuple[int, ...]:
    return tuple(bound[name].shape[part])


def _part_or_single(name: str, bound: Bound) -> tuple[int, ...]:
    return tuple(bound[name].shape) or (1,)


def _broadcast(names: Sequence[str], bound: Bound) -> tuple[int, ...]:
    return tuple(torch.broadcast_tensors(*(bound[name] for name in names))[0].shape)  # type: ignore[no-untyped-call]


def _first_of(name: str, second: str, bound: Bound) -> tuple[int, ...]:
    return (bound[name].shape[0], *bound[second].shape[1:])


def _by_matrix(name: str, bound: Bound) -> tuple[int, ...]:
    return (*bound[name].shape[:-2], min(bound[name].shape[-2:]))
