"""How far the checks that stand for expected failures agree with a tree's registries.

    python tests/corpus/audit_registries.py TREE --python PYTHON --kept ends.json > audit.json

Runs the check of every xfail that `symfix prove` could outdate in the torch of PYTHON, which has to be of the tree's
version: each should fail. Prints, as JSON, each entry with how its checks end, and totals of entries: one that fails
in any check "fails", else one that hangs in any "hangs", one whose checks all pass "passes". How each check ended is
kept in the file of `--kept`, from which the next run goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import codemod.runner
from codemod.tree.cache import Cache
from codemod.tree.checkout import find_checkout, user_cache
from codemod.tree.project import CheckoutProject
from transforms.xfails.checks import checks_of
from transforms.xfails.tree import registries

RUNNER = Path(codemod.runner.__file__).parent
STARTING = 300  # seconds for torch and its samples to be imported


def run(python: str, checks: Sequence[str], kept: Path, seconds: float) -> dict[str, str]:
    """How each check ends: "passes", "fails" or "absent", and "hangs" after `seconds`. What ends the process fails.

    `kept` holds what was found, after each check; a run that was stopped goes on where it was.
    """
    ends: dict[str, str] = json.loads(kept.read_bytes()) if kept.is_file() else {}
    while any(check not in ends for check in checks):
        left = [check for check in checks if check not in ends]
        with tempfile.TemporaryDirectory() as folder:
            job, out = Path(folder, "job.json"), Path(folder, "out.json")
            job.write_text(json.dumps({"checks": left}))
            process = subprocess.Popen(
                [python, str(RUNNER), str(job), str(out)],
                cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            try:
                ended = _watch(process, out, ends, kept, seconds)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if ended:
                ends[ended[0]] = ended[1]
                _keep(ends, kept)
    return {check: ends[check] for check in checks}


def _watch(
    process: subprocess.Popen[bytes], out: Path, ends: dict[str, str], kept: Path, seconds: float
) -> tuple[str, str] | None:
    """Wait until the process ends or a check takes too long; that check and how it ends, None where all are done.

    Raises SystemExit where the process does not begin.
    """
    running, since = "", time.monotonic()
    while True:
        over = process.poll() is not None
        report = json.loads(out.read_bytes()) if out.exists() else {"running": None, "done": False, "checks": {}}
        if len(report["checks"].keys() - ends.keys()):
            ends.update(report["checks"])
            _keep(ends, kept)
        if report["done"]:
            return None
        name = (report["running"] or {"name": ""})["name"]
        if name != running:
            running, since = name, time.monotonic()
            print(f"{len(ends)} known; {name}", file=sys.stderr, flush=True)
        late = time.monotonic() - since > (seconds if running else STARTING)
        if over or late:
            if not running:
                raise SystemExit(f"{process.args!r}: the runner said nothing")
            return running, "fails" if over else "hangs"
        time.sleep(0.2)


def _keep(ends: Mapping[str, str], kept: Path) -> None:
    staged = kept.with_suffix(".tmp")
    staged.write_text(json.dumps(ends, indent=1))
    staged.replace(kept)


def _worst(ends: set[str]) -> str:
    return next((end for end in ("fails", "hangs", "absent") if end in ends), "passes")


def main() -> int:
    """Run every check once; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--kept", type=Path, required=True, metavar="FILE", help="how the checks ended so far")
    parser.add_argument("--timeout", type=float, default=180, metavar="SECONDS", help="for one check, %(default)s")
    arguments = parser.parse_args()
    checkout = find_checkout(arguments.tree)
    project = CheckoutProject(checkout, Cache.of(checkout.root, user_cache()))
    wanted = [
        (f"{path}:{entry.line}", entry, checks_of(entry)[0])
        for path, file in registries(project).items()
        for entry in file.entries
        if entry.kind == "xfail"
    ]
    every = sorted({check for _, _, checks in wanted for check in checks})
    ends = run(arguments.python, every, arguments.kept, arguments.timeout)
    rows = [
        {"where": where, "entry": entry.name, "checks": {check: ends[check] for check in checks}}
        for where, entry, checks in wanted
        if checks
    ]
    totals = Counter(_worst({ends[check] for check in checks}) for _, _, checks in wanted if checks)
    json.dump({"entries": rows, "totals": totals}, sys.stdout, indent=1)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
