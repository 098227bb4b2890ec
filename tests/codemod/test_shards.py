import pytest

from codemod.edits import Edit
from codemod.findings import Finding, Level, Mode
from codemod.groups import Group
from codemod.shards import family, make_shards


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
