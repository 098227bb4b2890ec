"""Reach: which operators run a function, and by which path a symbolic tensor arrives in it."""

from __future__ import annotations

from dataclasses import dataclass

from codemod.model.findings import Step


@dataclass(frozen=True, slots=True)
class Reach:
    """Why a symbolic tensor arrives in a function."""

    operators: tuple[str, ...]
    """The base names of all operators whose code runs the function, sorted; empty where none is known."""
    steps: tuple[Step, ...]
    """A shortest path from an operator, as it is shown to the user."""
    kind: str
    """The dispatch key of the kernel that the function is; "helper" for what kernels call."""
