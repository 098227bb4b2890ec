"""As much of torch as rewritten functions need in eager, without torch: what takes bools takes nothing else."""

from __future__ import annotations

import builtins
import functools
import operator
import types
from collections.abc import Callable
from typing import Any

from transforms.python.writing.helpers import SOURCE


class Sized:
    """As much of a Tensor as the generated functions use."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape
        self.ndim = len(shape)

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        return self.ndim

    def numel(self) -> int:
        return functools.reduce(operator.mul, self.shape, 1)


def boolean(value: Any) -> bool:
    assert isinstance(value, bool), f"{value!r} is no bool"
    return value


def check(error: type[Exception], condition: Any, message: Any = None) -> None:
    if not boolean(condition):
        raise error(message() if message else "")


def sym_ite(condition: Any, then: int, otherwise: int) -> int:
    assert type(then) is type(otherwise)
    return then if boolean(condition) else otherwise


torch = types.SimpleNamespace(
    _check=functools.partial(check, RuntimeError),
    _check_value=functools.partial(check, ValueError),
    _check_index=functools.partial(check, IndexError),
    _check_type=functools.partial(check, TypeError),
    _check_not_implemented=functools.partial(check, NotImplementedError),
    _check_with=check,
    sym_max=max,
    sym_min=min,
    sym_not=lambda value: not boolean(value),
    sym_ite=sym_ite,
    jit=types.SimpleNamespace(is_scripting=lambda: False),
    compiler=types.SimpleNamespace(is_dynamo_compiling=lambda: False),
    Tensor=object,
    SymBool=type("SymBool", (), {}),
    SymInt=type("SymInt", (), {}),
)
_helpers: dict[str, Any] = {"torch": torch, "TYPE_CHECKING": False}
exec(compile(SOURCE, "helpers", "exec"), _helpers)
torch._prims_common = types.SimpleNamespace(**_helpers)


def sym_eq(left: Any, right: Any) -> bool:
    assert {type(left), type(right)} <= {tuple, list}
    return len(left) == len(right) and all(map(operator.eq, left, right))


symbolic_shapes = types.SimpleNamespace(
    guard_or_false=boolean,
    guard_or_true=boolean,
    expect_true=boolean,
    sym_eq=sym_eq,
    sym_and=lambda *values: functools.reduce(operator.and_, map(boolean, values)),
    sym_or=lambda *values: functools.reduce(operator.or_, map(boolean, values)),
)


@functools.lru_cache(8)
def _compiled(source: str) -> types.CodeType:
    return compile(source, "generated", "exec")


def run_function(source: str, **given: Any) -> Callable[..., Any]:
    """The function `f` of a source, whose imports of symbolic_shapes are those above; `given` are further globals."""

    def importer(name: str, *rest: Any) -> Any:
        return symbolic_shapes if name == "torch.fx.experimental.symbolic_shapes" else builtins.__import__(name, *rest)

    names: dict[str, Any] = {
        "torch": torch,
        "Tensor": Sized,
        "__builtins__": {**vars(builtins), "__import__": importer},
        **given,
    }
    exec(_compiled(source), names)
    function: Callable[..., Any] = names["f"]
    return function
