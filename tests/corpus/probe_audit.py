"""Does `symfix probe --op` see what the audit of unbacked sizes sees, entry by entry?

    python tests/corpus/audit_unbacked.py run --only topk sort --out audit.json
    symfix probe --op topk --op sort --format json > probe.json
    python tests/corpus/probe_audit.py audit.json probe.json

Both compile an entry's first four samples with every size unbacked, by code of their own. Prints the entries on which
they differ, and exits 1 where there are any.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SAME = {
    "pass": {"passes", "guards"},
    "skip": {"", "no inputs"},
    "data-dependent": {"throws"},
    "error": {"throws"},
    "wrong": {"wrong"},
    "timeout": {"hangs"},
}
"""The statuses of `probe` that say the same as each outcome of the audit."""


def differences(audit: Mapping[str, Any], probe: Mapping[str, Any]) -> list[str]:
    """A line for each entry of both on which they differ."""
    lines = []
    for subject in probe["subjects"]:
        entry = audit.get(subject["name"])
        cell = subject["modes"]["unbacked"]
        if entry is not None and cell["status"] not in SAME[entry["outcome"]]:
            lines.append(f"{subject['name']}: audit {entry['outcome']} ({entry.get('message', '')[:120]!r}), "
                         f"probe {cell['status']} ({cell['message'][:120]!r})")  # fmt: skip
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison of two runs; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("audit", type=Path)
    parser.add_argument("probe", type=Path)
    arguments = parser.parse_args(argv)
    audit, probe = (json.loads(path.read_text()) for path in (arguments.audit, arguments.probe))
    lines = differences(audit, probe)
    both = sum(subject["name"] in audit for subject in probe["subjects"])
    print(*lines, f"{both - len(lines)} of {both} entries agree", sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
