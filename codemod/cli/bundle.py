"""`symfix bundle`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from codemod.cli.options import accepted_option, level_option, plan_option, shard_options, tree_options
from codemod.cli.root import group, loading


@group.command()
@tree_options
@level_option("safe", "Bundle changes up to this level.")
@plan_option("Bundle this saved plan.")
@accepted_option("Only what symfix review accepted, at whatever level.")
@shard_options
@click.option("--dry-run", is_flag=True, help="Show the shards as a tree, with their sizes; make nothing.")
@click.option("--save-shards", type=click.Path(path_type=Path), metavar="FILE", help="Write the shards, to be edited.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["branches", "mbox", "patches"]),
    default="branches",
    show_default=True,
    help="Branches symfix/SHARD; one mailbox on stdout; a file for each shard.",
)
@click.option("--output", type=click.Path(path_type=Path), metavar="DIR", help="The folder for --format patches.")
@click.pass_context
def bundle(context: click.Context, /, **parameters: Any) -> int:
    """Split the change into one commit for each operator.

    Nothing is checked out: the work tree and the index stay as they are. What several operators share is a shard
    that theirs are stacked on. Every shard is proved to stand alone on its base, all of them to be the whole change.
    Where there is a compiler and torch's headers, each has to compile what compiled before; what does is kept.

    \b
      symfix bundle --dry-run                          the shards, with sizes
      symfix bundle                                    a branch symfix/SHARD each
      symfix bundle --op 'max_pool*' --level review
      symfix bundle --python ~/torch/bin/python        compile over that torch
      symfix bundle --format mbox > symfix.mbox        for git am
      symfix bundle --format patches --output ../patches   a file for each shard
      symfix bundle --dry-run --save-shards shards.yaml    edit that file, then
      symfix bundle --shards shards.yaml
    """
    with loading():
        from codemod.cli.bundle_forms import write_bundle

    return write_bundle(context, parameters)
