"""Make the pictures of a page of the manual: what `symfix review --html` or `probe --format html` wrote, in Chromium.

    python docs/page.py docs/images/review review.html

writes docs/images/review-light.png and review-dark.png, 1,280 by 760 pixels.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/corpus"))
from chromium import browser, missing


def main() -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("output", type=Path)
    parser.add_argument("page", type=Path)
    arguments = parser.parse_args()
    if missing():
        print(missing(), file=sys.stderr)
        return 2
    with browser() as driver:
        for name in ("light", "dark"):
            driver.show_as(1280, 760, dark=name == "dark")
            driver.open("about:blank")
            driver.open(arguments.page.resolve().as_uri())
            path = arguments.output.with_name(f"{arguments.output.name}-{name}.png")
            driver.screenshot(path)
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
