"""`symfix bundle` on a small repository: branches, mail, and the plan of shards."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from tests.conftest import MakeTree, Outcome, Symfix

Git = Callable[..., bytes]

FILES = {
    "a.cc": b"x = size(); // op:aten::add.Tensor\n\n\nfor loop // op:aten::add\n",
    "sub/b.cc": b"size op:torchvision::nms\n\n\n\n\n\n\n\nsize op:aten::add.out\n",
    "c.cc": b"size @pair op:mul\r\nmore\r\nsize @pair op:mul_\r\n",
}


def use_own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """The author, the date and the settings of git are the same on every machine."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


@pytest.fixture(autouse=True)
def _own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    use_own_git(monkeypatch)


@pytest.fixture
def make_main(make_tree: MakeTree, git: Git) -> MakeTree:
    """As make_tree, the branch named main whatever git calls a first branch."""

    def make(files: Mapping[str, bytes], name: str = "tree") -> Path:
        tree = make_tree(files, name)
        git("branch", "-M", "main", cwd=tree)
        return tree

    return make


@pytest.fixture
def tree(make_main: MakeTree) -> Path:
    return make_main(FILES)


def text(git: Git, *arguments: str, cwd: Path) -> str:
    return git(*arguments, cwd=cwd).decode().strip()


def branches(git: Git, tree: Path) -> dict[str, str]:
    listed = text(git, "for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/symfix", cwd=tree)
    return dict(line.split(" ") for line in listed.splitlines())


def refused(outcome: Outcome, *said: str) -> None:
    assert outcome.code == 2, outcome
    assert outcome.out == b""
    assert outcome.err.count("\n") == 1
    for part in said:
        assert part in outcome.err


def test_dry_run_shows_a_tree_with_sizes_and_makes_nothing(tree: Path, symfix: Symfix, git: Git) -> None:
    before = sorted(path for path in (tree / ".git").rglob("*"))
    code, out, err = symfix("bundle", "--dry-run", cwd=tree)
    assert (code, err) == (1, "")
    assert out.decode().splitlines() == [
        "add               2 files  +2  -2",
        "mul                1 file  +2  -2",
        "torchvision--nms   1 file  +1  -1",
        "",
        "3 shards in 3 files, +5 -5 lines; 3 touch at most 3 files, 0 are stacked on others",
    ]
    assert sorted(path for path in (tree / ".git").rglob("*")) == before


def test_branches_are_made_beside_the_work_tree(tree: Path, symfix: Symfix, git: Git) -> None:
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction"):
        path = tree / ".git/hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\ntouch ../hook-ran hook-ran\nexit 1\n")
        path.chmod(0o755)
    index = (tree / ".git/index").read_bytes()
    code, out, err = symfix("bundle", cwd=tree)
    assert code == 1, err
    assert err == "symfix: 3 made\n"
    made = branches(git, tree)
    assert list(made) == ["symfix/add", "symfix/mul", "symfix/torchvision--nms"]
    assert [line.split()[:3] for line in out.decode().splitlines()] == [
        [name, "made", sha[:12]] for name, sha in made.items()
    ]
    assert (tree / ".git/index").read_bytes() == index
    assert {name: (tree / name).read_bytes() for name in FILES} == FILES
    assert not list(tree.rglob("hook-ran"))
    assert text(git, "diff", "--stat", "main...symfix/add", "--name-only", cwd=tree).split() == ["a.cc", "sub/b.cc"]
    git("fsck", "--strict", cwd=tree)


def test_a_message_says_why_what_and_what_was_left(tree: Path, symfix: Symfix, git: Git) -> None:
    symfix("bundle", "--op", "add", cwd=tree)
    head, *blocks = text(git, "log", "-1", "--format=%an <%ae> %at%n%B", "symfix/add", cwd=tree).split("\n\n")
    assert head == "Ada <ada@example.org> 1700000000\n[dynamic shapes] Use symbolic sizes in add"
    assert blocks[:-1] == [
        "`f` asks a tensor for concrete sizes where they may be symbols.",
        "Changed, by rule:\n- size: 2 sites",
        "Left as it is:\n- loop-bound: 1 site; it bounds a loop (a.cc:4)",
        "Evidence: none; symfix prove has not run on this change.",
    ]
    trailers = text(git, "log", "-1", "--format=%(trailers:only)", "symfix/add", cwd=tree).splitlines()
    assert trailers[0] == "Symfix-Shard: add"
    assert trailers[1].startswith("Symfix-Plan: ")


def test_merging_all_branches_gives_what_apply_writes(tree: Path, symfix: Symfix, git: Git) -> None:
    symfix("bundle", cwd=tree)
    git("checkout", "-q", "-b", "landing", cwd=tree)
    for name in branches(git, tree):
        git("merge", "-q", "--no-edit", name, cwd=tree)
    landed = {name: (tree / name).read_bytes() for name in FILES}
    for name, sha in branches(git, tree).items():
        git("revert", "--no-edit", sha, cwd=tree)
        assert (tree / "a.cc").read_bytes() == (FILES["a.cc"] if name == "symfix/add" else (tree / "a.cc").read_bytes())
    assert {name: (tree / name).read_bytes() for name in FILES} == FILES
    git("checkout", "-q", "main", cwd=tree)
    symfix("apply", cwd=tree)
    assert {name: (tree / name).read_bytes() for name in FILES} == landed


def test_a_second_run_keeps_what_is_the_same_and_updates_what_is_not(
    tree: Path, symfix: Symfix, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    symfix("bundle", cwd=tree)
    first = branches(git, tree)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    assert symfix("bundle", cwd=tree).err == "symfix: 3 kept\n"
    assert branches(git, tree) == first
    (tree / "a.cc").write_bytes(FILES["a.cc"] + b"size op:add\n")
    git("commit", "-qam", "more", cwd=tree)
    assert symfix("bundle", cwd=tree).err == "symfix: 3 updated\n"
    assert not set(branches(git, tree).values()) & set(first.values())
    err = symfix("bundle", "--op", "mul", cwd=tree).err
    assert err == "symfix: 1 kept\nsymfix: left as they are, of earlier bundles: symfix/add and 1 more\n"


def test_commits_are_the_same_bit_for_bit_in_another_clone(
    tree: Path, symfix: Symfix, git: Git, tmp_path: Path
) -> None:
    shutil.copytree(tree, tmp_path / "copy")
    symfix("bundle", cwd=tree)
    symfix("bundle", cwd=tmp_path / "copy")
    assert branches(git, tree) == branches(git, tmp_path / "copy")
    assert symfix("bundle", "--format", "mbox", cwd=tree).out == symfix("bundle", "--format", "mbox", cwd=tree).out


SHARED = {
    "a.cc": b"size op:foo\n\n\n\n\n\n\n\nsize @both op:foo\n\n\n\n\n\n\n\nsize op:bar\n",
    "h.cc": b"size @both op:bar\n",
}


def test_what_several_operators_share_is_the_base_of_their_branches(
    make_tree: MakeTree, symfix: Symfix, git: Git
) -> None:
    tree = make_tree(SHARED)
    assert symfix("bundle", "--dry-run", cwd=tree).out.decode().splitlines()[:3] == [
        "helper-f  2 files  +2  -2",
        "├─ bar     1 file  +1  -1",
        "└─ foo     1 file  +1  -1",
    ]
    symfix("bundle", cwd=tree)
    made = branches(git, tree)
    assert text(git, "rev-parse", "symfix/foo^", cwd=tree) == made["symfix/helper-f"]
    assert "\nNeeds helper-f.\n" in text(git, "log", "-1", "--format=%B", "symfix/foo", cwd=tree)


def test_git_am_takes_the_mailbox_and_the_patches(tree: Path, symfix: Symfix, git: Git, tmp_path: Path) -> None:
    box = symfix("bundle", "--format", "mbox", cwd=tree)
    assert box.err == "symfix: 3 shards; take them with git am --keep-non-patch --keep-cr FILE\n"
    assert branches(git, tree) == {}
    done = symfix("bundle", "--format", "patches", "--output", tmp_path / "out", cwd=tree)
    names = ["0001-add.patch", "0002-mul.patch", "0003-torchvision--nms.patch"]
    assert done.out.decode().splitlines() == [str(tmp_path / "out" / name) for name in names]
    symfix("apply", cwd=tree)
    whole = {name: (tree / name).read_bytes() for name in FILES}
    git("checkout", "-q", ".", cwd=tree)
    git("checkout", "-q", "-b", "mail", cwd=tree)
    git("am", "-q", "--keep-non-patch", "--keep-cr", cwd=tree, stdin=box.out)
    assert {name: (tree / name).read_bytes() for name in FILES} == whole
    subject = text(git, "log", "-1", "--format=%s by %an", cwd=tree)
    assert subject == "[dynamic shapes] Use symbolic sizes in torchvision::nms by Ada"
    git("checkout", "-q", "-b", "alone", "main", cwd=tree)
    git("am", "-q", "--keep-non-patch", "--keep-cr", str(tmp_path / "out" / names[1]), cwd=tree)
    assert (tree / "c.cc").read_bytes() == whole["c.cc"]
    assert (tree / "a.cc").read_bytes() == FILES["a.cc"]


def test_mail_does_not_depend_on_the_users_settings(tree: Path, symfix: Symfix, git: Git) -> None:
    plain = symfix("bundle", "--format", "mbox", cwd=tree).out
    for setting in (
        "diff.noprefix=true",
        "format.signOff=true",
        "format.subjectPrefix=X",
        "diff.context=0",
        "format.attach=true",
        "color.ui=always",
        "diff.orderFile=/nowhere",
        "format.to=x@example.org",
    ):
        git("config", *setting.split("="), cwd=tree)
    assert symfix("bundle", "--format", "mbox", cwd=tree).out == plain


def test_the_plan_of_shards_can_be_edited(tree: Path, symfix: Symfix, git: Git, tmp_path: Path) -> None:
    path = tmp_path / "shards.yaml"
    assert symfix("bundle", "--dry-run", "--save-shards", path, cwd=tree).err == f"symfix: {path} holds 3 shards\n"
    again = symfix("bundle", "--dry-run", "--shards", path, cwd=tree)
    assert again.out == symfix("bundle", "--dry-run", cwd=tree).out
    document = yaml.safe_load(path.read_text())
    add, mul, nms = document["shards"]
    assert add["changes"] == ["a.cc:f", "sub/b.cc:f#2"]
    mul["bases"] = ["mine"]
    document["shards"] = [{**add, "name": "mine", "changes": add["changes"] + nms["changes"]}, mul]
    path.write_text(yaml.safe_dump(document))
    symfix("bundle", "--shards", path, cwd=tree)
    assert list(branches(git, tree)) == ["symfix/mine", "symfix/mul"]
    assert text(git, "rev-parse", "symfix/mul^", cwd=tree) == branches(git, tree)["symfix/mine"]
    document["shards"] = [{**mul, "bases": []}]
    path.write_text(yaml.safe_dump(document))
    err = symfix("bundle", "--dry-run", "--shards", path, cwd=tree).err
    assert err == f"symfix: 3 changes left out, for they are in no shard of {path}\n"


def test_shards_by_file_and_limits(tree: Path, symfix: Symfix) -> None:
    out = symfix("bundle", "--dry-run", "--group", "file", cwd=tree).out.decode().splitlines()
    assert [line.split()[0] for line in out[:3]] == ["a.cc", "c.cc", "sub-b.cc"]
    _, shown, err = symfix("bundle", "--dry-run", "--max-files", "1", "--max-lines", "3", cwd=tree)
    assert [line.split()[0] for line in shown.decode().splitlines()[:4]] == ["add", "add-2", "mul", "torchvision--nms"]
    assert err == "symfix: larger than asked for, for their changes make sense only together: mul\n"
    assert "too large" in shown.decode().splitlines()[2]


def test_a_checkout_below_the_top_of_its_repository(make_main: MakeTree, symfix: Symfix, git: Git) -> None:
    yaml_path = "lib/aten/src/ATen/native/native_functions.yaml"
    tree = make_main({yaml_path: b"", "lib/a.cc": b"size op:foo\n", "other.cc": b"size\n"})
    assert symfix("bundle", cwd=tree / "lib").code == 1
    assert text(git, "diff", "--name-only", "main", "symfix/foo", cwd=tree) == "lib/a.cc"


def test_line_ends_are_committed_as_git_would(make_tree: MakeTree, symfix: Symfix, git: Git) -> None:
    tree = make_tree({".gitattributes": b"*.cc text eol=crlf\n", "a.cc": b"size op:foo\r\nmore\r\n"})
    assert symfix("bundle", cwd=tree).code == 1
    assert git("show", "symfix/foo:a.cc", cwd=tree) == b"sym_size op:foo\nmore\n"


def test_names_and_bytes_of_any_kind(make_tree: MakeTree, symfix: Symfix, git: Git) -> None:
    tree = make_tree({"ä b/\u1234.cc": b"size op:foo \xff\xfe\n\nend", 'q"\\.cc': b"size op:foo"})
    (tree / 'q"\\.cc').chmod(0o755)
    git("commit", "-qam", "mode", cwd=tree)
    assert symfix("bundle", cwd=tree).code == 1
    assert git("show", "symfix/foo:ä b/\u1234.cc", cwd=tree) == b"sym_size op:foo \xff\xfe\n\nend"
    assert b"100755 blob" in git("ls-tree", "symfix/foo", 'q"\\.cc', cwd=tree)


def test_commits_are_signed_where_the_user_signs(tree: Path, symfix: Symfix, git: Git, tmp_path: Path) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    for name, value in (("commit.gpgsign", "true"), ("gpg.format", "ssh"), ("user.signingkey", str(key))):
        git("config", name, value, cwd=tree)
    assert symfix("bundle", cwd=tree).code == 1
    assert b"\ngpgsig -----BEGIN SSH SIGNATURE-----" in git("cat-file", "commit", "symfix/add", cwd=tree)
    git("config", "user.signingkey", str(tmp_path / "none"), cwd=tree)
    refused(symfix("bundle", "--op", "nms", "--level", "review", "--group", "file", cwd=tree), "git failed: ")
