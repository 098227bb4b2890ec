from __future__ import annotations

import os
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.tree.checkout import Checkout
from codemod.tree.config import Config, read_config, read_user_config, user_config


def read(root: Path) -> Config:
    return read_config(Checkout(root, None))


def config(root: Path, text: str) -> dict[str, object]:
    (root / "pyproject.toml").write_text(text)
    return read(root).values


def users(text: str) -> Config:
    user_config().parent.mkdir(exist_ok=True)
    user_config().write_text(text)
    return read_user_config()


def test_without_a_table_there_are_no_options(tmp_path: Path) -> None:
    assert read(tmp_path).values == {}
    assert config(tmp_path, "[tool.other]\nx = 1\n") == {}
    assert config(tmp_path, "# tool.symfix is not configured\n") == {}


def test_options_come_back_under_the_command_lines_names(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    lines = ('level = "review"', "no-cache = true", 'op = ["add"]', 'rule = "size"', "mode = [1, 4]", 'paths = ["src"]')
    assert config(tmp_path, "\n".join(("[tool.symfix]", *lines))) == {
        "level": "review", "no_cache": True, "op": ("add",), "rule": ("size",), "mode": (1, 4),
        "paths": (tmp_path / "src",),
    }  # fmt: skip


def test_an_older_name_of_an_option_is_understood(tmp_path: Path) -> None:
    assert config(tmp_path, "[tool.symfix]\nmin-torch = '2.4'") == {"torch": "2.4"}


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
        ("torch = 2.4", "torch: 2.4 is not a string"),
        ("torch = '>=2.4'", "torch: '>=2.4' is not a version such as 2.4"),
        ("min-torch = '>=2.4'", "min-torch: '>=2.4' is not a version such as 2.4"),
        ("group = 'line'", "group: 'line' is not one of operator, file, module"),
        ("op = [1]", "op: 1 is not a string"),
        ("repro = 'a.py'", "repro: 'a.py' is not a table of operators and their scripts"),
        ("[tool.symfix.repro]\nadd = 'absent.py'", "repro: 'absent.py' is no file of the checkout"),
        ("[tool.symfix.repro]\nadd = 3", "repro: 3, the script of 'add', is no file"),
        ("template = '/etc/hostname'", "template: '/etc/hostname' is no file of the checkout"),
        ("vocabulary = '/dev/zero'", "vocabulary: '/dev/zero' is no file of the checkout"),
        ("baseline = '../outside'", "baseline: '../outside' is no file of the checkout"),
        ("baseline = 'link'", "baseline: 'link' is no file of the checkout"),
        ("template = '.git/config'", "template: '.git/config' is no file of the checkout"),
        ("template = 'git-link'", "template: 'git-link' is no file of the checkout"),
        ("template = 'third_party/x'", "template: 'third_party/x' is ignored by git"),
        ("template = 'pipe'", "template: 'pipe' is no file of the checkout"),
        ("template = ''", "template: '' is no file of the checkout"),
        ('template = "a\\u0000b"', r"template: 'a\x00b' is no file of the checkout"),
        ("paths = ['..']", "paths: '..' is no file or folder of the checkout"),
        ("paths = ['absent']", "paths: 'absent' is no file or folder of the checkout"),
        ("a = " + "[" * 100_000, "not TOML: nested too deep"),
        ("jobs = " + "1" * 5000, "not TOML"),
        ("x = ", "not TOML"),
    ],
)
def test_what_cannot_be_used_names_the_file_and_the_key(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path.parent / "outside").write_text("")
    (tmp_path / "link").symlink_to("../outside")
    for name in (".git/config", "third_party/x"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("")
    (tmp_path / "git-link").symlink_to(".git/config")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SymfixError) as caught:
        config(tmp_path, f"[tool.symfix]\n{text}\n")
    assert str(caught.value).startswith(f"{tmp_path / 'pyproject.toml'}: ")
    assert says in str(caught.value)


@pytest.mark.parametrize("text", ["tool = 3  # tool.symfix", "[tool]\nsymfix = 3  # tool.symfix"])
def test_what_is_no_table_is_no_traceback(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    if text.startswith("tool"):
        assert read(tmp_path).values == {}
    else:
        with pytest.raises(SymfixError, match="is not a table of options"):
            read(tmp_path)


def test_files_of_the_checkout_are_taken(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/pull.j2").write_text("")
    (tmp_path / "link").symlink_to("d/pull.j2")
    keys = ("template", "vocabulary", "baseline")
    found = config(tmp_path, "[tool.symfix]\n" + "".join(f"{key} = 'link'\n" for key in keys))
    assert found == dict.fromkeys(keys, tmp_path / "link")


@pytest.mark.parametrize("target", ["../outside.toml", "/dev/zero", "pipe", "."])
def test_a_pyproject_that_is_no_file_of_the_tree_says_nothing(tmp_path: Path, target: str) -> None:
    (tmp_path.parent / "outside.toml").write_text("[tool.symfix]\nlevel = 'review'\n")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "pyproject.toml").symlink_to(target)
    assert read(tmp_path).values == {}


def test_a_tree_cannot_say_what_is_loosened_or_where_something_is_sent(tmp_path: Path) -> None:
    text = "allow-dirty = true\nallow-no-vcs = true\nremote = 'evil'\nrepo = 'evil/x'\nlevel = 'review'\n"
    text += "label = ['x']\ncc = ['y']\n"
    (tmp_path / "pyproject.toml").write_text(f"[tool.symfix]\n{text}")
    found = read(tmp_path)
    assert found.values == {"level": "review"}
    assert found.ignored == ("allow-dirty", "allow-no-vcs", "remote", "repo", "label", "cc")
    assert users(text).values == {
        "allow_dirty": True, "allow_no_vcs": True, "remote": "evil", "repo": "evil/x", "level": "review",
        "label": ("x",), "cc": ("y",),
    }  # fmt: skip


def test_the_users_files_are_found_beside_their_options_and_anywhere() -> None:
    found = users("template = 'mine.j2'\nvocabulary = '/usr/x.yaml'\nbaseline = '~/b.json'\n").values
    assert found == {
        "template": user_config().parent / "mine.j2", "vocabulary": Path("/usr/x.yaml"),
        "baseline": Path.home() / "b.json",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [("levle = 'safe'", "has no option 'levle'"), ("paths = ['src']", "cannot be said for every tree"),
     ("a = " + "[" * 100_000, "not TOML: nested too deep"), ("jobs = 0", "jobs: 0 is not a positive number")],
    ids=["key", "paths", "depth", "jobs"],
)  # fmt: skip
def test_what_the_users_file_cannot_say_names_it(text: str, says: str) -> None:
    with pytest.raises(SymfixError) as caught:
        users(text)
    assert str(caught.value).startswith(f"{user_config()}: ")
    assert says in str(caught.value)


def test_options_that_others_may_have_written_are_not_the_users(capfd: pytest.CaptureFixture[str]) -> None:
    users("allow-dirty = true\n")
    user_config().chmod(0o666)
    for _ in range(2):
        assert read_user_config().values == {}
    err = capfd.readouterr().err
    assert err == (
        f"symfix: {user_config()}: others may write it; remove it, or: chmod -R go-w {user_config()};"
        " until then it is not read\n"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_another_users_options_are_not_the_users() -> None:
    users("allow-dirty = true\n")
    os.chown(user_config(), 12345, -1)
    assert read_user_config().values == {}


def test_the_users_options_may_be_a_link() -> None:
    users("level = 'review'\n")
    user_config().rename(user_config().with_name("real.toml"))
    user_config().symlink_to("real.toml")
    assert read_user_config().values == {"level": "review"}


def test_so_many_jobs_are_bounded() -> None:
    assert users("jobs = 100000\n").values == {"jobs": 1024}
