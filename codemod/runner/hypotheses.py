"""From what a kernel showed to a meta that says the same: the first rule that fits all observations.

A result is like an argument, or of the shape that several broadcast to, or an argument without a dimension, or each of
its sizes is one of an argument. Its strides are those of `empty_like`, contiguous, or by columns. Nothing is said where
no rule fits, or where too little was seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch._meta_registrations
from torch._prims_common import make_contiguous_strides_for
from torch.utils import _pytree as pytree

from .shape_rules import MISFITS, Bound, Rule, shapes, tensors

ENOUGH = 8
"""So many calls have to be accepted."""
KINDS = 4
"""So many have to differ in the shapes of their tensors."""


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
    results = [result(each, [(bound, o["results"][i]) for bound, o in seen], i) for i in range(counts.pop())]
    if not results:
        return ["return None" if not each.returns else "return []"]
    return [f"return {', '.join(results)}"]


def result(each: Any, seen: Sequence[tuple[Bound, Any]], place: int) -> str:
    """The expression of the result at that place. Raises NoRule."""
    present = [(bound, value) for bound, value in seen if value is not None]
    if len(present) < len(seen):
        return _masked(each, seen, present, place)
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
    shown = True
    for rule in shapes(each, seen):
        if all(_fits(rule, bound, value) for bound, value in seen):
            said = _of_shape(each, rule, seen)
            if said and _strides_matter(rule, seen):
                return said
            shown = shown and not said
    if not shown:
        raise NoRule("no call shows which strides a result has where an argument's are permuted")
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
    broadcast = f"_broadcast_shapes({', '.join(f'{name}.shape' for name in names)})"
    promoted = f"elementwise_meta({', '.join(names)}, type_promotion=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)"
    for name in names if len(names) > 1 else []:  # an output that was made like an argument, and is resized at times
        made = f"torch.empty_like({name}, memory_format=torch.contiguous_format)"
        resized = f"torch.empty_like({promoted}, dtype={name}.dtype)"
        text = f"{made} if utils.same_shape({name}.shape, {broadcast}) else {resized}"
        if all(_gives(text, names, bound, value) for bound, value in seen):
            return f"({text})"
    return ""


def _gives(text: str, names: Sequence[str], bound: Bound, value: Any) -> bool:
    alike = {
        name: torch.empty_strided(bound[name].shape, bound[name].stride(), dtype=bound[name].dtype, device="meta")
        for name in names
    }
    try:
        made = eval(text, {**vars(torch._meta_registrations), **alike})
    except MISFITS:
        return False
    shape, _, dtype = _spelled(made)
    return [shape, dtype] == [value["shape"], value["dtype"]] and _strided(value, list(made.stride()))


def _masked(each: Any, seen: Sequence[tuple[Bound, Any]], present: Sequence[tuple[Bound, Any]], place: int) -> str:
    """A result that is there where a flag says so: of a list of flags, one for each result, its own."""
    fitting: list[str] = []
    for argument in each.arguments:
        kind = str(argument.type)
        several = [place] if len(each.returns) == argument.N else range(argument.N or 0)
        for index in several if kind == "List[bool]" else [None] if kind == "bool" else []:
            flags = [bound[argument.name] if index is None else bound[argument.name][index] for bound, _ in seen]
            if present and all(flag == (value is not None) for flag, (_, value) in zip(flags, seen, strict=True)):
                fitting.append(argument.name if index is None else f"{argument.name}[{index}]")
    if len(fitting) != 1:
        raise NoRule("a result is undefined at times" + (f", as {' and '.join(fitting)} say" if fitting else ""))
    return f"({result(each, present, place)} if {fitting[0]} else None)"


def _spelled(value: Any) -> list[Any]:
    return [list(value.shape), list(value.stride()), str(value.dtype)] if isinstance(value, torch.Tensor) else []


def _shown(seen: Sequence[tuple[Bound, Any]]) -> str:
    bound, value = seen[0]
    shapes = [f"{name} {tuple(v.shape)}" for name, v in bound.items() if isinstance(v, torch.Tensor)]
    return f"{tuple(value['shape'])} {value['dtype']} for {', '.join(shapes)}"


def _fits(rule: Rule, bound: Bound, value: Any) -> bool:
    try:
        return bool(list(rule.shape(bound)) == value["shape"])
    except MISFITS:
        return False


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
