"""Python source for the arguments of a call: tensors by how to make them, everything else by its value."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import torch

LITERAL = 128
"""The most elements of a tensor that is written out."""

Style = str
"""How tensors are spelled: "random" (by shape and range), "literal" (by their elements), "whole" (whole numbers so)."""
STYLES: tuple[Style, ...] = ("random", "whole", "literal")


class Unspeakable(Exception):
    """A value that has no short source text."""


@dataclass
class Arguments:
    """The arguments of one call: tensors become parameters of the repro's `operator`, the rest is text."""

    tensors: list[torch.Tensor] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def text(self, value: Any, name: str = "") -> str:
        """The expression for `value`; `name` is what a tensor is called if nothing else is. Raises Unspeakable."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value, name)
        if isinstance(value, list | tuple):
            inner = [self.text(item, name) for item in value]
            if isinstance(value, list):
                return f"[{', '.join(inner)}]"
            return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {self.text(item, str(key))}" for key, item in value.items()) + "}"
        return constant(value)

    def call(self, callee: str, positional: Sequence[Any], named: dict[str, Any]) -> str:
        """The call of `callee`. Raises Unspeakable where an argument has no source text."""
        parts = [self.text(value) for value in positional]
        parts += [f"{name}={self.text(value, name)}" for name, value in named.items()]
        return f"{callee}({', '.join(parts)})"

    def _tensor(self, value: torch.Tensor, name: str) -> str:
        for earlier, earlier_name in zip(self.tensors, self.names, strict=True):
            if earlier is value:
                return earlier_name
        chosen = name if name.isidentifier() else "x"
        number = 1
        while chosen in self.names:
            number += 1
            chosen = f"{name if name.isidentifier() else 'x'}{number}"
        self.tensors.append(value)
        self.names.append(chosen)
        return chosen


def constant(value: Any) -> str:
    """The expression for a value that is no tensor. Raises Unspeakable."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if value is None or isinstance(value, bool | int | float | complex | str) or value is Ellipsis:
        return "..." if value is Ellipsis else repr(value)
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return str(value)
    if isinstance(value, torch.device):
        return repr(str(value))
    if isinstance(value, slice):
        return f"slice({value.start!r}, {value.stop!r}, {value.step!r})"
    return _of_torch(value)


def _of_torch(value: Any) -> str:
    """The expression for what `import torch` brings: a function, a member of an enumeration, options, a module as its
    class makes it by default. Raises Unspeakable."""
    kind = type(value)
    if isinstance(value, FunctionType | type):
        return _path(value)
    member = getattr(value, "name", None)
    if isinstance(member, str) and member in getattr(kind, "__members__", ()):  # Python's, or pybind11's
        return f"{_path(kind)}.{member}"
    if dataclasses.is_dataclass(value):
        fields = [f for f in dataclasses.fields(value) if f.init]
        return f"{_path(kind)}({', '.join(f'{f.name}={constant(getattr(value, f.name))}' for f in fields)})"
    if isinstance(value, torch.nn.Module) and not value.state_dict() and not list(value.children()):
        with contextlib.suppress(TypeError):  # it has no defaults
            if vars(kind()) == vars(value):
                return f"{_path(kind)}()"
    raise Unspeakable(f"{type(value).__name__} has no short source text")


def _path(value: FunctionType | type) -> str:
    """Where `import torch` has `value`, be it by another name than its own. Raises Unspeakable."""
    package, *folders = value.__module__.split(".")
    module: Any = torch if package == "torch" else None
    for folder in folders:
        module = getattr(module, folder, None)
    names = [name for name, held in vars(module).items() if held is value] if module is not None else []
    if not names:
        raise Unspeakable(f"{value.__qualname__} of {value.__module__} is not reached from torch")
    return f"{value.__module__}.{min(names, key=lambda name: (name != value.__name__, name))}"


def tensor(value: torch.Tensor, style: Style, size: Callable[[int], str], gradient: bool) -> str:
    """The expression that makes a tensor like `value`; `size` spells one of its sizes. Raises Unspeakable."""
    if value.layout != torch.strided or value.is_quantized:
        raise Unspeakable(f"a tensor of layout {value.layout}")
    text = _literal(value) if _literally(value, style) else _random(value, size)
    differentiable = value.is_floating_point() or value.is_complex()
    return f"{text}.requires_grad_()" if gradient and value.requires_grad and differentiable else text


def _literally(value: torch.Tensor, style: Style) -> bool:
    whole = not (value.is_floating_point() or value.is_complex())
    return style == "literal" or not value.dim() or (style == "whole" and whole)


def stacked(value: torch.Tensor, style: Style) -> str:
    """The expression that makes n tensors like `value` as one, the n first. Raises Unspeakable."""
    if value.layout != torch.strided:
        raise Unspeakable(f"a tensor of layout {value.layout}")
    if _literally(value, style) or _order(value):
        return f"torch.stack([{tensor(value, style, str, False)}] * n)"
    return _filled(value.detach(), ", ".join(["n", *map(str, value.shape)]))


def _dtype(value: torch.Tensor, default: torch.dtype) -> str:
    return "" if value.dtype == default else f", dtype={value.dtype}"


def _literal(value: torch.Tensor) -> str:
    if value.numel() > LITERAL or any(not s for s in value.shape):
        raise Unspeakable(f"{value.numel()} elements")
    whole = value.detach()
    text = repr(whole.tolist()).replace("nan", "float('nan')").replace("inf", "float('inf')")
    default = torch.int64 if not value.is_floating_point() else torch.float32
    return f"torch.tensor({text}{_dtype(value, torch.bool if value.dtype == torch.bool else default)})"


def _order(value: torch.Tensor) -> list[int] | None:
    """The dimensions by falling stride where `value` is dense but transposed, else None."""
    if value.is_contiguous() or not value.numel():
        return None
    order = sorted(range(value.dim()), key=value.stride, reverse=True)
    return order if value.permute(order).is_contiguous() and order != sorted(order) else None


def _random(value: torch.Tensor, size: Callable[[int], str]) -> str:
    order = _order(value)
    shape = ", ".join(size(value.shape[d]) for d in (order or range(value.dim())))
    text = _filled(value.detach(), shape)
    if order:
        text += f".permute({', '.join(str(order.index(d)) for d in range(len(order)))})"
    return text


def _filled(value: torch.Tensor, shape: str) -> str:
    whole = f"({shape})" if ", " in shape else f"({shape},)"
    if not value.numel():
        return f"torch.zeros({shape}{_dtype(value, torch.float32)})"
    if value.dtype == torch.bool:
        return f"torch.randint(0, 2, {whole}).bool()"
    if value.is_complex():
        return f"torch.randn({shape}, dtype={value.dtype})"
    if not value.is_floating_point():
        return f"torch.randint({int(value.min())}, {int(value.max()) + 1}, {whole}{_dtype(value, torch.int64)})"
    if value.dtype.itemsize < 2:  # the 8-bit types are made by conversion only
        return f"torch.rand({shape}).to({value.dtype})"
    maker = "rand" if float(value.min()) >= 0 else "randn"
    return f"torch.{maker}({shape}{_dtype(value, torch.float32)})"
