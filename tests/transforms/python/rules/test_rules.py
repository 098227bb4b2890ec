"""Every rule's examples, which are its manual page: what it leaves alone first, then what it changes."""

from __future__ import annotations

from typing import Any

import pytest

from codemod.model.transform import Example
from transforms.python import rules
from transforms.python.rules import load_rules
from transforms.rule_modules import load_rule_modules

RULES = load_rules()

VALID = [
    (place_rule.rule.name, example)
    for place_rule in RULES
    for example in place_rule.rule.examples
    if example.after is None
]
INVALID = [
    (place_rule.rule.name, example)
    for place_rule in RULES
    for example in place_rule.rule.examples
    if example.after is not None
]


@pytest.mark.parametrize(("name", "example"), VALID)
def test_left_alone(name: Any, example: Example, rewrite: Any, look: Any) -> None:
    edits = [finding for finding in look(example.before) if finding.rule == name and finding.edits]
    assert not edits, example.note


@pytest.mark.parametrize(("name", "example"), INVALID)
def test_changed(name: Any, example: Example, rewrite: Any, look: Any) -> None:
    assert rewrite(example.before) == example.after
    assert name in {finding.rule for finding in look(example.before) if finding.edits}


@pytest.mark.parametrize(("name", "example"), INVALID)
def test_a_second_run_changes_nothing(name: Any, example: Example, rewrite: Any) -> None:
    once = rewrite(example.before)
    assert rewrite(once) == once


@pytest.mark.parametrize("place_rule", RULES, ids=lambda place_rule: place_rule.rule.name)
def test_every_rule_has_a_page_and_an_example_it_leaves_alone(place_rule: Any) -> None:
    assert place_rule.rule.doc.startswith(place_rule.rule.doc.strip())
    for heading in ("What it does:", "Why:", "Fix safety:", "References:"):
        assert heading in place_rule.rule.doc
    assert any(example.after is None for example in place_rule.rule.examples)


def test_no_two_rules_have_the_same_precedence() -> None:
    modules = load_rule_modules(rules)
    assert len({module.PRECEDENCE for module in modules}) == len(modules)
