"""The command `symfix` itself; each module of this package adds its own below it."""

from __future__ import annotations

import click

from codemod.model.plan import symfix_version

_ORDER = ("scan", "diff", "apply", "review", "prove", "bundle", "pr", "rule")
"""The commands in the order in which they are used."""


class _InOrder(click.Group):
    """Lists its commands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.commands, key=_ORDER.index)


@click.group(
    cls=_InOrder,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 nothing to do, 1 findings or changes, 2 an error.",
)
@click.version_option(symfix_version(), prog_name="symfix")
def group() -> None:
    """Make PyTorch operators work with symbolic shapes.

    \b
      symfix scan                           which operators throw or specialize
      symfix scan --op cross_entropy_loss   one of them, down to each site
      symfix diff                           what apply would write
      symfix review                         look at each change, and decide
      symfix apply                          write the changes that are safe
      symfix prove                          run operators before and after
      symfix bundle                         one commit for each operator
      symfix pr                             and its pull request
      symfix rule                           what the rules do, and why
    """
