"""`symfix rule`."""

from __future__ import annotations

import click

from codemod import transform
from codemod.cli.root import group
from codemod.errors import SymfixError
from codemod.terminal import write


@group.command()
@click.argument("name", required=False)
def rule(name: str | None) -> int:
    """List the rules, or print the manual page of one.

    \b
      symfix rule
      symfix rule NAME
    """
    from codemod.manual import rule_list, rule_page
    from codemod.suppress import UNUSED_RULE

    rules = [UNUSED_RULE, *(rule for one in transform.load_transforms() for rule in one.rules())]
    if name is None:
        write("\n".join(rule_list(rules)) + "\n")
        return 0
    found = next((rule for rule in rules if rule.name == name), None)
    if found is None:
        raise SymfixError(f"there is no rule named {name!r}; symfix rule lists them")
    write("\n".join(rule_page(found)) + "\n")
    return 0


