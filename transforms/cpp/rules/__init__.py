"""The rules of the C++ transform, one a module; the module's name is the rule's name."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from codemod.model.transform import Rule


@functools.cache
def load_rules() -> tuple[Rule, ...]:
    """Every rule of this package, sorted by name."""
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    return tuple(Rule(m.NAME, m.MODE, m.LEVEL, m.__doc__ or "", tuple(m.EXAMPLES)) for m in modules)
