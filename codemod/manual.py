"""The manual: the list of rules, and the page of one, made of its docstring and examples."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Sequence

from codemod.report import level_name
from codemod.terminal import shorten, style, table, width
from codemod.transform import Rule


def rule_list(rules: Sequence[Rule]) -> list[str]:
    """One line for each rule: name, mode, level, and the first line of its page."""
    names = max((len(rule.name) for rule in rules), default=4)
    rows = [("rule", "mode", "level", "what it does")]
    for rule in sorted(rules, key=lambda rule: rule.name):
        first = inspect.cleandoc(rule.doc).partition("\n")[0]
        rows.append((rule.name, str(int(rule.mode)), rule.level.name.lower(), shorten(first, width() - names - 18)))
    lines = table(rows)
    return [style(lines[0], "bold"), *lines[1:]]


def rule_page(rule: Rule) -> list[str]:
    """The manual page of a rule: its docstring, then each example before and after."""
    head = f"{style(rule.name, 'bold', 'cyan')}  mode {int(rule.mode)}, level {level_name(rule.level)}"
    lines = [head, "", *_paragraphs(inspect.cleandoc(rule.doc))]
    for example in rule.examples:
        lines += ["", style(example.note or ("Example" if example.after is not None else "Left alone"), "bold")]
        if example.after is None:
            lines += _code("  ", example.before)
        else:
            lines += [style(line, "red") for line in _code("- ", example.before)]
            lines += [style(line, "green") for line in _code("+ ", example.after)]
    return lines


def _paragraphs(text: str) -> list[str]:
    """`text` with its paragraphs filled to the width; what is indented, or a list, stays as it is."""
    lines: list[str] = []
    for block in text.split("\n\n"):
        kept = any(line.startswith((" ", "- ", "* ", "|")) for line in block.splitlines())
        lines += [*(block.splitlines() if kept else textwrap.wrap(block, width(), break_long_words=False)), ""]
    return lines[:-1]


def _code(mark: str, source: str) -> list[str]:
    return [f"    {mark}{line}".rstrip() for line in textwrap.dedent(source).strip("\n").splitlines()]
