"""Reading: regular files only, of a bounded size, none through a link out of the tree."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codemod.borders.files import read_below, read_file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "sub").mkdir(parents=True)
    (root / "sub/a").write_bytes(b"a")
    (tmp_path / "secret").write_bytes(b"secret")
    return root


def test_links_are_followed_within_the_tree_or_not_at_all(root: Path) -> None:
    (root / "file").symlink_to("sub/a")
    (root / "folder").symlink_to("sub")
    (root / "around").symlink_to(root / "../tree/folder/a")
    for path in ("sub/a", "file", "folder/a", "around"):
        assert read_below(root, path) == b"a"
        if path != "sub/a":
            with pytest.raises(OSError, match=r"link|regular|directory"):
                read_below(root, path, links=False)


@pytest.mark.parametrize("path", ["../secret", "sub/../../secret", "out", "away/secret", "a\0"])
def test_nothing_outside_the_tree_is_read(root: Path, path: str) -> None:
    (root / "out").symlink_to("../secret")
    (root / "away").symlink_to("..")
    with pytest.raises(OSError, match="leads out of the tree"):
        read_below(root, path)


def test_an_absolute_path_is_none_of_the_tree(root: Path) -> None:
    with pytest.raises(OSError, match="leads out of the tree"):
        read_below(root, str(root / "sub/a"))


def test_a_root_that_is_a_link_is_a_tree(root: Path) -> None:
    (root.parent / "other").symlink_to(root)
    assert read_below(root.parent / "other", "sub/a") == b"a"
    (root / "file").symlink_to("sub/a")
    assert read_below(root.parent / "other", "file") == b"a"


def test_pipes_devices_and_folders_are_not_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "to").symlink_to("pipe")
    for name in ("pipe", "to", "sub"):
        with pytest.raises(OSError, match="not a regular file"):
            read_below(root, name)
    for path in (root / "pipe", "/dev/zero", root):
        with pytest.raises(OSError, match="not a regular file"):
            read_file(path)


def test_a_file_that_is_too_large_is_not_read(root: Path) -> None:
    with open(root / "large", "wb") as file:
        file.truncate((1 << 20) + 1)
    with pytest.raises(OSError, match="larger than 1 MB"):
        read_below(root, "large", 1 << 20)
    with pytest.raises(OSError, match="larger than 1 MB"):
        read_file(root / "large", 1 << 20)
    assert len(read_file(root / "large")) == (1 << 20) + 1


def test_the_file_is_named_where_it_cannot_be_read(root: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        read_below(root, "sub/none")
    assert caught.value.filename == f"{root}/sub/none"


def test_no_descriptor_is_left_open(root: Path) -> None:
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    for path in ("sub/a", "sub/none", "none/a", "sub"):
        try:
            read_below(root, path)
        except OSError:
            continue
    assert before == (os.listdir("/proc/self/fd") if before else [])
