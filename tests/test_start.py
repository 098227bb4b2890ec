"""How the command starts and ends: no traceback, whenever it is interrupted and whatever goes wrong."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import pytest

from codemod.planning import analysis
from tests.conftest import MakeTree, Symfix

ROOT = Path(__file__).parents[1]

IMPORTS_COUNTED = """
import os, signal, sys

class Interrupt:
    count, last = 0, int(sys.argv.pop(1))

    def find_spec(self, name, path=None, target=None):
        self.count += 1
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGINT)

from codemod.cli import main
interrupt = Interrupt()
sys.meta_path.insert(0, interrupt)
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    main()
finally:
    if not interrupt.last:
        print(interrupt.count, file=sys.stderr)
"""


HELP = ("scan", "--help")
WORK = ("scan", "no-such-folder")
"""A run that loads what does the work, and has none."""


def interrupted_at_import(number: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run symfix, interrupted as module `number` is looked for; 0: never, and the number of modules that were looked
    for ends its standard error.
    """
    command = [sys.executable, "-c", IMPORTS_COUNTED, str(number), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@functools.cache
def imports(*arguments: str) -> int:
    """How many modules symfix looks for."""
    return int(interrupted_at_import(0, *arguments).stderr.splitlines()[-1])


@pytest.mark.parametrize(
    ("arguments", "tenth"), [*((HELP, n) for n in range(0, 10, 2)), *((WORK, n) for n in (6, 7, 9))]
)
def test_interrupted_while_modules_load_it_says_so_in_one_line(arguments: tuple[str, ...], tenth: int) -> None:
    done = interrupted_at_import(max(1, imports(*arguments) * tenth // 10), *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "symfix: interrupted\n")


def test_the_package_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "codemod.cli", "--version"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("symfix, version")


@pytest.fixture
def broken(make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree whose analysis fails as nobody foresaw."""

    def fail(*arguments: object) -> None:
        raise LookupError("no such\nthing \x1b[31m")

    monkeypatch.setattr(analysis, "_make", fail)
    monkeypatch.delenv("SYMFIX_DEBUG", raising=False)
    return make_tree({"a.cc": b"size\n"})


def test_what_nobody_foresaw_is_one_line(broken: Path, symfix: Symfix) -> None:
    code, out, err = symfix("scan", cwd=broken)
    assert (code, out) == (2, b"")
    assert err.startswith("symfix: this is a bug in symfix, please report it: LookupError: no such thing")
    assert "planning/analysis.py:" in err
    assert err.endswith("; SYMFIX_DEBUG=1 shows the traceback\n")
    assert err.count("\n") == 1
    assert "\x1b" not in err


def test_its_traceback_is_shown_where_it_is_asked_for(
    broken: Path, symfix: Symfix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYMFIX_DEBUG", "1")
    code, _, err = symfix("scan", cwd=broken)
    assert code == 2
    assert err.startswith("Traceback (most recent call last):")
    assert err.splitlines()[-1].startswith("symfix: this is a bug in symfix")


def test_out_of_memory_is_one_line(make_tree: MakeTree, symfix: Symfix, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(analysis, "_make", fail)
    code, _, err = symfix("scan", cwd=make_tree({"a.cc": b"size\n"}))
    assert code == 2
    assert err.startswith("symfix: out of memory; ")


def test_what_only_a_rewrite_needs_is_not_loaded_at_the_start() -> None:
    loaded = "import sys, transforms.cpp, transforms.python, transforms.xfails; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "transforms.python" in run.stdout
    assert not {"libcst", "black", "sympy", "git"}.intersection(run.stdout.split())
