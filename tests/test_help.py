"""`--help` on a terminal of 80 columns: nothing is cut, and every command teaches by example."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from codemod.cli.root import group

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


def test_what_says_the_version_loads_no_command() -> None:
    script = (
        "import sys\nfrom codemod.cli import main\ntry:\n    main(['--version'])\nexcept SystemExit:\n    pass\n"
        "print(sorted(name for name in sys.modules if name.startswith(('codemod.tree', 'codemod.model', 'libcst'))))"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[1:] == ["[]"]
