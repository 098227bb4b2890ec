"""`symfix rule`: the list of rules, and their manual pages."""

from __future__ import annotations

import click

from codemod.cli.completion import complete_rules
from codemod.cli.root import group, loading
from codemod.errors import SymfixError, nearest
from codemod.terminal import show


@group.command()
@click.argument("name", required=False, shell_complete=complete_rules)
@click.option("--all", "every", is_flag=True, help="The pages of all rules, one after the other.")
@click.option("--format", type=click.Choice(["text", "markdown"]), default="text", show_default=True)
def rule(name: str | None, every: bool, format: str) -> int:
    """List the rules, or print the manual page of one, or of all.

    \b
      symfix rule
      symfix rule sym-accessor
      symfix rule --all --format markdown > RULES.md
    """
    with loading():
        from codemod.reporting.manual import all_rules, markdown_list, markdown_page, reference, rule_list, rule_page

    if name is not None and every:
        raise click.UsageError("give the name of a rule, or --all")
    rules = all_rules()
    chosen = [rule for rule in rules if name in (None, rule.name)]
    if not chosen:
        close = nearest(name or "", [rule.name for rule in rules])
        raise SymfixError(f"there is no rule named {name!a}{close}; symfix rule lists them")
    markdown = format == "markdown"
    if every:
        pages = reference(rules) if markdown else "\n\n\n".join("\n".join(rule_page(rule)) for rule in rules)
    elif name is None:
        pages = "\n".join(markdown_list(rules) if markdown else rule_list(rules))
    else:
        pages = markdown_page(chosen[0]) if markdown else "\n".join(rule_page(chosen[0]))
    show(pages.rstrip("\n").split("\n"))
    return 0
