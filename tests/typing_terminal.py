"""A program on a terminal of its own, with someone who types and reads."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

_PATIENCE = 120.0  # seconds after which what should have come hangs


class TypingTerminal:
    """Runs `command` in `cwd` on a new terminal of `size`, columns and lines; ended with `with`."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str] | None = None,
        size: tuple[int, int] = (80, 24),
    ) -> None:
        self._master, self._slave = pty.openpty()
        self._set_size(*size)
        self.output = b""
        self.process = subprocess.Popen(
            list(command),
            cwd=cwd,
            env={**os.environ, "TERM": "xterm", **(environment or {})},
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            start_new_session=True,
            preexec_fn=_hear_interrupts,
        )

    def __enter__(self) -> TypingTerminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)
        os.close(self._slave)

    def type(self, keys: str) -> None:
        """Press `keys`."""
        os.write(self._master, keys.encode())

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the terminal, and tell the program."""
        self._set_size(columns, lines)
        self.process.send_signal(signal.SIGWINCH)

    def read_until(self, text: str) -> None:
        """Read until `text` has been written, since the last such call. Raises AssertionError where it is not."""
        start = time.monotonic()
        while text.encode() not in self.output:
            left = _PATIENCE - (time.monotonic() - start)
            assert left > 0, f"no {text!r} in {self.output[-2000:]!r}"
            assert b"Traceback" not in self.output, self.output
            if self._wait(left):
                self.output += os.read(self._master, 65536)
        self.output = self.output.partition(text.encode())[2]

    def wait(self) -> int:
        """The exit code of the program once it has ended; what it wrote since the last reading is in `output`.

        Raises AssertionError where it does not end.
        """
        start = time.monotonic()
        while self.process.poll() is None:
            assert time.monotonic() - start < _PATIENCE, f"it goes on after {self.output[-2000:]!r}"
            if self._wait(0.05):
                self.output += os.read(self._master, 65536)
        while self._wait(0):
            with contextlib.suppress(OSError):
                self.output += os.read(self._master, 65536)
        return self.process.returncode

    def modes(self) -> list[Any]:
        """The modes of the terminal: whether it echoes, waits for whole lines, and so on."""
        return termios.tcgetattr(self._slave)

    def _set_size(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def _wait(self, seconds: float) -> bool:
        return bool(select.select([self._master], [], [], seconds)[0])


def _hear_interrupts() -> None:
    """Undo what a shell does to all that it starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
