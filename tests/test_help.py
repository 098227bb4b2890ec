"""`--help` on a terminal of 80 columns: nothing is cut, and every command teaches by example."""

from __future__ import annotations

import click
import pytest

from codemod.cli import command as _command  # noqa: F401  (has the commands added to the group)
from codemod.cli.root import group

CONTEXT = click.Context(group, info_name="symfix", terminal_width=80, max_content_width=80)


@pytest.mark.parametrize("name", sorted(group.commands))
def test_the_help_of_a_command_fits_and_shows_it_in_use(name: str) -> None:
    command = group.commands[name]
    text = command.get_help(click.Context(command, CONTEXT, info_name=name, terminal_width=80))
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert sum(line.startswith(f"    symfix {name}") for line in text.splitlines()) >= 2


def test_the_list_of_commands_says_what_each_does() -> None:
    text = group.get_help(CONTEXT)
    listed = text.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed] == group.list_commands(CONTEXT)
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert all(f"    symfix {name} " in text for name in group.commands)
