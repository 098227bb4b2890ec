"""What do pages of symfix look like at 400, 900 and 1,600 px, light and dark, and what does axe say of them?

    python tests/corpus/look_at_pages.py OUT PAGE… [--axe axe.min.js]

PAGE is what `symfix review --html` or `symfix probe --format html` wrote, with `#place` after it where that is meant.
A screenshot of each lies in OUT afterwards, to be looked at, and of a dialog where `?` opens one. With `--axe`, a build
of axe-core, each is tested by it too: exit 1 where there are violations, anything is wider than the window, or the page
complains. Needs chromium.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from chromium import Chromium, browser, missing

_WIDTHS = (400, 900, 1600)
_AXE = """const found = await axe.run(document, { resultTypes: ["violations"] });
    return found.violations.flatMap((rule) => rule.nodes.map((node) =>
      `${rule.id} (${rule.impact}): ${node.target.join(" ")}: ${node.failureSummary}`.replaceAll("\\n", " ")));"""


def look(driver: Chromium, url: str, out: Path, axe: str) -> Iterator[str]:
    """Write the screenshots of a page to `out`; yields what is wrong with it."""
    page = Path(url.partition("#")[0])
    address = page.resolve().as_uri() + url[len(str(page)) :]
    for width in _WIDTHS:
        for dark in (False, True):
            driver.show_as(width, 1000, dark)
            driver.open("about:blank")
            driver.open(address)
            name = f"{page.stem}-{width}-{'dark' if dark else 'light'}"
            driver.screenshot(out / f"{name}.png")
            yield from (f"{name}: {line}" for line in ask(driver, width, axe))
            driver.press("?")
            if driver.run("return Boolean(document.querySelector('dialog[open]'))"):
                driver.screenshot(out / f"{name}-help.png")
                yield from (f"{name}-help: {line}" for line in ask(driver, width, axe))


def ask(driver: Chromium, width: int, axe: str) -> Iterator[str]:
    """What is wrong with what is shown."""
    wide = driver.run("return document.documentElement.scrollWidth")
    if wide > width:
        yield f"{wide} px wide"
    yield from driver.complaints()
    if axe:
        driver.run(f"if (!window.axe) {{ {axe} }}")
        yield from driver.run(_AXE)
        driver.complaints()  # of axe's own styles, which the page's policy keeps out


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("pages", nargs="+", metavar="PAGE")
    parser.add_argument("--axe", type=Path, metavar="FILE")
    options = parser.parse_args()
    if missing():
        raise SystemExit(f"{missing()}: not installed")
    options.out.mkdir(parents=True, exist_ok=True)
    axe = options.axe.read_text("utf-8") if options.axe else ""
    with browser() as driver:
        wrong = [line for page in options.pages for line in look(driver, page, options.out, axe)]
    print(*wrong or ["nothing is wrong with them that a program sees"], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
