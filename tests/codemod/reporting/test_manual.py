from __future__ import annotations

import pytest

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example, Rule
from codemod.reporting.manual import reference, rule_list, rule_page

DOC = """Sizes become symbolic.

    What it does: a paragraph that the source folds
    at its own width.

    - a list
    - stays

        int64_t code = stays();
    """
EXAMPLES = (Example("kept;", None, "no `size`"), Example("    if (a) {\n      b;\n    }\n", "c;"))
RULE = Rule("sizes", Mode.DIRECT_THROW, Level.REVIEW, DOC, EXAMPLES)


def test_the_list_shows_the_first_line_cut_to_the_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    other = Rule("a-rule", Mode.LEAK, Level.MANUAL, "x" * 80)
    lines = rule_list([RULE, other])
    assert lines[1].startswith("a-rule  4     manual  xxx")
    assert lines[1].endswith("…")
    assert len(lines[1]) <= 60
    assert lines[2] == "sizes   1     review  Sizes become symbolic."


def test_the_page_fills_paragraphs_and_keeps_lists_and_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    assert rule_page(RULE) == [
        "sizes  mode 1, level review",
        "",
        "Sizes become symbolic.",
        "",
        "What it does: a paragraph that the source folds at its own width.",
        "",
        "- a list",
        "- stays",
        "",
        "    int64_t code = stays();",
        "",
        "Example",
        "    - if (a) {",
        "    -   b;",
        "    - }",
        "    + c;",
        "",
        "Left alone: no `size`",
        "      kept;",
    ]


def test_in_markdown_code_is_fenced_and_the_list_leads_to_the_pages() -> None:
    assert (
        reference([RULE])
        == """# Rules

Written by `symfix rule --all --format markdown`; `symfix rule NAME` shows one page.

| rule | mode | level | what it does |
|---|---|---|---|
| [sizes](#sizes) | 1 | review | Sizes become symbolic. |

## sizes

Mode 1 · level review

Sizes become symbolic.

**What it does:** a paragraph that the source folds
at its own width.

- a list
- stays

```
int64_t code = stays();
```

Example

```diff
- if (a) {
-   b;
- }
+ c;
```

Left alone: no `size`

```
kept;
```
"""
    )
