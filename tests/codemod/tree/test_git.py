"""Calls of git over a repository whose own configuration would run commands: none of them runs, the user's do."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.tree.checkout import find_checkout
from codemod.tree.git import Git, GitFailed, reason_of
from tests.conftest import MakeTree

RunGit = Callable[..., bytes]
FILES = {"a.cc": b"one\n", "b.cc": b"two\n", ".gitattributes": b"*.cc filter=f diff=d merge=m\n"}


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """Holds a line for each command that ran though it must not."""
    return tmp_path / "ran"


@pytest.fixture
def command(ran: Path, tmp_path: Path) -> str:
    """A command that leaves a mark, and fails."""
    script = tmp_path / "evil.sh"
    script.write_text(f'#!/bin/sh\necho "$0" "$@" >> {ran}\nexit 1\n')
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own configuration file."""
    path = tmp_path / "gitconfig"
    path.write_bytes(b"[user]\nname = Ada\nemail = ada@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(path))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    return path


def git_of(root: Path) -> Git:
    found = find_checkout(root).git
    assert found is not None
    return found


def stat_dirty(root: Path) -> None:
    """Make git read the files again to know whether they have changed."""
    for path in root.glob("*.cc"):
        os.utime(path, (1, 1))


def test_no_command_of_the_repository_runs(
    make_tree: MakeTree, git: RunGit, command: str, ran: Path, configured: Path
) -> None:
    root = make_tree(FILES)
    (root / "b.cc").write_bytes(b"changed\n")
    names = (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy",
        "core.alternateRefsCommand", "sequence.editor", "diff.external", "diff.d.command", "diff.d.textconv",
        "merge.m.driver", "filter.f.clean", "filter.f.smudge", "filter.f.process", "gpg.program", "gpg.ssh.program",
        "gpg.x509.program", "gpg.ssh.defaultKeyCommand", "credential.helper", "credential.https://x.org.helper",
        "uploadpack.packObjectsHook", "remote.origin.uploadpack", "remote.origin.receivepack", "pager.diff",
        "alias.diff", "alias.ls-files",
    )  # fmt: skip
    for name in names:
        git("config", name, command, cwd=root)
    git("config", "filter.f.required", "true", cwd=root)
    git("config", "commit.gpgsign", "true", cwd=root)
    hooks = root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "reference-transaction", "pre-push", "pre-auto-gc"):
        (hooks / name).symlink_to(command)
    stat_dirty(root)
    ran.unlink(missing_ok=True)
    checkout, over = find_checkout(root), git_of(root)
    assert checkout.names() == [".gitattributes", "a.cc", "b.cc"]
    assert checkout.dirty() == ["b.cc"]
    assert over.run("hash-object", "--path=a.cc", "--stdin", stdin=b"one\n") == git(
        "hash-object", "--no-filters", "a.cc", cwd=root
    )
    head = over.run("rev-parse", "HEAD").decode().strip()
    over.run("diff", "HEAD", "--no-ext-diff", "--no-textconv")
    over.run("update-ref", "refs/heads/other", head)
    for arguments in (
        ("ls-remote", "ssh://git@localhost:1/x"), ("push", "ssh://git@localhost:1/x", head),
        ("ls-remote", "git://localhost:1/x"), ("credential", "fill"),
        ("commit-tree", "-S", "-m", "m", f"{head}^{{tree}}"), ("ls-remote", f"ext::{command} %S"),
    ):  # fmt: skip
        with pytest.raises(GitFailed):
            over.run(*arguments, stdin=b"protocol=https\nhost=x.org\n\n")
    repository = over.repository()
    repository.git.hash_object("--path=a.cc", "a.cc")
    assert [blob.path for blob in repository.head.commit.tree] == [".gitattributes", "a.cc", "b.cc"]
    repository.close()
    assert not ran.exists(), ran.read_text()


def test_a_repository_does_not_let_in_a_transport_that_runs_a_command(
    make_tree: MakeTree, git: RunGit, command: str, ran: Path, configured: Path
) -> None:
    root = make_tree(FILES)
    for name in ("protocol.allow", "protocol.ext.allow"):
        git("config", name, "always", cwd=root)
        with pytest.raises(GitFailed, match="not allowed"):
            git_of(root).run("ls-remote", f"ext::{command} %S")
    assert not ran.exists()


def test_a_remote_in_a_folder_is_reached_by_gits_own_programs(
    make_tree: MakeTree, git: RunGit, command: str, ran: Path, configured: Path, tmp_path: Path
) -> None:
    root = make_tree(FILES)
    git("init", "-q", "--bare", str(tmp_path / "there.git"), cwd=tmp_path)
    git("remote", "add", "origin", str(tmp_path / "there.git"), cwd=root)
    for name in ("uploadpack", "receivepack"):
        git("config", f"remote.origin.{name}", command, cwd=root)
    git_of(root).run("push", "-q", "origin", "HEAD:refs/heads/x")
    assert b"refs/heads/x" in git_of(root).run("ls-remote", "origin")
    repository = git_of(root).repository()
    repository.git.push("-q", "origin", "HEAD:refs/heads/y")
    repository.close()
    assert not ran.exists()
    git("config", "extensions.partialClone", "origin", cwd=root)
    with pytest.raises(SymfixError, match=r"partial clone, whose remote\.origin\.uploadpack"):
        find_checkout(root).names()


def test_what_the_user_has_configured_for_all_repositories_holds(
    make_tree: MakeTree, git: RunGit, command: str, ran: Path, configured: Path, tmp_path: Path
) -> None:
    root = make_tree(FILES)
    mine = tmp_path / "mine.sh"
    mine.write_text("#!/bin/sh\necho username=ada\necho password=secret\n")
    mine.chmod(0o755)
    for name in ("credential.helper", "credential.https://x.org.helper"):
        git("config", name, command, cwd=root)
    git("config", "--file", str(configured), "credential.https://x.org.helper", str(mine), cwd=root)
    asked = b"protocol=https\nhost=x.org\n\n"
    assert b"password=secret" in git_of(root).run("credential", "fill", stdin=asked)
    git("config", "gpg.program", command, cwd=root)
    signer = tmp_path / "gpg.sh"
    signer.write_text('#!/bin/sh\ncat > /dev/null\necho "[GNUPG:] SIG_CREATED " >&2\necho "signature of Ada"\n')
    signer.chmod(0o755)
    git("config", "--file", str(configured), "gpg.program", str(signer), cwd=root)
    commit = git_of(root).run("commit-tree", "-S", "-m", "m", "HEAD^{tree}").decode().strip()
    assert b"gpgsig signature of Ada" in git_of(root).run("cat-file", "commit", commit)
    assert not ran.exists()


def test_filters_are_not_run_whoever_configured_them_and_that_is_said(
    make_tree: MakeTree, git: RunGit, command: str, ran: Path, configured: Path
) -> None:
    root = make_tree(FILES)
    git("config", "--file", str(configured), "filter.f.clean", command, cwd=root)
    stat_dirty(root)
    checkout = find_checkout(root)
    assert checkout.dirty() == []
    assert checkout.filtered("a.cc") == "f"
    assert checkout.filtered(".gitattributes") == ""
    assert not ran.exists()


def test_a_folder_that_git_could_take_for_a_repository_is_none(
    make_tree: MakeTree, command: str, ran: Path, configured: Path
) -> None:
    config = f'[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "{command}"\n'
    bare = {"HEAD": b"ref: refs/heads/main\n", "objects/k": b"", "refs/k": b"", "config": config.encode()}
    marker = "aten/src/ATen/native/native_functions.yaml"
    root = make_tree({**{f"sub/{name}": content for name, content in bare.items()}, f"sub/{marker}": b"", "a.cc": b""})
    checkout = find_checkout(root / "sub")
    assert checkout.git == Git(root / ".git", root)
    assert "HEAD" in checkout.names()
    assert checkout.repositories(checkout.names()) == ["."]
    assert find_checkout(root).repositories(find_checkout(root).names()) == ["sub"]
    assert not ran.exists()


def test_a_bare_repository_has_no_files(make_tree: MakeTree, git: RunGit, tmp_path: Path) -> None:
    root = make_tree(FILES)
    git("clone", "-q", "--bare", str(root), str(tmp_path / "bare.git"), cwd=tmp_path)
    for start in ("bare.git", "bare.git/refs"):
        with pytest.raises(SymfixError, match=r"bare\.git: a bare repository has no files to read"):
            find_checkout(tmp_path / start)
    git("worktree", "add", "-q", str(tmp_path / "bare.git/tree"), cwd=tmp_path / "bare.git")
    assert find_checkout(tmp_path / "bare.git/tree").names() == [".gitattributes", "a.cc", "b.cc"]


def test_a_work_tree_elsewhere_that_the_repository_names_is_not_used(
    make_tree: MakeTree, git: RunGit, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/secret.cc").write_bytes(b"")
    root = make_tree(FILES)
    git("config", "core.worktree", str(tmp_path / "elsewhere"), cwd=root)
    assert find_checkout(root).names() == [".gitattributes", "a.cc", "b.cc"]
    assert find_checkout(root).dirty() == []


def test_in_a_hook_the_index_of_this_repository_counts_and_of_another_does_not(
    make_tree: MakeTree, git: RunGit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root, other = make_tree(FILES), make_tree({"other.cc": b""}, "other")
    (root / "c.cc").write_bytes(b"")
    monkeypatch.setenv("GIT_INDEX_FILE", str(root / ".git/next-index"))
    git("read-tree", "HEAD", cwd=root)
    git("add", "c.cc", cwd=root)
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/next-index")
    monkeypatch.chdir(root)
    assert git_of(root).run("ls-files").split() == [b".gitattributes", b"a.cc", b"b.cc", b"c.cc"]
    assert git_of(other).run("ls-files").split() == [b"other.cc"]


def test_settings_of_the_environment_stay(make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_tree(FILES)
    for name, value in (("COUNT", "1"), ("KEY_0", "user.name"), ("VALUE_0", "Grace")):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    over = git_of(root)
    assert over.run("config", "user.name") == b"Grace\n"
    assert over.run("config", "core.fsmonitor") == b"false\n"


def test_the_repository_of_another_user_is_not_trusted(
    make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch, configured: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give a folder away")
    root = make_tree(FILES)
    for path in (root, root / ".git"):
        os.chown(path, 1234, 1234)
    with pytest.raises(SymfixError, match="dubious ownership"):
        find_checkout(root).names()
    configured.write_text(f"[safe]\ndirectory = {root}\n")
    assert find_checkout(root).names() == [".gitattributes", "a.cc", "b.cc"]


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("", ""),
        ("fatal: not a git repository\n", "fatal: not a git repository"),
        ("warning: old\nerror: no such ref\nfatal: it ends\nhint: see git help\n", "error: no such ref"),
        (
            "git@example.org: Permission denied.\nfatal: Could not read from remote repository.\n\nPlease make sure\n",
            "git@example.org: Permission denied.; fatal: Could not read from remote repository.",
        ),
        (
            "remote: begin with user/   \nTo ../x\n ! [remote rejected] x -> x (declined)\nerror: failed to push\n",
            "begin with user/; ! [remote rejected] x -> x (declined)",
        ),
        ("what nobody knows\n", "what nobody knows"),
    ],
)
def test_of_what_git_prints_the_reason_is_said(printed: str, reason: str) -> None:
    assert reason_of(printed) == reason
