"""Shards: what belongs together, what each needs, and how large it may be."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from codemod.bundle.shard_names import ShardNames
from codemod.bundle.shards import Grouping, Limits, closure, make_shards
from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.groups import Group
from codemod.planning.naming import family


def group(path: str, function: str, *operators: str) -> Group:
    edit = Edit(path, 0, 1, b"a", b"b")
    return Group(
        (Finding(path, 0, 1, 1, 1, Mode.DIRECT_THROW, "r", Level.SAFE, function, operators, "m", edits=(edit,)),)
    )


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("aten::add.Tensor", "add"),
        ("add_", "add"),
        ("add.out", "add"),
        ("max_pool2d_backward", "max_pool2d"),
        ("vision::nms", "vision::nms"),
        ("__and__", "__and__"),
    ],
)
def test_variants_are_of_one_family(operator: str, expected: str) -> None:
    assert family(operator) == expected


def test_an_operators_groups_share_a_shard_and_a_helpers_has_its_own() -> None:
    groups = [
        group("a.cpp", "at::native::foo", "foo"),
        group("b.cpp", "at::native::foo_out", "foo.out"),
        group("c.cpp", "at::native::shape_of", "foo", "bar"),
        group("d.cpp", "vision::nms_meta", "vision::nms"),
    ]
    shards = {shard.name: shard for shard in make_shards(groups)}
    assert {name: shard.paths for name, shard in shards.items()} == {
        "foo": ("a.cpp", "b.cpp"),
        "helper-shape_of": ("c.cpp",),
        "vision--nms": ("d.cpp",),
    }
    assert shards["foo"].operators == ("foo", "foo.out")


def test_a_kernel_that_others_run_too_is_its_own_operators() -> None:
    groups = [
        group("a.cpp", "at::native::split_symint", "split", "tensor_split"),
        group("b.cpp", "at::native::tensor_split", "tensor_split"),
    ]
    assert [(s.name, s.kind, s.bases) for s in make_shards(groups)] == [
        ("split", "operator", ()),
        ("tensor_split", "operator", ("split",)),
    ]


def test_operators_are_based_on_the_helper_they_share() -> None:
    groups = [
        group("a.cpp", "foo", "foo"),
        group("b.cpp", "bar", "bar_"),
        group("c.cpp", "shape_of", "foo", "bar"),
        group("d.cpp", "other", "other"),
    ]
    assert {s.name: s.bases for s in make_shards(groups)} == {
        "foo": ("helper-shape_of",),
        "bar": ("helper-shape_of",),
        "helper-shape_of": (),
        "other": (),
    }


def test_helpers_of_one_name_are_told_apart_by_their_files() -> None:
    groups = [group("x/a.cpp", "apply", "foo", "bar"), group("x/b.cpp", "apply", "foo", "baz")]
    assert [s.name for s in make_shards(groups)] == ["helper-apply", "helper-apply-b"]


def at(path: str, start: int, old: bytes, *operators: str, function: str = "f") -> Group:
    edit = Edit(path, start, start + len(old), old, b"sym_" + old)
    return Group(
        (
            Finding(
                path, start, edit.end, 1, 1, Mode.DIRECT_THROW, "r", Level.SAFE, function, operators, "m", edits=(edit,)
            ),
        )
    )


def test_an_edit_that_two_shards_make_is_the_first_ones() -> None:
    both = Edit("a.py", 0, 0, b"", b"import x\n")
    first, second = at("a.py", 10, b"size", "foo"), at("a.py", 20, b"size", "bar")
    groups = [Group((dataclasses.replace(g.findings[0], edits=(both, *g.edits)),)) for g in (first, second)]
    assert {s.name: s.bases for s in make_shards(groups)} == {"bar": (), "foo": ("bar",)}


SOURCE = b"size\nsize\nplain\nsize\n"


def test_shards_whose_lines_touch_are_stacked_and_others_are_not() -> None:
    groups = [at("a.cc", 0, b"size", "foo"), at("a.cc", 5, b"size", "bar"), at("a.cc", 16, b"size", "baz")]
    assert {s.name: s.bases for s in make_shards(groups, sources={"a.cc": SOURCE})} == {
        "bar": (),
        "foo": ("bar",),
        "baz": (),
    }


def test_a_shard_under_review_stays_the_base(tmp_path: Path) -> None:
    first = ShardNames()
    make_shards([at("a.cc", 5, b"size", "zoo")], sources={"a.cc": SOURCE}, names=first)
    first.save(tmp_path)
    groups = [at("a.cc", 0, b"size", "bar"), at("a.cc", 5, b"size", "zoo")]
    shards = make_shards(groups, sources={"a.cc": SOURCE}, names=ShardNames.load(tmp_path))
    assert {s.name: s.bases for s in shards} == {"bar": ("zoo",), "zoo": ()}


@pytest.mark.parametrize(("by", "names"), [("file", ["x-a.cc", "x-b.cc"]), ("module", ["x"])])
def test_shards_by_place(by: Grouping, names: list[str]) -> None:
    groups = [group("x/a.cc", "f", "foo"), group("x/b.cc", "g", "bar", "foo"), group("x/a.cc", "h", "bar")]
    shards = make_shards(groups, by)
    assert [s.name for s in shards] == names
    assert not any(s.bases for s in shards)


def test_a_large_shard_is_parted_by_files_and_lines_and_parts_keep_their_changes(tmp_path: Path) -> None:
    sources = {f"{name}.cc": SOURCE for name in "abc"}
    groups = [at(path, 0, b"size", "foo", function=path) for path in sources]
    names = ShardNames()
    shards = make_shards(groups, limits=Limits(files=2), sources=sources, names=names)
    assert {s.name: s.paths for s in shards} == {"foo": ("a.cc", "b.cc"), "foo-2": ("c.cc",)}
    assert [s.paths for s in make_shards(groups, limits=Limits(lines=2), sources=sources)] == [
        ("a.cc",), ("b.cc",), ("c.cc",)
    ]  # fmt: skip
    names.save(tmp_path)
    again = make_shards(groups[1:], limits=Limits(files=2), sources=sources, names=ShardNames.load(tmp_path))
    assert {s.name: s.paths for s in again} == {"foo": ("b.cc",), "foo-2": ("c.cc",)}


def test_a_change_that_cannot_be_parted_stays_whole() -> None:
    sources = {"a.cc": SOURCE, "b.cc": SOURCE}
    pair = Group(at("a.cc", 0, b"size", "foo").findings + at("b.cc", 0, b"size", "foo").findings)
    (shard,) = make_shards([pair], limits=Limits(files=1), sources=sources)
    assert shard.paths == ("a.cc", "b.cc")


def test_what_a_branch_holds_is_its_shards_and_its_bases() -> None:
    groups = [group("a.cpp", "foo", "foo"), group("c.cpp", "shape_of", "foo", "bar"), group("d.cpp", "o", "other")]
    shards = {s.name: s for s in make_shards(groups)}
    assert {g.paths for g in closure(shards["foo"], shards)} == {("a.cpp",), ("c.cpp",)}
