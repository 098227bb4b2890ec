"""The corpus programs' own parts, on small trees."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus_compile import Compiler, compiler_version, contents
from corpus_includes import Includes
from corpus_trees import changed_files, converted_sites, copy_tree
from kill_apply import states
from probe_audit import differences


def write(root: Path, files: dict[str, str]) -> Path:
    """Make the files below `root`."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def test_copy_leaves_out_what_holds_no_operator(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"aten/a.cpp": "", "third_party/b.cpp": "", "aten/third_party/c.cpp": ""})
    copy = copy_tree(tree, tmp_path / "copy")
    assert sorted(path.name for path in copy.rglob("*.cpp")) == ["a.cpp", "c.cpp"]


def test_changed_files_and_their_sites(tmp_path: Path) -> None:
    before = write(tmp_path / "before", {"a.cpp": "x.size(0); x.sym_numel();", "b.cpp": "y.size(0);"})
    after = write(tmp_path / "after", {"a.cpp": "x.sym_size(0); x.sym_numel();", "b.cpp": "y.size(0);"})
    assert changed_files(before, after) == ["a.cpp"]
    assert converted_sites(before, after, ["a.cpp"]) == 1


def test_includes_reach_through_headers(tmp_path: Path) -> None:
    native = "aten/src/ATen/native"
    files = {
        f"{native}/Deep.h": "",
        f"{native}/Shallow.h": "#include <ATen/native/Deep.h>",
        f"{native}/Uses.cpp": "#include <ATen/native/Shallow.h>",
        f"{native}/cuda/Other.cpp": '#include "../Unrelated.h"\n#include "../Shallow.h"',
        f"{native}/Unrelated.cpp": "",
    }
    includes = Includes(write(tmp_path, files))

    def is_preferred(path: str) -> bool:
        return path.endswith("Uses.cpp")

    assert includes.sources_of(f"{native}/Deep.h", 1, is_preferred) == [f"{native}/Uses.cpp"]
    both = [f"{native}/Uses.cpp", f"{native}/cuda/Other.cpp"]
    assert includes.sources_of(f"{native}/Deep.h", 9, is_preferred) == both
    assert includes.headers_of(f"{native}/Uses.cpp", [f"{native}/Deep.h", "other.h"]) == [f"{native}/Deep.h"]
    assert includes.headers_of(f"{native}/Unrelated.cpp", [f"{native}/Deep.h"]) == []


@pytest.mark.skipif(not compiler_version(), reason="g++ is not installed")
def test_a_changed_header_is_checked_again(tmp_path: Path) -> None:
    tree = write(tmp_path, {"aten/src/h.h": "int f(int);", "a.cpp": '#include "h.h"\nint g() { return f(1); }'})
    compiler = Compiler("c++17", ())
    assert compiler.check(tree, "a.cpp", contents(tree, ["aten/src/h.h"])) == ""
    write(tmp_path, {"aten/src/h.h": "int f(int, int);"})
    assert compiler.check(tree, "a.cpp", contents(tree, ["aten/src/h.h"])).startswith("a.cpp:2: ")


def test_states_tell_torn_files(tmp_path: Path) -> None:
    old = write(tmp_path / "old", {"a.cpp": "1", "b.cpp": "1", "c.cpp": "1"})
    now = write(tmp_path / "now", {"a.cpp": "1", "b.cpp": "2", "c.cpp": ""})
    assert states(now, old, dict.fromkeys(("a.cpp", "b.cpp", "c.cpp"), b"2")) == {
        "a.cpp": "old",
        "b.cpp": "new",
        "c.cpp": "torn",
    }


def test_entries_on_which_probe_and_the_audit_differ_are_named() -> None:
    statuses = {"add": "passes", "cat": "throws", "sort": "passes", "only": "throws"}
    subjects = [{"name": name, "modes": {"unbacked": {"status": status, "message": ""}}}
                for name, status in statuses.items()]  # fmt: skip
    audit = {name: {"outcome": outcome} for name, outcome in (("add", "pass"), ("cat", "error"), ("sort", "wrong"))}
    assert [line.partition(":")[0] for line in differences(audit, {"subjects": subjects})] == ["sort"]
