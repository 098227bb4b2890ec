"""Options that the command line leaves to the tree's pyproject.toml and to the user's own file."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from codemod.cli.root import group
from codemod.cli.run import start
from codemod.tree.checkout import find_checkout
from codemod.tree.config import user_config
from tests.conftest import MakeTree, Symfix
from tests.test_cli import FILES, rows


def parsed(name: str, *arguments: str) -> click.Context:
    """The context of a command with these arguments."""
    command = group.get_command(click.Context(group), name)
    assert command is not None
    return command.make_context(name, list(arguments))


def test_options_come_from_pyproject_unless_given(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree(
        {**FILES, "pyproject.toml": b'[tool.symfix]\nlevel = "review"\nformat = "csv"\npaths = ["a.cc"]\n'}
    )
    assert [row["level"] for row in rows(symfix("scan", cwd=tree / "sub").out)] == ["safe", "review"]
    assert b"sym_numel" in symfix("diff", cwd=tree).out
    assert b"sym_numel" not in symfix("diff", "--level", "safe", cwd=tree).out
    assert rows(symfix("scan", "sub", cwd=tree).out)[0]["path"] == "sub/b.cc"
    context = parsed("prove", str(tree / "sub"))
    values = start(context, context.params).values
    assert (values["level"], values["format"]) == ("review", "text")  # csv is no format of this command
    (tree / "pyproject.toml").write_bytes(b"[tool.symfix]\nlevels = 1\n")
    code, _, err = symfix("scan", cwd=tree)
    assert code == 2
    assert "pyproject.toml: [tool.symfix] has no option 'levels'" in err


@pytest.mark.parametrize(
    "text",
    [
        b'[tool]\nsymfix = { level = "review" }\n',
        b'tool.symfix.level = "review"\n',
        b'[tool."symfix"]\nlevel = "review"\n',
        b'[ tool . symfix ]\nlevel = "review"\n',
    ],
)
def test_the_table_may_be_written_as_toml_allows(make_tree: MakeTree, symfix: Symfix, text: bytes) -> None:
    tree = make_tree({**FILES, "pyproject.toml": text})
    assert b"sym_numel" in symfix("diff", cwd=tree).out
    (tree / "pyproject.toml").write_bytes(b"[tool]\nsymfix = 3\n")
    code, _, err = symfix("scan", cwd=tree)
    assert (code, err.strip().endswith("[tool.symfix] is not a table of options")) == (2, True)


@pytest.mark.parametrize(
    ("text", "of_tree"),
    [
        ('[tool]\nsymfix = { level = "review" }\n', True),
        ("[tool.symfix]\nlevel = \n", True),
        ('[project]\nname = "like-symfix"\n', False),
        ("symfix\n", False),
    ],
)
def test_without_git_the_folder_with_the_table_is_the_tree(tmp_path: Path, text: str, of_tree: bool) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "pyproject.toml").write_text(text)
    assert (find_checkout(tmp_path / "sub").root == tmp_path) is of_tree


def test_what_the_tree_cannot_say_is_said_and_the_users_file_can(make_tree: MakeTree, symfix: Symfix) -> None:
    options = b"allow-dirty = true\nallow-no-vcs = true\n"
    tree = make_tree({**FILES, "pyproject.toml": b"[tool.symfix]\n" + options})
    (tree / "a.cc").write_bytes(b"size // changed\n")
    code, _, err = symfix("apply", cwd=tree)
    assert code == 2
    assert err.splitlines() == [
        f"symfix: {tree}/pyproject.toml: {key} is ignored, for it is not the tree's to say; give --{key}, or set it in"
        f" {user_config()}"
        for key in ("allow-dirty", "allow-no-vcs")
    ] + ["symfix: a.cc: not committed; commit or stash first, or give --allow-dirty"]
    assert b"sym" not in (tree / "a.cc").read_bytes()
    assert "ignored" not in symfix("scan", cwd=tree).err  # which has no such option
    user_config().parent.mkdir()
    user_config().write_bytes(options)
    code, _, err = symfix("apply", cwd=tree)
    assert code == 1
    assert "ignored" not in err
    assert b"sym_size" in (tree / "a.cc").read_bytes()


def test_the_trees_options_go_before_the_users_and_lower_what_is_done_at_once(
    make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = b"[tool.symfix]\njobs = 100000\nmax-open = 50\nbase = 'main'\nlevel = 'safe'\nremote = 'evil'\n"
    tree = make_tree({**FILES, "pyproject.toml": lines})
    monkeypatch.setattr("codemod.cli.run.default_jobs", lambda: 3)
    user_config().parent.mkdir()
    user_config().write_bytes(b"level = 'review'\nmax-lines = 9\n")
    context = parsed("pr", str(tree))
    values = start(context, context.params).values
    expected = {"jobs": 3, "max_open": 5, "base": "main", "level": "safe", "max_lines": 9, "remote": "origin"}
    assert {name: values[name] for name in expected} == expected
    user_config().write_bytes(b"jobs = 8\nmax-open = 60\n")
    values = start(context, context.params).values
    assert (values["jobs"], values["max_open"]) == (8, 50)


def test_what_a_file_says_wrong_is_said_of_that_file(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree({**FILES, "pyproject.toml": b"[tool.symfix]\nrule = ['szie']\n"})
    code, _, err = symfix("scan", cwd=tree)
    assert (code, err) == (
        2,
        f"symfix: {tree}/pyproject.toml: rule: szie: there is no such rule; nearest: size; symfix rule lists them\n",
    )
    (tree / "pyproject.toml").write_bytes(b"")
    user_config().parent.mkdir(exist_ok=True)
    user_config().write_bytes(b"rule = ['szie']\n")
    assert symfix("scan", cwd=tree).err.startswith(f"symfix: {user_config()}: rule: szie: there is no such rule")
