from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.tree.checkout import NATIVE_FUNCTIONS, checkout_of, find_checkout
from tests.conftest import MakeTree

FILES = {"a.cc": b"1", "sub/b.cc": b"2", "third_party/c.cc": b"3", "sub/third_party/d.cc": b"4", "build/e.cc": b"5"}


def listed(start: Path) -> list[str]:
    checkout = find_checkout(start)
    return sorted(path for path in checkout.files(checkout.names()) if path.endswith(".cc"))


def test_a_git_checkout_is_found_from_below(make_tree: MakeTree) -> None:
    root = make_tree(FILES)
    checkout = find_checkout(root / "sub/b.cc")
    assert checkout.root == root
    assert checkout.git_dir == root / ".git"


def test_a_linked_worktree_keeps_its_own_git_folder(make_tree: MakeTree, git: Callable[..., bytes]) -> None:
    root = make_tree(FILES)
    git("worktree", "add", "-q", "../other", cwd=root)
    other = root.parent / "other"
    assert find_checkout(other / "sub").root == other
    assert find_checkout(other).git_dir == root / ".git/worktrees/other"
    assert listed(other) == ["a.cc", "build/e.cc", "sub/b.cc"]


def test_without_git_markers_are_sought_upwards(make_tree: MakeTree) -> None:
    root = make_tree({NATIVE_FUNCTIONS: b"", "torch/x.cc": b""}, name="aten", vcs=False)
    assert find_checkout(root / "torch") == find_checkout(root)
    assert find_checkout(root / "torch").root == root
    assert find_checkout(root / "torch").git_dir is None
    other = make_tree({"pyproject.toml": b"[tool.symfix]\n", "csrc/x.cc": b""}, name="library", vcs=False)
    assert find_checkout(other / "csrc").root == other
    third = make_tree({"csrc/x.cc": b""}, name="plain", vcs=False)
    assert find_checkout(third / "csrc/x.cc").root == third / "csrc"


PACKAGE = {"own/__init__.py": b"", "own/models/__init__.py": b"", "own/models/a.py": b"", "own/csrc/x.cc": b""}


def test_a_part_of_a_package_is_read_with_all_of_it(make_tree: MakeTree) -> None:
    root = make_tree({f"lib/{path}": text for path, text in PACKAGE.items()}, vcs=False)
    for part in ("own", "own/models", "own/models/a.py"):
        assert find_checkout(root / "lib" / part).root == root / "lib/own"
    assert find_checkout(root / "lib/own/csrc").root == root / "lib/own/csrc"
    assert find_checkout(root / "lib").root == root / "lib"


def test_so_is_one_of_a_package_that_git_ignores(make_tree: MakeTree) -> None:
    root = make_tree({".gitignore": b"venv/\n", **{f"venv/lib/{path}": text for path, text in PACKAGE.items()}})
    for part in ("own", "own/models", "own/models/a.py"):
        assert checkout_of(root / "venv/lib" / part).root == root / "venv/lib/own"


def test_a_pytorch_tree_within_a_repository_is_its_own_checkout(make_tree: MakeTree) -> None:
    root = make_tree({f"vendor/{NATIVE_FUNCTIONS}": b"", "vendor/torch/x.cc": b"", "y.cc": b""})
    assert find_checkout(root / "vendor/torch").root == root / "vendor"
    assert find_checkout(root / "vendor/torch").git_dir == root / ".git"
    assert listed(root / "vendor") == ["torch/x.cc"]


def test_a_tree_unpacked_where_git_ignores_it_is_listed_all_the_same(make_tree: MakeTree) -> None:
    root = make_tree({".gitignore": b"vendor/\n", f"vendor/{NATIVE_FUNCTIONS}": b"", "vendor/x.cc": b""})
    assert listed(root / "vendor") == ["x.cc"]


@pytest.mark.parametrize("pattern", [b"venv/", b"venv/*", b"/lib/\nvenv/lib", b"*.cc"])
def test_what_git_ignores_is_a_tree_of_its_own_once_it_is_named(make_tree: MakeTree, pattern: bytes) -> None:
    root = make_tree({".gitignore": pattern, "a.cu": b"", "venv/lib/x.cc": b"", "venv/lib/sub/y.cc": b""})
    for name in ("venv/lib", "venv/lib/x.cc"):
        package = checkout_of(root / name)
        assert (package.root, package.git) == (root / "venv/lib", None)
        assert package.names() == ["sub/y.cc", "x.cc"]
    assert checkout_of(root / "a.cu") == find_checkout(root / "venv/lib")


def test_what_git_tracks_or_does_not_know_yet_stays_in_the_checkout(
    make_tree: MakeTree, git: Callable[..., bytes]
) -> None:
    root = make_tree({"sub/a.cc": b"", "kept/b.cc": b""})
    (root / "new").mkdir()
    (root / "new/c.cc").write_bytes(b"")
    (root / ".gitignore").write_bytes(b"kept/\n")
    for name in ("sub", "kept", "kept/b.cc", "new", "."):
        assert checkout_of(root / name).root == root


def test_a_pytorch_tree_that_git_ignores_is_found_from_below(make_tree: MakeTree) -> None:
    root = make_tree({".gitignore": b"vendor/\n", f"vendor/{NATIVE_FUNCTIONS}": b"", "vendor/torch/x.cc": b""})
    assert checkout_of(root / "vendor/torch").root == root / "vendor"
    assert checkout_of(root / "vendor/torch").git is None


def test_ignored_files_and_other_peoples_are_left_out(make_tree: MakeTree) -> None:
    root = make_tree({**FILES, ".gitignore": b"ignored.cc\n", "ignored.cc": b""})
    (root / "untracked.cc").write_bytes(b"6")
    os.remove(root / "a.cc")
    assert listed(root) == ["build/e.cc", "sub/b.cc", "untracked.cc"]


def test_without_git_build_folders_are_left_out_too(make_tree: MakeTree) -> None:
    root = make_tree({**FILES, "sub/out/CMakeCache.txt": b"", "sub/out/g.cc": b"", "sub/build/h.cc": b""}, vcs=False)
    assert listed(root) == ["a.cc", "sub/b.cc", "sub/build/h.cc"]


@pytest.mark.parametrize("vcs", [True, False])
def test_links_count_once_and_none_leads_out_of_the_tree(make_tree: MakeTree, vcs: bool) -> None:
    outside = make_tree({"o.cc": b""}, name="outside", vcs=False)
    root = make_tree({"a.cc": b"1", "sub/b.cc": b"2"}, vcs=vcs)
    (root / "sub/link.cc").symlink_to("../a.cc")
    (root / "out.cc").symlink_to(outside / "o.cc")
    (root / "folder").symlink_to(outside, target_is_directory=True)
    (root / "again").symlink_to("sub", target_is_directory=True)
    (root / "dangling.cc").symlink_to("nowhere.cc")
    (root / "loop.cc").symlink_to("loop.cc")
    assert listed(root) == ["a.cc", "sub/b.cc"]


def test_names_that_are_no_utf8_are_kept(make_tree: MakeTree) -> None:
    root = make_tree({"lat\udce9.cc": b"1", "new\nline.cc": b"2"})
    assert listed(root) == ["lat\udce9.cc", "new\nline.cc"]


def test_paths_outside_or_missing_are_named(make_tree: MakeTree) -> None:
    root = make_tree(FILES)
    checkout = find_checkout(root)
    assert checkout.relative(root / "sub") == "sub"
    assert checkout.relative(root) == ""
    with pytest.raises(SymfixError, match="outside"):
        checkout.relative(root.parent)
    with pytest.raises(SymfixError, match="no such file"):
        checkout.relative(root / "nothing")
    with pytest.raises(SymfixError, match="no such file"):
        find_checkout(root / "nothing")


def test_dirty_names_changed_tracked_files_and_the_asked_for_untracked(make_tree: MakeTree) -> None:
    root = make_tree(FILES)
    checkout = find_checkout(root)
    assert checkout.dirty() == []
    (root / "new.cc").write_bytes(b"")
    assert checkout.dirty() == []
    assert checkout.dirty(["new.cc", "a.cc"]) == ["new.cc"]
    (root / "a.cc").write_bytes(b"changed")
    assert checkout.dirty() == ["a.cc"]
