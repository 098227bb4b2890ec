"""Chromium, driven as a person would: real clicks and keys, through its DevTools protocol. Needs `chromium` alone."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_SECONDS = 30  # for an answer of the browser
_WAIT = 5  # seconds for an element to appear
_FLAGS = (
    "--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip
_CODES = {"Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowUp": 38, "ArrowDown": 40}


def missing() -> str:
    """What is not installed of what a browser session needs, "" where it all is."""
    return "" if shutil.which("chromium") else "chromium"


class Element:
    """An element of the page that is shown."""

    def __init__(self, page: Chromium, handle: str) -> None:
        self._page = page
        self.handle = handle

    def ask(self, body: str, *arguments: Any) -> Any:
        """What the body of a JavaScript function returns, in which `this` is the element."""
        return self._page.call(self.handle, body, arguments)

    @property
    def text(self) -> str:
        """The text that it shows."""
        return str(self.ask("return this.innerText")).strip()

    def attribute(self, name: str) -> str:
        """An attribute, "" where it has none."""
        return str(self.ask("return this.getAttribute(arguments[0]) ?? ''", name))

    def click(self) -> None:
        """Click its middle, brought into sight first; an AssertionError where something else lies there."""
        point = self.ask("""const middle = () => {
            const box = this.getBoundingClientRect();
            const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
            return this.contains(document.elementFromPoint(x, y)) ? { x, y } : null;
          };
          const now = middle();
          if (!now) this.scrollIntoView({ block: "center" });
          return now ?? middle();""")
        assert point is not None, f"{self.ask('return this.outerHTML')[:80]} cannot be clicked"
        self._page.command("Input.dispatchMouseEvent", type="mouseMoved", **point)
        for kind in ("mousePressed", "mouseReleased"):
            self._page.command("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **point)

    def press(self, *keys: str) -> None:
        """Give it the focus and press keys."""
        self.ask("this.focus()")
        self._page.press(*keys)

    def choose_file(self, path: Path) -> None:
        """Choose a file in it, which takes files."""
        self._page.command("DOM.setFileInputFiles", files=[str(path)], objectId=self.handle)


class Chromium:
    """A headless Chromium with a page of its own."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to = to_browser
        self._from = from_browser
        self._last = 0
        self._read = b""
        self._session = ""
        self._said: list[str] = []
        self._loaded = False
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.command(f"{domain}.enable")

    def command(self, name: str, **parameters: Any) -> dict[str, Any]:
        """The result of a command of the DevTools protocol. Raises RuntimeError with what the browser says of it."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": name, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        whole = json.dumps(message).encode() + b"\0"
        while whole:
            whole = whole[os.write(self._to, whole) :]
        while (answer := self._next()).get("id") != self._last:
            pass
        if "error" in answer:
            raise RuntimeError(f"{name}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        """The browser's next message; what it says by itself is noted."""
        while b"\0" not in self._read:
            if not select.select([self._from], [], [], _SECONDS)[0]:
                raise TimeoutError(f"Chromium did not answer within {_SECONDS} s")
            more = os.read(self._from, 1 << 20)
            if not more:
                raise RuntimeError("Chromium has ended")
            self._read += more
        line, _, self._read = self._read.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        details = message.get("params", {})
        match message.get("method"):
            case "Page.loadEventFired":
                self._loaded = True
            case "Log.entryAdded":
                self._said.append(str(details["entry"]["text"]))
            case "Runtime.consoleAPICalled":
                self._said.append(" ".join(str(part.get("value", part)) for part in details["args"]))
            case "Runtime.exceptionThrown":
                self._said.append(str(details["exceptionDetails"]))
        return message

    def open(self, url: str) -> None:
        """Go to a page and wait for it."""
        self._loaded = False
        answer = self.command("Page.navigate", url=url)
        if "loaderId" not in answer:  # another place of the same page
            return
        while not self._loaded:
            self._next()

    def call(self, handle: str, body: str, arguments: tuple[Any, ...] = (), by_value: bool = True) -> Any:
        """What a JavaScript function returns over the object `handle`; as a handle where not `by_value`."""
        given = [{"value": value} for value in arguments]
        answer = self.command("Runtime.callFunctionOn", functionDeclaration=f"async function() {{ {body} }}",
                              objectId=handle, arguments=given, returnByValue=by_value, awaitPromise=True)  # fmt: skip
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", body))
        return answer["result"].get("value" if by_value else "objectId")

    def run(self, body: str, *arguments: Any) -> Any:
        """What the body of a JavaScript function returns."""
        return self.call(self._window(), body, arguments)

    def _window(self) -> str:
        return str(self.command("Runtime.evaluate", expression="window")["result"]["objectId"])

    def find(self, css: str) -> Element:
        """The first element that `css` selects, waited for. An AssertionError where there is none."""
        until = time.monotonic() + _WAIT
        while True:
            handle = self.call(self._window(), "return document.querySelector(arguments[0])", (css,), by_value=False)
            if handle:
                return Element(self, handle)
            assert time.monotonic() < until, f"no element is {css}"
            time.sleep(0.02)

    @property
    def focused(self) -> Element:
        """The element that has the focus."""
        return Element(self, self.call(self._window(), "return document.activeElement", by_value=False))

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is: characters, or names as "ArrowDown"."""
        for key in keys:
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            code = {"windowsVirtualKeyCode": _CODES[key]} if len(key) > 1 else {}
            kind = "keyDown" if text else "rawKeyDown"
            self.command("Input.dispatchKeyEvent", type=kind, key=key, **code, **({"text": text} if text else {}))
            self.command("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def show_as(self, width: int, height: int = 900, dark: bool = False) -> None:
        """Have the window that size in CSS pixels, and the person prefer dark colours or light ones."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])

    def download_to(self, folder: Path) -> None:
        """Have what is downloaded go to `folder`, without a question."""
        self.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))

    def screenshot(self, path: Path) -> None:
        """Write what the window shows as a PNG."""
        path.write_bytes(base64.b64decode(self.command("Page.captureScreenshot")["data"]))

    def complaints(self) -> list[str]:
        """What the page's console has said since it was last asked: errors, and breaches of its policy."""
        self.run("")  # what it said until now arrives before this answer
        said, self._said = self._said, []
        return said


@contextmanager
def browser(width: int = 1440, height: int = 900, dark: bool = False) -> Iterator[Chromium]:
    """A headless Chromium with a profile of its own, its window of that size in CSS pixels."""
    ours: list[int] = []
    theirs: list[int] = []
    for mine in (1, 0):  # what is written to the browser, and what is read from it
        ends = os.pipe()
        # The browser has them as 3 and 4: what is passed on lies above both.
        theirs.append(fcntl.fcntl(ends[1 - mine], fcntl.F_DUPFD_CLOEXEC, 10))
        os.close(ends[1 - mine])
        ours.append(ends[mine])
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="symfix-chromium-", ignore_cleanup_errors=True) as profile:
        command = [str(shutil.which("chromium")), *_FLAGS, *sandbox, f"--user-data-dir={profile}", "about:blank"]
        moved = f'exec "$@" 3<&{theirs[0]} 4>&{theirs[1]} {theirs[0]}<&- {theirs[1]}>&-'
        process = subprocess.Popen(["bash", "-c", moved, "bash", *command], pass_fds=theirs,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)  # fmt: skip
        for end in theirs:
            os.close(end)
        try:
            page = Chromium(*ours)
            page.show_as(width, height, dark)
            yield page
        finally:
            with suppress(OSError):
                os.close(ours[0])  # the browser ends with the pipe
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            os.close(ours[1])
