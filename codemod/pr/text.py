"""The text of a pull request, and the index of a series, from Jinja2 templates."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codemod.borders import quoting
from codemod.bundle import observed
from codemod.bundle.description import Description
from codemod.bundle.message import why
from codemod.errors import SymfixError
from codemod.model.xfails import describe_check
from codemod.pr import repro
from codemod.pr.release_notes import label
from codemod.pr.template import render_template
from codemod.prove.evidence import Evidence, describe_opcheck
from codemod.terminal import listed, visible

if TYPE_CHECKING:
    from jinja2 import Environment

_BODY = "body.md.j2"
_SERIES = "series.md.j2"
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:/[A-Za-z0-9][\w-]{0,99})?", re.ASCII)
_MOST_SENTENCES, _MOST_SCRIPTS, _MOST_NAMES = 4, 3, 8


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
    descriptions: Sequence[Description],
    fixes: Mapping[str, Sequence[str]] | None = None,
    template: Path | None = None,
    cc: Sequence[str] = (),
    topics: Collection[str] = (),
) -> list[Text]:
    """The pull request of each shard; `fixes` are the numbers of the issues that it closes, by its name.

    `cc` are the logins of those whom it mentions, of people or, as `org/team`, of teams; `topics` those that the
    release notes of the tree have (`listed_topics`).

    `template` is a Jinja2 template for the body, which sees `shard` (a Description), `fixes`, `cc` (a line), `topic` (a
    label, or ""), sentences (`observed`, `why`, `failing`, `not_run`), `scripts` (of evidence, each with its text and
    how it ends) and `commands` (the shell lines of the test plan). What it writes with `{{ }}` is text, and reads as it
    is whatever it holds; the filters `code`, `fenced` and `link` make Markdown.
    Raises SymfixError on what is no login, and, with its name and the line, where the template cannot be used.
    """
    mentions = _mentions(cc)
    values = [
        {
            "shard": description,
            "fixes": list((fixes or {}).get(description.name, ())),
            "cc": mentions,
            "topic": label(description.evidence, topics),
            "why": why(description),
            "observed": _observed(description),
            "failing": [text for text in map(observed.still_failing, description.evidence) if text],
            "not_run": _not_run(description),
            "scripts": _scripts(description),
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
    """The shell lines that show the cure: the tests whose failure was expected, and the tests added."""
    lines = []
    for entry in description.follow_up.removed:
        if re.search(r"(?:^|/)test_\w+\.py$", entry.path):
            chosen = re.sub(r"\W+", "_", f"{entry.name} {entry.variant}".strip())
            lines.append(["pytest", entry.path, "-k", chosen])
    for test in description.follow_up.tests:
        path, _, method = test.partition("::")
        lines.append(["pytest", path, "-k", method.rpartition("::")[2]])
    return list(dict.fromkeys(map(shlex.join, lines)))


def _mentions(logins: Sequence[str]) -> quoting.Markdown:
    """The line that mentions `logins`, "" for none. Raises SymfixError on what is no login."""
    names = [login.removeprefix("@") for login in logins]
    wrong = next((name for name in names if not _LOGIN.fullmatch(name)), None)
    if wrong is not None:
        raise SymfixError(f"cc {visible(wrong)}: no login of GitHub; write octocat, or org/team")
    return quoting.Markdown(" ".join(["cc", *(f"@{name}" for name in names)]) if names else "")


def _subject(evidence: Evidence) -> quoting.Markdown:
    """The operator, and which variant of it was run, or by what."""
    return quoting.Markdown(f"{quoting.code(evidence.operator)} {quoting.markdown(observed.piece(evidence))}".strip())


def _by_cure(description: Description) -> list[Evidence]:
    """The evidence, what was cured before the rest."""
    return sorted(description.evidence, key=lambda entry: not observed.cure(entry))


def _observed(description: Description) -> list[str]:
    """What was seen, a sentence an operator; of many the first, and how many more came out how."""
    seen = [entry for entry in _by_cure(description) if entry.outcome != "not provable"]
    rest = Counter(observed.result(entry).partition(" (")[0] for entry in seen[_MOST_SENTENCES:])
    more = ", ".join(f"{count} {result}" for result, count in rest.items())
    return [*map(observed.sentence, seen[:_MOST_SENTENCES]), *([f"Of the other operators: {more}."] if more else [])]


def _not_run(description: Description) -> list[str]:
    reasons = [observed.sentence(entry) for entry in description.evidence if entry.outcome == "not provable"]
    names = listed((f"`{name}`" for name in description.not_run), most=_MOST_NAMES)
    return [*reasons, *([f"{names}: no evidence"] if names else [])]


def _scripts(description: Description) -> list[tuple[Evidence, str, str]]:
    """The scripts that show what was cured, failing that what fails; each with how it ends before and after."""
    cured = [entry for entry in description.evidence if observed.cure(entry) and entry.repro]
    failing = [entry for entry in description.evidence if observed.still_failing(entry) and entry.repro]
    return [(entry, repro.script(entry), repro.ends(entry)) for entry in (cured or failing)[:_MOST_SCRIPTS]]


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
        "fenced": quoting.fenced, "code": quoting.code, "link": quoting.link, "cell": observed.cell,
        "result": observed.result, "subject": _subject, "check": describe_check,
        "opcheck": describe_opcheck,
    }  # fmt: skip
    return sandbox


def _tidy(text: str) -> str:
    """`text` with at most one empty line in a row outside code blocks, ending in one line feed."""
    parts = re.split(r"(?ms)^((`{3,})[^\n]*\n.*?^\2)$", text)
    outside, blocks = parts[::3], parts[1::3]
    tidied = [re.sub(r"\n{3,}", "\n\n", part) for part in outside]
    return "".join(a + b for a, b in zip(tidied, [*blocks, ""], strict=True)).strip("\n") + "\n"
