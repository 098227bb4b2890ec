"""Copies of the installed torch's Python code, patched by `symfix apply`."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from corpus_trees import apply_in

_LINKED = ("bin", "include", "lib", "share", "test")
"""Folders of the installed package that hold no Python code of torch."""


def installed_torch() -> Path:
    """The folder that holds the installed `torch` package; raises SystemExit where there is none."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise SystemExit("torch is not installed in this environment")
    return Path(spec.origin).parent.parent


def copy_torch(target: Path) -> Path:
    """Copy the Python code of the installed torch into the folder `target`; its libraries are links.

    Returns `target`, which goes in front of `sys.path`.
    """
    package = installed_torch() / "torch"

    def skipped(folder: str, names: list[str]) -> list[str]:
        return [n for n in names if n == "__pycache__" or (Path(folder) == package and n in _LINKED)]

    shutil.copytree(package, target / "torch", symlinks=True, ignore=skipped)
    for name in _LINKED:
        if (package / name).is_dir():
            os.symlink(package / name, target / "torch" / name)
    return target


def add_torch_option(parser: argparse.ArgumentParser) -> None:
    """`--torch COPY`, which `both_torches` takes."""
    parser.add_argument(
        "--torch",
        type=Path,
        metavar="COPY",
        help="a folder that holds the patched torch package; else a copy of the installed one is patched",
    )


@contextlib.contextmanager
def both_torches(patched: Path | None, level: str = "review", alike: bool = False) -> Iterator[tuple[Path, Path]]:
    """The folder of the unpatched torch and that of the patched one, made where `patched` is None.

    The unpatched one is the installed package, or, with `alike`, a copy of it that lies as the patched one does.
    Raises SystemExit where `patched` holds no torch package.
    """
    with tempfile.TemporaryDirectory(prefix="symfix-corpus-") as scratch:
        if patched is None:
            patched = copy_torch(Path(scratch) / "patched")
            apply_in(patched, level, paths=("torch",))
        require_torch(patched)
        yield (copy_torch(Path(scratch) / "plain") if alike else installed_torch()), patched.resolve()


def of_both_torches(
    audit: Callable[[Path, argparse.Namespace], Any], arguments: argparse.Namespace, alike: bool = False
) -> tuple[Any, Any]:
    """What `audit` gives for the folder of the unpatched torch and for that of the patched one, `arguments.torch`.

    Both are written to `arguments.out` as JSON, where it is given; `alike` is that of `both_torches`.
    """
    with both_torches(arguments.torch, alike=alike) as sides:
        before, after = (audit(side, arguments) for side in sides)
    if arguments.out:
        arguments.out.write_text(json.dumps({"before": before, "after": after}, indent=1, sort_keys=True))
    return before, after


def require_torch(folder: Path) -> None:
    """Raises SystemExit where `folder` holds no torch package."""
    if not (folder / "torch" / "__init__.py").is_file():
        print(f"{folder}: holds no torch package; pass the folder above it", file=sys.stderr)
        raise SystemExit(2)
