"""A ShapesSpec with a variable for every size of a call, and what this torch cannot tell of shapes.

`torch.compile(dynamic_shapes=…)` takes one since 2.14 (torch/fx/experimental/dynamic_spec.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import torch
from torch._dynamo.decorators import mark_unbacked

from . import assumptions, sizes, tracing


def available() -> bool:
    """Whether torch.compile takes a ShapesSpec."""
    return "dynamic_shapes" in inspect.signature(torch.compile).parameters


def spec(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """The ShapesSpec of a call of `function`, each size of whose dense tensors is a variable of its own."""
    names: Any = import_module("torch.fx.experimental.dynamic_spec")
    specs = [
        names.TensorSpec([names.ShapeVar() for _ in value.shape]) if sizes.is_sized(value) else None for value in inputs
    ]
    parameters: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            parameters["*args"] = specs
        elif specs:
            parameters[parameter.name] = specs.pop(0)
    return names.ShapesSpec(parameters)


def cannot() -> list[str]:
    """What this torch cannot tell, a sentence each."""
    shapes: Any = import_module("torch.fx.experimental.symbolic_shapes")
    missing = [] if tracing.is_known() else ["it has no structured trace that is known, so guards are without lines"]
    missing += assumptions.missing(shapes)
    if not available():
        missing.append("torch.compile takes no ShapesSpec, so `spec` is not asked")
    if _strides_are_guarded():
        missing.append("strides are never unknown to it: tensors in another order of strides are compiled for apart")
    return missing


def _strides_are_guarded() -> bool:
    """Whether a function of a tensor all of whose sizes are unbacked is compiled again for other strides."""
    frames: list[Any] = []

    def count(module: Any, inputs: Any) -> Any:
        frames.append(module)
        return module

    torch._dynamo.reset()
    compiled: Any = torch.compile(torch.sin, backend=count)
    try:
        for tensor in (torch.ones(3, 4).t(), torch.ones(4, 3)):
            mark_unbacked(tensor, (0, 1))
            compiled(tensor)
    finally:
        torch._dynamo.reset()
    return len(frames) > 1
