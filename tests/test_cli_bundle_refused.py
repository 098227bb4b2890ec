"""`symfix bundle` refuses every state in which it could do harm, and says which it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import MakeTree, Symfix
from tests.test_cli_bundle import FILES, Git, branches, refused, use_own_git


@pytest.fixture(autouse=True)
def _own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    use_own_git(monkeypatch)


@pytest.fixture
def tree(make_tree: MakeTree, git: Git) -> Path:
    tree = make_tree(FILES)
    git("branch", "-M", "main", cwd=tree)
    return tree


def test_a_dirty_tree_is_refused_and_so_is_a_dirty_shard(tree: Path, symfix: Symfix) -> None:
    (tree / "sub/b.cc").write_bytes(FILES["sub/b.cc"] + b"more\n")
    refused(symfix("bundle", cwd=tree), "sub/b.cc: not committed")
    refused(symfix("bundle", "--allow-dirty", cwd=tree), "sub/b.cc: not what the last commit holds")
    assert symfix("bundle", "--allow-dirty", "--op", "mul", cwd=tree).code == 1


def test_an_untracked_file_is_refused(tree: Path, symfix: Symfix) -> None:
    (tree / "new.cc").write_bytes(b"size\n")
    refused(symfix("bundle", cwd=tree), "new.cc: not in the last commit")


def test_more_shards_of_one_file_than_are_proved_are_refused_and_its_own_shard_is_not(
    make_tree: MakeTree, symfix: Symfix
) -> None:
    tree = make_tree({"a.cc": b"".join(b"size op:made_%d\n\n\n" % index for index in range(501))})
    refused(symfix("bundle", cwd=tree), "a.cc: 501 shards change it", "--group file")
    assert symfix("bundle", "--group", "file", cwd=tree).code == 1


def test_a_detached_head_is_refused(tree: Path, symfix: Symfix, git: Git) -> None:
    git("checkout", "-q", "--detach", cwd=tree)
    refused(symfix("bundle", cwd=tree), "HEAD is detached", "git switch -c NAME")


def test_an_unborn_branch_is_refused(make_tree: MakeTree, symfix: Symfix, git: Git) -> None:
    tree = make_tree(FILES, vcs=False)
    git("init", "-q", ".", cwd=tree)
    refused(symfix("bundle", cwd=tree), "no commit yet")


def test_no_repository_and_a_bare_one_are_refused(
    make_tree: MakeTree, tree: Path, symfix: Symfix, git: Git, tmp_path: Path
) -> None:
    refused(symfix("bundle", cwd=make_tree({"a.cc": b"size\n"}, name="plain", vcs=False)), "not a git checkout")
    git("clone", "-q", "--bare", str(tree), str(tmp_path / "bare.git"), cwd=tmp_path)
    refused(symfix("bundle", cwd=tmp_path / "bare.git"), "a bare repository")


def test_a_sparse_checkout_is_refused_and_said(tree: Path, symfix: Symfix, git: Git, tmp_path: Path) -> None:
    git("clone", "-q", f"file://{tree}", str(tmp_path / "sparse"), cwd=tmp_path)
    left_out = next(path.name for path in sorted(tree.glob("*.cc")))
    git("sparse-checkout", "set", "--no-cone", "/*", f"!/{left_out}", cwd=tmp_path / "sparse")
    refused(symfix("bundle", cwd=tmp_path / "sparse"), "a sparse checkout", "git sparse-checkout disable")
    out = symfix("scan", "--exit-zero", cwd=tmp_path / "sparse").out.decode()
    assert "a sparse checkout leaves out 1 source file, so what these call and register is not seen" in out
    assert "sparse" not in symfix("scan", "--exit-zero", cwd=tree).out.decode()


def test_a_shallow_clone_is_refused(tree: Path, symfix: Symfix, git: Git, tmp_path: Path) -> None:
    git("commit", "-q", "--allow-empty", "-m", "second", cwd=tree)
    git("clone", "-q", "--depth=1", f"file://{tree}", str(tmp_path / "shallow"), cwd=tmp_path)
    refused(symfix("bundle", cwd=tmp_path / "shallow"), "a shallow clone", "git fetch --unshallow")


def test_other_object_ids_are_refused(make_tree: MakeTree, symfix: Symfix, git: Git) -> None:
    tree = make_tree(FILES, vcs=False)
    git("init", "-q", "--object-format=sha256", ".", cwd=tree)
    git("add", "-A", cwd=tree)
    git("commit", "-q", "-m", "start", cwd=tree)
    refused(symfix("bundle", cwd=tree), "not SHA-1")


def test_a_branch_that_is_not_ours_is_refused_and_nothing_is_made(tree: Path, symfix: Symfix, git: Git) -> None:
    git("branch", "symfix/mul", cwd=tree)
    refused(symfix("bundle", cwd=tree), "symfix/mul holds work that is not symfix's", "git branch -m")
    assert list(branches(git, tree)) == ["symfix/mul"]


def test_work_on_top_of_a_branch_of_ours_is_kept(tree: Path, symfix: Symfix, git: Git) -> None:
    symfix("bundle", cwd=tree)
    git("checkout", "-q", "symfix/mul", cwd=tree)
    refused(symfix("bundle", cwd=tree), "symfix/mul is checked out")
    git("commit", "-q", "--allow-empty", "-m", "mine\n\nSymfix-Shard: mul\n\nno trailer", cwd=tree)
    git("checkout", "-q", "main", cwd=tree)
    refused(symfix("bundle", cwd=tree), "symfix/mul holds work that is not symfix's")


def test_a_branch_in_a_worktree_is_left_alone(tree: Path, symfix: Symfix, git: Git, tmp_path: Path) -> None:
    symfix("bundle", cwd=tree)
    git("worktree", "add", "-q", str(tmp_path / "other"), "symfix/mul", cwd=tree)
    (tree / "c.cc").write_bytes(FILES["c.cc"] + b"\n")
    git("commit", "-qam", "more", cwd=tree)
    refused(symfix("bundle", cwd=tree), "symfix/mul is checked out in a worktree")


def test_a_branch_named_symfix_is_refused(tree: Path, symfix: Symfix, git: Git) -> None:
    git("branch", "symfix", cwd=tree)
    refused(symfix("bundle", cwd=tree), "the branch symfix stands in the way")


def test_a_plan_out_of_date_is_refused(tree: Path, symfix: Symfix, git: Git, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(symfix("scan", "--format", "json", cwd=tree).out)
    (tree / "a.cc").write_bytes(b"size op:foo\n")
    git("commit", "-qam", "more", cwd=tree)
    refused(symfix("bundle", "--plan", tmp_path / "plan.json", cwd=tree), "a.cc: changed since the plan was made")


def test_a_submodule_is_refused(tree: Path, symfix: Symfix, git: Git, make_tree: MakeTree, tmp_path: Path) -> None:
    inner = make_tree({"d.cc": b"size op:foo\n"}, name="inner")
    git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "ext", cwd=tree)
    git("commit", "-qam", "submodule", cwd=tree)
    plan = symfix("scan", "--format", "json", "--op", "foo", cwd=tree / "ext").out.replace(b'"d.cc', b'"ext/d.cc')
    (tmp_path / "plan.json").write_bytes(plan)
    refused(symfix("bundle", "--plan", tmp_path / "plan.json", cwd=tree), "ext/d.cc: lies in the submodule ext")
    assert symfix("bundle", cwd=tree / "ext").code == 1  # a repository of its own
    assert list(branches(git, tree / "ext")) == ["symfix/foo"]


def test_no_identity_is_refused(tree: Path, symfix: Symfix, git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{name}_NAME")
        monkeypatch.delenv(f"GIT_{name}_EMAIL")
    git("config", "user.useConfigOnly", "true", cwd=tree)
    refused(symfix("bundle", cwd=tree), "git knows no name for commits", "git config user.email")
    assert branches(git, tree) == {}


def test_a_date_that_is_no_number_is_refused(tree: Path, symfix: Symfix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    refused(symfix("bundle", cwd=tree), "SOURCE_DATE_EPOCH: 'yesterday'")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[", "not YAML"),
        ("{}", "no plan of shards"),
        ("format: symfix-shards\nversion: 9\n", "version 9"),
        ('format: symfix-shards\nversion: "\\u2028"\n', r"version '\u2028'"),
        ("format: symfix-shards\nversion: 1\nshards: 3\n", "not a list of shards"),
        ("- {name: a/b, changes: ['c.cc:f']}", "'a/b' is no name for a branch"),
        ("- {name: a, changes: ['c.cc:f']}\n- {name: A, changes: ['a.cc:f']}", "two shards are named A"),
        ("- {name: a, changes: ['gone.cc:f']}", "no change 'gone.cc:f' now"),
        ("- {name: a, changes: ['c.cc:f']}\n- {name: b, changes: ['c.cc:f']}", "c.cc:f stands in a and in b"),
        ("- {name: a}", "shard a: changes nothing"),
        ("- {name: a, changes: c.cc}", "`changes` is not a list"),
        ("- {name: a, changes: ['c.cc:f'], bases: [gone]}", "based on gone, which is not there"),
        ("- {name: a, changes: ['c.cc:f'], bases: [b]}\n- {name: b, changes: ['a.cc:f'], bases: [a]}", "each other"),
    ],
)
def test_a_plan_of_shards_that_cannot_be_used(
    tree: Path, symfix: Symfix, tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "shards.yaml"
    path.write_text(f"format: symfix-shards\nversion: 1\nshards:\n{content}\n" if content[0] == "-" else content)
    refused(symfix("bundle", "--shards", path, cwd=tree), said)


def test_of_a_long_name_the_middle_is_left_out(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    path = tmp_path / "shards.yaml"
    key = f"c.cc:{'f' * 70_000}"
    path.write_text(f"format: symfix-shards\nversion: 1\nshards:\n- {{name: a, changes: ['{key}']}}\n")
    outcome = symfix("bundle", "--dry-run", "--shards", path, cwd=tree)
    assert outcome.code == 2
    assert outcome.err.startswith(f"symfix: {path}: shard a: there is no change 'c.cc:fff")
    assert outcome.err.endswith("fff' now; make the file again with --save-shards\n")
    assert len(outcome.err) < 1500


def test_patches_need_a_folder_of_their_own(tree: Path, symfix: Symfix, tmp_path: Path) -> None:
    refused(symfix("bundle", "--format", "patches", cwd=tree), "--output DIR")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").touch()
    refused(symfix("bundle", "--format", "patches", "--output", tmp_path / "full", cwd=tree), "not empty")
