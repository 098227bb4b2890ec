"""The text of a pull request, and the index of a series, from Jinja2 templates."""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codemod.bundle.description import Description
from codemod.bundle.message import outcome_line, why
from codemod.errors import SymfixError
from codemod.model.xfails import told_check

if TYPE_CHECKING:
    from jinja2 import Environment, TemplateError

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


def render(description: Description, fixes: Sequence[str] = (), template: Path | None = None) -> Text:
    """The pull request of one shard; `fixes` are the numbers of the issues that it closes.

    `template` is a Jinja2 template for the body, which sees `shard` (a Description), `fixes`, `why` (sentences) and
    `commands` (the shell lines of the test plan).
    Raises SymfixError, which names the template and the line, where it cannot be used.
    """
    values = {"fixes": list(fixes), "why": why(description), "commands": shown_by(description)}
    body = _rendered(template, _BODY, shard=description, **values)
    return Text(description.title, _tidy(body))


def shown_by(description: Description) -> list[str]:
    """The shell lines that show the cure: the proof, the tests whose failure was expected, the tests added."""
    operator = description.about if description.kind == "operator" else next(iter(description.operators), "")
    lines = [f"symfix prove --op {operator}" if operator else "symfix prove"]
    for entry in description.follow_up.removed:
        if re.search(r"(?:^|/)test_\w+\.py$", entry.path):
            chosen = re.sub(r"\W+", "_", f"{entry.name} {entry.variant}".strip())
            lines.append(f"python {entry.path} -k {chosen}")
    for test in description.follow_up.tests:
        path, _, method = test.partition("::")
        lines.append(f"python {path} -k {method.rpartition('::')[2]}")
    return list(dict.fromkeys(lines))


def series(rows: Sequence[Row]) -> str:
    """The index of a series, in Markdown, in the order in which it can land."""
    return _tidy(_rendered(None, _SERIES, rows=list(rows)))


def fenced(text: str, language: str = "") -> str:
    """`text` as a code block that no back quotes in it can end."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def code(text: str) -> str:
    """`text` as code within a line or the cell of a table."""
    line = " ".join(text.split()).replace("|", "\\|")
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    mark = "`" * (longest + 1)
    return f"{mark} {line} {mark}" if longest else f"{mark}{line}{mark}"


def _rendered(template: Path | None, name: str, **values: object) -> str:
    from jinja2 import TemplateError

    environment = _environment()
    told = str(template) if template is not None else name
    try:
        if template is None:
            return environment.get_template(name).render(**values)
        return environment.from_string(template.read_text(encoding="utf-8")).render(**values)
    except (OSError, UnicodeDecodeError) as error:
        raise SymfixError(f"{told}: the template cannot be read: {getattr(error, 'strerror', error)}") from error
    except TemplateError as error:
        raise SymfixError(f"{told}:{_line(error)}: {error.message or error}") from error


def _line(error: TemplateError) -> int:
    """The line of the template that `error` is about, 1 where none is known."""
    frames = traceback.extract_tb(error.__traceback__)
    ran = [frame.lineno for frame in frames if frame.filename == "<template>" and frame.lineno]
    return getattr(error, "lineno", None) or (ran[-1] if ran else 1)


def _environment() -> Environment:
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        loader=PackageLoader("codemod.pr", "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters |= {"fenced": fenced, "code": code, "outcome": outcome_line, "check": told_check}
    return environment


def _tidy(text: str) -> str:
    """`text` with at most one empty line in a row outside code blocks, ending in one line feed."""
    parts = re.split(r"(?ms)^((`{3,})[^\n]*\n.*?^\2)$", text)
    outside, blocks = parts[::3], parts[1::3]
    kept = [re.sub(r"\n{3,}", "\n\n", part) for part in outside]
    return "".join(a + b for a, b in zip(kept, [*blocks, ""], strict=True)).strip("\n") + "\n"
