"""What a probe is about: OpInfo's entries, operators that no entry is named after, and factories of modules."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from . import factories, opinfo

_CODE = (".py", ".so")


def chosen(globs: Sequence[str]) -> list[str]:
    """The names of the subjects that any of `globs` matches, entries first: `linalg.norm`, then `aten::_linalg_svd`.

    A glob with `::` is about operators, of which those that an entry is named after are that entry. Any other is about
    the names that PyTorch's tests give entries, their operators and aliases; where no entry matches it, about operators
    of any namespace. An operator whose name begins with `_` needs a glob whose name does. The name of a factory of
    modules is itself a subject. Raises what importing it raises.
    """
    names: dict[str, None] = {}
    operators = _operators()
    for glob in globs:
        if factories.is_factory(glob):
            factories.check(glob)
            names[glob] = None
            continue
        entries = [opinfo.label(entry) for entry in opinfo.entries() if _matches(glob, _names(entry))]
        names.update(dict.fromkeys(entries))
        if "::" in glob or not entries:
            private = glob.rpartition("::")[2].startswith("_")
            for operator in operators:
                base = operator.rpartition("::")[2]
                if (private or not base.startswith("_")) and _matches(glob, (operator, base)):
                    names[operator] = None
    return [name for name in names if "::" not in name] + [name for name in names if "::" in name]


def _matches(glob: str, names: Iterable[str]) -> bool:
    """Whether `glob` is about something that has these names."""
    return any(fnmatchcase(name, glob) for name in names)


def _names(entry: Any) -> set[str]:
    """The names of an entry, and of the operator that it is named after."""
    plain = {opinfo.simple_name(entry), str(getattr(entry, "aten_name", "") or ""), *opinfo.aliases(entry)} - {""}
    return {opinfo.label(entry), str(entry.name), *plain, *(f"aten::{name}" for name in plain)}


def _operators() -> list[str]:
    """The operators of this torch, sorted, without those of an entry and the forms in place of others."""
    registered = {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    of_entries = {name for entry in opinfo.entries() for name in _names(entry)}
    return sorted(
        name
        for name in registered
        if name not in of_entries and not (name.endswith("_") and name[:-1] in registered | of_entries)
    )


def state(modules: Sequence[str]) -> str:
    """A digest of the code that subjects run: what changes where torch or one of `modules` is another than before."""
    hashed = hashlib.sha256(f"{torch.__version__} {torch.version.git_version} {sys.version}".encode())
    for name in ("torch", *modules):
        for path in _files(sys.modules[name]):
            status = os.stat(path)
            hashed.update(f"{name} {path} {status.st_size} {status.st_mtime_ns}\n".encode(errors="surrogateescape"))
    return hashed.hexdigest()


def _files(module: ModuleType) -> list[Path]:
    """The code of a module: its file, or of a package, also of one without `__init__.py`, all below its folders."""
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in _CODE]
    return sorted(path for path in files or [Path(module.__file__ or "")] if path.is_file())
