"""The manual pages of the rules that are installed, and RULES.md, which is made of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codemod.model.transform import Rule
from codemod.reporting.manual import all_rules, reference
from codemod.reporting.sarif import description

RULES = all_rules()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_page_says_what_why_and_how_safe(rule: Rule) -> None:
    first, blank, *rest = rule.doc.splitlines()
    assert first.endswith(".")
    assert len(first) <= 120
    assert not blank
    for label in ("What it does:", "Why:", f"Fix safety: {rule.level.name.lower()}"):
        assert any(line.strip().startswith(label) for line in rest), f"{rule.name}: no {label!r}"
    assert rule.examples or any(line.startswith("    ") for line in rest), f"{rule.name}: no example"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_what_code_scanning_shows_of_a_rule_is_a_sentence(rule: Rule) -> None:
    text = description(rule)
    assert re.match(r"""[A-Z`"]""", text)
    assert text.endswith(".")
    assert text.removeprefix(text[:1]) in " ".join(rule.doc.split())


def test_rules_md_is_what_the_command_prints() -> None:
    written = (Path(__file__).parent.parent / "RULES.md").read_text(encoding="utf-8")
    assert written == reference(RULES), "write it anew: symfix rule --all --format markdown > RULES.md"
