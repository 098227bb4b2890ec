from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codemod.errors import SymfixError
from codemod.tree import cache as cache_module
from codemod.tree.cache import Cache
from codemod.tree.checkout import find_checkout
from codemod.tree.project import CheckoutProject
from tests.conftest import MakeTree

FILES = {f"d{number % 3}/f{number}.cc": b"size %d\n" % number for number in range(20)}


def extract(path: str, source: bytes) -> tuple[str, bytes, int]:
    """Says which process ran it."""
    return path, source, os.getpid()


def extract_part(path: str, source: bytes, part: int) -> tuple[int, int]:
    """Says when it ran."""
    return part, time.monotonic_ns()


def count_lines(path: str, source: bytes) -> int:
    return source.count(b"\n")


def extract_or_raise(path: str, source: bytes) -> bytes:
    if b"7" in source:
        raise ValueError("seven")
    return source


def extract_and_say_where(path: str, source: bytes) -> bytes:
    raise SymfixError(f"{path}:3: not understood")


def square(number: int) -> int:
    if number == 13:
        raise ZeroDivisionError("thirteen")
    return number * number


def project(root: Path, base: Path, jobs: int = 1) -> CheckoutProject:
    return CheckoutProject(find_checkout(root), Cache.of(root, base), jobs=jobs)


@pytest.mark.parametrize("jobs", [1, 2])
def test_facts_are_of_every_path_asked_for_and_hashed(make_tree: MakeTree, base: Path, jobs: int) -> None:
    tree = project(make_tree(FILES), base, jobs)
    facts = tree.facts(extract, tree.files([".cc"]))
    assert {path: source for path, source, _ in facts.values()} == FILES
    assert list(facts) == sorted(FILES)
    assert tree.hashes == {path: hashlib.sha256(source).hexdigest() for path, source in FILES.items()}
    assert (os.getpid() in {pid for _, _, pid in facts.values()}) == (jobs == 1)


def test_facts_are_kept_until_a_files_bytes_change(make_tree: MakeTree, base: Path) -> None:
    root = make_tree(FILES)
    first = project(root, base, jobs=2)
    before = first.facts(extract, first.files([".cc"]))
    (root / "d0/f0.cc").write_bytes(b"SIZE 0\n")
    os.utime(root / "d1/f1.cc", ns=(1, 1))  # touched, and the same bytes
    second = project(root, base)
    after = second.facts(extract, second.files([".cc"]))
    changed = {path for path in FILES if before[path] != after[path]}
    assert changed == {"d0/f0.cc"}
    assert after["d0/f0.cc"] == ("d0/f0.cc", b"SIZE 0\n", os.getpid())
    assert second.hashes["d0/f0.cc"] == hashlib.sha256(b"SIZE 0\n").hexdigest()


def test_facts_that_another_python_made_are_made_again(
    make_tree: MakeTree, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, made = make_tree(FILES), []
    for version in ("3.12.1", "3.12.1", "3.13.0"):
        monkeypatch.setattr(sys, "version", version)
        cache_module.code_version.cache_clear()
        made.append(project(root, base).facts_of(extract_part, {"d0/f0.cc": 1})["d0/f0.cc"])
    cache_module.code_version.cache_clear()
    assert made[0] == made[1] != made[2]


def test_facts_of_a_part_of_a_file_are_kept_until_another_is_wanted(make_tree: MakeTree, base: Path) -> None:
    root, read = make_tree(FILES), []
    for wanted in ({"d0/f0.cc": 1, "d1/f1.cc": 1}, {"d0/f0.cc": 1, "d1/f1.cc": 2}, {"d1/f1.cc": 1}):
        facts = project(root, base).facts_of(extract_part, wanted)
        assert {path: part for path, (part, _) in facts.items()} == wanted
        read.append({path: number for path, (_, number) in facts.items()})
    assert read[1]["d0/f0.cc"] == read[0]["d0/f0.cc"]
    assert len({numbers["d1/f1.cc"] for numbers in read}) == 3


def test_facts_that_stay_equal_keep_their_version(make_tree: MakeTree, base: Path) -> None:
    root = make_tree({"a.md": b"one\n", "b.md": b"two\n"})

    def versions() -> list[str]:
        return project(root, base).versions(count_lines, ["a.md", "b.md", "absent.md"])

    first = versions()
    assert len({*first}) == 3
    assert first[2] == ""
    (root / "a.md").write_bytes(b"uno\n")
    assert versions() == first
    (root / "a.md").write_bytes(b"uno\ndue\n")
    second = versions()
    assert (second[0] != first[0], second[1:]) == (True, first[1:])
    (root / "a.md").write_bytes(b"one\n")
    assert versions()[0] != second[0]


def test_a_file_that_may_still_change_within_the_clocks_tick_is_read_again(
    make_tree: MakeTree, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "RACY_NS", 10**18)
    root = make_tree(FILES)
    first = project(root, base)
    first.facts(extract, first.files([".cc"]))
    assert Cache.of(root, base).hashes() == {}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_defeats_the_extractor_is_left_out_and_named(make_tree: MakeTree, base: Path, jobs: int) -> None:
    tree = project(make_tree(FILES), base, jobs)
    facts = tree.facts(extract_or_raise, [*tree.files([".cc"]), "gone.cc"])
    assert facts.keys() == FILES.keys() - {"d1/f7.cc", "d2/f17.cc"}
    assert [failure.partition(" (")[0] for failure in tree.failures] == [
        "d1/f7.cc: ValueError: seven",
        "d2/f17.cc: ValueError: seven",
        "gone.cc: cannot be read: No such file or directory",
    ]


def test_a_failure_that_says_where_is_passed_on_as_it_is(make_tree: MakeTree, base: Path) -> None:
    tree = project(make_tree({"a.cc": b"x"}), base)
    assert tree.facts(extract_and_say_where, ["a.cc"]) == {}
    assert tree.failures == ["a.cc:3: not understood"]


def test_files_outside_the_tree_are_watched_too(make_tree: MakeTree, base: Path, tmp_path: Path) -> None:
    outside = tmp_path / "torch.h"
    outside.write_bytes(b"one")
    root = make_tree(FILES)
    first = project(root, base)
    assert first.facts(extract, [str(outside)])[str(outside)][:2] == (str(outside), b"one")
    assert first.failures == []
    watched = first.watched()
    fingerprint = first.fingerprint(watched)
    assert project(root, base).fingerprint(watched) == fingerprint
    outside.write_bytes(b"other")
    assert project(root, base).fingerprint(watched) != fingerprint
    second = project(root, base)
    assert second.read(str(outside)) == b"other"
    assert second.facts(extract, [str(outside)])[str(outside)][1] == b"other"


@pytest.mark.parametrize("jobs", [1, 3])
def test_map_keeps_the_order_and_names_what_failed(make_tree: MakeTree, base: Path, jobs: int) -> None:
    tree = project(make_tree(FILES), base, jobs)
    assert tree.map(square, range(13)) == [number * number for number in range(13)]
    with pytest.raises(SymfixError, match="squares failed: ZeroDivisionError: thirteen"):
        tree.map(square, range(20), "squares")


def die(number: int) -> int:
    os._exit(number)


def test_a_worker_that_dies_is_an_error_and_no_hang(make_tree: MakeTree, base: Path) -> None:
    tree = project(make_tree(FILES), base, jobs=2)
    with pytest.raises(SymfixError, match="--jobs 1"):
        tree.map(die, range(20))


def test_what_was_counted_of_a_file_is_kept_by_its_path_and_bytes(
    make_tree: MakeTree, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, counted = make_tree(FILES), []

    def count(source: tuple[str, bytes]) -> int:
        counted.append(source)
        return len(source[1])

    first, second, third = ("a.cc", b"1"), ("a.cc", b"22"), ("b.py", b"22")
    assert project(root, base).counts(count, [first, second, first], {"codemod"}) == [1, 2, 1]
    assert counted == [first, second]
    assert project(root, base).counts(count, [second, third, first], {"codemod"}) == [2, 2, 1]
    assert counted == [first, second, third]
    monkeypatch.setattr(cache_module, "_KEPT_COUNTS", 2)
    assert project(root, base).counts(count, [("c.cc", b"")], {"codemod"}) == [0]
    assert project(root, base).counts(count, [third, first], {"codemod"}) == [2, 1]
    assert counted[3:] == [("c.cc", b""), first]
    assert project(root, base).counts(count, [third], {"codemod", "transforms"}) == [2]
    assert counted[5:] == [third]


def test_without_a_cache_nothing_is_kept(make_tree: MakeTree, base: Path) -> None:
    root = make_tree(FILES)
    tree = CheckoutProject(find_checkout(root), Cache(None))
    assert len(tree.facts(extract, tree.files([".cc"]))) == len(FILES)
    assert not base.exists()


def test_the_caches_of_deleted_trees_go(make_tree: MakeTree, base: Path) -> None:
    first = make_tree(FILES, "first")
    project(first, base)
    first.rename(first.parent / "moved")
    project(make_tree(FILES, "second"), base)
    assert len(list((base / "analyses").iterdir())) == 1


_READ = """
import sys
from pathlib import Path
from typing import Any
from codemod.model.findings import Finding
from codemod.model.transform import Project
from codemod.planning.analysis import analyse
from tests.codemod import fake
from tests.codemod.tree.test_project import project
tree = project(Path(sys.argv[1]), Path(sys.argv[2]))
plan = analyse(tree, fake.transforms)
print(len(plan.findings), {finding.path for finding in plan.findings} == set(tree.files([".cc"])))
"""


def test_a_run_that_reads_names_in_another_encoding_has_a_cache_of_its_own(make_tree: MakeTree, base: Path) -> None:
    root = make_tree({"é/one.cc": b"size\n"})
    ascii_names = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for variables in ({"PYTHONUTF8": "1"}, ascii_names, {"PYTHONUTF8": "1"}, ascii_names):
        command = [sys.executable, "-c", _READ, str(root), str(base)]
        cwd = Path(__file__).parents[3]
        ended = subprocess.run(command, env={**os.environ, **variables}, cwd=cwd, capture_output=True, check=False)
        assert (ended.stdout, ended.stderr) == (b"1 True\n", b"")


def test_files_outside_are_read_once_for_all_trees(make_tree: MakeTree, base: Path, tmp_path: Path) -> None:
    header, other = str(tmp_path / "torch.h"), str(tmp_path / "c10.h")
    Path(header).write_bytes(b"SIZE 1\n")
    Path(other).write_bytes(b"SIZE 2\n")
    first, second = (project(make_tree(FILES, name), base) for name in ("first", "second"))
    read = first.facts_of(extract_part, {"d0/f0.cc": 1, header: 1})
    again = second.facts_of(extract_part, {"d0/f0.cc": 1, header: 1})
    assert again[header] == read[header]
    assert again["d0/f0.cc"] != read["d0/f0.cc"]
    shared = Cache(base / "installed")
    assert list(shared.hashes()) == [header]
    os.remove(header)
    second.facts(extract, [other])
    assert list(shared.hashes()) == [other]
    assert not project(first.root, base).facts(extract, [header])


def test_files_are_asked_for_by_ending_and_folder(make_tree: MakeTree, base: Path) -> None:
    tree = project(make_tree({"a/x.cc": b"", "ab/y.cc": b"", "a/z.h": b"", "w.cc": b""}), base)
    assert tree.files([".cc"]) == ["a/x.cc", "ab/y.cc", "w.cc"]
    assert tree.files([".cc", ".h"], ["a"]) == ["a/x.cc", "a/z.h"]
    assert tree.files([".h", ".cc"], ["a/", "ab"]) == ["a/x.cc", "a/z.h", "ab/y.cc"]


def test_what_is_made_once_is_kept_until_another_is_made(make_tree: MakeTree, base: Path) -> None:
    tree, numbers = project(make_tree(FILES), base), iter(range(10))
    made = [tree.once(key, lambda: next(numbers)) for key in ("a", "a", "b", "b", "a")]
    assert made == [0, 0, 1, 1, 2]


def test_what_a_sparse_checkout_leaves_out_is_named(make_tree: MakeTree, git: Callable[..., bytes]) -> None:
    tree = make_tree({"csrc/a.cc": b"a\n", "other/b.cc": b"b\n", "other/c.py": b"c\n", "d.cc": b"d\n"})
    (tree / "d.cc").unlink()
    git("sparse-checkout", "set", "csrc", cwd=tree)
    project = CheckoutProject(find_checkout(tree), Cache.of(tree, tree / "cache"))
    assert project.left_out([".cc"]) == ["other/b.cc"]
    assert project.left_out([".h"]) == []
