"""The objects of both sides of a change: a source that nothing changed in what it reads is compiled once for both."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from codemod.model.transform import Part
from codemod.prove.build import sides
from codemod.prove.compiler import Diagnostic, find_compiler
from codemod.prove.target import Target
from codemod.prove.task import Settings
from codemod.writing.changes import Change

needs_gcc = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

FILES = {
    "csrc/size.h": "using Size = int;\n",
    "csrc/shape.h": '#pragma once\n#include "size.h"\n',
    "csrc/other.h": "using Other = long;\n",
    "csrc/edited.cpp": '#include "size.h"\nSize edited() { return 1; }\n',
    "csrc/including.cpp": '#include "shape.h"\nSize including() { return 2; }\n',
    "csrc/apart.cpp": '#include "other.h"\nOther apart() { return 3; }\n',
}
CHANGED = {"csrc/size.h": "using Size = long;\n", "csrc/edited.cpp": '#include "size.h"\nSize edited() { return 4; }\n'}


@needs_gcc
@pytest.mark.parametrize("includes", [(), ("",)])
def test_what_includes_no_changed_header_is_compiled_once(tmp_path: Path, includes: tuple[str, ...]) -> None:
    root = tmp_path / "tree"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    target = Target(sys.executable, "3.11", str(tmp_path), str(tmp_path / "torch"), "2.13.0", True, "c++17")
    compiler = find_compiler(tmp_path / "cache" / "objects")
    settings = Settings(root, tmp_path / "cache", target, compiler, "", includes)
    changes = (Change(path, FILES[path].encode(), text.encode(), ()) for path, text in CHANGED.items())
    before, after = sides(settings, tuple(changes))
    objects = {}
    for name in ("edited", "including", "apart"):
        pair = [side.object_file(Part(f"csrc/{name}.cpp"), compiler) for side in (after, before)]
        assert not any(isinstance(each, Diagnostic) for each in pair), pair
        objects[name] = len(set(pair))
    assert objects == {"edited": 2, "including": 2, "apart": 1}
