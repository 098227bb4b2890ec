"""Checks taken out of the functions of this process, as if their statements stood in no file."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from corpus_patch import Check, without


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


@contextlib.contextmanager
def removed(package: Path, checks: Sequence[Check]) -> Iterator[int]:
    """While it is open, functions of torch run without these checks of files below `package`; yields how many changed.

    Every function made from such a file gets the code it would have if the file never called the checks. What was
    traced before is forgotten, at both ends.
    """
    codes: dict[tuple[str, str, int], CodeType] = {}
    for path, group in groupby(sorted(checks, key=lambda check: check.path), key=lambda check: check.path):
        file = str(package / path)
        source = without(Path(file).read_text("utf-8"), list(group))
        for code in _codes(compile(source, file, "exec", dont_inherit=True)):
            codes[file, code.co_name, code.co_firstlineno] = code
    files = {file for file, _, _ in codes}
    changed: list[tuple[Any, CodeType]] = []
    for function in [f for f in gc.get_objects() if type(f) is FunctionType]:  # a proxy of one may be dead
        old = function.__code__
        new = codes.get((old.co_filename, old.co_name, old.co_firstlineno)) if old.co_filename in files else None
        if new is not None and new != old:
            changed.append((function, old))
            function.__code__ = new
    _forget()
    try:
        yield len(changed)
    finally:
        for function, old in changed:
            function.__code__ = old
        _forget()


def _forget() -> None:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    torch.compiler.reset()
    FakeTensorMode.cache_clear()
