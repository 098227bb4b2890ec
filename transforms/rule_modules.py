"""Loads the rules of a package: every module is one, and its name, with hyphens, is the rule's.

A rule module has a docstring, which is its manual page, `NAME`, `MODE`, `LEVEL`, `EXAMPLES`, and, where it edits, one
function `rewrite`.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from codemod.model.transform import Rule


def load_rule_modules(package: ModuleType) -> tuple[ModuleType, ...]:
    """The rule modules of `package`, sorted by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(importlib.import_module(f"{package.__name__}.{name}") for name in names)


def rule_of(module: ModuleType) -> Rule:
    """What a rule module says of itself. Raises AttributeError where something is missing."""
    return Rule(module.NAME, module.MODE, module.LEVEL, module.__doc__ or "", tuple(module.EXAMPLES))
