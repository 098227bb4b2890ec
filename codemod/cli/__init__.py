"""The command `symfix`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from codemod.cli import bundle, commands, pr, prove, review, rules, scan  # noqa: F401  (each adds its commands to the group)
from codemod.cli.root import group
from codemod.errors import SymfixError, system_error
from codemod.terminal import note

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 nothing to do, 1 findings or changes, 2 an error, 130 interrupted."""
    _prepare()
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
        note(f"symfix: {system_error(error)}")
        code = 2
    except Exception as error:
        told = _told(error)
        if not told:
            raise
        note(f"symfix: {told}")
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


def _prepare() -> None:
    """Stand in for closed streams, and let GitPython be imported where there is no git: the call says so then."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  (open to the end)
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")


def _told(error: Exception) -> str:
    """An error of a library as a line for the user; "" where it is a fault of symfix."""
    yaml, git = sys.modules.get("yaml"), sys.modules.get("git")
    if yaml is not None and isinstance(error, yaml.YAMLError):
        return f"not YAML: {' '.join(str(error).split())}"
    if git is not None and isinstance(error, git.GitCommandNotFound):
        return "git cannot be run; install it, or put it on the PATH"
    if git is not None and isinstance(error, git.GitCommandError):
        lines = str(error.stderr).replace("stderr:", "").strip(" '\n").splitlines()
        return f"git failed: {lines[-1] if lines else error}"
    return ""
