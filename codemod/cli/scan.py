"""`symfix scan`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from codemod.cli.options import level_option, tree_options
from codemod.cli.root import group, loading
from codemod.model.choices import FORMATS, SORTS


@group.command()
@tree_options
@level_option("manual", "Report findings up to this level.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Leave out the findings that this file accepts; --format baseline writes it.",
)
@click.option("--sort", type=click.Choice(SORTS), default="impact", show_default=True,
              help="impact: what throws before what compiles again, public operators first.")  # fmt: skip
@click.option("--all", "all_", is_flag=True, help="All operators and reasons, also where the terminal is full.")
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="json is a plan that diff and apply take with --plan, github annotates a workflow's change,"
    " sarif is for code scanning and editors.",
)
@click.pass_context
def scan(context: click.Context, /, **parameters: Any) -> int:
    """Find concrete-shape code that symbolic tensors reach.

    \b
      symfix scan                             the whole checkout, by operator
      symfix scan aten/src/ATen/native        one folder, a line each finding
      symfix scan --op 'max_pool*'            operators, site by site
      symfix scan --format json > plan.json   for symfix apply --plan plan.json
      symfix scan --format csv                for a spreadsheet

    \b
    In CI:
      symfix scan --since origin/main --format github
      symfix scan --format baseline > symfix-baseline.json
      symfix scan --baseline symfix-baseline.json
    """
    with loading():
        from codemod.cli.scan_report import report

    return report(context, parameters)
