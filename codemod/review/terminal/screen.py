"""The terminal of a review: reading keys, drawing a full screen, and restoring the terminal on every exit."""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Protocol

from rich.console import Console
from rich.text import Text

from codemod.errors import SymfixError
from codemod.terminal import colours, show, visible, write

_ENTER = "\x1b[?1049h\x1b[?25l"  # another screen, no cursor
_LEAVE = "\x1b[?25h\x1b[?1049l"
# What terminals send for keys that are no character.
_KEYS = {
    "[A": "up", "[B": "down", "[C": "right", "[D": "left", "[H": "home", "[F": "end",
    "OA": "up", "OB": "down", "OC": "right", "OD": "left", "OH": "home", "OF": "end",
    "[1~": "home", "[4~": "end", "[5~": "pageup", "[6~": "pagedown", "[7~": "home", "[8~": "end",
}  # fmt: skip
_NAMES = {"\r": "enter", "\n": "enter", "\x1b": "escape", "\x7f": "backspace", "\b": "backspace", "\x0c": "resize"}
_PAUSE = 0.05  # seconds within which the rest of a key's bytes follow


class Closed(Exception):
    """The terminal is gone."""


class Terminal(Protocol):
    """What a review needs of a terminal."""

    pages: bool
    """Whether it shows one screen at a time; else what is drawn scrolls by, however long."""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines, as they are now."""

    def draw(self, lines: Sequence[Text], cursor: bool = False) -> None:
        """Show `lines`, as many as there is room for, each on its own; with a `cursor` at the end of the last."""

    def key(self) -> str:
        """The next key: a character, or a name such as "up", "enter", "escape"; "resize" where the size changed.

        Raises Closed where the terminal is gone, and KeyboardInterrupt for Ctrl-C.
        """

    def aside(self) -> contextlib.AbstractContextManager[None]:
        """The screen as it was before, for another program, which alone gets Ctrl-C."""


class Plain:
    """A terminal that can do no more than print and read lines (TERM=dumb)."""

    pages = False

    def __init__(self) -> None:
        self._keys: list[str] = []

    @property
    def size(self) -> tuple[int, int]:
        return _size()

    def draw(self, lines: Sequence[Text], cursor: bool = False) -> None:
        if not self._keys:
            show(line.plain.rstrip() for line in lines)

    def key(self) -> str:
        while not self._keys:
            write(b"> ")
            line = sys.stdin.readline()
            if not line:
                raise Closed
            typed = line.strip()
            self._keys = [*typed, "enter"] if typed.startswith("/") else [*typed[:1]]
        return self._keys.pop(0)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        yield


def shown(line: Text, console: Console) -> Text:
    """`line` as a terminal shows and does not obey it, in its own styles."""
    if visible(line.plain) == line.plain:
        return line
    return Text.assemble(*((visible(part.text), part.style or "") for part in line.render(console)))


def _size() -> tuple[int, int]:
    size = shutil.get_terminal_size((80, 24))
    with contextlib.suppress(OSError):
        size = os.get_terminal_size(sys.stdout.fileno())
    return max(20, size.columns), max(5, size.lines)


class Screen:
    """The terminal of this process as a full screen, from `with` to its end.

    Raises SymfixError on entering where the system has no such terminal.
    """

    pages = True

    def __init__(self) -> None:
        self._in = sys.stdin.fileno()
        self._pending = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._saved: list[object] | None = None
        self._handlers: dict[int, object] = {}
        self._signalled, self._signal = -1, -1
        self._woken = -1

    @property
    def size(self) -> tuple[int, int]:
        return _size()

    def __enter__(self) -> Screen:
        try:
            import termios  # noqa: F401
        except ImportError as error:
            raise SymfixError("review in the terminal is not for this system; use symfix review --html FILE") from error
        # Without it a signal that comes just before `key` waits, or to another thread, would wait for the next key.
        self._signalled, self._signal = os.pipe()
        os.set_blocking(self._signal, False)
        self._woken = signal.set_wakeup_fd(self._signal, warn_on_full_buffer=False)
        for number, handler in (
            (signal.SIGWINCH, self._on_resize),
            (signal.SIGTSTP, self._on_stop),
            (signal.SIGTERM, self._on_term),
        ):
            self._handlers[number] = signal.signal(number, handler)
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        signal.set_wakeup_fd(self._woken)
        os.close(self._signalled)
        os.close(self._signal)

    def draw(self, lines: Sequence[Text], cursor: bool = False) -> None:
        columns, rows = self.size
        console = Console(
            width=columns, force_terminal=True, no_color=not colours(), highlight=False, legacy_windows=False
        )
        out = ["\x1b[?25l\x1b[H"]
        for number, line in enumerate(lines[:rows]):
            with console.capture() as captured:
                console.print(shown(line, console), end="", no_wrap=True, overflow="crop", crop=True, soft_wrap=False)
            # Cleared first: after its last column is written, a terminal would take that for the one to clear.
            out.append(("\r\n" if number else "") + "\x1b[K" + captured.get().replace("\n", ""))
        out.append("\x1b[J" + ("\x1b[?25h" if cursor else ""))
        write("".join(out).encode())

    def key(self) -> str:
        while not self._pending:
            ready, _, _ = select.select([self._in, self._signalled], [], [])
            if self._signalled in ready:
                os.read(self._signalled, 1024)
                return "resize"
            self._read()
        if self._pending == "\x1b" and select.select([self._in], [], [], _PAUSE)[0]:
            self._read()
        return self._take()

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        self._end()
        interrupt = signal.signal(signal.SIGINT, lambda number, frame: None)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, interrupt)
            self._begin()

    def _read(self) -> None:
        try:
            data = os.read(self._in, 1024)
        except OSError as error:
            raise Closed from error
        if not data:
            raise Closed
        self._pending += self._decoder.decode(data)

    def _take(self) -> str:
        text = self._pending
        if text.startswith("\x1b"):
            for sequence, name in _KEYS.items():
                if text.startswith(sequence, 1):
                    self._pending = text[1 + len(sequence) :]
                    return name
            if len(text) > 1 and text[1] in "[O":  # some other key: to its last byte
                end = next((i for i, c in enumerate(text[2:], 2) if "@" <= c <= "~"), len(text) - 1)
                self._pending = text[end + 1 :]
                return "unknown"
        self._pending = text[1:]
        if text[0] == "\x03":
            raise KeyboardInterrupt
        if text[0] == "\x04":
            raise Closed
        return _NAMES.get(text[0], text[0])

    def _begin(self) -> None:
        import termios
        import tty

        self._saved = termios.tcgetattr(self._in)
        tty.setcbreak(self._in, termios.TCSADRAIN)
        write(_ENTER.encode())

    def _end(self) -> None:
        import termios

        if self._saved is None:
            return
        saved, self._saved = self._saved, None
        with contextlib.suppress(OSError, SystemExit, termios.error):  # a terminal that is gone needs nothing
            write(_LEAVE.encode())
            termios.tcsetattr(self._in, termios.TCSADRAIN, saved)  # type: ignore[arg-type]

    def _on_resize(self, number: int, frame: FrameType | None) -> None:
        """`key` is woken, and tells it."""

    def _on_stop(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-Z: give the terminal back, stop, and take it again when the shell lets us go on."""
        ours = self._saved is not None
        self._end()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._on_stop)
        if ours:
            self._begin()

    def _on_term(self, number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)
