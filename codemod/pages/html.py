"""A page's HTML: template, style, script and data in one file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from codemod.borders.quoting import script_json


def self_contained(package: str, scripts: Sequence[str], data: Any, **values: Any) -> bytes:
    """The page of a package's `page.html.j2`, ASCII only, the same bytes for the same input.

    The package's `style.css` follows the common one; its `scripts` run in their order, as one with the common tools,
    and find `data` as JSON. `values` are text, escaped by the template: all text went through `page_text` before.
    """
    from jinja2 import Environment
    from markupsafe import Markup

    style = _asset("codemod.pages", "base.css") + _asset(package, "style.css")
    own = "".join(_asset(package, name) for name in scripts)
    script = f'"use strict";\n(() => {{\n{_asset("codemod.pages", "tools.js")}{own}}})();\n'
    environment = Environment(autoescape=True, keep_trailing_newline=True, trim_blocks=True)
    text = environment.from_string(_asset(package, "page.html.j2")).render(
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        data=Markup(script_json(data)),
        **values,
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


def _asset(package: str, name: str) -> str:
    return (files(package) / name).read_text(encoding="ascii")
