"""The overloads of torch that symbols cannot pass: a kernel of a backend, and neither a meta, a decomposition nor a
composite kernel (the ways of torch/_subclasses/fake_tensor.py)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch._decomp
import torch._meta_registrations
import torch._refs
from torch._subclasses import fake_impls

WAYS = (
    "Meta", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional",
)  # fmt: skip


def uncovered(namespace: str = "aten") -> Iterator[tuple[Any, Any]]:
    """(schema, overload) of each that has a kernel for the CPU, which can be run here, and no way to trace."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    tables = torch._decomp.decomposition_table, torch._decomp.meta_table, fake_impls.op_implementations_dict
    for schema in torch._C._jit_get_all_schemas():
        space, _, base = schema.name.partition("::")
        if space != namespace:
            continue
        name = schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
        try:
            if not has(name, "CPU") or any(has(name, way) for way in WAYS):
                continue
        except RuntimeError:  # of TorchScript alone
            continue
        overload = getattr(getattr(getattr(torch.ops, space), base), schema.overload_name or "default")
        takes = any("Tensor" in str(argument.type) for argument in schema.arguments)
        if takes and not overload.py_kernels and not any(overload in table for table in tables):
            yield schema, overload


def size_depends_on_data(overload: Any) -> bool:
    """Whether its tags say that values decide on the result's sizes, or are the result."""
    return not {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output}.isdisjoint(overload.tags)
