"""The plugin loads what it is told to, before tests are imported."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COUNTING = """\
#include <cstdlib>
__attribute__((constructor)) void loaded() { setenv("OVERLAID", "yes", 1); }
"""


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
def test_libraries_are_loaded_before_tests_are_imported(tmp_path: Path) -> None:
    (tmp_path / "own.cpp").write_text(COUNTING)
    library = tmp_path / "own.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-o", library, tmp_path / "own.cpp"], check=True)
    (tmp_path / "libraries.txt").write_text(f"{library}\n")
    reading = "import ctypes\nget = ctypes.CDLL(None).getenv\nget.restype = ctypes.c_char_p\nSEEN = get(b'OVERLAID')\n"
    (tmp_path / "test_own.py").write_text(f"{reading}def test_seen():\n    assert SEEN == b'yes'\n")
    path = os.pathsep.join(map(str, (HERE.parents[1], HERE)))
    command = (sys.executable, "-m", "pytest", "-q", "-p", "with_overlay", "-p", "no:cacheprovider", "test_own.py")
    ends = {}
    for name, overlay in (("without", {}), ("with", {"OVERLAY": str(tmp_path / "libraries.txt")})):
        variables = {**os.environ, "PYTHONPATH": path, **overlay}
        done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
        ends[name] = done.returncode
    assert ends == {"without": 1, "with": 0}
