"""`symfix pr` on a small repository; what becomes of failures of gh is tested in codemod/pr."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import MakeTree, Outcome, Symfix

Git = Callable[..., bytes]

FILES = {
    "a.cc": b"x = size(); // op:aten::add.Tensor\n",
    "b.cc": b"size @both op:mul\n\n\n\n\n\n\n\nsize op:mul\n",
    "c.cc": b"size @both op:div\n",
}


@pytest.fixture
def tree(make_tree: MakeTree, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone whose origin is a folder, and a gh that answers as if nothing were open."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    made = make_tree(FILES)
    git("branch", "-M", "main", cwd=made)
    git("init", "-q", "--bare", str(tmp_path / "origin.git"), cwd=tmp_path)
    git("remote", "add", "origin", str(tmp_path / "origin.git"), cwd=made)
    (tmp_path / "bin").mkdir()
    gh = tmp_path / "bin/gh"
    gh.write_text(f"""#!/bin/sh
echo "$@" >> {tmp_path}/calls
case "$2" in
list) echo '[]' ;;
create) cat > {tmp_path}/body; echo https://github.com/o/r/pull/1 ;;
esac
""")
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{gh.parent}{os.pathsep}{os.environ['PATH']}")
    return made


def refused(outcome: Outcome, said: str) -> None:
    assert outcome.code == 2, outcome
    assert outcome.err.count("\n") == 1
    assert said in outcome.err


def test_the_text_of_one(tree: Path, symfix: Symfix) -> None:
    code, out, err = symfix("pr", "--op", "add", "--fixes", "7", cwd=tree)
    assert (code, err) == (1, "")
    assert out.decode().splitlines()[:4] == ["[dynamic shapes] Use symbolic sizes in add", "", "Fixes #7", ""]


def test_labels_and_mentions_are_the_users_own(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    (tree / "pyproject.toml").write_text('[tool.symfix]\ncc = ["everybody"]\nlabel = ["security"]\n')
    code, out, err = symfix("pr", "--op", "add", "--allow-dirty", cwd=tree)
    assert "everybody" not in out.decode()
    assert "cc is ignored, for it is not the tree's to say" in err
    given = ("--op", "add", "--allow-dirty", "--cc", "@ada", "--cc", "org/team", "--label", "topic: bug fixes")
    code, out, _ = symfix("pr", *given, cwd=tree)
    assert (code, out.decode().rstrip().rpartition("\n")[2]) == (1, "cc @ada @org/team")
    opened = symfix("pr", *given, "--create", "--pause", "0", "--include-unproved", "--stack", cwd=tree)
    assert "--label=topic: bug fixes" in (tmp_path / "calls").read_text(), opened
    assert "security" not in (tmp_path / "calls").read_text()
    refused(symfix("pr", "--op", "add", "--cc", "a) @b", cwd=tree), "cc a) @b: no login of GitHub")
    refused(symfix("pr", "--op", "add", "--create", "--label", "a,b", cwd=tree), "label a,b: no label of GitHub")


def test_a_file_for_each_and_an_index(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    code, out, err = symfix("pr", "--output", tmp_path / "out", "--fixes", "symfix/mul=3", cwd=tree)
    assert (code, out) == (1, b"")
    assert err == f"symfix: {tmp_path}/out/series.md lists 3 pull requests\n"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "add.md",
        "helper-f.md",
        "mul.md",
        "series.md",
    ]
    assert (tmp_path / "out/mul.md").read_text().startswith(
        "# [dynamic shapes] Use symbolic sizes in mul\n\nFixes #3\n"
    )  # fmt: skip


def test_drafts_are_opened(tree: Path, symfix: Symfix, git: Git, tmp_path: Path) -> None:
    code, out, err = symfix("pr", "--create", "--pause", "0", "--include-unproved", cwd=tree)
    assert code == 1
    assert [line.split("  ")[:2] for line in out.decode().splitlines()] == [
        ["symfix/add", "opened"],
        ["symfix/helper-f", "opened"],
        ["symfix/mul", "waits for symfix/helper-f; --stack opens it on top"],
    ]
    assert err == "symfix: opened 2 drafts, 1 shard to go\n"
    pushed = git("for-each-ref", "--format=%(refname)", cwd=tmp_path / "origin.git").decode().split()
    assert pushed == ["refs/heads/symfix/add", "refs/heads/symfix/helper-f"]
    created = [line for line in (tmp_path / "calls").read_text().splitlines() if line.startswith("pr create")]
    assert created[0] == (
        "pr create --draft --head symfix/add --base main"
        " --title [dynamic shapes] Use symbolic sizes in add --body-file -"
    )
    assert (tmp_path / "body").read_text().startswith("### Summary\n")


def test_what_nothing_was_run_of_is_not_opened(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    code, out, err = symfix("pr", "--create", "--pause", "0", cwd=tree)
    assert code == 1
    assert out.decode().splitlines() == [
        f"symfix/{name}  not opened: symfix prove has not run on it; --include-unproved opens it"
        for name in ("add", "helper-f", "mul")
    ]
    assert err == "symfix: opened 0 drafts, 3 shards to go\n"
    assert not any(line.startswith("pr create") for line in (tmp_path / "calls").read_text().splitlines())


def test_a_fork_pushes_to_itself_and_opens_elsewhere(
    tree: Path, symfix: Symfix, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "bin/ssh"
    ssh.write_text(
        f"#!/bin/sh\nfor last; do :; done\nlast=${{last%% *}}\nexec git ${{last#git-}} {tmp_path}/origin.git\n"
    )
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    git("remote", "add", "fork", "git@github.com:me/r.git", cwd=tree)
    options = ("--create", "--include-unproved", "--remote", "fork", "--repo", "o/r", "--base", "viable/strict")
    refused(symfix("pr", *options, "--stack", cwd=tree), "--stack needs branches in o/r itself")
    assert symfix("pr", *options, "--op", "add", cwd=tree).code == 1
    created = (tmp_path / "calls").read_text().splitlines()[-1]
    assert created.startswith("pr create --draft --head me:symfix/add --base viable/strict --title ")
    assert created.endswith(" --repo o/r")
    assert git("rev-parse", "symfix/add", cwd=tree) == git("rev-parse", "symfix/add", cwd=tmp_path / "origin.git")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--fixes", "x"), "--fixes x: not the number of an issue"),
        (("--fixes", "1"), "which of 3 shards? Write SHARD=1"),
        (("--fixes", "gone=1"), "there is no shard gone"),
        (("--template", "none.j2"), "none.j2: the template cannot be read"),
        (("--create", "--remote", "nowhere"), "there is no remote 'nowhere' to push to"),
    ],
)
def test_options_that_cannot_be_used(tree: Path, symfix: Symfix, options: tuple[str, ...], said: str) -> None:
    refused(symfix("pr", *options, cwd=tree), said)


def test_nothing_to_do(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree({"a.cc": b"plain\n"}, name="plain")
    assert symfix("pr", "--create", cwd=tree) == (0, b"", "symfix: nothing to change\n")
