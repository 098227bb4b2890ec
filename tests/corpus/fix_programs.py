"""Does `symfix fix -- python PROGRAM` cure the programs of corpus_programs.py, each without a hint?

    python tests/corpus/fix_programs.py [NAME…]

Prints for each program what the proof says; exit code 1 where one is not cured. Takes about a minute for each.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from corpus_programs import write_programs

GIT = ("git", "-c", "user.name=symfix", "-c", "user.email=symfix@localhost")


def fixed(path: Path) -> tuple[bool, str]:
    """Whether `symfix fix` ends well with a changed program, and what its proof says."""
    command = (sys.executable, "-m", "codemod.cli", "fix", "--yes", "--", sys.executable, path.name)
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
    changed = subprocess.run((*GIT, "diff", "--stat", "--", path.name), cwd=path.parent, capture_output=True, text=True)
    lines = [line.strip() for line in done.stdout.splitlines()]
    said = next((line for line in lines if line.startswith(("prove", "stopped"))), done.stderr.strip())
    return done.returncode == 0 and bool(changed.stdout), said


def main(names: list[str]) -> int:
    """Run each program; the exit code."""
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = [path for path in write_programs(Path(folder)) if not names or path.stem in names]
        for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "programs")):
            subprocess.run((*GIT, *arguments), cwd=folder, check=True)
        for path in paths:
            cured, said = fixed(path)
            failures += not cured
            print(f"{path.stem:16} {'cured' if cured else 'NOT CURED':10} {said}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
