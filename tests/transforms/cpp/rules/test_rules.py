"""Every rule does what its manual page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemod.model.transform import Example
from tests.transforms.cpp.snippets import converted, findings
from transforms.cpp.rules import load_rules

HEADINGS = ("What it does:", "Why:", "Fix safety:", "References:")
EXAMPLES = [
    pytest.param(rule.name, example, id=f"{rule.name}-{index}")
    for rule in load_rules()
    for index, example in enumerate(rule.examples)
]


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_the_examples_of_a_rule_come_out_as_shown(tmp_path: Path, name: str, example: Example) -> None:
    expected = example.before if example.after is None else example.after
    assert converted(tmp_path, example.before) == expected
    if example.after is not None:
        assert name in {finding.rule for finding in findings(tmp_path, example.before)}


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_what_a_rule_wrote_is_left_alone(tmp_path: Path, name: str, example: Example) -> None:
    once = converted(tmp_path, example.before)
    assert converted(tmp_path, once) == once


@pytest.mark.parametrize("rule", load_rules(), ids=lambda rule: rule.name)
def test_every_rule_has_a_manual_page(rule: object) -> None:
    doc = getattr(rule, "doc", "")
    assert all(heading in doc for heading in HEADINGS)
