"""The command as a process of its own: closed streams and pipes, signals, a machine without git or a home."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codemod.planning import analysis
from tests.conftest import MakeTree, Symfix

FILES = {
    "a.cc": b"x = size(); // op:aten::add.Tensor\ny = numel(); // op:aten::add.out\nfor loop // op:aten::mul\n",
    "sub/b.cc": b"size op:torchvision::nms\n",
    "clean/c.cc": b"nothing\n",
}
ROOT = Path(__file__).parent.parent


@pytest.fixture
def tree(make_tree: MakeTree) -> Path:
    return make_tree(FILES)


def test_without_git_it_says_so(tree: Path, command: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    arguments = {"scan": (), "apply": (), "bundle": ("--dry-run",)}
    for name, options in arguments.items():
        done = subprocess.run(
            [*command, name, *options], cwd=tree, env={**environment, "PATH": str(tmp_path)}, capture_output=True
        )
        assert done.returncode == 2
        assert done.stderr.startswith(b"symfix: git cannot be run")
        assert done.stderr.count(b"\n") == 1


def test_without_a_home_folder_nothing_is_made_in_the_tree(
    tree: Path, symfix: Symfix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as where neither HOME nor the user is known
    code, _, err = symfix("scan", cwd=tree)
    assert (code, err.count("\n")) == (2, 1)
    assert "set HOME or XDG_CACHE_HOME, or give --no-cache" in err
    assert symfix("scan", "--no-cache", cwd=tree).code == 1
    assert not (tree / "~").exists()


def test_closed_streams_are_no_error(tree: Path, command: list[str], environment: dict[str, str]) -> None:
    script = f"{shlex.join(command)} scan >&- 2>&-"
    assert subprocess.run(["sh", "-c", script], cwd=tree, env=environment).returncode == 1


def test_interrupted_it_exits_130(tree: Path, symfix: Symfix, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(analysis, "_make", interrupt)
    code, out, err = symfix("scan", "--no-cache", cwd=tree)
    assert (code, out) == (130, b"")
    assert err.strip() == "symfix: interrupted"


@pytest.fixture
def command() -> list[str]:
    """The command with the fake transform, as a process of its own."""
    script = (
        "from codemod.model import transform\nfrom tests.codemod import fake\n"
        "transform.load_transforms = fake.transforms\n"
        "from codemod.cli import main\nmain()"
    )
    return [sys.executable, "-c", script]


@pytest.fixture
def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_a_closed_pipe_ends_it_quietly(make_tree: MakeTree, command: list[str], environment: dict[str, str]) -> None:
    tree = make_tree({"a.cc": b"size\n" * 20_000})
    with subprocess.Popen(
        [*command, "scan", "a.cc"], cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"a.cc:1:1")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


@pytest.mark.parametrize("form", ["branches", "patches"])
def test_a_bundle_is_made_whole_whoever_reads_what_it_says(
    tree: Path, command: list[str], environment: dict[str, str], tmp_path: Path, git: Callable[..., bytes], form: str
) -> None:
    names = {f"GIT_{who}_{what}": "ada" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    output = ["--output", str(tmp_path / "out")] if form == "patches" else []
    read, write = os.pipe()
    os.close(read)
    bundle = [*command, "bundle", "--level", "review", "--format", form, *output]
    ended = subprocess.run(bundle, cwd=tree, env=environment | names, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (141, b"")
    made = (
        git("branch", "--list", "symfix/*", cwd=tree).split() if form == "branches" else [*(tmp_path / "out").iterdir()]
    )
    assert len(made) == 2
    assert (tree / ".git/symfix/shards.json").exists()


def test_killed_it_is_completed_by_the_next_run(
    tree: Path, command: list[str], environment: dict[str, str], symfix: Symfix
) -> None:
    hook = (
        "import os, signal\n"
        "def replace(old, new, real=os.replace, done=[], **folders):\n"
        "    real(old, new, **folders)\n"
        "    done.append(new)\n"
        "    if len(done) == 3: os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.replace = replace\n"
    )
    done = subprocess.run(
        [*command[:2], hook + command[2], "apply", "--no-cache"], cwd=tree, env=environment, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert b"sym_size" in (tree / "a.cc").read_bytes()
    assert b"sym_size" not in (tree / "sub/b.cc").read_bytes()
    code, _, err = symfix("scan", "--level", "safe", cwd=tree)
    assert code == 0
    assert err == "symfix: an interrupted run was completed: its 2 files are written\n"
    assert b"sym_size" in (tree / "sub/b.cc").read_bytes()


def test_colour_is_for_terminals_only(
    tree: Path, command: list[str], environment: dict[str, str], git: Callable[..., bytes]
) -> None:
    def on_terminal(**more: str) -> bytes:
        master, slave = os.openpty()
        variables = {**environment, "TERM": "xterm", **more}
        done = subprocess.run([*command, "diff"], cwd=tree, env=variables, stdout=slave, stderr=subprocess.PIPE)
        os.close(slave)
        assert done.returncode == 1, done.stderr
        try:
            return os.read(master, 100_000)
        finally:
            os.close(master)

    environment.pop("NO_COLOR", None)
    assert b"\x1b[32m+x = sym_size()" in on_terminal()
    assert b"\x1b" not in on_terminal(NO_COLOR="1")
    piped = subprocess.run([*command, "diff"], cwd=tree, env=environment, capture_output=True)
    assert b"\x1b" not in piped.stdout + piped.stderr
    git("apply", "--check", "-", cwd=tree, stdin=piped.stdout)
