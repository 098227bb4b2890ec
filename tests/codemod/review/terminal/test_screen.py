from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from hypothesis import given
from rich.console import Console
from rich.style import Style
from rich.text import Text

from codemod.review.terminal.screen import shown
from codemod.terminal import visible
from tests.hostile import texts, unseen
from tests.typing_terminal import TypingTerminal

ROOT = Path(__file__).parents[4]
# Signals go to another thread than the one that waits for a key.
WAITS = """
import signal, threading
from codemod.review.terminal.screen import Screen
with Screen() as screen:
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGWINCH})
    try:
        print("waits", flush=True)
        print("key", screen.key(), flush=True)
    except (KeyboardInterrupt, SystemExit) as error:
        print("ended by", type(error).__name__, flush=True)
"""


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (signal.SIGINT, "ended by KeyboardInterrupt"),
        (signal.SIGTERM, "ended by SystemExit"),
        (signal.SIGWINCH, "key resize"),
    ],
)
def test_a_signal_is_heard_whichever_thread_it_reaches(tmp_path: Path, number: signal.Signals, said: str) -> None:
    with TypingTerminal([sys.executable, "-c", WAITS], tmp_path, {"PYTHONPATH": str(ROOT)}) as terminal:
        terminal.read_until("waits")
        terminal.process.send_signal(number)
        terminal.read_until(said)
        assert terminal.wait() == 0


@given(texts)
def test_a_line_is_shown_and_not_obeyed(text: str) -> None:
    line = Text.assemble("a", (text, "red"), "b")
    drawn = shown(line, Console(width=200))
    assert drawn.plain == visible(line.plain)
    assert not unseen(drawn.plain)
    assert {span.style for span in drawn.spans} <= {"red", Style.parse("red")}
    assert drawn is line or text
