"""Cases made from calls of an operator: repros that eager accepts, each for several sizes where eager takes them."""

from __future__ import annotations

import itertools
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext
from torch.utils import _pytree as pytree

from . import causes, spell
from .check import Repro
from .script import Parts, render

SIZES_TRIED = 3
"""So many of the sizes in a call are tried as the one that varies."""


@dataclass
class Call:
    """One way to call an operator, with real arguments."""

    callee: str
    """The expression of what is called; ".name" for a method of the first argument."""
    positional: list[Any]
    named: dict[str, Any] = field(default_factory=dict)
    preface: str = ""
    mutates: bool = False
    """Whether it writes to its first argument."""


@dataclass(frozen=True)
class Case:
    """A repro with a name that is unique within its operator."""

    name: str
    piece: str
    script: str


def spelled(operator: str, piece: str, call: Call) -> Iterator[str]:
    """The texts of repros for `call`, the most general first. Yields none where an argument has no source text."""
    arguments = spell.Arguments()
    try:
        if call.callee.startswith("."):
            receiver = arguments.text(call.positional[0])
            text = arguments.call(f"{receiver}{call.callee}", call.positional[1:], call.named)
        else:
            text = arguments.call(call.callee, call.positional, call.named)
    except spell.Unspeakable:
        return
    mutated = arguments.names[0] if call.mutates and arguments.names else ""
    gradient = piece in ("backward", "double_backward")
    if gradient and not any(tensor.requires_grad for tensor in arguments.tensors):
        return
    for style in spell.STYLES:
        if piece == "vmap":
            yield from _mapped(operator, text, arguments, style, call)
            continue
        for size in [*_varying(arguments.tensors), 0]:
            try:
                makers = [spell.tensor(tensor, style, partial(_size, size), gradient) for tensor in arguments.tensors]
            except spell.Unspeakable:
                break
            sizes = (size, size + 1, size + 3) if size else (1,)
            if size and not any("n" in maker.replace("torch.randint", "") for maker in makers):
                continue
            yield render(piece, Parts(operator, text, arguments.names, makers, sizes, call.preface, mutated))


def _size(varying: int, size: int) -> str:
    return "n" if size == varying else str(size)


def _varying(tensors: list[torch.Tensor]) -> list[int]:
    """The sizes of the tensors, the most frequent first, without 0 and 1."""
    counts = Counter(size for tensor in tensors for size in tensor.shape if size > 1)
    return [size for size, _ in counts.most_common(SIZES_TRIED)]


def _mapped(operator: str, text: str, arguments: spell.Arguments, style: str, call: Call) -> Iterator[str]:
    count = len(arguments.tensors)
    first = _batch(arguments.tensors)
    sizes = (first, first + 1, first + 3)
    choices = [[True] * count]
    if count > 1:
        choices += [[i == 0 for i in range(count)], [i > 0 for i in range(count)]]
    for batched in choices:
        try:
            makers = [
                spell.stacked(tensor, style) if mapped else spell.tensor(tensor, style, str, False)
                for tensor, mapped in zip(arguments.tensors, batched, strict=True)
            ]
        except spell.Unspeakable:
            return
        yield render("vmap", Parts(operator, text, arguments.names, makers, sizes, call.preface, "", batched))


def _batch(tensors: list[torch.Tensor]) -> int:
    """The first size of the batch: one that no tensor has, for equal sizes share a symbol, and add a guard."""
    taken = {size for tensor in tensors for size in tensor.shape}
    return next(size for size in itertools.count(3) if size not in taken)


def accepted(text: str, name: str) -> bool:
    """Whether eager runs the repro for all its sizes."""
    try:
        repro = Repro(text, name)
        for n in repro.sizes:
            repro.results(repro.operator, n)
    except Exception:
        return False
    return True


def make(operator: str, piece: str, name: str, call: Call) -> list[Case]:
    """The case for `call`: the first text that eager accepts; for `vmap` one for each choice of batched tensors."""
    cases: list[Case] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in spelled(operator, piece, call):
            if accepted(text, name):
                label = f"{name} {len(cases)}" if cases else name
                cases.append(Case(label, piece, text))
                if piece != "vmap":
                    break
    return cases


def symbolic(value: Any, mode: FakeTensorMode) -> Any:
    """`value` with each tensor in it replaced by one that holds no data and has symbols for sizes."""

    def fake(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        context: Any = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * leaf.dim())
        return mode.from_tensor(leaf, symbolic_context=context)

    return pytree.tree_map(fake, value)


def probe(case: Case) -> str:
    """What stops the operator on tensors with symbolic sizes, found without compiling; "" where nothing does.

    A cheap forecast of the real run, to choose the cases that are worth one.
    """
    error = _on_fakes(case, ShapeEnv())
    return causes.describe(error) if error is not None else ""


def constants(case: Case) -> int:
    """How many sizes become constants where the operator runs on tensors with symbolic sizes, found as cheaply."""
    environment = ShapeEnv()
    _on_fakes(case, environment)
    return sum(value.is_number for value in environment.replacements.values())


def _on_fakes(case: Case, environment: ShapeEnv) -> Exception | None:
    """What the operator raises on tensors without data, whose sizes are symbols of `environment`."""
    try:
        repro = Repro(case.script, case.name)
        mode = FakeTensorMode(shape_env=environment, allow_non_fake_inputs=True)
        fakes = symbolic(repro.inputs(repro.sizes[0]), mode)
        with mode:
            repro.results_of(repro.operator, fakes)
    except Exception as error:
        return error
    return None
