"""`symfix prove`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from codemod.cli.options import install_option, level_option, plan_option, target_options, tree_options
from codemod.cli.root import group, loading


@group.command()
@tree_options
@level_option("safe", "Prove changes up to this level.")
@plan_option("Prove this saved plan.")
@target_options
@install_option
@click.option("--timeout", type=click.IntRange(1), default=300, show_default=True, metavar="SECONDS",
              help="How long one run of a shard's operators may take.")  # fmt: skip
@click.option("--executor", default="", metavar="dask://HOST:PORT",
              help="Work on the machines of this dask cluster, which see the same folders.")  # fmt: skip
@click.option("--save-repro", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Keep each operator's script in this folder.")  # fmt: skip
@click.option("--repro", metavar="FILE",
              type=click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True),
              help="Run the operator of --op with this script, in the form that --save-repro writes.")  # fmt: skip
@click.option("--repro-only", is_flag=True, help="Print the script that shows the failure, and prove nothing.")
@click.option("--format", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="json has all that was found, each operator's script included.")  # fmt: skip
@click.pass_context
def prove(context: click.Context, /, **parameters: Any) -> int:
    """Run operators before and after their change, to prove it.

    \b
      symfix prove --op cross_entropy_loss       does the change cure it?
      symfix prove --python ~/torch/bin/python   over another environment's torch
      symfix prove --op inner --repro-only       print a script that fails
      symfix prove --save-repro repros           a script for each operator too

    PyTorch is not built: the changed sources alone are compiled, twice, and laid over the installed torch. This
    runs the checkout's code, as scan, diff, apply and bundle never do. Exit 0 where nothing is worse, 1 where
    something is.
    """
    with loading():
        from codemod.cli.prove_session import prove_shards

    return prove_shards(context, parameters)
