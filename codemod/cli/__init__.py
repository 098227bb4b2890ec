"""The command `symfix`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from codemod.cli import bundle, commands, pr, prove, review, rules, scan  # noqa: F401  (each adds its commands to the group)
from codemod.cli.root import group
from codemod.errors import SymfixError
from codemod.terminal import note

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 nothing to do, 1 findings or changes, 2 an error, 130 interrupted."""
    try:
        code = group.main(arguments, prog_name="symfix", standalone_mode=False)
    except SymfixError as error:
        note(f"symfix: {error}")
        code = 2
    except click.ClickException as error:
        error.show()
        code = 2
    except (click.Abort, KeyboardInterrupt):
        note("symfix: interrupted")
        code = _INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    except OSError as error:
        note(f"symfix: {error.filename or 'system error'}: {error.strerror or error}")
        code = 2
    except Exception as error:
        if not _is_yaml_error(error):
            raise
        note(f"symfix: not YAML: {' '.join(str(error).split())}")
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


def _is_yaml_error(error: Exception) -> bool:
    yaml = sys.modules.get("yaml")
    return yaml is not None and isinstance(error, yaml.YAMLError)
