import os
import time
from pathlib import Path

from codemod.prove.overlay import forget_unused, overlay, union


def test_holds_the_tree_with_some_files_replaced(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    (root / "a" / "deep").mkdir(parents=True)
    (root / "a" / "deep" / "one.h").write_bytes(b"old")
    (root / "a" / "two.h").write_bytes(b"two")
    (root / "a" / "gone.h").write_bytes(b"gone")
    (root / "b.cpp").write_bytes(b"b")
    made = overlay(root, {"a/deep/one.h": b"new", "a/added.h": b"added", "a/gone.h": None}, tmp_path / "kept")
    assert (made / "a" / "deep" / "one.h").read_bytes() == b"new"
    assert (made / "a" / "added.h").read_bytes() == b"added"
    assert (made / "a" / "two.h").read_bytes() == b"two"
    assert not (made / "a" / "gone.h").exists()
    assert (made / "b.cpp").read_bytes() == b"b"
    assert (root / "a" / "deep" / "one.h").read_bytes() == b"old"
    assert not (root / "a" / "added.h").exists()


def test_the_same_content_is_the_same_folder(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    kept = tmp_path / "kept"
    assert overlay(root, {"a": b"1"}, kept) == overlay(root, {"a": b"1"}, kept)
    assert overlay(root, {"a": b"1"}, kept) != overlay(root, {"a": b"2"}, kept)
    assert overlay(root, {"a": b"1"}, kept) != overlay(root, {"b": b"1"}, kept)
    assert overlay(root, {"a": b"1"}, kept) != overlay(root, {"a": None}, kept)


def test_what_was_not_asked_for_in_a_week_is_removed(tmp_path: Path) -> None:
    root, kept = tmp_path / "tree", tmp_path / "kept"
    (root / "folder").mkdir(parents=True)
    (root / "folder" / "a").write_bytes(b"a")
    used, unused = (overlay(root, {"b": content}, kept) for content in (b"1", b"2"))
    long_ago = time.time() - 8 * 24 * 3600
    for folder in (used, unused):
        os.utime(folder, (long_ago, long_ago))
    assert overlay(root, {"b": b"1"}, kept) == used
    forget_unused(kept)
    assert list(kept.iterdir()) == [used]
    assert (root / "folder" / "a").read_bytes() == b"a"
    forget_unused(tmp_path / "absent")


def test_a_union_has_the_files_of_the_upper_and_what_only_the_lower_has(tmp_path: Path) -> None:
    upper, lower = tmp_path / "upper", tmp_path / "lower"
    for path in (upper / "a.py", upper / "inner" / "b.py", lower / "a.py", lower / "inner" / "c.so", lower / "_C.so"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(path))
    made = union("library", upper, lower, tmp_path / "kept") / "library"
    contents = {path.relative_to(made).as_posix(): path.read_text() for path in made.rglob("*.*")}
    assert contents == {
        "a.py": str(upper / "a.py"),
        "inner/b.py": str(upper / "inner" / "b.py"),
        "inner/c.so": str(lower / "inner" / "c.so"),
        "_C.so": str(lower / "_C.so"),
    }
    (upper / "d.py").touch()
    assert (union("library", upper, lower, tmp_path / "kept") / "library" / "d.py").is_file()
