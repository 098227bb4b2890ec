"""The options that commands share. `--help` and the shell's completion load this, so it imports only what they need."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from codemod.cli.completion import complete_operators, complete_rules
from codemod.model.choices import LEVELS, MOST_JOBS, SCOPES, SHARD_KINDS

C = TypeVar("C", bound=Callable[..., Any])

_TREE_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.argument("paths", nargs=-1, type=click.Path(path_type=Path)),
    click.option(
        "--op",
        multiple=True,
        metavar="GLOB",
        shell_complete=complete_operators,
        help="Only this operator, by any name: cross_entropy_loss, aten::add, F.cross_entropy, torch.linalg.cond,"
        " 'max_pool*', a shard's name. May be repeated.",
    ),
    click.option(
        "--mode",
        multiple=True,
        type=click.IntRange(1, 4),
        metavar="N",
        help="Only this failure mode: 1 direct throw, 2 Python branch, 3 TensorIterator, 4 leak into int64_t.",
    ),
    click.option(
        "--rule",
        multiple=True,
        metavar="NAME",
        shell_complete=complete_rules,
        help="Only this rule; symfix rule lists them.",
    ),
    click.option(
        "--scope",
        type=click.Choice(SCOPES),
        help="operators: their code, and what the library itself compiles; modules: nn.Module.forward too; all: also"
        " benchmarks, docs, examples.  [default: all in PyTorch, else operators]",
    ),
    click.option(
        "--since",
        metavar="REV",
        help="Only what has a line that the change since this commit touches, committed or not: origin/main.",
    ),
    click.option(
        "--vocabulary",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="A native_functions.yaml that says which _symint overloads exist."
        "  [default: the tree's own, else that of --torch]",
    ),
    click.option(
        "--torch",
        "--min-torch",
        "torch",
        metavar="VERSION",
        help="The oldest torch that a library has to compile and run with: 2.4; nothing newer is written."
        "  [default: what its own requirements say, else the installed one, else the newest known]",
    ),
    click.option(
        "--jobs", type=click.IntRange(1, MOST_JOBS), metavar="N", help="Processes.  [default: one for each processor]"
    ),
    click.option("--no-cache", is_flag=True, help="Neither read nor write the cache in ~/.cache/symfix."),
    click.option("--exit-zero", is_flag=True, help="Exit 0 also where there is something to report."),
)

_SHARD_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--group", type=click.Choice(SHARD_KINDS), default="operator", show_default=True,
        help="What one shard is about; a module is a folder.",
    ),
    click.option("--max-files", type=click.IntRange(1), metavar="N", help="Part a shard that touches more files."),
    click.option("--max-lines", type=click.IntRange(1), metavar="N", help="Part a shard that changes more lines."),
    click.option(
        "--shards", "shard_file", type=click.Path(path_type=Path), metavar="FILE",
        help="The shards of this file, which --save-shards wrote and you may have edited.",
    ),
    click.option("--allow-dirty", is_flag=True, help="Also where other files have changes that are not committed."),
)  # fmt: skip


def tree_options(command: C) -> C:
    """PATHS, and the options that say what is looked at and how."""
    for decorate in reversed(_TREE_OPTIONS):
        command = decorate(command)
    return command


def further_options(command: C) -> C:
    """The options of `tree_options` but PATHS and --op, which come first: for a command whose arguments are names."""
    for decorate in reversed(_TREE_OPTIONS[2:]):
        command = decorate(command)
    return command


def target_options(command: C) -> C:
    """`--python` and `--include`: the torch that sources are compiled against, and that operators are run over."""
    command = click.option(
        "--include", multiple=True, metavar="DIR",
        type=click.Path(path_type=Path, exists=True, file_okay=False, resolve_path=True),
        help="A folder of headers for the compiler, beside the checkout's and torch's. Repeatable.",
    )(command)  # fmt: skip
    return click.option(
        "--python", type=click.Path(path_type=Path), metavar="PATH",
        help="The interpreter whose torch is used.  [default: the active virtual environment's, else symfix's own]",
    )(command)  # fmt: skip


def install_option(command: C) -> C:
    """`--install`, for commands that run operators on PyTorch's samples."""
    return click.option(
        "--install", is_flag=True,
        help="Install what PyTorch's samples need and that torch has not beside it (numpy, expecttest, packaging), for"
        " symfix alone.",
    )(command)  # fmt: skip


def level_option(default: str, meaning: str) -> Callable[[C], C]:
    """`--level` with the default of one command."""
    return click.option("--level", type=click.Choice(LEVELS), default=default, show_default=True, help=meaning)


def plan_option(meaning: str) -> Callable[[C], C]:
    """`--plan` for one command."""
    return click.option("--plan", "plan_file", type=click.Path(path_type=Path), metavar="FILE", help=meaning)


def accepted_option(meaning: str) -> Callable[[C], C]:
    """`--accepted` for one command."""
    return click.option("--accepted", is_flag=True, help=meaning)


def shard_options(command: C) -> C:
    """The options that say how a plan is split, and what proves it."""
    command = target_options(command)
    for decorate in reversed(_SHARD_OPTIONS):
        command = decorate(command)
    return command
