"""Modules and functions of libraries made and called by guess: what their parameters may be, and inputs that they take.

Run by run_edited.py, in a process of its own for each, as

    python corpus_guessing.py ROOT FILE CLASS FUNCTION

with CLASS "" for a function of the module. Prints one line of JSON: how far it came, and where it was called, how
often Dynamo compiled it, broke its graph and gave something else than eager.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import inspect
import itertools
import json
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from corpus_stubs import Stub

CHANNELS = 16
FIXED = frozenset({1, 3, 4, 8, CHANNELS, 32})
"""Sizes of the inputs that stay as they are; the others vary."""
SHAPES = (
    *((2, 16, 21), (2, 21, 16), (2, 16, 21, 19), (2, 21, 19, 16), (2, 16, 9, 21, 19), (2, 21), (2, 4, 21, 16)),
    *((2, 1, 210), (2, 3, 33, 31), (2, 1, 33, 31), (4000,), (2, 8, 21), (2, 32, 21), (2, 21, 32), (2, 3, 9, 33, 31)),
)
MORE = (0, 3, 11, 4, 7, 8, 1, 20)
"""By how much the sizes grow from call to call."""
NUMBERS = frozenset(
    {"n", "h", "w", "t", "k", "height", "width", "length", "seq_len", "window_size", "size", "pad", "dim", "ws",
     "block_size", "chunk_size", "max_len", "hop_length", "kernel_size", "stride"}
)  # fmt: skip
ABSENT = ("torch", "numpy", "triton", "_typeshed")
"""What is not stood in for where it cannot be imported."""


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules that nothing else does, but for those of `own` names."""

    def __init__(self, own: frozenset[str]) -> None:
        self.own = own

    def find_spec(self, name: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        top = name.partition(".")[0]
        return None if top in self.own else importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return stand_in(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing: a stand-in runs no code."""


def stand_in(name: str, folder: Path | None = None) -> types.ModuleType:
    """A module that has every name; with the modules of `folder` below it."""
    module = types.ModuleType(name)
    module.__path__ = [str(folder)] if folder is not None else []
    module.__dict__["__getattr__"] = lambda attribute: getattr(Stub(name), attribute)
    return module


def imported(root: Path, file: Path) -> types.ModuleType:
    """The module of a file, where need be without what the packages around it import. Raises what that raises."""
    folder, names = file.parent, [] if file.stem == "__init__" else [file.stem]
    while (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    sys.path[:0] = [str(folder), str(root)]
    own = {path.name.removesuffix(".py") for path in (*folder.iterdir(), *root.iterdir())}
    sys.meta_path.append(StandIns(frozenset({*own, *ABSENT, names[0]})))
    try:
        return importlib.import_module(".".join(names))
    except Exception:
        for name in [name for name in sys.modules if name.partition(".")[0] == names[0]]:
            del sys.modules[name]
        for index in range(1, len(names)):
            folder /= names[index - 1]
            package = ".".join(names[:index])
            sys.modules[package] = stand_in(package, folder)
        return importlib.import_module(".".join(names))


class Settings(dict[str, Any]):
    """A configuration that has every setting, by guess."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.setdefault(name, guessed(name, "", CHANNELS))

    def __missing__(self, name: str) -> Any:
        return getattr(self, name)


def guessed(name: str, annotation: str, width: int) -> Any:
    """What an argument of a constructor may be, by its name and annotation."""
    from torch import nn

    name = name.lower()
    words: tuple[tuple[Sequence[str], Any], ...] = (
        (("head",), 4), (("kernel",), 3), (("stride",), 2), (("dilat", "group"), 1), (("drop", "prob", "eps"), 0.0),
        (("depth", "layer"), 2), (("window", "patch", "chunk", "size", "factor", "scale"), 4), (("act",), nn.ReLU()),
        (("norm",), nn.LayerNorm),
    )  # fmt: skip
    if "bool" in annotation or name.startswith(("is_", "use_", "with_")):
        return False
    if name in ("config", "cfg", "args", "params", "hparams", "conf") or "onfig" in annotation:
        return Settings()
    found = next((value for parts, value in words if any(part in name for part in parts)), None)
    return found if found is not None else 1.0 if "float" in annotation else "constant" if name == "mode" else width


def made(kind: Any) -> Any:
    """An object of a class. Raises what the last guess raised."""
    required = [p for p in list(inspect.signature(kind.__init__).parameters.values())[1:] if p.default is p.empty]
    named = [p for p in required if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    error = Exception()
    for width in (CHANNELS, 8, 32):
        try:
            instance = kind(**{p.name: guessed(p.name, str(p.annotation), width) for p in named})
        except Exception as raised:
            error = raised
            continue
        return instance.eval() if hasattr(instance, "eval") else instance
    raise error


def arguments(parameters: Sequence[inspect.Parameter], shape: tuple[int, ...], more: int, number: int) -> list[Any]:
    """What a call is given: tensors of a shape whose free sizes are `more` larger, numbers, no flags."""
    import torch

    grown = tuple(size if size in FIXED else size + more for size in shape)
    given: list[Any] = []
    for parameter in parameters:
        annotation, name = str(parameter.annotation), parameter.name.lower()
        if "bool" in annotation:
            given.append(False)
        elif "Tensor" not in annotation and ("int" in annotation or name in NUMBERS):
            given.append(-1 if "dim" in name else number or grown[-1])
        else:
            tensor = torch.randn(grown, generator=torch.Generator().manual_seed(sum(name.encode()) + more))
            given.append(tensor > -5 if "mask" in name else tensor)
    return given


def tensors_of(result: Any) -> list[Any]:
    """The tensors that a result holds, in order."""
    import torch

    if isinstance(result, torch.Tensor):
        return [result]
    inner = result.values() if isinstance(result, dict) else result if isinstance(result, (list, tuple)) else ()
    return [tensor for value in inner for tensor in tensors_of(value)]


def same(left: Any, right: Any) -> bool:
    """Whether two results hold equal tensors."""
    import torch

    pairs = list(itertools.zip_longest(tensors_of(left), tensors_of(right)))
    if any(a is None or b is None or a.shape != b.shape or a.dtype != b.dtype for a, b in pairs):
        return False
    exact = [(a, b) if a.is_complex() else (a.double(), b.double()) for a, b in pairs]
    return all(torch.allclose(a, b, atol=1e-4, equal_nan=True) for a, b in exact)


def called(function: Callable[..., Any], given: Sequence[Any]) -> Any:
    """What a call gives, with the same random numbers each time."""
    import torch

    torch.manual_seed(1)
    with torch.no_grad():
        return function(*given)


def inputs(parameters: Sequence[inspect.Parameter]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Shapes, each with numbers for the arguments that are ones; 0 for the last size."""
    return itertools.product(SHAPES, (0, 8, 4, 3))


def outcome(root: Path, file: Path, owner: str, name: str) -> dict[str, Any]:
    """How far a function came, and what Dynamo made of it."""
    import torch
    from torch._dynamo.utils import counters

    try:
        module = imported(root, file)
    except Exception as error:
        return {"status": "not imported", "why": repr(error)[:120]}
    torch.use_deterministic_algorithms(True, warn_only=True)  # memory that is not written to is then the same
    torch.manual_seed(0)
    try:
        holder: Any = made(getattr(module, owner)) if owner else module
        method = getattr(holder, name)
    except Exception as error:
        return {"status": "not made", "why": repr(error)[:120]}
    function = holder if name == "forward" else method
    parameters = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
    parameters = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    for shape, number in inputs(parameters):
        try:
            called(function, arguments(parameters, shape, 0, number))
        except Exception:
            continue
        break
    else:
        return {"status": "not called"}
    torch._dynamo.reset()
    counters.clear()
    compiled = torch.compile(function, dynamic=True, backend="eager")
    checksums, wrong = [], 0
    for more in MORE:
        try:
            eager = called(function, arguments(parameters, shape, more, number))
        except Exception:
            continue
        numbers = (t.double().nan_to_num().abs() for t in tensors_of(eager) if not t.is_complex())
        checksums.append(round(sum(float(t.sum()) for t in numbers), 3))
        try:
            wrong += not same(eager, called(compiled, arguments(parameters, shape, more, number)))
        except Exception:
            wrong += 1
    breaks = sum(counters["graph_break"].values())
    return {"status": "called", "frames": counters["frames"]["ok"], "breaks": breaks, "wrong": wrong, "sums": checksums}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    root, file, owner, name = sys.argv[1:]
    print(json.dumps(outcome(Path(root), Path(root, file), owner, name)), flush=True)
    os._exit(0)  # what a library leaves running
