"""What files that work with sympy expressions call, such as Inductor's: there a size is neither an int nor a SymInt."""

from __future__ import annotations

import re
from typing import NamedTuple

_SYMPY = re.compile(rb"^\s*(?:import|from) sympy\b", re.M)
_MODULE = re.compile(rb"^\s*(?:from (torch[\w.]*) import|import (torch[\w.]*))", re.M)
_CALL = re.compile(rb"\b([A-Za-z_]\w*)\(")


class SympyCalls(NamedTuple):
    """The modules of torch that a file imports and the names it calls; both empty where it knows no sympy."""

    modules: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


def sympy_calls(path: str, source: bytes) -> SympyCalls:
    """What a file calls with values that may be sympy expressions."""
    if b"sympy" not in source or not _SYMPY.search(source):
        return SympyCalls()
    modules = frozenset((match[0] or match[1]).decode() for match in _MODULE.findall(source))
    return SympyCalls(modules, frozenset(name.decode() for name in _CALL.findall(source)))
