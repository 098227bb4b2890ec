"""Names of operators and shards, as every command of symfix prints them for one tree."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

_CELL = re.compile(r"^\| `([^`]+)` \|", re.M)
_TITLE = re.compile(r"^\[dynamic shapes\] Use symbolic sizes in (.+?)(?:, part \d+)?$", re.M)
_RUN_BY = re.compile(r"^Run by (.*)\.$", re.M)


def run(tree: Path, *arguments: str) -> str:
    """What a command prints on stdout. Raises AssertionError where it fails."""
    command = [str(Path(sys.executable).with_name("symfix")), *arguments]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def names_shown(tree: Path, page: Path) -> dict[str, set[str]]:
    """The names by the command that prints them; `page` is where the review page is written."""
    review = ("--level", "review")
    table = run(tree, "scan").partition("\noperator ")[2].partition("\nthrows: ")[0].splitlines()[1:]
    rows = csv.DictReader(io.StringIO(run(tree, "scan", "--format", "csv")))
    run(tree, "review", "--html", str(page), *review)
    written = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text("utf-8"), re.S)
    assert written is not None
    data = json.loads(written[1])
    bodies = re.sub(r"\\([_*])", r"\1", run(tree, "pr", "--allow-dirty", *review))  # as Markdown shows it
    return {
        "scan": {line.split()[0] for line in table},
        "csv": {name for row in rows for name in row["operators"].split()},
        "page": {shard["name"] for shard in data["shards"]} | {name for names in data["operators"] for name in names},
        "bundle": {
            re.split(r"\s{2,}", line.lstrip("│├└─ "))[0]
            for line in run(tree, "bundle", "--dry-run", "--allow-dirty", *review).split("\n\n")[0].splitlines()
        },
        "pr": {*_TITLE.findall(bodies), *_CELL.findall(bodies)}
        | {name for names in _RUN_BY.findall(bodies) for name in re.split(", | and ", names) if " more" not in name},
    }
