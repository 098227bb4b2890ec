"""Trees, plans and journals made to harm whoever runs symfix over them: nothing runs, nothing else is written."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import MakeTree, Symfix

Git = Callable[..., bytes]

FILES = {"a.cc": b"x = size(); // op:aten::add\n", "sub/b.cc": b"size op:mul\n"}
MARKER = "aten/src/ATen/native/native_functions.yaml"


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below `folder`, those of git left out; of a link, where it leads."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if ".git" not in path.parts and (path.is_symlink() or path.is_file()):
            found[str(path.relative_to(folder))] = (
                os.fsencode(os.readlink(path)) if path.is_symlink() else (path.read_bytes())
            )
    return found


def commit(git: Git, tree: Path) -> None:
    git("add", "-A", "-f", cwd=tree)
    git("commit", "-q", "-m", "more", cwd=tree)


def plan_with(tree: Path, symfix: Symfix, file: Path, **changed: object) -> Path:
    """A plan of `tree` whose first edit is changed so."""
    document = json.loads(symfix("scan", "--format", "json", cwd=tree).out)
    document["findings"][0]["edits"][0] |= changed
    file.write_text(json.dumps(document))
    return file


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim.txt"
    path.write_bytes(b"size mine\n")
    path.chmod(0o600)
    return path


def test_a_link_where_a_temporary_file_was_is_not_written_through(
    make_tree: MakeTree, symfix: Symfix, git: Git, victim: Path
) -> None:
    tree = make_tree(FILES)
    for name in (".a.cc.symfix-tmp", "review.html.symfix-tmp", "shards.yaml.symfix-tmp"):
        (tree / name).symlink_to(victim)
    commit(git, tree)
    (tree / "sub/.b.cc.symfix-tmp").write_bytes(b"my own")
    assert symfix("apply", cwd=tree).code == 1
    assert symfix("review", "--html", "review.html", cwd=tree).code == 0
    assert symfix("bundle", "--allow-dirty", "--dry-run", "--save-shards", "shards.yaml", cwd=tree).code == 1
    assert victim.read_bytes() == b"size mine\n"
    assert victim.stat().st_mode & 0o777 == 0o600
    assert (tree / "a.cc").read_bytes() == b"x = sym_size(); // op:aten::add\n"
    assert not (tree / "a.cc").is_symlink()
    assert (tree / "sub/.b.cc.symfix-tmp").read_bytes() == b"my own"


@pytest.mark.parametrize(
    "command",
    [
        ("review", "--html", "out"), ("review", "--accept", "op:*", "--export", "out"),
        ("bundle", "--dry-run", "--save-shards", "out"), ("bundle", "--format", "patches", "--output", "folder"),
        ("pr", "--output", "folder"),
    ],
)  # fmt: skip
def test_a_link_in_the_place_of_an_output_is_refused(
    make_tree: MakeTree, symfix: Symfix, git: Git, victim: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    tree = make_tree(FILES)
    (tree / "out").symlink_to(victim)
    (tree / "folder").symlink_to(tmp_path / "elsewhere")
    commit(git, tree)
    git("config", "user.name", "t", cwd=tree)
    git("config", "user.email", "t@example.org", cwd=tree)
    code, _, err = symfix(*command, cwd=tree)
    assert code == 2, err
    assert "a link; name the" in err
    assert victim.read_bytes() == b"size mine\n"
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert (tree / "out").is_symlink()


@pytest.mark.parametrize("start", [".", "sub"])
def test_a_bare_repository_among_the_tracked_files_runs_nothing(
    make_tree: MakeTree, symfix: Symfix, tmp_path: Path, start: str
) -> None:
    config = f'[core]\nrepositoryformatversion=0\nbare=false\nworktree=.\nfsmonitor="touch {tmp_path}/ran; false"\n'
    bare = {"HEAD": b"ref: refs/heads/main\n", "objects/k": b"", "refs/k": b"", "config": config.encode()}
    tree = make_tree({**FILES, f"sub/{MARKER}": b"", **{f"sub/{name}": content for name, content in bare.items()}})
    for command in (("scan", start), ("scan", "--since", "HEAD", start), ("diff", start), ("apply", start)):
        code, _, err = symfix(*command, cwd=tree)
        assert code in (0, 1), err
        assert "looks like a bare git repository inside the checkout" in err
    assert not (tmp_path / "ran").exists()


def test_a_bare_repository_is_no_tree(make_tree: MakeTree, symfix: Symfix, git: Git, tmp_path: Path) -> None:
    tree = make_tree(FILES)
    git("clone", "-q", "--bare", str(tree), str(tmp_path / "bare.git"), cwd=tmp_path)
    code, out, err = symfix("scan", cwd=tmp_path / "bare.git")
    assert (code, out) == (2, b"")
    assert err.startswith(f"symfix: {tmp_path}/bare.git: a bare repository has no files to read")


def test_a_folder_without_sources_outside_any_repository_is_no_tree(symfix: Symfix, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.txt").write_bytes(b"size\n")
    code, out, err = symfix("scan", cwd=tmp_path / "notes")
    assert (code, out) == (2, b"")
    assert "holds no C++ or Python" in err


def test_the_repositorys_own_commands_run_in_no_command(
    make_tree: MakeTree, symfix: Symfix, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ada@example.org")
    tree = make_tree({**FILES, ".gitattributes": b"*.cc filter=f diff=d\n", "c.cc": b"size\r\n"})
    git("branch", "-M", "main", cwd=tree)
    evil = tmp_path / "evil.sh"
    evil.write_text(f'#!/bin/sh\necho "$0 $@" >> {tmp_path}/ran\ncat\n')
    evil.chmod(0o755)
    for name in ("core.fsmonitor", "filter.f.clean", "filter.f.process", "diff.d.textconv", "diff.external"):
        git("config", name, str(evil), cwd=tree)
    git("config", "core.hooksPath", str(tmp_path / "hooks"), cwd=tree)
    (tmp_path / "hooks").mkdir()
    for name in ("post-index-change", "reference-transaction"):
        (tmp_path / "hooks" / name).symlink_to(evil)
    for path in tree.rglob("*.cc"):
        os.utime(path, (1, 1))
    for command in (
        ("scan",), ("scan", "--since", "HEAD"), ("diff",), ("review", "--accept", "op:*"), ("bundle",),
        ("bundle", "--format", "mbox"), ("pr",), ("apply",),
    ):  # fmt: skip
        code, _, err = symfix(*command, cwd=tree)
        assert code in (0, 1), err
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (".git/config", "belongs to git"),
        (".GIT/config", "belongs to git"),
        ("sub/.git/config", "belongs to git"),
        ("git~1/config", "belongs to git"),
        (".g\u200cit/config", "belongs to git"),
        ("../victim.txt", "leads out of the tree"),
        ("sub/../../victim.txt", "leads out of the tree"),
        ("/etc/passwd", "leads out of the tree"),
        ("a.cc\0", "is not the name of a file"),
        ("", "is not the name of a file"),
        ("ignored.cc", "not among the files of the checkout"),
        ("third_party/t.cc", "not among the files of the checkout"),
        ("link.cc", "leads through a link"),
        ("folder/victim.txt", "leads through a link"),
        ("gone.cc", "not among the files of the checkout"),
        ("a.cc/b.cc", "cannot be read: Not a directory"),
    ],
)
def test_diff_and_all_others_refuse_what_apply_refuses(
    make_tree: MakeTree, symfix: Symfix, tmp_path: Path, victim: Path, path: str, said: str
) -> None:
    tree = make_tree({**FILES, ".gitignore": b"ignored.cc\n", "ignored.cc": b"size\n", "third_party/t.cc": b"size\n"})
    (tree / "link.cc").symlink_to("a.cc")
    (tree / "folder").symlink_to(victim.parent)
    plan = plan_with(tree, symfix, tmp_path / "plan.json", path=path)
    before, config = contents(tmp_path), (tree / ".git/config").read_bytes()
    lines = set()
    for command in (
        ("diff",), ("apply",), ("apply", "--allow-dirty", "--dry-run"), ("review", "--html", "page.html"),
        ("review", "--accept", "op:*"), ("bundle", "--dry-run"), ("pr",),
    ):  # fmt: skip
        dirty = ("--allow-dirty",) if command[0] in ("apply", "bundle", "pr") and "--allow-dirty" not in command else ()
        code, out, err = symfix(*command, *dirty, "--plan", plan, cwd=tree)
        assert (code, out) == (2, b""), command
        lines.add(err)
    assert len(lines) == 1
    (line,) = lines
    assert said in line
    assert line.count("\n") == 1
    assert contents(tmp_path) == before
    assert (tree / ".git/config").read_bytes() == config


def test_a_finding_shows_no_file_outside_the_tree(
    make_tree: MakeTree, symfix: Symfix, tmp_path: Path, victim: Path
) -> None:
    tree = make_tree(FILES)
    document = json.loads(symfix("scan", "--format", "json", cwd=tree).out)
    for place in ("path", "flow", "files"):
        changed = json.loads(json.dumps(document))
        if place == "path":
            changed["findings"][0] |= {"path": "../victim.txt", "edits": []}
        elif place == "flow":
            changed["findings"][0]["flow"] = [{"path": "../victim.txt", "line": 1, "text": ""}]
        else:
            changed["files"]["../victim.txt"] = ""
        (tmp_path / "plan.json").write_text(json.dumps(changed))
        code, _, err = symfix("review", "--html", "page.html", "--plan", tmp_path / "plan.json", cwd=tree)
        assert code == 2
        assert "../victim.txt: leads out of the tree" in err
    assert not (tree / "page.html").exists()


def test_a_reviewers_edit_reaches_no_file_outside_the_tree(
    make_tree: MakeTree, symfix: Symfix, tmp_path: Path, victim: Path
) -> None:
    tree = make_tree(FILES)
    symfix("review", "--accept", "op:*", "--export", tmp_path / "decisions.json", cwd=tree)
    symfix("review", "--forget", "--op", "*", cwd=tree)
    document = json.loads((tmp_path / "decisions.json").read_bytes())
    for path in ("../victim.txt", ".git/config"):
        old = (tree / path).read_bytes().decode()
        for decision in document["decisions"]:
            decision["choice"] = "edit"
            decision["edits"] = [{"path": path, "start": 0, "end": len(old), "old": old, "new": "gone"}]
            decision["files"][path] = ""
        (tmp_path / "decisions.json").write_text(json.dumps(document))
        code, _, err = symfix("review", "--import", tmp_path / "decisions.json", cwd=tree)
        assert code == 2
        assert err.startswith(f"symfix: {path}: ")
        kept = tree / ".git/symfix/decisions.json"
        kept.write_text(json.dumps(document))
        code, _, err = symfix("apply", "--accepted", cwd=tree)
        assert code == 2
        assert err.startswith(f"symfix: {path}: ")
        kept.unlink()
    assert victim.read_bytes() == b"size mine\n"


def test_trees_outside_any_repository_do_not_share_what_is_kept(symfix: Symfix, tmp_path: Path) -> None:
    trees = (tmp_path / "x/y", tmp_path / "x%y")
    for tree in trees:
        tree.mkdir(parents=True)
        (tree / "a.cc").write_bytes(b"size\n")
    assert symfix("review", "--reject", "path:*", cwd=trees[0]).code == 0
    assert [symfix("diff", cwd=tree).code for tree in trees] == [0, 1]


def test_a_long_path_outside_any_repository_is_no_obstacle(symfix: Symfix, tmp_path: Path) -> None:
    tree = tmp_path.joinpath(*("long" * 20 for _ in range(4)))
    tree.mkdir(parents=True)
    (tree / "a.cc").write_bytes(b"size\n")
    assert symfix("scan", cwd=tree).code == 1
    assert symfix("apply", "--allow-no-vcs", cwd=tree).code == 1
    assert (tree / "a.cc").read_bytes() == b"sym_size\n"


def test_two_roots_in_one_repository_do_not_share_what_is_kept(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree({"a.cc": b"size\n", f"lib/{MARKER}": b"", "lib/a.cc": b"size\n"})
    assert symfix("review", "--reject", "path:*", cwd=tree).code == 0
    assert [symfix("diff", cwd=place).code for place in (tree, tree / "lib")] == [0, 1]


@pytest.mark.parametrize(
    "journal",
    [
        "", "[]", "{}", "null", "[" * 100_000, "\0", '{"action": "redo", "files": [["../victim.txt", "", ""]]}',
        '{"format": "symfix-journal", "version": 1}',
    ],
)  # fmt: skip
def test_a_journal_that_cannot_be_followed_is_set_aside(make_tree: MakeTree, symfix: Symfix, journal: str) -> None:
    tree = make_tree(FILES)
    books = tree / ".git/symfix"
    books.mkdir()
    (books / "journal.json").write_text(journal)
    code, _, err = symfix("scan", cwd=tree)
    assert code == 1
    assert "set aside as journal.json.damaged-1" in err
    assert err.count("\n") == 1
    assert not (books / "journal.json").exists()
    assert (books / "journal.json.damaged-1").read_text() == journal
    assert symfix("apply", cwd=tree).code == 1


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_is_not_a_regular_file_is_never_read(
    make_tree: MakeTree, git: Git, command: list[str], tmp_path: Path, kind: str
) -> None:
    tree = make_tree({**FILES, "build/x": b""})
    places = ["pyproject.toml", "c.cc", "build/compile_commands.json", "compile_commands.json", MARKER, "version.txt"]
    for place in places:
        (tree / place).parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            (tree / place).symlink_to("/dev/zero")
        else:
            os.mkfifo(tree / place)
    if kind == "link":
        commit(git, tree)
    (tree / "untracked").symlink_to("/dev/zero")
    (tree / "untracked.cc").symlink_to("/dev/zero")
    os.mkfifo(tree / "pipe.cc")
    for arguments in (["scan"], ["scan", "--since", "HEAD"], ["diff"]):
        done = subprocess.run([*command, *arguments], cwd=tree, capture_output=True, timeout=60, preexec_fn=_limit)
        assert done.returncode in (0, 1), done.stderr
        assert done.stderr.count(b"\n") <= 2


def _limit() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


@pytest.fixture
def command() -> list[str]:
    """The command with the fake transform, as a process of its own."""
    import sys

    script = (
        "from codemod.model import transform\nfrom tests.codemod import fake\n"
        "transform.load_transforms = fake.transforms\nfrom codemod.cli import main\nmain()"
    )
    return [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n{script}"]


def test_a_folder_that_has_become_a_link_is_not_followed(make_tree: MakeTree, symfix: Symfix, tmp_path: Path) -> None:
    tree = make_tree(FILES)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/b.cc").write_bytes(b"size op:secret\n")
    (tree / "sub/b.cc").unlink()
    (tree / "sub").rmdir()
    (tree / "sub").symlink_to(tmp_path / "outside")
    code, out, _ = symfix("scan", cwd=tree)
    assert code == 1
    assert b"secret" not in out
    assert b"in 1 file" in out or b"1 file" in out


def test_a_file_that_is_too_large_is_named(make_tree: MakeTree, symfix: Symfix) -> None:
    tree = make_tree(FILES)
    with open(tree / "big.cc", "wb") as file:
        file.truncate(33 << 20)
    code, out, err = symfix("scan", cwd=tree)
    assert code == 2
    assert b"add" in out
    assert err == "symfix: big.cc: cannot be read: larger than 32 MB\n"
