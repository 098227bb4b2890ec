"""The packages that PyTorch's own samples need beside it, and a folder of symfix's own that they can be added to."""

from __future__ import annotations

import importlib.machinery
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codemod.borders.private import private_folder
from codemod.digest import digest
from codemod.errors import SymfixError
from codemod.terminal import listed, one_line
from codemod.tree.checkout import user_cache

if TYPE_CHECKING:
    from codemod.prove.target import Target

NAMES = ("expecttest", "numpy", "packaging")
"""What torch/testing/_internal imports that a wheel of torch does not require."""
_SECONDS = 600


def added(python: Path, version: str, missing: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """The folder that holds what was added for an interpreter, "" for none, and what of `missing` it does not hold."""
    names = tuple(missing)
    folder = _folder(python, version) if names else None
    if folder is None:
        return "", names
    absent = tuple(name for name in names if importlib.machinery.PathFinder.find_spec(name, [str(folder)]) is None)
    return ("" if absent == names else str(folder)), absent


def install(target: Target) -> Target:
    """`target` with what it misses, which pip installs into a folder of symfix's own; the interpreter keeps its own.

    Raises SymfixError where pip fails, or nothing may be kept.
    """
    folder = _folder(Path(target.python), target.python_version)
    if folder is None:
        raise SymfixError(f"{user_cache()}: is not yours alone, so nothing is installed there; {by_hand(target)}")
    command = (sys.executable, "-m", "pip", "--python", target.python, "install", "--quiet", "--no-input",
               "--disable-pip-version-check", "--no-deps", "--target", str(folder), *target.missing)  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False, cwd="/")
    except subprocess.TimeoutExpired:
        raise SymfixError(f"pip did not end within {_SECONDS} s; {by_hand(target)}") from None
    except OSError as error:
        raise SymfixError(f"{sys.executable}: cannot be run: {error.strerror}; {by_hand(target)}") from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise SymfixError(f"pip cannot install {listed(target.missing)}: {one_line(lines[-1])}; {by_hand(target)}")
    support, missing = added(Path(target.python), target.python_version, target.missing)
    return replace(target, support=support, missing=missing)


def by_hand(target: Target) -> str:
    """The command that adds what `target` misses to the interpreter itself."""
    pronoun = "it" if len(target.missing) == 1 else "them"
    return f"or add {pronoun} yourself: {target.python} -m pip install {' '.join(target.missing)}"


def _folder(python: Path, version: str) -> Path | None:
    base = user_cache()
    return private_folder(base / "prove" / "samples" / digest(str(python.absolute()), version)[:24], base)
