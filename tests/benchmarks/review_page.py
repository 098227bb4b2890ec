"""How large the page of `symfix review --html` is, and how fast Chromium paints it and answers keys and filters.

    python tests/benchmarks/review_page.py TREE [--findings 10000] [--runs 5]

TREE is a PyTorch checkout; needs chromium. With `--findings` the plan's
findings are multiplied up to that number, as of further folders with other operators and other lines of code.
Paint times are the medians of `--runs` loads of the file. An answer's time is what the browser's Event Timing says
of real input: from the key or click to the next frame; of those over 16 ms, below which it tells nothing apart, the
median, what 95 of 100 stay within, and the longest. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import string
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from codemod.bundle.shards import make_shards
from codemod.model.edits import Edit
from codemod.model.findings import Finding, Step
from codemod.model.groups import make_groups
from codemod.model.plan import Plan
from codemod.model.transform import load_transforms
from codemod.review.page.code import highlight
from codemod.review.page.data import shown_paths
from codemod.review.page.html import render

sys.path.insert(0, str(Path(__file__).parents[1] / "corpus"))
from chromium import Chromium, browser, missing

_PAINTS = (("first paint", "ms"), ("loaded", "ms"), ("heap", "MB"))
_OBSERVE = """
window.answers = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.answers.push([entry.name, entry.duration]);
}).observe({ type: "event", durationThreshold: 16 });
"""


def plan_of(tree: Path) -> Plan:
    """What `symfix scan` finds in `tree`."""
    command = [str(Path(sys.executable).with_name("symfix")), "scan", "--format", "json", "--exit-zero", str(tree)]
    return Plan.from_json(subprocess.run(command, capture_output=True, check=True).stdout)


def other_letters(source: bytes, number: int) -> bytes:
    """`source` with its capital letters turned by `number`, so that no line with one is as it was."""
    capitals = string.ascii_uppercase
    turned = capitals[number % 26 :] + capitals[: number % 26]
    return source.translate(bytes.maketrans(capitals.encode(), turned.encode()))


def multiplied(plan: Plan, sources: dict[str, bytes], count: int) -> tuple[Plan, dict[str, bytes]]:
    """The plan and its sources with copies of both, `count` findings in all."""
    findings: list[Finding] = []
    files: dict[str, str] = {}
    copies: dict[str, bytes] = {}
    for number in range(-(-count // len(plan.findings))):
        folder = f"copy{number}/" if number else ""

        def step(original: Step, folder: str = folder) -> Step:
            return dataclasses.replace(original, path=folder + original.path)

        def edit(original: Edit, folder: str = folder, number: int = number) -> Edit:
            return Edit(folder + original.path, original.start, original.end,
                        other_letters(original.old, number), other_letters(original.new, number))  # fmt: skip

        copies |= {folder + path: other_letters(source, number) for path, source in sources.items()}
        files |= {folder + path: sha for path, sha in plan.files.items()}
        findings += (
            dataclasses.replace(
                finding,
                path=folder + finding.path,
                function=f"{finding.function}{number or ''}",
                operators=tuple(f"{name}{number or ''}" for name in finding.operators),
                reach=tuple(map(step, finding.reach)),
                flow=tuple(map(step, finding.flow)),
                edits=tuple(map(edit, finding.edits)),
                group=finding.group and folder + finding.group,
                id=finding.id and f"{finding.id}-{number}",
            )
            for finding in plan.findings
        )
    return dataclasses.replace(plan, findings=tuple(findings[:count]), files=files), copies


def write_page(tree: Path, count: int, target: Path) -> int:
    """Write the page for `tree`; how many findings it holds."""
    plan = plan_of(tree)
    sources = {path: (tree / path).read_bytes() for path in shown_paths(make_groups(plan.findings))}
    if count:
        plan, sources = multiplied(plan, sources, count)
    rules = [rule for transform in load_transforms() for rule in transform.rules()]
    shards = make_shards(make_groups(plan.findings))
    begun = time.perf_counter()
    with ProcessPoolExecutor() as pool:
        syntax = dict(zip(sources, pool.map(highlight, sources.keys(), sources.values(), chunksize=8), strict=True))
    page = render(plan, shards, sources, syntax, title=tree.name, rules=rules, ran={})
    seconds = time.perf_counter() - begun
    print(f"{len(plan.findings):,} findings in {len(shards):,} operators, made in {seconds:.1f} s", flush=True)
    target.write_bytes(page)
    return len(plan.findings)


def first_paint(driver: Chromium, url: str) -> tuple[float, float, float]:
    """Milliseconds from asking for the page to its first contents, to the load event, and of heap megabytes."""
    driver.open("about:blank")
    driver.open(url)
    time.sleep(0.5)
    times: list[float] = driver.run(
        """const [paint] = performance.getEntriesByName("first-contentful-paint");
        const [page] = performance.getEntriesByType("navigation");
        return [paint.startTime, page.loadEventEnd, performance.memory.usedJSHeapSize / 1e6];"""
    )
    return times[0], times[1], times[2]


def answers(driver: Chromium, what: str, act: Any) -> None:
    """Do `act` and print the longest answer to a key, a click or a change in it."""
    driver.run("window.answers.length = 0")
    act()
    time.sleep(0.3)
    names = ("keydown", "keypress", "keyup", "click", "input", "change", "pointerup", "mouseup")
    found = [ms for name, ms in driver.run("return window.answers") if name in names]
    if not found:
        print(f"{what:42} under 16 ms")
        return
    most = sorted(found)[int(0.95 * (len(found) - 1))]
    print(f"{what:42} {statistics.median(found):.0f} ms (95 of 100 within {most:.0f}, at most {max(found):.0f})")


def measure(driver: Chromium, url: str, runs: int) -> None:
    """Print paint times, and the answer times of a session of keys and filters."""

    def pick(name: str) -> None:
        """Walk down a list of choices with the keyboard."""
        driver.run("document.getElementById(arguments[0]).focus()", name)
        driver.press(*["ArrowDown"] * 4, "Home")

    def typed(words: str) -> None:
        driver.find("#search").click()
        driver.press(*words, *["Backspace"] * len(words), "Escape")

    paints = [first_paint(driver, url) for _ in range(runs)]
    for (name, unit), values in zip(_PAINTS, zip(*paints, strict=True), strict=True):
        print(f"{name:42} {statistics.median(values):.0f} {unit} (at most {max(values):.0f})")
    driver.run(_OBSERVE)
    answers(driver, "y, 60 times", lambda: driver.press(*"y" * 60))
    answers(driver, "u, 60 times", lambda: driver.press(*"u" * 60))
    answers(driver, "j, 100 times", lambda: driver.press(*"j" * 100))
    answers(driver, "k, 100 times", lambda: driver.press(*"k" * 100))
    answers(driver, "], 60 times", lambda: driver.press(*"]" * 60))
    answers(driver, "v, 4 times", lambda: driver.press(*"vvvv"))
    answers(driver, "t, 2 times", lambda: driver.press(*"tt"))
    answers(driver, "search, letter by letter", lambda: typed("conv backward size"))
    for name in ("by-decision", "by-level", "by-mode", "by-rule", "by-refusal", "order"):
        answers(driver, f"filter {name}", lambda name=name: pick(name))


def main() -> None:
    """Make the page, load it and print what is measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--findings", type=int, default=0)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    if missing():
        raise SystemExit(f"{missing()}: not installed")
    with tempfile.TemporaryDirectory() as folder, browser() as driver:
        page = Path(folder) / "review.html"
        write_page(options.tree.resolve(), options.findings, page)
        print(f"{'size':42} {page.stat().st_size / 1e6:.1f} MB")
        measure(driver, page.as_uri(), options.runs)
        for line in driver.complaints():
            print(f"the page complains: {line}")


if __name__ == "__main__":
    main()
