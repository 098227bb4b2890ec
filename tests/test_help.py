"""`--help` on a terminal of 80 columns: nothing is cut, and every command teaches by example."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest

from codemod.cli.root import group

BESIDE_CLI = {"codemod", "codemod.errors", "codemod.terminal", "codemod.model", "codemod.model.choices"}
"""What of the engine declares commands, beside the room cli itself."""
COMPLETION = {"_SYMFIX_COMPLETE": "bash_complete", "COMP_WORDS": "symfix scan --", "COMP_CWORD": "2"}
MODULES_OF_RUNS = """
import sys
from codemod.cli import main
for arguments in sys.argv[1:]:
    try:
        main(arguments.split())
    except SystemExit as ended:
        print(ended.code, *sorted(sys.modules), file=sys.stderr)
"""
CONTEXT = click.Context(group, info_name="symfix", terminal_width=80, max_content_width=80)


@pytest.mark.parametrize("name", group.list_commands(CONTEXT))
def test_the_help_of_a_command_fits_and_shows_it_in_use(name: str) -> None:
    command = group.get_command(CONTEXT, name)
    assert command is not None
    text = command.get_help(click.Context(command, CONTEXT, info_name=name, terminal_width=80))
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert sum(line.startswith(f"    symfix {name}") for line in text.splitlines()) >= 2


def test_the_list_of_commands_says_what_each_does() -> None:
    text = group.get_help(CONTEXT)
    listed = text.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed] == group.list_commands(CONTEXT)
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert all(f"    symfix {name} " in text for name in group.list_commands(CONTEXT))


def test_the_list_of_commands_says_what_their_own_help_begins_with() -> None:
    listed = group.get_help(CONTEXT).partition("Commands:\n")[2].partition("\n\n")[0]
    for name in group.list_commands(CONTEXT):
        command = group.get_command(CONTEXT, name)
        assert command is not None
        assert command.get_short_help_str(200) in " ".join(listed.split())


def modules_of_runs(*runs: str, **environment: str) -> list[set[str]]:
    """The modules that are loaded after each of these runs of the command, in one process."""
    command = [sys.executable, "-c", MODULES_OF_RUNS, *runs]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    lines = [line.split() for line in done.stderr.splitlines()]
    assert [line[0] for line in lines] == ["0"] * len(runs)
    return [set(line[1:]) for line in lines]


def test_what_says_the_version_loads_no_command() -> None:
    (modules,) = modules_of_runs("--version")
    assert [name for name in modules if name.startswith(("codemod.tree", "codemod.model", "libcst"))] == []


def test_help_and_completion_load_nothing_that_works() -> None:
    names = group.list_commands(CONTEXT)
    helps = modules_of_runs(*(f"{name} --help" for name in names))
    for name, modules in zip(["completion", *names], [*modules_of_runs("", **COMPLETION), *helps], strict=True):
        loaded = {module for module in modules if module.partition(".")[0] in ("codemod", "transforms")}
        beside = {module for module in loaded if module.rpartition(".")[0] != "codemod.cli"} - {"codemod.cli"}
        assert beside <= BESIDE_CLI, name
        assert modules & {"libcst", "tree_sitter", "sqlite3", "hashlib", "yaml", "git", "codemod.cli.run"} == set()
