"""From an operator to what test registries call it.

OpInfo names are those of the Python function (`nn.functional.cross_entropy`, `linalg.det`), operators those of ATen
(`cross_entropy_loss`, `linalg_det`). torch/nn/functional.py and torch/functional.py of the tree tell which function
ends in which operator.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

from codemod.planning.naming import base_name, family
from transforms.python.reading.public_names import MODULES, public_names

_PREFIX = re.compile(
    r"^(?:torch\.ops\.aten\.|torch\.functional\.|torch\.Tensor\.|(?:torch\.)?nn\.functional\.|torch\.|aten\.)"
)
# What follows the name of a test: the device and dtype it was made for, or the way it runs.
_SCOPE = re.compile(r"(?:_(?:cpu|cuda|xpu|meta|mps)(?:_\w+)?|_dynamic_shapes|_nobreak)$")
_GENERATED = re.compile(r"\w*_exhaustive(?:_inplace|_out)?_(?:nn_functional_)?(\w+)")
_OVERLOAD = re.compile(r"^aten\.(\w+)\.\w+$")


def functionals(path: str, source: bytes) -> tuple[tuple[str, str], ...]:
    """The functions of a file of `MODULES`, by the name OpInfo gives them, with the operators they return at once."""
    names = public_names(path, source)
    return tuple(dict.fromkeys((MODULES[path] + n.name, n.callee) for n in names if n.direct and n.operator))


def opinfo_names(
    operators: Iterable[str], functions_by_path: Mapping[str, Iterable[tuple[str, str]]]
) -> frozenset[str]:
    """The normal forms of what registries may call `operators`; `functions_by_path` holds what `functionals` read."""
    bases = {base_name(name) for operator in operators for name in (operator, family(operator))}
    bases |= {base.rpartition("::")[2] for base in bases}
    more = {name for pairs in functions_by_path.values() for name, operator in pairs if operator in bases}
    return frozenset(bases | {normal(name) for name in more})


def normal(name: str) -> str:
    """An OpInfo name, an overload or a function as ATen would call it: `linalg.det` → `linalg_det`."""
    overload = _OVERLOAD.match(name)
    if overload:
        return overload[1]
    return _PREFIX.sub("", name).replace(".", "_")


def is_about(name: str, operators: frozenset[str]) -> bool:
    """Whether the name of a test says that it is about one of `operators`, and of nothing else."""
    return not operators.isdisjoint(subjects(name))


@functools.cache
def subjects(name: str) -> tuple[str, ...]:
    """What the name of a test may be about."""
    test = _SCOPE.sub("", name.rpartition(".")[2].removeprefix("test_"))
    generated = _GENERATED.fullmatch(test)
    if generated:  # from an OpInfo entry: test_make_fx_symbolic_exhaustive_nn_functional_pad
        return (generated[1],)
    return (test, test.rstrip("0123456789"))
