"""Whether an operator's fake says what its kernel does: shape, dtype, strides, device, and what shares memory.

Each call that eager accepts is made again with sizes 0 and 1, with permuted strides and with gaps between the elements;
the fake gets tensors with symbols for sizes. torch.library.opcheck asks the same, of one call.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

from . import causes, schema
from .cases import symbolic
from .forks import survive

NAME = "fake_as_kernel"
PASSES, DIFFERS, STOPS = "passes", "differs", "stops"
_SYMBOLS = (torch.SymInt, torch.SymFloat, torch.SymBool)
CALLED = "called"
"""What comes before the end of a comparison: the kernel is done, and the fake is called."""


def check(operator: str) -> dict[str, str]:
    """How the comparison ends, by `NAME`: "passes", "differs: …" or "stops: …"; empty where eager accepts no call."""
    compares = False
    for each in schema.schemas(operator):
        if schema.is_out(each):
            continue
        overload = schema.overload_of(operator, each)
        calls = [schema.Draw(number, False).arguments(each) for number in schema.accepted(overload, each, False)]
        # In one child: what torch and sympy keep of a first comparison makes the others ten times as fast.
        last = PASSES
        for end in survive(partial(_ends, overload, calls)):
            if end not in (CALLED, PASSES):
                return {NAME: end}
            if end == last == CALLED:
                break
            last, compares = end, True
        if last == CALLED:
            return {NAME: f"{STOPS}: the fake ends its process"}
    return {NAME: PASSES} if compares else {}


def compare(overload: Any, positional: list[Any], named: dict[str, Any]) -> dict[str, str]:
    """As `check`, for one call and its variants, in this process."""
    ends = [end for variant in variants((positional, named)) if (end := compared(overload, *variant)) is not None]
    return {NAME: next((end for end in ends if end != PASSES), PASSES)} if ends else {}


def source(operator: str) -> str:
    """Where the fake of an operator is registered in Python, as `file:line`; "" where that is not known."""
    try:
        registry: Any = import_module("torch._library.simple_registry").singleton
        place = str(registry.find(operator).fake_impl.kernel.source)
    except (ImportError, AttributeError):
        return ""
    # Of a `custom_op` that is called, not a decorator, torch notes its own line.
    return "" if place.startswith(os.path.dirname(torch.__file__) + os.sep) else place


def _ends(overload: Any, calls: list[Any], first: int) -> Iterator[tuple[int, Any]]:
    for index, variant in enumerate(chain.from_iterable(map(variants, calls))):
        if index >= first:
            yield index, None
            real = _kernel_results(overload, *variant)
            if real:
                yield index, CALLED
                yield index, _beside(real, overload, *variant)


def variants(arguments: Any) -> Iterator[Any]:
    """`arguments`, and the same with each of their sizes 0 and 1, with other strides, and with gaps."""
    yield arguments
    tensors = [leaf for leaf in pytree.tree_leaves(arguments) if isinstance(leaf, torch.Tensor)]
    yield _mapped(arguments, permuted)
    yield _mapped(arguments, gapped)
    for size in sorted({size for tensor in tensors for size in tensor.shape if size > 1}):
        for changed in (0, 1):
            yield _mapped(arguments, lambda tensor, size=size, changed=changed: resized(tensor, size, changed))


def _mapped(arguments: Any, change: Any) -> Any:
    return pytree.tree_map(lambda leaf: change(leaf) if isinstance(leaf, torch.Tensor) else leaf, arguments)


def permuted(tensor: torch.Tensor) -> torch.Tensor:
    """The same values, the dimensions in the opposite order in memory."""
    order = tuple(reversed(range(tensor.dim())))
    return tensor.permute(order).contiguous().permute(order)


def gapped(tensor: torch.Tensor) -> torch.Tensor:
    """The same values, with gaps between them in memory."""
    if not tensor.dim():
        return tensor
    return torch.stack((tensor, tensor), -1)[..., 0]


def resized(tensor: torch.Tensor, size: int, changed: int) -> torch.Tensor:
    """A part of the values, contiguous: what has `size` elements along a dimension has `changed` then."""
    for dimension, length in enumerate(tensor.shape):
        if length == size:
            tensor = tensor.narrow(dimension, 0, changed)
    return tensor.clone(memory_format=torch.contiguous_format)


def compared(overload: Any, positional: Any, named: Any) -> str | None:
    """How one comparison ends; None where eager does not accept the arguments."""
    real = _kernel_results(overload, positional, named)
    return _beside(real, overload, positional, named) if real else None


def _kernel_results(overload: Any, positional: Any, named: Any) -> tuple[list[Any], list[torch.Tensor]] | None:
    try:
        return _results(overload, positional, named)
    except Exception:
        return None


def _beside(real: tuple[list[Any], list[torch.Tensor]], overload: Any, positional: Any, named: Any) -> str:
    """How the fake ends where the kernel gave and was given what `real` holds."""
    results, inputs = real
    mode = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
    try:
        with mode, enable_python_dispatcher():  # as the compiler does: what metas call has references in Python
            fakes, fake_inputs = _results(overload, *symbolic((positional, named), mode))
    except Exception as error:
        return f"{STOPS}: {causes.first_line(error)}"
    mismatch = difference(results, inputs, fakes, fake_inputs)
    shapes = ", ".join(str(tuple(t.shape)) for t in inputs)
    return f"{DIFFERS} from the kernel for {shapes}: {mismatch}" if mismatch else PASSES


def _results(overload: Any, positional: Any, named: Any) -> tuple[list[Any], list[torch.Tensor]]:
    """What a call gives, and the tensors that it was given."""
    if not isinstance(positional, list):
        raise TypeError("a list of arguments is wanted")
    inputs = [leaf for leaf in pytree.tree_leaves((positional, named)) if isinstance(leaf, torch.Tensor)]
    return pytree.tree_leaves(overload(*positional, **named)), inputs


def difference(results: list[Any], inputs: list[Any], fakes: list[Any], fake_inputs: list[Any]) -> str:
    """In what a fake's results differ from the kernel's, "" where in nothing."""
    alias = torch._C._is_alias_of  # type: ignore[attr-defined]
    unknown: dict[Any, Any] = {}
    if len(results) != len(fakes):
        return f"{len(fakes)} results, not {len(results)}"
    for number, (real, fake) in enumerate(zip(results, fakes, strict=True)):
        where = f"result {number}: " if len(results) > 1 else ""
        if not isinstance(real, torch.Tensor) or not isinstance(fake, torch.Tensor):
            value = _value(fake, real, unknown)
            if type(real) is not type(value):
                return f"{where}{type(fake).__name__}, not {type(real).__name__}"
            if isinstance(fake, _SYMBOLS) and value != real:
                return f"{where}{value}, not {real}"
            continue
        if fake.dim() != real.dim():
            return f"{where}shape {tuple(fake.shape)}, not {tuple(real.shape)}"
        shape = tuple(_value(a, b, unknown) for a, b in zip(fake.shape, real.shape, strict=True))
        if shape != tuple(real.shape):
            return f"{where}shape {shape}, not {tuple(real.shape)}"
        for name in ("dtype", "device", "layout"):
            if getattr(real, name) != getattr(fake, name):
                return f"{where}{name} {getattr(fake, name)}, not {getattr(real, name)}"
        if real.layout == torch.strided and real.numel():  # the strides of dimensions with one element are no matter
            strides = tuple(_value(a, b, unknown) for a, b in zip(fake.stride(), real.stride(), strict=True))
            if any(a != b for a, b, size in zip(strides, real.stride(), shape, strict=True) if size > 1):
                return f"{where}strides {strides}, not {tuple(real.stride())}"
        for index, (tensor, fake_tensor) in enumerate(zip(inputs, fake_inputs, strict=True)):
            shared = alias(real, tensor)
            if real.numel() and shared != alias(fake, fake_tensor):
                return f"{where}it {'shares' if shared else 'does not share'} the memory of tensor {index}"
    return ""


def _value(fake: Any, real: Any, unknown: dict[Any, Any]) -> Any:
    """What a symbol of a fake comes to; `fake` itself where that is none.

    A size that depends on data, as of `new_dynamic_size()`, is what the kernel has where it is met first: `unknown`
    holds those by their symbols.
    """
    if not isinstance(fake, _SYMBOLS):
        return fake
    if fake.node.has_hint():
        return fake.node.hint
    expression = fake.node.expr
    if expression.is_Symbol:
        unknown.setdefault(expression, real)
    value = expression.subs(unknown)
    return type(real)(value) if value.is_number else real
