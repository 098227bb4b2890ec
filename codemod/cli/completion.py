"""What the shell offers for an option: operators of the last analysis of the checkout, and rules."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from codemod.cli.root import loading
from codemod.errors import SymfixError


def complete_operators(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The names that begin so, of the checkout's last plan; none where there is no such plan: nothing is analysed."""
    with loading():
        from codemod.planning.operators import Operators
        from codemod.tree.cache import Cache
        from codemod.tree.checkout import find_checkout, user_cache

    try:
        kept = Cache.of(find_checkout(Path()).root, user_cache()).last_plan()
    except (SymfixError, OSError):
        return []
    findings = getattr(kept[-1], "findings", ()) if isinstance(kept, tuple) else ()
    return [CompletionItem(name) for name in Operators(findings).all() if name.startswith(incomplete)]


def complete_rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The rules whose names begin so, each with the first line of its page."""
    with loading():
        from codemod.reporting.manual import all_rules

    return [
        CompletionItem(rule.name, help=rule.doc.strip().partition("\n")[0])
        for rule in all_rules()
        if rule.name.startswith(incomplete)
    ]
