"""Running the command: its exit code, and an error as one line on stderr."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence

import click

from codemod.cli import INTERRUPTED
from codemod.cli.root import group
from codemod.errors import SymfixError, system_error
from codemod.terminal import note, one_line

_DEBUG = "SYMFIX_DEBUG"
_MOST, _ADVICE = 1200, 300  # characters of an error, and of its end


def run(arguments: Sequence[str] | None, catch_interrupt: bool) -> int:
    """The exit code of the command. Unless `catch_interrupt`, SIGINT does what it did before."""
    _prepare()
    at_once = signal.getsignal(signal.SIGINT)
    try:
        try:
            if catch_interrupt:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            code = group.main(arguments, prog_name="symfix", standalone_mode=False)
            return code if isinstance(code, int) else 0
        finally:
            if catch_interrupt:
                signal.signal(signal.SIGINT, at_once)
    except SymfixError as error:
        _say(str(error))
    except click.ClickException as error:
        usage = io.StringIO()
        error.show(usage)
        for line in usage.getvalue().splitlines():
            note(line)
    except (click.Abort, KeyboardInterrupt):
        note("symfix: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        _say(system_error(error))
    except Exception as error:
        if os.environ.get(_DEBUG):
            for line in traceback.format_exc().splitlines():
                note(line)
        _say(_library_error(error) or _fault(error))
    return 2


def _say(message: str) -> None:
    """The one line of an error. Of one that quotes a long name the middle is left out: the file and the advice stay."""
    if len(message) > _MOST:
        message = f"{message[: _MOST - _ADVICE]} … {message[-_ADVICE:]}"
    note(f"symfix: {message}")


def _prepare() -> None:
    """Stand in for closed streams, and let GitPython be imported where there is no git: the call says so then."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  (open to the end)
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")


def _library_error(error: Exception) -> str:
    """An error of a library as a line for the user; "" where it is a fault of symfix."""
    yaml, git = sys.modules.get("yaml"), sys.modules.get("git")
    if isinstance(error, MemoryError):
        return "out of memory; look at fewer files at a time (PATHS), or give --jobs 1"
    if yaml is not None and isinstance(error, yaml.YAMLError):
        return f"not YAML: {' '.join(str(error).split())}"
    if git is not None and isinstance(error, git.GitCommandNotFound):
        return "git cannot be run; install it, or put it on the PATH"
    if git is not None and isinstance(error, git.GitCommandError):
        from codemod.tree.git import printed_by, reason_of

        return f"git failed: {reason_of(printed_by(error)) or one_line(str(error))}"
    return ""


def _fault(error: Exception) -> str:
    """An error that nobody foresaw: what it is and where, and how to see and report all of it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if {"codemod", "transforms"} & set(frame.filename.split(os.sep))] or frames
    place = f"{os.sep.join(own[-1].filename.split(os.sep)[-3:])}:{own[-1].lineno}" if own else "an unknown place"
    what = one_line(f"{type(error).__name__}: {error}".rstrip(": "))[:200]
    shown = "" if os.environ.get(_DEBUG) else f"; {_DEBUG}=1 shows the traceback"
    return f"this is a bug in symfix, please report it: {what} ({place}){shown}"
