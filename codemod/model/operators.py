"""Reach: which operators run a function, and by which path a symbolic tensor arrives in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codemod.model.findings import Step

_NAME = re.compile(r"(?:[A-Za-z_]\w*::)?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?", re.ASCII)


def operator_name(written: str, namespace: str = "") -> str:
    """`written` as the name of an operator, in `namespace` where it names none itself; "" where it is no such name.

    A name is `namespace::name.overload`, of three identifiers (torchgen/model.py, FunctionSchema.parse); namespace and
    overload may be left out.
    """
    name = written if "::" in written or not namespace else f"{namespace}::{written}"
    return name if _NAME.fullmatch(name) is not None else ""


def qualified(name: str) -> str:
    """The name of an operator with its namespace: ATen's where it says none, as in native_functions.yaml."""
    return name if "::" in name else f"aten::{name}"


@dataclass(frozen=True, slots=True)
class Reach:
    """Why a symbolic tensor arrives in a function."""

    operators: tuple[str, ...]
    """The base names of all operators whose code runs the function, sorted; empty where none is known."""
    steps: tuple[Step, ...]
    """A shortest path from an operator, as it is shown to the user."""
    kind: str
    """The dispatch key of the kernel that the function is; "helper" for what kernels call."""
