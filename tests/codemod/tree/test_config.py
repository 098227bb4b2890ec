from __future__ import annotations

from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.tree.config import read_config


def config(root: Path, text: str) -> dict[str, object]:
    (root / "pyproject.toml").write_text(text)
    return read_config(root)


def test_without_a_table_there_are_no_options(tmp_path: Path) -> None:
    assert read_config(tmp_path) == {}
    assert config(tmp_path, "[tool.other]\nx = 1\n") == {}
    assert config(tmp_path, "# tool.symfix is not configured\n") == {}


def test_options_come_back_under_the_command_lines_names(tmp_path: Path) -> None:
    lines = ('level = "review"', "no-cache = true", 'op = ["add"]', 'rule = "size"', "mode = [1, 4]", 'paths = ["src"]')
    assert config(tmp_path, "\n".join(("[tool.symfix]", *lines))) == {
        "level": "review", "no_cache": True, "op": ("add",), "rule": ("size",), "mode": (1, 4),
        "paths": (tmp_path / "src",),
    }  # fmt: skip


def test_scripts_of_operators_come_back_below_the_checkout(tmp_path: Path) -> None:
    (tmp_path / "add.py").write_text("")
    assert config(tmp_path, '[tool.symfix.repro]\n"my::*" = "add.py"') == {"repro": {"my::*": tmp_path / "add.py"}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("levle = 'safe'", "no option 'levle'"),
        ("level = 'brave'", "level: 'brave' is not one of safe, review, manual"),
        ("level = 1", "level: 1 is not a string"),
        ("mode = [5]", "mode: 5 is not one of 1, 2, 3, 4"),
        ("jobs = true", "jobs: True is not a whole number"),
        ("jobs = 0", "jobs: 0 is not a positive number"),
        ("max-files = 0", "max-files: 0 is not a positive number"),
        ("group = 'line'", "group: 'line' is not one of operator, file, module"),
        ("op = [1]", "op: 1 is not a string"),
        ("repro = 'a.py'", "repro: 'a.py' is not a table of operators and their scripts"),
        ("[tool.symfix.repro]\nadd = 'absent.py'", "repro] add: 'absent.py' is not a file of the checkout"),
        ("x = ", "not TOML"),
    ],
)
def test_what_cannot_be_used_names_the_file_and_the_key(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(SymfixError) as caught:
        config(tmp_path, f"[tool.symfix]\n{text}\n")
    assert str(caught.value).startswith(f"{tmp_path / 'pyproject.toml'}: ")
    assert says in str(caught.value)


@pytest.mark.parametrize("text", ["tool = 3  # tool.symfix", "[tool]\nsymfix = 3  # tool.symfix"])
def test_what_is_no_table_is_no_traceback(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    if text.startswith("tool"):
        assert read_config(tmp_path) == {}
    else:
        with pytest.raises(SymfixError, match="is not a table of options"):
            read_config(tmp_path)
