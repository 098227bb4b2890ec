"""Modules of the user's: a factory makes one with its inputs, and a repro runs it as it runs an operator.

`PKG.MODULE:FACTORY` names a function that is called without arguments and returns `(module, inputs)`: a
torch.nn.Module, or any function, and either the tuple of its arguments or a function of a size that makes that tuple.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from .cases import Case, accepted

PIECES = ("forward", "backward")
_TEXT = '''"""{name} with symbolic sizes: {piece}."""

import importlib

import torch
from torch.utils import _pytree as pytree

module, arguments = importlib.import_module("{home}").{factory}()
sizes = (3, 4, 6) if callable(arguments) else (1,)


def inputs(n):
    torch.manual_seed(0)
    made = arguments(n) if callable(arguments) else arguments
    return tuple(pytree.tree_map(_copied, tuple(made)))


def _copied(value):
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def operator(*tensors):
    return module(*tensors)
'''
_GRADIENTS = """

def results(function, n):
    tensors = inputs(n)
    value = function(*tensors)
    leaves = [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    own = list(module.parameters()) if isinstance(module, torch.nn.Module) else []
    wanted = [leaf for leaf in (*own, *pytree.tree_leaves(tensors)) if getattr(leaf, "requires_grad", False)]
    loss = sum(leaf.abs().sum() for leaf in leaves)
    return value, torch.autograd.grad(loss, wanted, allow_unused=True)
"""


def is_factory(name: str) -> bool:
    """Whether a subject is named as a factory is."""
    return ":" in name and "::" not in name


def check(name: str) -> None:
    """Raise AttributeError, ImportError or what the module raises where there is no such factory."""
    home, _, factory = name.partition(":")
    if not callable(getattr(import_module(home), factory)):
        raise TypeError(f"{name}: is no function")


def cases(name: str, piece: str, label: str) -> Iterator[Case]:
    """The case of one piece, where eager takes it; none of a piece that modules have not."""
    if piece not in PIECES:
        return
    home, _, factory = name.partition(":")
    text = _TEXT.format(name=name, piece=piece, home=home, factory=factory)
    text += _GRADIENTS if piece == "backward" else ""
    if accepted(text, label):
        yield Case(label, piece, text)
