"""The rules on C++, one a module. A rule names the events of the flow that it answers in `EVENTS`."""

from __future__ import annotations

import functools
import sys

from codemod.model.transform import Rule
from transforms.cpp.flow.answers import Rewrite, Rewrites
from transforms.cpp.flow.events import Event
from transforms.rule_modules import load_rule_modules, rule_of


@functools.cache
def load_rules() -> tuple[Rule, ...]:
    """Every rule of this package, sorted by name."""
    return tuple(rule_of(module) for module in load_rule_modules(sys.modules[__name__]))


@functools.cache
def load_rewrites() -> Rewrites:
    """The function of each rule, by the events that it answers."""
    rewrites: dict[type[Event], list[tuple[str, Rewrite]]] = {}
    for module in load_rule_modules(sys.modules[__name__]):
        for event in getattr(module, "EVENTS", ()):
            rewrites.setdefault(event, []).append((module.NAME, module.rewrite))
    return rewrites
