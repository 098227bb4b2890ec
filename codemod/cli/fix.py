"""`symfix fix`: its options, and the program behind `--`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from codemod.cli.completion import complete_operators
from codemod.cli.options import further_options, install_option, level_option, target_options
from codemod.cli.root import group, loading
from codemod.model.choices import FIX_STEPS

_PROGRAM = "codemod.program"
"""Where the context keeps what stands behind `--`."""


class _WithProgram(click.Command):
    """A command whose arguments end at `--`, behind which a program stands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, with the program left in `ctx.meta`."""
        place = args.index("--") if "--" in args else len(args)
        ctx.meta[_PROGRAM] = tuple(args[place + 1 :])
        return super().parse_args(ctx, args[:place])

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """As click does, with the program."""
        return [*super().collect_usage_pieces(ctx), "[-- PROGRAM...]"]


@group.command(cls=_WithProgram)
@click.argument("op", nargs=-1, metavar="OPERATOR...", shell_complete=complete_operators)
@click.option("--from", "from_file", type=click.Path(path_type=Path), metavar="FILE",
              help="Also the operators of this file, one a line.")  # fmt: skip
@click.option("--from-error", metavar="FILE",
              help="Fix what this error says, or this text of TORCH_LOGS; - for standard input.")  # fmt: skip
@click.option("--until", type=click.Choice(FIX_STEPS), default="pr", show_default=True, help="The last step to take.")
@click.option("--yes", is_flag=True, help="Commit, or write, without asking.")
@level_option("safe", "Take changes up to this level.")
@target_options
@install_option
@click.option("--timeout", type=click.IntRange(1), default=300, show_default=True, metavar="SECONDS",
              help="How long one run of a shard's operators may take.")  # fmt: skip
@click.option("--executor", default="", metavar="dask://HOST:PORT", help="Prove on the machines of this dask cluster.")
@click.option("--repro", metavar="FILE",
              type=click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True),
              help="Run the one operator with this script, in the form that prove --save-repro writes.")  # fmt: skip
@click.option("--allow-dirty", is_flag=True, help="Also where other files have changes that are not committed.")
@click.option("--allow-no-vcs", is_flag=True, help="Of a program: write also where no git checkout lets you undo it.")
@further_options
@click.pass_context
def fix(context: click.Context, /, **parameters: Any) -> int:
    """Fix operators: reproduce, change, prove, commit, write the PR.

    \b
      symfix fix cross_entropy                step by step; asks before the commit
      symfix fix F.cross_entropy --yes        without asking
      symfix fix torch.cov --until reproduce  a script that fails, and no more
      symfix fix 'linalg_*' --yes             several, and a table
      symfix fix --from operators.txt --yes
      symfix fix _aminmax --mode 3 --level review
    \b
      symfix fix -- python train.py           a program that fails
      symfix fix --from-error error.txt       the program that a traceback is of

    With --mode 3, in PyTorch, overloads that have a kernel and no way to trace get a meta that is drawn from what the
    kernel shows on many calls, where it equals the kernel on each.

    An operator may be written in any way that PyTorch has for it. What is committed is proved first: the operator is
    run before and after the change, over the torch of --python. Expected failures that the evidence outdates go in
    the same commit, on a branch symfix/SHARD; the work tree stays as it is. What was done is kept: a run that was
    stopped goes on where it ended. Exit 0 where every operator is fixed, else 1.

    A program is run as it is, without torch.compile, and from a copy for each change that rules, or marks of varying
    sizes, have at the lines that torch names. What then ends well, returns what eager does and compiles less often is
    shown with the evidence, and written once you agree; the change of an installed package is only shown.
    """
    program = context.meta[_PROGRAM]
    if program or parameters["from_error"]:
        with loading():
            from codemod.cli.fix_program import fix_program

        code = fix_program(context, program, parameters)
        return 0 if code == 1 and parameters["exit_zero"] else code
    with loading():
        from codemod.cli.fix_operators import fix_operators

    return fix_operators(context, parameters)
