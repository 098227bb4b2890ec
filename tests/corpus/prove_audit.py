"""Does `prove` see what the audit of unbacked sizes sees? Entry by entry, over a torch package and a changed copy.

    python tests/corpus/prove_audit.py before.json after.json --torch COPY [--others 60] [--out agreement.json]

The two files are runs of audit_unbacked.py over the installed torch and over COPY. Compared are the entries that they
show as cured, or as changed in any other way, and a random choice of the others. An entry agrees where the worst of
its first four samples with unbacked sizes is the same for the audit and for prove's runner, before and after.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from codemod.prove.verdict import ended

RUNNER = Path(__file__).parent.parent.parent / "codemod" / "runner"
THROWN = {"data-dependent": "throws", "error": "throws"}
AUDITED = {"pass": "passes", "wrong": "wrong", "skip": "", "timeout": "hangs", **THROWN}
ORDER = ("", "passes", "throws", "wrong", "hangs", "crashes")
BATCH = 8
SECONDS = 1800


def chosen(before: dict[str, Any], after: dict[str, Any], others: int) -> list[str]:
    """The entries to compare: all whose outcome changed, and `others` more by chance."""
    common = sorted(before.keys() & after.keys())
    changed = [name for name in common if before[name]["outcome"] != after[name]["outcome"]]
    rest = [name for name in common if name not in changed and before[name]["outcome"] != "skip"]
    return changed + random.Random(0).sample(rest, min(others, len(rest)))


def run(entries: list[str], folder: Path, copy: Path | None, cases: dict[str, Any] | None) -> dict[str, Any]:
    """What the runner says of `entries`; a case that ends its process has that as its status."""
    job: dict[str, Any] = {"operators": entries, "entries": {name: name for name in entries}, "pieces": ["forward"]}
    job["python_path"] = [str(copy)] if copy else []
    if cases is not None:
        job["cases"] = cases
    found: dict[str, Any] = {}
    skip: list[str] = []
    while True:
        (folder / "job.json").write_text(json.dumps({**job, "skip": skip}))
        (folder / "out.json").unlink(missing_ok=True)
        command = [sys.executable, str(RUNNER), str(folder / "job.json"), str(folder / "out.json")]
        try:
            code = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False).returncode
        except subprocess.TimeoutExpired:
            code = 1
        document = json.loads((folder / "out.json").read_bytes())
        if not document["done"]:
            document = ended(document, "crashes" if code < 0 else "hangs", "")
        for name, entry in document["operators"].items():
            names = {case["name"] for case in found.setdefault(name, [])}
            found[name] += [case for case in entry["cases"] if case["name"] not in names]
        if document["done"] or not document["running"]:
            return found
        skip.append(document["running"]["name"])


def worst(cases: list[dict[str, Any]]) -> str:
    """The worst status with unbacked sizes; "" where nothing was run."""
    return max((str(case.get("unbacked") or "") for case in cases), key=ORDER.index, default="")


def main() -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--torch", type=Path, required=True, help="the folder that holds the changed torch package")
    parser.add_argument("--others", type=int, default=60, help="so many entries whose outcome did not change")
    parser.add_argument("--out", type=Path, help="keep what was found, and go on from there")
    options = parser.parse_args()
    before, after = (json.loads(path.read_text()) for path in (options.before, options.after))
    rows: dict[str, list[str]] = {}
    if options.out and options.out.is_file():
        rows = json.loads(options.out.read_text())
    todo = [name for name in chosen(before, after, options.others) if name not in rows]
    for start in range(0, len(todo), BATCH):
        batch = todo[start : start + BATCH]
        with tempfile.TemporaryDirectory(prefix="symfix-corpus-") as scratch:
            released = run(batch, Path(scratch), None, None)
            changed = run(batch, Path(scratch), options.torch, released)
        for name in batch:
            audited = [AUDITED[audit[name]["outcome"]] for audit in (before, after)]
            rows[name] = [*audited, worst(released.get(name, [])), worst(changed.get(name, []))]
        if options.out:
            options.out.write_text(json.dumps(rows, indent=1))
        print(f"{len(rows)} of {len(rows) + len(todo) - start - len(batch)}", file=sys.stderr)
    apart = {name: row for name, row in rows.items() if row[:2] != row[2:]}
    cured = sum(row[0] not in ("", "passes") and row[1] == "passes" for row in rows.values())
    print(f"{len(rows)} entries, {cured} of them cured: prove agrees on {len(rows) - len(apart)}")
    for name, row in sorted(apart.items()):
        print(f"  {name}: the audit {row[0] or 'nothing'} → {row[1] or 'nothing'},"
              f" prove {row[2] or 'nothing'} → {row[3] or 'nothing'}")  # fmt: skip
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(main())
