"""The entry point of the command `symfix`. The subcommands are in the modules of this package, which `main` loads."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading

TYPE_CHECKING = False  # that of typing takes longer to load than all that is above
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

INTERRUPTED = 130  # what a shell reports of a program that SIGINT ends


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0 nothing to do, 1 findings or changes, 2 an error, 130 interrupted.

    Ctrl-C while modules are loaded, or while Python shuts down, ends the process at once: there is nothing to undo
    then, and nobody who could catch a KeyboardInterrupt in the middle of an import.
    """
    heard = end_at_interrupt()
    try:
        from codemod.cli.command import run

        sys.exit(run(arguments, catch_interrupt=heard))
    finally:
        if arguments is None:  # the process ends: Python would look once more at each object, a second for a large tree
            gc.freeze()
        elif heard:  # called from Python, which goes on
            signal.signal(signal.SIGINT, signal.default_int_handler)


def end_at_interrupt() -> bool:
    """Have Ctrl-C end the process at once instead of raising KeyboardInterrupt; returns whether it did raise it."""
    heard = (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
        and threading.current_thread() is threading.main_thread()
    )
    if heard:
        signal.signal(signal.SIGINT, _leave)
    return heard


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, b"symfix: interrupted\n")
    os._exit(INTERRUPTED)
