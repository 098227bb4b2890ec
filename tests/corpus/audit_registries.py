"""How far the checks that stand for expected failures agree with a tree's registries.

    python tests/corpus/audit_registries.py TREE --python PYTHON > audit.json

Runs the check of every xfail that `symfix prove` could outdate in the torch of PYTHON, which has to be of the tree's
version: each should fail. Prints, as JSON, each entry with how its checks end, and totals.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import codemod.prove.runner
from codemod.cache import Cache
from codemod.checkout import find_checkout
from codemod.project import CheckoutProject
from transforms.xfails.checks import checks_of
from transforms.xfails.tree import registries


def run(python: str, checks: Sequence[str]) -> dict[str, str]:
    """How each check ends; what ends the process counts as failing."""
    runner = Path(codemod.prove.runner.__file__).parent
    ends: dict[str, str] = {}
    while len(ends) < len(checks):
        left = [check for check in checks if check not in ends]
        with tempfile.TemporaryDirectory() as folder:
            job, out = Path(folder, "job.json"), Path(folder, "out.json")
            job.write_text(json.dumps({"checks": left}))
            subprocess.run([python, str(runner), str(job), str(out)], cwd=folder, capture_output=True, check=False)
            if not out.exists():
                raise SystemExit(f"{python}: the runner said nothing")
            report = json.loads(out.read_bytes())
        ends.update(report["checks"])
        if not report["done"]:
            ends[report["running"]["name"]] = "fails"
    return ends


def main() -> int:
    """Run every check once; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    project = CheckoutProject(find_checkout(arguments.tree), Cache(None))
    wanted = [
        (f"{path}:{entry.line}", entry, checks_of(entry)[0])
        for path, file in registries(project).items()
        for entry in file.entries
        if entry.kind == "xfail"
    ]
    ends = run(arguments.python, sorted({check for _, _, checks in wanted for check in checks}))
    rows = [
        {"where": where, "entry": entry.name, "checks": {check: ends[check] for check in checks}}
        for where, entry, checks in wanted
        if checks
    ]
    told = Counter("fails" if "fails" in {ends[c] for c in checks} else "passes" for _, _, checks in wanted if checks)
    json.dump({"entries": rows, "totals": told}, sys.stdout, indent=1)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
