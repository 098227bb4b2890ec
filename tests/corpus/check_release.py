"""Build wheel and sdist, check both as the package index would, and run the installed wheel where no checkout is.

    python tests/corpus/check_release.py [--output dist]

Needs the extra `release`. Raises CalledProcessError where a step fails, AssertionError where the installed command does
not find what the checkout's finds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def run(*command: str | Path, cwd: Path) -> str:
    """What the command prints to stdout."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def findings(symfix: Path, tree: Path, *options: str) -> list[tuple[str, int, str]]:
    """What `scan` finds in `tree`: path, line and rule of each."""
    document = json.loads(run(symfix, "scan", "--exit-zero", "--no-cache", "--format", "json", *options, cwd=tree))
    return [(finding["path"], finding["line"], finding["rule"]) for finding in document["findings"]]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--output", type=Path, help="Keep wheel and sdist in this folder.")
    output = parser.parse_args().output
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT, cwd=folder)
        made = sorted((folder / "dist").iterdir())
        run(sys.executable, "-m", "twine", "check", "--strict", *made, cwd=folder)
        [wheel] = [path for path in made if path.suffix == ".whl"]
        run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
        pip = (sys.executable, "-m", "pip", "--python", folder / "venv/bin/python")
        run(*pip, "install", "--quiet", "--no-compile", wheel, cwd=folder)
        shutil.copytree(ROOT / "examples", folder / "tree")
        installed, own = folder / "venv/bin/symfix", Path(sys.executable).with_name("symfix")
        for options in ((), ("--torch", "2.4", "library")):  # the second asks the data of releases
            seen = findings(installed, folder / "tree", *options)
            assert seen, options
            assert seen == findings(own, folder / "tree", *options), options
        print(run(installed, "--version", cwd=folder).strip())
        for path in made:
            print(f"{path.name}  {path.stat().st_size:,} bytes")
        if output is not None:
            shutil.copytree(folder / "dist", output, dirs_exist_ok=True)


if __name__ == "__main__":
    main()
