"""`symfix review`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from codemod.cli.options import level_option, plan_option, tree_options
from codemod.cli.root import group, loading
from codemod.errors import SymfixError
from codemod.model.choices import EVERYTHING


def _no_option(context: click.Context, parameter: click.Parameter, selectors: tuple[str, ...]) -> tuple[str, ...]:
    """The values of --forget, once none is the option after it but --all."""
    for selector in selectors:
        if selector.startswith("-") and selector != EVERYTHING:
            with loading():
                from codemod.planning.selectors import FORMS

            raise SymfixError(f"--forget {selector}: say what to forget: {FORMS}; or --forget --all for everything")
    return selectors


@group.command()
@tree_options
@level_option("review", "Review changes up to this level.")
@plan_option("Review this saved plan.")
@click.option("--accept", multiple=True, metavar="WHAT", help="Accept without asking: op:GLOB, rule:GLOB, path:GLOB,"
              " level:safe, level:review or id:ID. May be repeated.")  # fmt: skip
@click.option("--reject", multiple=True, metavar="WHAT", help="Reject without asking; wins over --accept.")
@click.option("--forget", multiple=True, metavar="WHAT", callback=_no_option,
              help="Forget what was decided on op:GLOB, … as for --accept; --forget --all forgets everything."
              " What was decided before is kept in a file.")  # fmt: skip
@click.option("--import", "import_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Take over decisions from a file, as --export or the page of --html write it.")  # fmt: skip
@click.option("--export", "export_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Write the decisions to a file; - is stdout.")  # fmt: skip
@click.option("--html", "html_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Write a page to review in a browser, also what is left alone and why.")  # fmt: skip
@click.pass_context
def review(context: click.Context, /, **parameters: Any) -> int:
    """Look at the changes one by one, and decide: symfix apply follows.

    Decisions are kept with the checkout, each as soon as it is made. A change whose file changes is asked again; what
    is rejected stays rejected until its own code changes.

    \b
      symfix review                             in the terminal
      symfix review --op 'cross_entropy*'
      symfix review --accept level:safe --reject rule:symint-overload
      symfix review --export decisions.json     for another checkout
      symfix review --import decisions.json
      symfix review --html review.html          in a browser; see --import
      symfix review --forget op:cov             to be asked again
      symfix apply --accepted                   write that, and nothing else
    """
    with loading():
        from codemod.cli.review_decisions import decide_changes

    return decide_changes(context, parameters)
