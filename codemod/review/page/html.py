"""The review's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codemod.borders.quoting import page, page_text
from codemod.bundle.shard_evidence import Ran
from codemod.bundle.shards import Shard
from codemod.model.plan import Plan
from codemod.model.transform import Rule
from codemod.pages.html import self_contained
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
    ran: Mapping[str, Ran],
) -> bytes:
    """The page that shows `shards` of `plan`, ASCII only, the same bytes for the same input.

    `sources` holds the bytes of every file that `shown_paths` names, b"" for one that has gone, and `syntax` what
    `highlight` says of them; `title` is the name of the checkout, and `ran` is by the name of a shard.
    """
    data = build(plan, shards, sources, syntax, title=title, rules=rules, ran=ran)
    return self_contained("codemod.review.page", _SCRIPTS, page(data, exact=_EXPORTED), title=page_text(title))
