"""What is asked of one file: its functions that symbols reach, with what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codemod.model.findings import Root, Step
from transforms.python.flow.made import Made
from transforms.python.flow.returned import Needs
from transforms.python.flow.values import Value
from transforms.python.reach.composites import Composite
from transforms.python.writing.helpers import Home
from transforms.python.writing.style import Style
from transforms.releases.version import Release


@dataclass(frozen=True, slots=True)
class Job:
    """A function that symbols reach, with what is known of its parameters and callees.

    `inlined` says that Dynamo traces it, `exported` that torch.export runs it itself, `eager`, `scripted` and `sympy`
    that eager, TorchScript, and Inductor with expressions of sympy, run it.
    """

    parameters: Mapping[str, Value]
    returns: Mapping[str, Value]
    reach: tuple[Step, ...]
    operators: tuple[str, ...]
    inlined: bool = False
    exported: bool = False
    eager: bool = False
    scripted: bool = False
    sympy: bool = False
    composite: Composite | None = None
    root: Root = Root.OPERATOR
    needs: Mapping[str, Needs] = field(default_factory=dict)
    made: Mapping[str, Made] = field(default_factory=dict)
    """What its callees make plain numbers of, and go on to do so."""
    caught: frozenset[str] = frozenset()
    """The exceptions that callers may catch: names in flow.catching.RAISED."""


@dataclass(frozen=True, slots=True)
class FileJob:
    """All such functions of one file, by qualified name. `vocabulary` holds the functions this PyTorch has.

    `place` is the path from where the module is imported: `torch/_refs/fft.py`, wherever PyTorch lies in the tree.
    `home` is the file for helpers, None where the tree has none.
    """

    path: str
    place: str
    functions: Mapping[str, Job]
    vocabulary: frozenset[str]
    style: Style = field(default_factory=Style)
    home: Home | None = None
    minimum: Release | None = None
    """The oldest torch that the file has to run with; None where the vocabulary says all."""
    meanings: Mapping[str, str] = field(default_factory=dict)
    """What imported names stand for, see `flow.imported.meanings`."""
