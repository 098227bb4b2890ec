from __future__ import annotations

import json
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.prove.flags import compile_flags


def write(root: Path, text: str) -> None:
    (root / "build").mkdir()
    (root / "build" / "compile_commands.json").write_text(text)


def test_none_without_a_database(tmp_path: Path) -> None:
    assert compile_flags(tmp_path) == {}


def test_what_decides_how_a_source_is_read_is_kept(tmp_path: Path) -> None:
    command = "c++ -I../include -isystem third -DA='x y' -O2 -Werror -std=gnu++17 -fopenmp -c ../src/a.cpp -o a.o"
    entries = [
        {"directory": f"{tmp_path}/build", "file": "../src/a.cpp", "command": command},
        {"directory": f"{tmp_path}/build", "file": "/elsewhere/b.cpp", "arguments": ["c++"]},
        {"directory": f"{tmp_path}/build", "file": "../c.cpp", "arguments": ["c++", "-I", "gen", "-D", "B"]},
    ]
    write(tmp_path, json.dumps(entries))
    assert compile_flags(tmp_path) == {
        "src/a.cpp": (
            f"-I{tmp_path}/include", "-isystem", f"{tmp_path}/build/third", "-DA=x y", "-std=gnu++17", "-fopenmp"
        ),
        "c.cpp": (f"-I{tmp_path}/build/gen", "-DB"),
    }  # fmt: skip


@pytest.mark.parametrize("text", ["{", "{}x", "[1]", '[{"file": "a"}]'])
def test_a_damaged_database_is_named(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    with pytest.raises(SymfixError, match=r"compile_commands\.json: not a compilation database"):
        compile_flags(tmp_path)
