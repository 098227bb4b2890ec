"""The text of a pull request, and the index of a series, from Jinja2 templates."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codemod.borders import quoting
from codemod.bundle.description import Description
from codemod.bundle.message import outcome_line, why
from codemod.model.xfails import describe_check
from codemod.pr.template import render_template

if TYPE_CHECKING:
    from jinja2 import Environment

_BODY = "body.md.j2"
_SERIES = "series.md.j2"


@dataclass(frozen=True, slots=True)
class Text:
    """A pull request's title and its body, in Markdown."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Row:
    """One pull request of a series: `parent` is the shard it is stacked on, `state` and `url` what became of it."""

    description: Description
    title: str
    parent: str = ""
    state: str = ""
    url: str = ""


def render(
    descriptions: Sequence[Description], fixes: Mapping[str, Sequence[str]] | None = None, template: Path | None = None
) -> list[Text]:
    """The pull request of each shard; `fixes` are the numbers of the issues that it closes, by its name.

    `template` is a Jinja2 template for the body, which sees `shard` (a Description), `fixes`, `why` (sentences) and
    `commands` (the shell lines of the test plan). What it writes with `{{ }}` is text, and reads as it is whatever it
    holds; the filters `code`, `fenced` and `link` make Markdown.
    Raises SymfixError, which names the template and the line, where it cannot be used.
    """
    values = [
        {
            "shard": description,
            "fixes": list((fixes or {}).get(description.name, ())),
            "why": why(description),
            "commands": shown_by(description),
        }
        for description in descriptions
    ]
    if template is not None:
        bodies = render_template(template, values)
    else:
        own = environment().get_template(_BODY)
        bodies = [own.render(**shown) for shown in values]
    return [Text(description.title, _tidy(body)) for description, body in zip(descriptions, bodies, strict=True)]


def shown_by(description: Description) -> list[str]:
    """The shell lines that show the cure: the proof, the tests whose failure was expected, the tests added."""
    operator = description.about if description.kind == "operator" else next(iter(description.operators), "")
    lines = [["symfix", "prove", *(["--op", operator] if operator else [])]]
    for entry in description.follow_up.removed:
        if re.search(r"(?:^|/)test_\w+\.py$", entry.path):
            chosen = re.sub(r"\W+", "_", f"{entry.name} {entry.variant}".strip())
            lines.append(["python", entry.path, "-k", chosen])
    for test in description.follow_up.tests:
        path, _, method = test.partition("::")
        lines.append(["python", path, "-k", method.rpartition("::")[2]])
    return list(dict.fromkeys(map(shlex.join, lines)))


def series(rows: Sequence[Row]) -> str:
    """The index of a series, in Markdown, in the order in which it can land."""
    return _tidy(environment().get_template(_SERIES).render(rows=list(rows)))


def environment() -> Environment:
    """What templates are rendered in: none of them reaches or changes more than the values it is given."""
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    sandbox = ImmutableSandboxedEnvironment(
        loader=PackageLoader("codemod.pr", "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
        finalize=lambda value: quoting.markdown(value if isinstance(value, str) else str(value)),
    )
    sandbox.filters |= {
        "fenced": quoting.fenced, "code": quoting.code, "link": quoting.link, "outcome": outcome_line,
        "check": describe_check,
    }  # fmt: skip
    return sandbox


def _tidy(text: str) -> str:
    """`text` with at most one empty line in a row outside code blocks, ending in one line feed."""
    parts = re.split(r"(?ms)^((`{3,})[^\n]*\n.*?^\2)$", text)
    outside, blocks = parts[::3], parts[1::3]
    tidied = [re.sub(r"\n{3,}", "\n\n", part) for part in outside]
    return "".join(a + b for a, b in zip(tidied, [*blocks, ""], strict=True)).strip("\n") + "\n"
