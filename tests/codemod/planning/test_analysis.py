"""When a plan, and what a transform found, are taken from an earlier run."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from codemod.model.findings import Finding
from codemod.model.transform import Project
from codemod.planning.analysis import analyse
from codemod.tree import cache as cache_module
from codemod.tree import extraction as extraction_module
from codemod.tree.pool import can_fork
from tests.codemod import fake
from tests.codemod.tree.test_project import FILES, count_lines, extract_part, project
from tests.conftest import MakeTree


@pytest.mark.parametrize("damage", ["database", "rows", "plan", "findings", "foreign"])
def test_a_damaged_cache_never_fails_a_run(make_tree: MakeTree, base: Path, damage: str) -> None:
    root = make_tree(FILES)
    expected = analyse(project(root, base), fake.transforms)
    [folder] = (base / "analyses").iterdir()
    if damage == "database":
        (folder / "facts.sqlite").write_bytes(b"no database" * 1000)
    elif damage == "rows":
        with sqlite3.connect(folder / "facts.sqlite") as connection:
            connection.execute("UPDATE extracted SET blob = x'80'")
        connection.close()
    elif damage == "foreign":
        with sqlite3.connect(folder / "facts.sqlite") as connection:
            connection.execute("DROP TABLE extracted")
            connection.execute("CREATE TABLE extracted(other)")
        connection.close()
    for kind in ("plan", "findings"):
        [kept] = folder.glob(f"{kind}-*")
        if damage == kind:
            kept.write_bytes(b"\x80\x05garbage")
        else:
            kept.unlink()
    for _ in range(2):
        assert analyse(project(root, base), fake.transforms) == expected


def test_without_changes_the_plan_is_the_kept_one(make_tree: MakeTree, base: Path) -> None:
    root = make_tree({**FILES, "other.txt": b""})
    first = analyse(project(root, base), fake.transforms)
    assert analyse(project(root, base), never) == first
    (root / "other.txt").write_bytes(b"no source")
    assert analyse(project(root, base), never) == first


def never() -> list[fake.FakeTransform]:
    raise AssertionError("analysed again")


def written_anew(root: Path) -> None:
    """Every file with the same bytes, other times and another inode, as a checkout leaves them."""
    for name in FILES:
        path = root / name
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)


@pytest.mark.parametrize("racy_ns", [0, 10**18])
def test_files_with_other_times_and_the_same_bytes_are_no_change(
    make_tree: MakeTree, base: Path, monkeypatch: pytest.MonkeyPatch, racy_ns: int
) -> None:
    monkeypatch.setattr(cache_module, "RACY_NS", racy_ns)
    root = make_tree(FILES)
    first = analyse(project(root, base), fake.transforms)
    written_anew(root)
    for _ in range(2):
        assert analyse(project(root, base), never) == first


@pytest.mark.parametrize("change", ["edit", "add", "remove"])
def test_a_change_among_files_with_other_times_makes_a_new_plan(
    make_tree: MakeTree, base: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    monkeypatch.setattr(cache_module, "RACY_NS", 10**18)
    root = make_tree(FILES)
    before = analyse(project(root, base), fake.transforms)
    written_anew(root)
    if change == "edit":
        (root / "d0/f0.cc").write_bytes(b"loop 0\n")  # as long as it was
    elif change == "add":
        (root / "d0/new.cc").write_bytes(b"size\n")
    else:
        (root / "d0/f0.cc").unlink()
    assert analyse(project(root, base), fake.transforms).files != before.files


def test_only_files_with_other_times_are_read_to_see_whether_they_changed(
    make_tree: MakeTree, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_tree(FILES)
    analyse(project(root, base), fake.transforms)
    os.utime(root / "d0/f0.cc", ns=(1, 1))
    read: list[str] = []

    def read_below(folder: Path, path: str) -> bytes:
        read.append(path)
        return (folder / path).read_bytes()

    monkeypatch.setattr(extraction_module, "read_below", read_below)
    analyse(project(root, base), never)
    assert read == ["d0/f0.cc"]
    analyse(project(root, base), never)
    assert read == ["d0/f0.cc"]


class Other(fake.FakeTransform):
    """Asks for all that a transform may ask for; `runs` counts how often it is run."""

    name = "other"
    suffixes = (".py",)

    def __init__(self) -> None:
        self.runs = 0

    def analyse(self, project: Project) -> Iterable[Finding]:
        """One finding for each word of the files that end in .py."""
        self.runs += 1
        project.remark("something of the tree")
        project.has("absent.yaml")
        project.files((".yaml",), ["conf"])
        project.left_out((".txt",))
        for path in project.files((".ini",)):
            project.read(path)
        with suppress(OSError):
            project.read("absent.ini")
        lines = project.facts(count_lines, project.files((".md",)))
        project.facts_of(extract_part, dict.fromkeys(project.files((".toml",)), sum(lines.values())))
        yield from super().analyse(project)


MIXED = {
    "a.cc": b"size\n",
    "b.cc": b"numel\n",
    "a.py": b"size\n",
    "conf/a.yaml": b"a\n",
    "a.md": b"text\n",
    "a.ini": b"a\n",
    "a.toml": b"a\n",
    "a.yaml": b"a\n",
}


@pytest.mark.parametrize(
    ("changes", "runs"),
    [
        ({"a.cc": b"loop\n"}, 1), ({"new.cc": b"size\n"}, 1), ({"b.cc": None}, 1), ({"a.yaml": b"b\n"}, 1),
        ({"a.md": b"other\n"}, 1), ({"new.yaml": b""}, 1), ({"conf/a.yaml": b"b\n", "a.cc": b"loop\n"}, 1),
        ({"a.py": b"loop\n"}, 2), ({"new.py": b""}, 2), ({"a.py": None}, 2), ({"a.md": b"more\nlines\n"}, 2),
        ({"conf/new.yaml": b""}, 2), ({"absent.yaml": b""}, 2), ({"absent.ini": b""}, 2), ({"a.ini": b"b\n"}, 2),
        ({"a.toml": b"b\n"}, 2), ({"a.md": None}, 2), ({"new.md": b""}, 2),
    ],
)  # fmt: skip
def test_a_transform_is_run_again_where_something_that_it_asked_is_answered_otherwise(
    make_tree: MakeTree, base: Path, changes: dict[str, bytes | None], runs: int
) -> None:
    root, other = make_tree(MIXED), Other()
    transforms = [*fake.transforms(), other]
    analyse(project(root, base), lambda: transforms)
    for name, content in changes.items():
        if content is None:
            (root / name).unlink()
        else:
            (root / name).write_bytes(content)
    plan = analyse(project(root, base), lambda: transforms)
    assert plan == analyse(project(root, base / "other"), lambda: [*fake.transforms(), Other()])
    assert plan.remarks == ("something of the tree",)
    assert other.runs == runs


def test_what_a_transform_found_is_not_kept_where_a_file_defeated_it(make_tree: MakeTree, base: Path) -> None:
    root, other = make_tree({**MIXED, "b.py": b"RAISE\n"}), Other()
    transforms: list[Any] = [other]
    for content in (b"size\n", b"loop\n"):
        (root / "a.cc").write_bytes(content)
        assert "b.py" in str(analyse(project(root, base), lambda: transforms).failures)
    assert other.runs == 2


def test_transforms_side_by_side_find_what_they_find_one_after_the_other(make_tree: MakeTree, base: Path) -> None:
    """That is, all that they note too, in the same order, so that the plan is kept as long."""

    class Remarking(fake.FakeTransform):
        """Says which process it ran in."""

        def analyse(self, project: Project) -> Iterable[Finding]:
            project.remark("first of all")
            processes.append(os.getpid())
            return super().analyse(project)

    processes: list[int] = []
    root = make_tree({**MIXED, "b.py": b"RAISE\n", "c.cc": b"RAISE\n"})
    together = project(root, base, jobs=2)
    plan = analyse(together, lambda: [Remarking(), Other()])
    assert processes == ([] if can_fork() else [os.getpid()])
    alone = project(root, base / "other")
    assert plan == analyse(alone, lambda: [Remarking(), Other()])
    assert plan.remarks == ("first of all", "something of the tree")
    assert [failure.partition(":")[0] for failure in plan.failures] == ["b.py", "c.cc"]
    assert together.watched() == alone.watched()
    assert together.stats == alone.stats


def test_a_file_that_two_transforms_read_otherwise_is_a_failure(make_tree: MakeTree, base: Path) -> None:
    root = make_tree(MIXED)
    other, tree = project(root, base), project(root, base)
    for noting, content in ((other, b"old\n"), (tree, b"new\n")):
        (root / "a.ini").write_bytes(content)
        noting.read("a.ini")
    tree.add(other.record())
    assert tree.failures == ["a.ini: changed while it was read"]


def test_a_transform_rests_on_what_another_asked_to_make_what_both_have(make_tree: MakeTree, base: Path) -> None:
    class Sharing(fake.FakeTransform):
        """Finds a word in each file of C++ where there are lines in what ends in .md."""

        def __init__(self, name: str) -> None:
            self.name = name

        def analyse(self, project: Project) -> Iterable[Finding]:
            """All findings, or none."""
            read = project.facts(count_lines, project.files((".md",))) if self.name == "first" else {}
            lines = project.once("lines", lambda: sum(read.values()))
            return super().analyse(project) if lines else []

    root, transforms = make_tree(MIXED), [Sharing("first"), Sharing("second")]
    assert len(analyse(project(root, base), lambda: transforms).findings) == 4
    (root / "a.md").write_bytes(b"")
    assert len(analyse(project(root, base), lambda: transforms).findings) == 0


@pytest.mark.parametrize("change", ["edit", "add", "remove"])
def test_any_change_of_a_source_makes_a_new_plan(make_tree: MakeTree, base: Path, change: str) -> None:
    root = make_tree(FILES)
    before = analyse(project(root, base), fake.transforms)
    if change == "edit":
        (root / "d0/f0.cc").write_bytes(b"loop\n")
    elif change == "add":
        (root / "d0/new.cc").write_bytes(b"size\n")
    else:
        (root / "d0/f0.cc").unlink()
    after = analyse(project(root, base), fake.transforms)
    assert len(after.findings) - len(before.findings) == {"edit": 0, "add": 1, "remove": -1}[change]
    assert after.files != before.files


def test_other_paths_are_another_question(make_tree: MakeTree, base: Path) -> None:
    root = make_tree(FILES)
    everything = analyse(project(root, base), fake.transforms)
    narrow = project(root, base)
    narrow.paths = ("d1",)
    findings = analyse(narrow, fake.transforms).findings
    assert {finding.path.partition("/")[0] for finding in findings} == {"d1"}
    assert len(everything.findings) > len(findings)
