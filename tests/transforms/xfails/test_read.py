"""Every syntax of a registry is read, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from transforms.xfails.facts import Entry

Entries = Callable[[str], list[Entry]]

CALLS = """
from common import decorate, ops, skip, skipOps, xfail

base_failures = {
    xfail("cov"),
    skip("item"),  # flaky
    decorate("matmul", decorator=skipIf(ARM, "slow")),
}

symbolic_failures = {
    xfail('pad', 'circular', device_type='cpu', dtypes=(torch.half, torch.float32)),  # numel()
    xfail(
        "trace", ""
    ),  # sizes()
}
symbolic_failures.update({xfail("split", variant_name="list_args")})
segfaults = {skip("norm")}
symbolic_failures.update(segfaults)

class TestFx(TestCase):
    @ops(op_db, allowed_dtypes=(torch.float,))
    @skipOps("TestFx", "test_concrete", base_failures)
    def test_concrete(self, device, dtype, op):
        pass

    @ops(op_db, allowed_dtypes=(torch.float,))
    @skipOps("TestFx", "test_symbolic", base_failures | symbolic_failures.union({xfail("inner")}))
    def test_symbolic(self, device, dtype, op):
        pass

only_for = ("cpu")
instantiate_device_type_tests(TestFx, globals(), only_for=only_for)
"""


def test_calls_in_sets_with_their_scope(entries: Entries) -> None:
    found = {entry.name: entry for entry in entries(CALLS)}
    assert {name: (entry.kind, entry.variant, entry.registry) for name, entry in found.items()} == {
        "cov": ("xfail", "", "base_failures"),
        "item": ("skip", "", "base_failures"),
        "matmul": ("decorate", "", "base_failures"),
        "pad": ("xfail", "circular", "symbolic_failures"),
        "trace": ("xfail", "", "symbolic_failures"),
        "split": ("xfail", "list_args", "symbolic_failures"),
        "norm": ("skip", "", "segfaults"),
        "inner": ("xfail", "", "test_symbolic"),
    }
    assert (found["pad"].devices, found["pad"].dtypes) == (("cpu",), ("float16", "float32"))
    assert found["pad"].reason == "numel()"
    assert found["trace"].reason == "sizes()"


def test_the_tests_that_read_a_registry(entries: Entries) -> None:
    found = {entry.name: entry for entry in entries(CALLS)}
    assert [test.name for test in found["cov"].tests] == ["test_concrete", "test_symbolic"]
    for name in ("pad", "split", "norm", "inner"):
        (test,) = found[name].tests
        assert (test.owner, test.name, test.devices, test.dtypes) == ("TestFx", "test_symbolic", ("cpu",), ("float32",))


def test_test_failures(entries: Entries) -> None:
    found = entries(
        """
        def fails_on_stack(is_skip=False):
            return TestFailure(("cpu_stack",), is_skip=is_skip)

        test_failures = {
            # no loop
            "test_a_dynamic_shapes": TestFailure(("cpu", "cuda")),
            "test_b_dynamic_shapes": TestFailure(("cpu",), is_skip=True),
            "test_c": fails_on_stack(),
            "test_d": fails_on_stack(is_skip=True),
        }
        if ROCM:
            test_failures["test_e"] = TestFailure(("cuda"))
        """
    )
    assert [(entry.name, entry.kind, entry.devices) for entry in found] == [
        ("test_a_dynamic_shapes", "xfail", ("cpu", "cuda")),
        ("test_b_dynamic_shapes", "skip", ("cpu",)),
        ("test_c", "xfail", ("cpu_stack",)),
        ("test_d", "skip", ("cpu_stack",)),
        ("test_e", "xfail", ("cuda",)),
    ]
    assert {entry.names for entry in found} == {"test"}
    assert found[0].reason == "no loop"


def test_operators_with_the_dtypes_that_fail(entries: Entries) -> None:
    found = entries(
        """
        expected_failures = defaultdict(dict)
        expected_failures["cpu"] = {
            "histc": {f16},
            ("norm", "nuc"): {f32, f64},  # no kernel
        }
        if MAC:
            expected_failures["cpu"]["rsqrt"] = {b8}
        dispatch_expected_failures = {
            aten.equal.default: {f32},
            torch.nn.functional.ctc_loss : {f32},
        }
        meta_skips = {torch.svd : {c128}}
        override_kwargs = {"cdist": {"atol": 1}}
        """
    )
    assert [
        (entry.registry, entry.name, entry.variant, entry.kind, entry.devices, entry.dtypes) for entry in found
    ] == [
        ("expected_failures[cpu]", "histc", "", "xfail", ("cpu",), ("float16",)),
        ("expected_failures[cpu]", "norm", "nuc", "xfail", ("cpu",), ("float32", "float64")),
        ("expected_failures[cpu]", "rsqrt", "", "xfail", ("cpu",), ("bool",)),
        ("dispatch_expected_failures", "aten.equal.default", "", "xfail", (), ("float32",)),
        ("dispatch_expected_failures", "torch.nn.functional.ctc_loss", "", "xfail", (), ("float32",)),
        ("meta_skips", "torch.svd", "", "skip", (), ("complex128",)),
    ]


def test_opinfo_decorators_modules_and_bare_names(entries: Entries) -> None:
    found = entries(
        """
        op_db = [
            OpInfo("fill", variant_test_name="scalar", skips=(
                DecorateInfo(unittest.expectedFailure, "TestMeta", "test_symbolic_meta", dtypes=(torch.bool,)),
                DecorateInfo(unittest.skip("slow"), "TestMeta", "test_meta", device_type="cuda"),
                DecorateInfo(toleranceOverride({}), "TestMeta", "test_meta"),
            )),
        ]
        symbolic_module_failures = {
            torch.nn.GroupNorm,  # divmod
        }
        fake_skips = (
            "aminmax",  # failing input
        )
        aliasing_ops = {"view"}
        """
    )
    assert [(entry.name, entry.variant, entry.kind, entry.names) for entry in found] == [
        ("fill", "scalar", "xfail", "operator"),
        ("fill", "scalar", "skip", "operator"),
        ("fill", "scalar", "decorate", "operator"),
        ("torch.nn.GroupNorm", "", "xfail", "module"),
        ("aminmax", "", "skip", "operator"),
    ]
    assert [(test.owner, test.name) for test in found[0].tests] == [("TestMeta", "test_symbolic_meta")]
    assert found[0].dtypes == ("bool",)


@pytest.mark.parametrize("source", ["failures = {xfail('a')", "x = 1\n", "skip('a')\n", "failures = {name, other()}\n"])
def test_what_is_no_registry(entries: Entries, source: str) -> None:
    assert entries(source) == []


def test_the_name_of_a_test_is_that_of_no_registry(entries: Entries) -> None:
    head = "failures = {xfail('a')}\n"
    source = head + "@parametrize('kind', ['add', 'mul'])\ndef test_failures(self, kind):\n    pass\n"
    assert [entry.name for entry in entries(source)] == ["a"]


@pytest.mark.parametrize(
    "source",
    [
        "failures = [\n    'add'\n]\n",
        "x_FAIL: dict[str, str] = dict({('add', 'b'): {f32}})\n",
        "self_skips = base | {('add', 'b'): {f32}}\n",
        "FAILURES['cpu']['add'] = {f32}\n",
        "expected_xfails = base.union({('add', ''): {f32}})\n",
    ],
)
def test_no_registry_is_passed_over_for_its_form(entries: Entries, source: str) -> None:
    assert [entry.name for entry in entries(source)] == ["add"]


@pytest.mark.parametrize("text", ["skip", "skip(", "skip_", "fail:", "xfail( ", "xfail(#", "fail['a']"])
def test_hostile_files_take_no_time(entries: Entries, text: str) -> None:
    assert entries(text * 10_000) == []


def test_a_long_chain_of_sets_and_a_long_elif_are_read_to_the_end(entries: Entries) -> None:
    chain = " | ".join(["{xfail('first')}", *["others"] * 900, "{xfail('last')}"])
    branches = "".join(f"elif SIZE == {index}:\n    pass\n" for index in range(900))
    source = f"failures = {chain}\nif SIZE:\n    pass\n{branches}else:\n    skips = {{skip('inner')}}\n"
    assert [entry.name for entry in entries(source)] == ["first", "last", "inner"]
