"""Stand-ins for torch and other packages that are not there: they take everything, and record what is registered."""

from __future__ import annotations

import contextlib
import os
import re
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

_FUNCTIONS = (types.FunctionType, types.MethodType, staticmethod, classmethod)


class Version(str):
    """torch's version, which compares by its numbers as packaging's does."""

    def _numbers(self, other: object) -> tuple[list[int], list[int]]:
        mine, theirs = (list(map(int, re.findall(r"\d+", str(version)))) for version in (self, other))
        return mine, theirs

    def __lt__(self, other: object) -> bool:
        return (lambda pair: pair[0] < pair[1])(self._numbers(other))

    def __le__(self, other: object) -> bool:
        return (lambda pair: pair[0] <= pair[1])(self._numbers(other))

    def __gt__(self, other: object) -> bool:
        return not self <= other

    def __ge__(self, other: object) -> bool:
        return not self < other


VERSION = Version("2.13.0")


class Base:
    """What a class inherits in place of a stub."""

    def __init_subclass__(cls, **_: object) -> None:
        pass

    def __init__(self, *_: object, **__: object) -> None:
        pass

    @classmethod
    def apply(cls, *_: object) -> None:
        """Of torch.autograd.Function."""


class Stub:
    """Takes everything, and gives back a function that it is called with, as decorators do."""

    def __init__(self, name: str = "stub") -> None:
        self.__dict__["_name"] = name
        self.__dict__["__name__"] = name.rpartition(".")[2]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in ("__version__"):
            raise AttributeError(name)
        made = VERSION if name == "__version__" else Stub(f"{self._name}.{name}")
        self.__dict__[name] = made
        return made

    def __call__(self, *given: object, **_: object) -> Any:
        if len(given) == 1 and isinstance(given[0], (*_FUNCTIONS, type)):
            return given[0]
        return Stub(self._name)

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        first = next(base for base in bases if isinstance(base, Stub))
        return (Base,) if first is self else ()

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __enter__(self) -> Stub:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __hash__(self) -> int:
        return hash(self._name)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __str__(self) -> str:
        return str(self._name)

    def __instancecheck__(self, _: object) -> bool:
        return False


def _gives_stub(self: Stub, *_: object) -> Stub:
    return Stub(self._name)


def _gives(value: object) -> Callable[..., object]:
    return lambda self, *_: value


_NAMES = """add sub mul truediv floordiv mod pow or and xor lshift rshift matmul radd rsub rmul rtruediv rfloordiv rmod
ror rand rxor getitem neg pos invert abs"""
for _name in _NAMES.split():
    setattr(Stub, f"__{_name}__", _gives_stub)
for _name, _value in {
    "lt": True, "le": True, "gt": True, "ge": True, "len": 0, "int": 1, "index": 1, "float": 1.0, "bool": True,
    "contains": True, "setitem": None, "delitem": None,
}.items():  # fmt: skip
    setattr(Stub, f"__{_name}__", _gives(_value))


class Recorder:
    """The registrations, in the order in which they were made."""

    def __init__(self, root: str) -> None:
        self._root = root + os.sep
        self.registered: dict[tuple[str, ...], None] = {}

    def note(self, kind: str, operator: object, *functions: object) -> None:
        """Keep a registration, if a function of the tree is registered, with all that it may mean."""
        for function in functions:
            places = list(dict.fromkeys(self._places(function, 0)))
            if places:
                flat = [part for place in places for part in place]
                entry = (kind, name_of(operator), *flat)
                self.registered[entry] = None

    def _places(self, function: object, depth: int) -> Iterator[tuple[str, str]]:
        """Where a function stands; of one made inside another, where the functions stand that it closes over, too."""
        while not isinstance(function, types.FunctionType):
            inner = getattr(function, "__func__", None) or getattr(function, "func", None)
            inner = inner or getattr(function, "__wrapped__", None)
            if inner is None or isinstance(inner, Stub) or depth > 4:
                return
            function, depth = inner, depth + 1
        wrapped = getattr(function, "__wrapped__", None)
        code = function.__code__
        if code.co_filename.startswith(self._root):
            yield code.co_filename.removeprefix(self._root), function.__qualname__.replace(".<locals>", "")
        if depth < 4 and wrapped is not None:
            yield from self._places(wrapped, depth + 1)
        for cell in (function.__closure__ or ()) if "<locals>" in function.__qualname__ and depth < 4 else ():
            with contextlib.suppress(ValueError):  # an empty cell
                if isinstance(cell.cell_contents, types.FunctionType):
                    yield from self._places(cell.cell_contents, depth + 1)


def name_of(operator: object, namespace: str = "") -> str:
    """The operator's name without its schema; an overload packet, a definition or a string may name it."""
    named = getattr(operator, "qualified", operator)
    if not isinstance(named, str):
        return ""
    name = named.partition("(")[0].strip()
    return name if "::" in name or not namespace else f"{namespace}::{name}"


class Operator(Stub):
    """`torch.ops.lib.op`, and what custom_op makes of a function."""

    def __init__(self, recorder: Recorder, qualified: str) -> None:
        super().__init__(qualified)
        self.__dict__["qualified"] = qualified
        self.__dict__["_recorder"] = recorder

    def __getattr__(self, name: str) -> Any:
        kinds = ("register_fake", "register_kernel", "register_vmap", "register_torch_dispatch", "py_impl", "impl",
                 "impl_abstract")  # fmt: skip
        if name in kinds:
            return lambda *given, **_: self._register(name, given)
        if name == "register_autograd":
            return lambda backward, setup_context=None, **_: self._recorder.note(
                name, self.qualified, backward, setup_context
            )
        if name.startswith("__"):
            raise AttributeError(name)
        return Operator(self._recorder, self.qualified)

    def _register(self, kind: str, given: Sequence[object]) -> object:
        return _register(self._recorder, kind, self.qualified, given)


def _register(recorder: Recorder, kind: str, operator: object, given: Sequence[object]) -> object:
    """Note the function among what was given, or give a decorator that notes its function."""
    functions = [value for value in given if callable(value) and not isinstance(value, (Stub, type))]
    if functions or any(isinstance(value, Stub) for value in given[1:]):
        recorder.note(kind, operator, *functions)
        return functions[0] if functions else None

    def decorator(function: object) -> object:
        recorder.note(kind, operator, function)
        return function

    return decorator


class Namespaces(Stub):
    """`torch.ops`, and each namespace of it."""

    def __init__(self, recorder: Recorder, namespace: str = "") -> None:
        super().__init__(namespace)
        self.__dict__.update(_recorder=recorder, _namespace=namespace)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._namespace:
            return Operator(self._recorder, f"{self._namespace}::{name}")
        return Namespaces(self._recorder, name)


def torch_library(recorder: Recorder) -> dict[str, object]:
    """What torch.library holds, with each registration noted."""

    class Library:
        def __init__(self, ns: str, kind: str = "", dispatch_key: str = "") -> None:
            self.ns = self.namespace = ns

        def define(self, schema: str, *_: object, **__: object) -> str:
            return name_of(schema)

        def impl(self, op_name: object, fn: object, *_: object, **__: object) -> None:
            recorder.note("impl", name_of(op_name, self.namespace), fn)

        def _register_fake(self, op_name: object, fn: object, *_: object, **__: object) -> None:
            recorder.note("register_fake", name_of(op_name, self.namespace), fn)

        def __getattr__(self, name: str) -> Any:
            return Stub(name)

    def operator(kind: str) -> Callable[..., object]:
        def make(name: str, fn: object = None, /, *_: object, **__: object) -> object:
            def decorator(function: object) -> object:
                recorder.note(kind, name, function)
                return Operator(recorder, name)

            return decorator(fn) if callable(fn) else decorator

        return make

    def register(kind: str) -> Callable[..., object]:
        def make(op: object, *given: object, lib: Any = None, **named: object) -> object:
            if isinstance(op, Library) and given:
                lib, op, given = op, given[0], given[1:]
            qualified = name_of(op, getattr(lib, "namespace", ""))
            return _register(recorder, kind, qualified, [*given, *(named[k] for k in ("func", "fn") if k in named)])

        return make

    def register_autograd(op: object, backward: object, /, *_: object, setup_context: object = None, **__: Any) -> None:
        recorder.note("register_autograd", op, backward, setup_context)

    kinds = ["register_fake", "impl_abstract", "register_kernel", "register_vmap", "register_torch_dispatch", "impl"]
    return {
        "Library": Library,
        **{kind: register(kind) for kind in kinds},
        **{kind: operator(kind) for kind in ("custom_op", "triton_op")},
        "register_autograd": register_autograd,
        "define": lambda *_, **__: None,
        "infer_schema": lambda *_, **__: "() -> ()",
        "wrap_triton": lambda function: function,
        "CustomOpDef": Operator,
    }
