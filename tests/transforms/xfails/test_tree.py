"""The entries of a tree about an operator, what would prove them outdated, and their removal shard by shard."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from codemod.model.edits import apply_edits
from codemod.model.xfails import ExpectedFailure, KnowsTests, outdated
from codemod.tree.cache import Cache
from codemod.tree.checkout import Checkout
from codemod.tree.project import CheckoutProject
from transforms.xfails import transform
from transforms.xfails.names import is_about, normal, opinfo_names

PROXY = """
symbolic_failures = {
    xfail('nn.functional.cross_entropy', ''),  # numel()
    xfail('linalg.det'),
}
both_failures = {xfail('linalg.det', 'singular')}

class TestFx(TestCase):
    @ops(op_db, allowed_dtypes=(torch.float,))
    @skipOps('TestFx', 'test_make_fx_exhaustive', both_failures)
    def test_make_fx_exhaustive(self, device, dtype, op):
        pass

    @ops(op_db, allowed_dtypes=(torch.float,))
    @skipOps('TestFx', 'test_make_fx_symbolic_exhaustive', both_failures | symbolic_failures)
    def test_make_fx_symbolic_exhaustive(self, device, dtype, op):
        pass

instantiate_device_type_tests(TestFx, globals(), only_for='cpu')
"""
UNBACKED = 'ops_dde_xfail = {\n    xfail("linalg.det"),\n}\n'
UNBACKED_TESTS = """
from torch.testing._internal.common_ops_unbacked import ops_dde_xfail

DEVICE_TYPE = "cpu"

apply_skip_decorators(op_db, "TestOps", "test_unbacked_op_db", ops_dde_xfail | ops_unbacked_skip)

class TestOps(TestCase):
    @ops(op_db, allowed_dtypes=(torch.float32,))
    def test_unbacked_op_db(self, device, dtype, op):
        pass

instantiate_device_type_tests(TestOps, globals(), only_for=(DEVICE_TYPE,))
"""
FUNCTIONAL = """
def cross_entropy(input, target):
    if has_torch_function(input):
        return handle_torch_function(cross_entropy, (input,))
    return torch._C._nn.cross_entropy_loss(input, target)
"""


@pytest.fixture
def project(tmp_path: Path) -> CheckoutProject:
    files = {
        "test/test_proxy_tensor.py": PROXY,
        "test/test_ops_unbacked.py": UNBACKED_TESTS,
        "torch/testing/_internal/common_ops_unbacked.py": UNBACKED,
        "torch/nn/functional.py": FUNCTIONAL,
        "test/dynamo_expected_failures/TestDet.test_linalg_det": "",
        "test/dynamo_skips/TestDet.test_linalg_det2": "",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(dedent(text))
    return CheckoutProject(Checkout(tmp_path, None), Cache(None))


def found(project: CheckoutProject, *operators: str) -> list[ExpectedFailure]:
    (entries,) = transform().expected_failures(project, [operators])
    return list(entries)


def test_the_functional_that_returns_an_operator(project: CheckoutProject) -> None:
    (entry,) = found(project, "aten::cross_entropy_loss")
    assert entry.checks == ("symbolic:nn.functional.cross_entropy::float32",)
    assert (entry.devices, entry.reason, entry.symbolic) == (("cpu",), "numel()", True)


def test_each_registry_with_what_its_tests_do(project: CheckoutProject) -> None:
    entries = {(entry.registry, entry.variant): entry for entry in found(project, "aten::linalg_det", "linalg_det.out")}
    assert {key: entry.checks for key, entry in entries.items()} == {
        ("symbolic_failures", ""): ("symbolic:linalg.det::float32",),
        ("both_failures", "singular"): (),
        ("ops_dde_xfail", ""): ("unbacked:linalg.det::float32",),
        ("dynamo_expected_failures", ""): (),
        ("dynamo_skips", ""): (),
    }
    assert "test_make_fx_exhaustive" in entries["both_failures", "singular"].why
    assert found(project, "aten::det_lu") == []


def test_two_shards_take_from_one_registry(project: CheckoutProject) -> None:
    knows = transform()
    assert isinstance(knows, KnowsTests)
    families = [["aten::cross_entropy_loss"], ["aten::linalg_det"], ["aten::linalg_det"]]
    groups = [
        [entry for entry in entries if entry.kind in ("xfail", "marker")]
        for entries in knows.expected_failures(project, families)
    ]
    first, second, third = knows.remove(project, groups)
    source = project.read("test/test_proxy_tensor.py")
    edits = [edit for edit in (*first.edits, *second.edits) if edit.path == "test/test_proxy_tensor.py"]
    assert b"both_failures = set()" in apply_edits(source, edits)
    assert b"xfail('linalg.det')," in apply_edits(source, edits)
    assert [why.partition(";")[0] for _, why in second.left] == ["another shard takes the rest of this registry"]
    assert second.deleted == ("test/dynamo_expected_failures/TestDet.test_linalg_det",)
    assert {why for _, why in third.left} == {
        "another shard takes it out",
        "another shard takes the rest of this registry; run symfix again once that has landed",
    }
    assert third.edits == ()


@pytest.mark.parametrize(
    ("checks", "why"),
    [
        ({}, "no evidence"),
        ({"symbolic:linalg.det::float32": ("fails", "fails")}, "still fails"),
        ({"symbolic:linalg.det::float32": ("passes", "passes")}, "passed before"),
        ({"symbolic:linalg.det::float32": ("fails", "absent")}, "passed before"),
        ({"symbolic:linalg.det::float32": ("fails", "passes")}, ""),
    ],
)
def test_only_evidence_outdates(project: CheckoutProject, checks: dict[str, tuple[str, str]], why: str) -> None:
    entries = [entry for entry in found(project, "linalg_det") if entry.registry == "symbolic_failures"]
    gone, kept = outdated(entries, checks)
    assert (gone == entries) == (not why)
    assert all(why in text for _, text in kept)


def test_entries_of_other_devices_stay() -> None:
    checks = {"symbolic:a::float32": ("fails", "passes")}
    for devices in ((), ("cpu", "cuda"), ("cuda",)):
        entry = ExpectedFailure("t.py", 0, 1, 1, "f", "xfail", "a", devices=devices, checks=("symbolic:a::float32",))
        assert outdated([entry], checks)[0] == []


def test_an_entry_is_narrowed_to_the_dtypes_that_still_fail() -> None:
    single, double = "symbolic:a::float32", "symbolic:a::float64"
    entry = ExpectedFailure(
        "t.py", 0, 1, 1, "f", "xfail", "a", devices=("cpu",), dtypes=("float32", "float64"), checks=(single, double)
    )
    ((gone,), kept) = outdated([entry], {single: ("fails", "passes"), double: ("fails", "fails")})
    assert (gone.narrow, gone.title, kept) == (("float32",), "a for float32", [])
    ((whole,), _) = outdated([entry], dict.fromkeys((single, double), ("fails", "passes")))
    assert whole.narrow == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nn.functional.cross_entropy", "cross_entropy"),
        ("linalg.det", "linalg_det"),
        ("aten.equal.default", "equal"),
        ("torch.ops.aten._efficient_attention_forward", "_efficient_attention_forward"),
        ("torch.Tensor.to_sparse", "to_sparse"),
        ("_refs.var", "_refs_var"),
    ],
)
def test_normal_forms(name: str, expected: str) -> None:
    assert normal(name) == expected


def test_variants_share_the_names_of_their_operator() -> None:
    assert opinfo_names(["aten::det.out", "det_backward"], {}) == {"det", "det_backward"}


@pytest.mark.parametrize(
    ("test", "about"),
    [
        ("CpuTests.test_resize_dynamic_shapes", True),
        ("test_resize2", True),
        ("test_resize_as_dynamic_shapes", False),
        ("TestFxCPU.test_make_fx_symbolic_exhaustive_inplace_resize_cpu_float32", True),
        ("TestFxCPU.test_make_fx_symbolic_exhaustive_nn_functional_resize_cpu_float32", True),
        ("TestFxCPU.test_make_fx_exhaustive_nn_functional_no_resize_cpu_float32", False),
    ],
)
def test_tests_about_an_operator(test: str, about: bool) -> None:
    assert is_about(test, frozenset({"resize"})) == about
