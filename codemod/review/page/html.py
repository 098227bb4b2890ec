"""The page's HTML: template, style, script and data in one file that needs no network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from codemod.borders.quoting import page, page_text, script_json
from codemod.bundle.shards import Shard
from codemod.model.plan import Plan
from codemod.model.transform import Rule
from codemod.prove.evidence import Evidence
from codemod.review.page.data import build

_SCRIPTS = ("core.js", "diff.js", "cards.js", "dialogs.js", "sidebar.js", "review.js")
"""In the order in which they run, as one script."""

_EXPORTED = frozenset({"decision", "decided"})
"""What the page holds to be exported as it is, and never shows."""


def render(
    plan: Plan,
    shards: Sequence[Shard],
    sources: Mapping[str, bytes],
    syntax: Mapping[str, Sequence[str]],
    *,
    title: str,
    rules: Sequence[Rule],
    evidence: Mapping[str, Sequence[Evidence]],
) -> bytes:
    """The page that shows `shards` of `plan`, ASCII only, the same bytes for the same input.

    `sources` holds the bytes of every file that `shown_paths` names, b"" for one that has gone, and `syntax` what
    `highlight` says of them; `title` is the name of the checkout, and `evidence` is by the name of a shard.
    """
    return _page(title, build(plan, shards, sources, syntax, title=title, rules=rules, evidence=evidence))


def _page(title: str, data: dict[str, Any]) -> bytes:
    from jinja2 import Environment
    from markupsafe import Markup

    style = _asset("style.css")
    script = '"use strict";\n(() => {\n' + "".join(_asset(name) for name in _SCRIPTS) + "})();\n"
    environment = Environment(autoescape=True, keep_trailing_newline=True)
    text = environment.from_string(_asset("page.html.j2")).render(
        title=page_text(title),
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        data=Markup(script_json(page(data, exact=_EXPORTED))),
    )
    return text.encode("ascii", "xmlcharrefreplace")


def _policy(style: str, script: str) -> str:
    """A Content Security Policy that lets the page's own style and script in, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}';"
        " base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return (files("codemod.review.page") / name).read_text(encoding="ascii")
