"""`symfix pr`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from codemod.cli.options import accepted_option, level_option, plan_option, shard_options, tree_options
from codemod.cli.root import group, loading


@group.command()
@tree_options
@level_option("safe", "Take changes up to this level.")
@plan_option("Take this saved plan.")
@accepted_option("Only what symfix review accepted, at whatever level.")
@shard_options
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="DIR", help="Write SHARD.md for each, and series.md."
)
@click.option(
    "--template", type=click.Path(path_type=Path), metavar="FILE", help="Your own Jinja2 template of the body."
)
@click.option("--fixes", multiple=True, metavar="[SHARD=]NUMBER", help="The issue it fixes. May be repeated.")
@click.option("--label", multiple=True, metavar="NAME",
              help="A label of each draft, as 'topic: bug fixes'. May be repeated.")  # fmt: skip
@click.option("--cc", multiple=True, metavar="LOGIN", help="Whom each text mentions. May be repeated.")
@click.option("--create", is_flag=True, help="Push the branches and open drafts with gh.")
@click.option("--stack", is_flag=True, help="Open stacked shards too, each on the branch of its base.")
@click.option("--include-unproved", is_flag=True, help="Open also what symfix prove has not seen to cure anything.")
@click.option("--duplicates", is_flag=True, help="Open also where another pull request names the operator.")
@click.option("--max-open", type=click.IntRange(1), default=5, show_default=True, metavar="N",
              help="The most that may be open at a time.")  # fmt: skip
@click.option("--pause", type=click.FloatRange(0), default=10.0, show_default=True, metavar="SECONDS",
              help="Between two that are opened.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0.1), default=60.0, show_default=True, metavar="SECONDS",
              help="How long to wait for an answer.")  # fmt: skip
@click.option("--remote", default="origin", show_default=True, metavar="NAME", help="Where the branches are pushed.")
@click.option(
    "--repo", default="", metavar="OWNER/NAME", help="Where drafts are opened.  [default: gh's for the checkout]"
)
@click.option("--base", default="", metavar="BRANCH", help="What they are to be merged into.  [default: this branch]")
@click.pass_context
def pr(context: click.Context, /, **parameters: Any) -> int:
    """Write a pull request for each shard, and open them.

    The text says what failed, what changed, what was left and why, and what symfix prove showed. With --create,
    each branch is pushed and a draft opened once: a run that was stopped anywhere is taken up again by the next.

    \b
      symfix pr --op cross_entropy_loss             the text, on stdout
      symfix pr --output ../pulls                   a file for each, and an index
      symfix pr --op gradient --fixes 123 --create
      symfix pr --create --max-open 3               more when some are merged
      symfix pr --create --remote fork --repo pytorch/pytorch
    """
    with loading():
        from codemod.cli.pr_drafts import write_requests

    return write_requests(context, parameters)
