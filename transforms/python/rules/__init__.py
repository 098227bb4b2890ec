"""The rules on Python, one a module. Of several that know a place, the one with the lowest `PRECEDENCE` speaks."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import NamedTuple

from codemod.model.transform import Rule
from transforms.python.writing.place import Place, Rewrite
from transforms.rule_modules import load_rule_modules, rule_of


class PlaceRule(NamedTuple):
    """A rule with its manual page and its function."""

    rule: Rule
    rewrite: Callable[[Place], Rewrite | None]


@functools.cache
def load_rules() -> tuple[PlaceRule, ...]:
    """Every rule of this package, in the order in which they are asked; the last knows every place."""
    modules = sorted(load_rule_modules(sys.modules[__name__]), key=lambda module: module.PRECEDENCE)
    return tuple(PlaceRule(rule_of(module), module.rewrite) for module in modules)
