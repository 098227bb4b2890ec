"""One file replaced: what may be, and what it keeps of the file before."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from codemod.borders.files import open_folder
from codemod.writing import files
from codemod.writing.files import make_folder, replace_file


def test_mode_and_owner_are_those_of_the_file_before(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 12, 34)
    replace_file(path, b"new")
    found = path.stat()
    assert (path.read_bytes(), stat.S_IMODE(found.st_mode)) == (b"new", 0o640)
    if os.geteuid() == 0:
        assert (found.st_uid, found.st_gid) == (12, 34)


def test_a_link_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"mine")
    (tmp_path / "link").symlink_to("a")
    with pytest.raises(OSError, match="a link; name the file that it leads to"):
        replace_file(tmp_path / "link", b"new")
    assert (tmp_path / "a").read_bytes() == b"mine"
    (tmp_path / "folder").mkdir()
    (tmp_path / "to").symlink_to("folder")
    with pytest.raises(OSError, match="a link; name the folder that it leads to"):
        make_folder(tmp_path / "to")


@pytest.mark.parametrize("name", [".", "folder", "pipe"])
def test_only_a_regular_file_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    os.mkfifo("pipe")
    with pytest.raises(OSError, match="not a regular file"):
        replace_file(Path(name), b"new")
    assert sorted(path.name for path in Path().iterdir()) == ["folder", "pipe"]


def test_a_link_that_appears_meanwhile_is_refused_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").write_bytes(b"old")

    def open_late(root: Path, parts: list[str]) -> int:
        (tmp_path / "a").symlink_to("other")
        return open_folder(root, parts)

    monkeypatch.setattr(files, "open_folder", open_late)
    with pytest.raises(OSError, match="a link; name the file that it leads to"):
        replace_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").is_symlink()
