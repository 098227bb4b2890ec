"""Run one repro: eager, compiled with symbolic sizes over several sizes, compiled with unbacked sizes; compare."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo.decorators import mark_unbacked
from torch.utils import _pytree as pytree

from . import backends, causes

REPORTED_VALUES = 512
"""How many elements of each of eager's results go into the report."""
TOLERANCE = {torch.float16: 1e-2, torch.bfloat16: 3e-2, torch.float64: 1e-7, torch.complex128: 1e-7}
"""How far two results may differ, absolutely and relatively, by dtype; 2e-4 for other dtypes."""


@dataclass
class Result:
    """What a run of a repro showed: the fields of `codemod.prove.evidence.Verdict`, and some that compare runs."""

    status: str = "passes"
    message: str = ""
    guards: list[str] = field(default_factory=list)
    frames: int = 0
    unbacked: str = ""
    unbacked_message: str = ""
    eager: str = ""
    """Why eager refuses the inputs, "" where it takes them."""
    place: str = ""
    """The line of a library that raised, as `causes.where` says it, where it is not torch's."""
    asked: dict[str, Any] = field(default_factory=dict)
    """What of C++ asked for what the error refuses, as `causes.asked` says it."""
    random: bool = False
    """Whether eager's values depend on the seed, or on what the memory held before."""
    result: list[dict[str, Any]] = field(default_factory=list)
    """Eager's results for the first size: shape, dtype and the first elements of every tensor."""


@dataclass
class Watch:
    """A backend that counts what it compiles and remembers the shape environments of it."""

    frames: int = 0
    environments: list[Any] = field(default_factory=list)

    def __call__(self, module: Any, inputs: Any) -> Any:
        self.frames += 1
        context = torch._guards.TracingContext.try_get()
        if context is not None and context.fake_mode is not None:
            self.environments.append(context.fake_mode.shape_env)
        return torch._dynamo.lookup_backend(backends.chosen())(module, inputs)

    def guards(self) -> list[str]:
        """The guards on sizes of all that was compiled, each once, in a fixed order."""
        return sorted({guard for environment in self.environments for guard in size_guards(environment)})


def size_guards(environment: Any) -> set[str]:
    """The conditions on sizes that the code made in this shape environment depends on, as text.

    Those that always hold once a size is fixed to a number are left out.
    """
    if environment is None:
        return set()
    fixed = {symbol: value for symbol, value in environment.replacements.items() if value.is_number}
    texts = {str(guard.expr.xreplace(fixed)) for guard in environment.guards}
    texts |= {f"Eq({symbol}, {value})" for symbol, value in fixed.items()}
    return {text for text in texts if text not in ("True", "False")}


def load(text: str, name: str) -> dict[str, Any]:
    """The names a repro defines, run as if imported. Raises what its top level raises."""
    path = f"<{name}>"
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    space: dict[str, Any] = {"__name__": "repro", "__file__": path}
    exec(compile(text, path, "exec"), space)
    return space


class Repro:
    """A loaded repro. Raises KeyError where it lacks `operator` or `inputs`."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        space = load(text, name)
        self.operator: Callable[..., Any] = space["operator"]
        self.inputs: Callable[[int], Sequence[Any]] = space["inputs"]
        self.sizes: tuple[int, ...] = tuple(space.get("sizes", (3, 4, 6)))
        self._results = space.get("results")
        self._space = space
        self.symbolic: Callable[[int], Any] | None = space.get("symbolic")

    def results(self, function: Callable[..., Any], n: int, marked: bool = False) -> Any:
        """What is compared, of `function` for the size `n`; where `marked`, all sizes of its tensors are unbacked."""
        called = function
        if marked:

            def called(*tensors: Any) -> Any:
                mark(tensors)
                return function(*tensors)

        torch.manual_seed(0)
        if self._results is not None:
            return self._results(called, n)
        inputs = self.inputs(n)
        torch.manual_seed(0)
        return called(*inputs)

    def results_of(self, function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
        """What is compared, of `function` for these inputs."""
        if self._results is None:
            return function(*inputs)
        self._space["inputs"] = lambda n: inputs
        try:
            return self._results(function, self.sizes[0])
        finally:
            self._space["inputs"] = self.inputs

    def markable(self) -> bool:
        """Whether any input has a dimension to mark."""
        leaves = pytree.tree_leaves(self.inputs(self.sizes[0]))
        return any(isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided and leaf.dim() for leaf in leaves)


def mark(tensors: Any) -> None:
    """Make every size of every dense tensor in `tensors` unbacked."""
    for tensor in pytree.tree_leaves(tensors):
        if isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided:
            for dimension in range(tensor.dim()):
                mark_unbacked(tensor, dimension)


def run(repro: Repro, unbacked: bool = True, enough: int = 0) -> Result:
    """What the repro shows. Raises nothing that the code under test raises.

    Once compiled `enough` times with symbolic sizes, it is run for no further size; 0 is for all.
    """
    expected: dict[int, Any] = {}
    for n in repro.sizes:
        try:
            expected[n] = repro.results(repro.operator, n)
        except Exception as error:
            if not expected:
                return Result("throws", message=causes.first_line(error), eager=causes.first_line(error))
    result = Result(result=summary(next(iter(expected.values()))), random=arbitrary(repro, expected))
    backed(repro, expected, result, enough)
    if unbacked and repro.symbolic is None and repro.markable():
        free(repro, expected, result)
    torch._dynamo.reset()
    return result


def arbitrary(repro: Repro, expected: dict[int, Any]) -> bool:
    """Whether eager's values depend on the seed, or on what the memory held before."""
    n, first = next(iter(expected.items()))

    def reseeded(*tensors: Any) -> Any:
        torch.manual_seed(1)
        return repro.operator(*tensors)

    if difference(repro.results(reseeded, n), first):
        return True
    torch.use_deterministic_algorithms(True, warn_only=True)  # memory that is not written to is then filled with NaN
    try:
        return difference(repro.results(repro.operator, n), first) != ""
    finally:
        torch.use_deterministic_algorithms(False)


def backed(repro: Repro, expected: dict[int, Any], result: Result, enough: int = 0) -> None:
    """Fill in status, message, frames and guards: compiled with symbolic sizes, run for every size (see `run`)."""
    torch._dynamo.reset()
    watch = Watch()
    try:
        compiled: Any = torch.compile(repro.operator, backend=watch, dynamic=True, fullgraph=True)
        for n, value in expected.items():
            if enough and watch.frames >= enough:
                break
            if repro.symbolic is not None:  # holds for sizes that its guards hold for, and does not check them
                compiled = repro.symbolic(n)
                watch.frames = 1
                watch.environments[:] = [getattr(compiled, "shape_env", None)]
            mismatch = difference(repro.results(compiled, n), value, result.random)
            if mismatch:
                result.status, result.message = "wrong", f"n = {n}: {mismatch}"
                break
    except Exception as error:
        result.status, result.message = "throws", causes.describe(error)
        result.place, result.asked = causes.where(causes.chain(error), outside=True), causes.asked(error)
    result.frames, result.guards = watch.frames, watch.guards()


def free(repro: Repro, expected: dict[int, Any], result: Result) -> Any:
    """Fill in `unbacked` and its message: compiled with unbacked sizes, run for the first size; what was compiled."""
    torch._dynamo.reset()
    n, value = next(iter(expected.items()))
    compiled: Any = torch.compile(repro.operator, backend=backends.chosen(), fullgraph=True)
    try:
        actual = repro.results(compiled, n, marked=True)
    except Exception as error:
        result.unbacked, result.unbacked_message = "throws", causes.describe(error)
        result.place, result.asked = causes.where(causes.chain(error), outside=True), causes.asked(error)
        return compiled
    mismatch = difference(actual, value, result.random)
    result.unbacked, result.unbacked_message = ("wrong", mismatch) if mismatch else ("passes", "")
    return compiled


def difference(actual: Any, expected: Any, shapes_only: bool = False) -> str:
    """How two results differ, in a line; "" where they agree in structure, shapes, dtypes and values."""
    actual_leaves, expected_leaves = pytree.tree_leaves(actual), pytree.tree_leaves(expected)
    if len(actual_leaves) != len(expected_leaves):
        return f"{len(actual_leaves)} results, eager gives {len(expected_leaves)}"
    for ours, theirs in zip(actual_leaves, expected_leaves, strict=True):
        if not isinstance(theirs, torch.Tensor) or not isinstance(ours, torch.Tensor):
            if repr(ours) != repr(theirs) and not shapes_only:
                return f"{ours!r}, eager gives {theirs!r}"[:300]
            continue
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            return f"{ours.dtype} {tuple(ours.shape)}, eager gives {theirs.dtype} {tuple(theirs.shape)}"
        tolerance = TOLERANCE.get(theirs.dtype, 2e-4)
        try:
            if not shapes_only:
                torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)
        except AssertionError as error:
            return " ".join(str(error).split())[:300]
        except (TypeError, ValueError, RuntimeError, NotImplementedError):
            continue  # a kind of tensor that cannot be compared
    return ""


def summary(value: Any) -> list[dict[str, Any]]:
    """The leaves of a result, small enough to be kept: shape, dtype and the first elements."""
    leaves = []
    for leaf in pytree.tree_leaves(value):
        if not isinstance(leaf, torch.Tensor):
            leaves.append({"text": repr(leaf)[:300]})
            continue
        entry: dict[str, Any] = {"shape": list(leaf.shape), "dtype": str(leaf.dtype)}
        try:
            plain = leaf.detach().to_dense() if leaf.layout != torch.strided else leaf.detach()
            plain = plain.dequantize() if plain.is_quantized else plain.resolve_conj()
            flat = plain.reshape(-1)[:REPORTED_VALUES]
            entry["values"] = (torch.view_as_real(flat).reshape(-1) if flat.is_complex() else flat).double().tolist()
        except (RuntimeError, NotImplementedError):
            pass  # a kind of tensor without elements to read
        leaves.append(entry)
    return leaves


def attempt(script: str, name: str, unbacked: bool, enough: int = 0) -> Result:
    """`run` of a repro given as text; one that cannot be loaded throws."""
    try:
        repro = Repro(script, name)
    except Exception as error:
        return Result("throws", message=causes.first_line(error), eager=causes.first_line(error))
    return run(repro, unbacked, enough)
