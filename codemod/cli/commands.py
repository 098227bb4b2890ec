"""`symfix diff` and `symfix apply`, which differ only in whether files are written."""

from __future__ import annotations

from typing import Any

import click

from codemod.cli.options import accepted_option, level_option, plan_option, tree_options
from codemod.cli.root import group, loading


@group.command()
@tree_options
@level_option("safe", "Show changes up to this level.")
@plan_option("Show this saved plan.")
@accepted_option("Only what symfix review accepted, at whatever level.")
@click.pass_context
def diff(context: click.Context, /, **parameters: Any) -> int:
    """Show what apply would write, as a diff that git apply takes.

    \b
      symfix diff
      symfix diff --level review --op cross_entropy_loss
      symfix diff --accepted                     what symfix review accepted
      symfix diff > symfix.patch && git apply symfix.patch
    """
    with loading():
        from codemod.cli.apply_changes import change

    return change(context, parameters, write_files=False)


@group.command()
@tree_options
@level_option("safe", "Apply changes up to this level.")
@plan_option("Apply this saved plan.")
@accepted_option("Only what symfix review accepted, at whatever level.")
@click.option("--dry-run", is_flag=True, help="Write nothing; the same as symfix diff.")
@click.option("--no-check", is_flag=True, help="Do not compile what changes, where a compiler and torch are at hand.")
@click.option("--allow-dirty", is_flag=True, help="Also where there are changes that are not committed.")
@click.option("--allow-no-vcs", is_flag=True, help="Also where no git checkout would let you undo it.")
@click.pass_context
def apply(context: click.Context, /, **parameters: Any) -> int:
    """Rewrite the files, all or none.

    What is done is seen with git diff and undone with git restore. Where a C++ compiler and torch's headers are at
    hand, what changes is compiled first: a change that breaks a source is left out and named, and the exit code is 2.

    \b
      symfix apply
      symfix apply --level review --op 'max_pool*'
      symfix apply --plan plan.json
    """
    with loading():
        from codemod.cli.apply_changes import change

    return change(context, parameters, write_files=not parameters["dry_run"])
