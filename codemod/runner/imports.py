"""Importing a library's modules, which register its operators, and why one cannot be imported, in a line."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

import torch

from . import causes

GPU = re.compile(
    r"active drivers|no NVIDIA driver|No CUDA GPUs|not compiled with CUDA|CUDA driver|HIP|libcuda|libcudart|no GPU"
    r"|arguments from the '\w*(?:CUDA|HIP|XPU|MPS)' backend|with backend .?cuda|Expected .* on (?:a )?(?:cuda|GPU)"
)
"""What torch, triton and loaders of libraries say where a device or its driver is missing."""


UNDEFINED = re.compile(r"operator (\w+::[\w.]+) does not exist|'_OpNamespace' '(\w+)' object has no attribute '(\w+)'")


def import_all(modules: Iterable[str], built: Sequence[str]) -> str:
    """Import the modules; returns why one of them cannot be, "" where all can.

    The compiled modules of the packages `built` are loaded already, as libraries: empty ones stand in for them.
    """
    if built:
        sys.meta_path.append(StandIns(built))
        load_present()
    for module in modules:
        try:
            importlib.import_module(module)
        except (Exception, SystemExit) as error:
            return f"{module} cannot be imported: {explain(error)}"
    return ""


def explain(error: BaseException) -> str:
    """What an error at import says is missing."""
    for cause in reversed(causes.chain(error)):
        if isinstance(cause, ModuleNotFoundError) and cause.name:
            return f"it needs the module {cause.name}, which is not installed beside torch"
    text = causes.first_line(causes.chain(error)[-1])
    undefined = UNDEFINED.search(text)
    if undefined is not None:
        name = undefined[1] or f"{undefined[2]}::{undefined[3]}"
        return f"it needs {name}, which nothing that could be loaded defines; the library's build may, installed there"
    if GPU.search(text):
        return f"it needs a GPU: {text}"
    if isinstance(error, OSError) and ".so" in text:
        return f"it needs a build: {text}"
    return text


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds, last of all, the modules of some packages that exist nowhere: those that a build of them makes."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = frozenset(packages)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """The specification of an empty module inside one of the packages."""
        package, _, inner = fullname.partition(".")
        return importlib.util.spec_from_loader(fullname, self) if inner and package in self._packages else None

    def exec_module(self, module: ModuleType) -> None:
        """Leave it empty."""


def load_present() -> None:
    """Have `torch.ops.load_library` skip files that do not exist: what they would hold is loaded already."""
    load: Any = torch.ops.load_library

    def load_library(path: Any) -> None:
        if os.path.exists(path):
            load(path)

    torch.ops.load_library = load_library  # type: ignore[method-assign]
