"""The command `symfix` itself.

A subcommand's module is loaded when that command is asked for. It declares the command, its options and its help, and
so imports only what declares; what does the work is a module of its own, imported within `loading` when the command
runs.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

import click

from codemod import __version__
from codemod.cli import end_at_interrupt


class _Command(NamedTuple):
    module: str
    summary: str
    """The first sentence of the command's own help, so that the list needs no module of it."""


_COMMANDS = {
    "fix": _Command("fix", "Fix operators: reproduce, change, prove, commit, write the PR."),
    "scan": _Command("scan", "Find concrete-shape code that symbolic tensors reach."),
    "diff": _Command("commands", "Show what apply would write, as a diff that git apply takes."),
    "apply": _Command("commands", "Rewrite the files, all or none."),
    "review": _Command("review", "Look at the changes one by one, and decide: symfix apply follows."),
    "probe": _Command("probe", "Ask the running torch which lines guard, specialize and compile again."),
    "prove": _Command("prove", "Run operators before and after their change, to prove it."),
    "bundle": _Command("bundle", "Split the change into one commit for each operator."),
    "pr": _Command("pr", "Write a pull request for each shard, and open them."),
    "rule": _Command("rules", "List the rules, or print the manual page of one, or of all."),
}
"""The commands in the order in which they are used."""


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Modules are imported within: Ctrl-C ends the process at once, for nobody can catch it in the middle of that."""
    heard = end_at_interrupt()
    try:
        yield
    finally:
        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class _Lazy(click.Group):
    """Loads the module of a command when it is asked for, which adds the command to the group."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _COMMANDS:
            with loading():
                import_module(f"codemod.cli.{_COMMANDS[cmd_name].module}")
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in _COMMANDS.items()])


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 nothing to do, 1 findings or changes, 2 an error.",
)
@click.version_option(__version__, prog_name="symfix")
def group() -> None:
    """Make PyTorch operators work with symbolic shapes.

    \b
      symfix fix cross_entropy              all of the below, for one operator
      symfix scan                           which operators throw or specialize
      symfix scan --op cross_entropy_loss   one of them, down to each site
      symfix diff                           what apply would write
      symfix review                         look at each change, and decide
      symfix apply                          write the changes that are safe
      symfix probe -- python train.py       ask a program's running torch
      symfix prove                          run operators before and after
      symfix bundle                         one commit for each operator
      symfix pr                             and its pull request
      symfix rule                           what the rules do, and why
    """
