"""The manual: the list of rules, and the page of one, made of its docstring and examples; as text or as Markdown."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Sequence

from codemod.borders.quoting import fenced
from codemod.model import transform
from codemod.model.suppress import UNUSED_RULE
from codemod.model.transform import Example, Rule
from codemod.reporting.report import level_name
from codemod.terminal import shorten, style, table, width

_LABEL = re.compile(r"^([A-Z][a-z ]+:)")
"""What a paragraph of a page opens with: `Why:`, `Fix safety:`."""


def all_rules() -> list[Rule]:
    """Every installed rule, the engine's own among them, sorted by name. Raises as `load_transforms` does."""
    rules = [UNUSED_RULE, *(rule for plugin in transform.load_transforms() for rule in plugin.rules())]
    return sorted(rules, key=lambda rule: rule.name)


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
    """The manual page of a rule: its docstring, each example before and after, and what is left alone."""
    head = f"{style(rule.name, 'bold', 'cyan')}  mode {int(rule.mode)}, level {level_name(rule.level)}"
    lines = [head, "", *_paragraphs(inspect.cleandoc(rule.doc))]
    for example in _ordered(rule.examples):
        lines += ["", style(_title(example), "bold")]
        if example.after is None:
            lines += _code("  ", example.before)
        else:
            lines += [style(line, "red") for line in _code("- ", example.before)]
            lines += [style(line, "green") for line in _code("+ ", example.after)]
    return lines


def rule_text(rule: Rule) -> str:
    """The docstring of a rule, for readers that know no markup."""
    return inspect.cleandoc(rule.doc)


def rule_markdown(rule: Rule) -> str:
    """The manual page of a rule in Markdown, without a heading."""
    blocks = [f"Mode {int(rule.mode)} · level {rule.level.name.lower()}"]
    for block in inspect.cleandoc(rule.doc).split("\n\n"):
        if block.startswith("    "):
            blocks.append(fenced(textwrap.dedent(block)))
        else:
            blocks.append(_LABEL.sub(r"**\1**", block))
    for example in _ordered(rule.examples):
        before = _source(example.before)
        if example.after is None:
            blocks += [_title(example), fenced(before)]
        else:
            lines = [f"- {line}".rstrip() for line in before.splitlines()]
            lines += (f"+ {line}".rstrip() for line in _source(example.after).splitlines())
            blocks += [_title(example), fenced("\n".join(lines), "diff")]
    return "\n\n".join(blocks)


def markdown_page(rule: Rule) -> str:
    """The manual page of a rule in Markdown, under its name."""
    return f"## {rule.name}\n\n{rule_markdown(rule)}\n"


def markdown_list(rules: Sequence[Rule]) -> list[str]:
    """The list of rules as a table of Markdown, each with a link to its page below."""
    lines = ["| rule | mode | level | what it does |", "|---|---|---|---|"]
    for rule in rules:
        first = inspect.cleandoc(rule.doc).partition("\n")[0].replace("|", "\\|")
        lines.append(f"| [{rule.name}](#{rule.name}) | {int(rule.mode)} | {rule.level.name.lower()} | {first} |")
    return lines


def reference(rules: Sequence[Rule]) -> str:
    """The manual of all rules as one Markdown document."""
    head = "# Rules\n\nWritten by `symfix rule --all --format markdown`; `symfix rule NAME` shows one page.\n"
    return "\n".join([head, *markdown_list(rules), "", *map(markdown_page, rules)])


def _paragraphs(text: str) -> list[str]:
    """`text` with its paragraphs filled to the width; what is indented, or a list, stays as it is."""
    lines: list[str] = []
    for block in text.split("\n\n"):
        preformatted = any(line.startswith((" ", "- ", "* ", "|")) for line in block.splitlines())
        lines += [*(block.splitlines() if preformatted else textwrap.wrap(block, width(), break_long_words=False)), ""]
    return lines[:-1]


def _code(mark: str, source: str) -> list[str]:
    return [f"    {mark}{line}".rstrip() for line in _source(source).splitlines()]


def _ordered(examples: Sequence[Example]) -> list[Example]:
    """What changes first: a reader wants to know what a rule does before what it does not."""
    return sorted(examples, key=lambda example: example.after is None)


def _title(example: Example) -> str:
    kind = "Example" if example.after is not None else "Left alone"
    return f"{kind}: {example.note}" if example.note else kind


def _source(text: str) -> str:
    return textwrap.dedent(text).strip("\n")
