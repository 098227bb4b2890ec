"""The checks that stand for expected failures, on entries of our own and on one of PyTorch's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="no torch in this environment")
pytest.importorskip("expecttest", reason="PyTorch's samples need expecttest")

from codemod.prove.regression import make_test  # noqa: E402
from codemod.runner import checks, opinfo, sizes, subjects  # noqa: E402

REPRO = """
import torch
sizes = (2, 3, 5)
def inputs(n):
    return (torch.ones(n),)
def operator(x):
    return BODY
"""


def entry(function: Any, **more: Any) -> SimpleNamespace:
    def samples(device: str, dtype: Any, requires_grad: bool) -> list[Any]:
        tensors = [torch.ones(n, dtype=dtype, requires_grad=requires_grad) for n in (2, 3)]
        return [SimpleNamespace(input=tensor, args=(), kwargs={}, broadcasts_input=False) for tensor in tensors]

    return SimpleNamespace(
        name="foo", variant_test_name="", op=function, sample_inputs=samples, supports_out=False,
        supports_autograd=True, supported_dtypes=lambda device: {torch.float32}, get_inplace=lambda: None, **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "function", "ends"),
    [
        ("symbolic", lambda x: x * x.shape[0], "passes"),
        ("symbolic", lambda x: x if x.sum() > 2 else -x, "fails"),
        ("symbolic-inplace", lambda x: x, "absent"),
        ("symbolic-out", lambda x: x, "absent"),
        ("aot-symbolic", lambda x: x * x.shape[0], "passes"),
        ("unbacked", lambda x: x * 2, "passes"),
        ("unbacked", lambda x: x.sum() * torch.ones(1), "passes"),
        ("unbacked", lambda x: x * 2 if x.shape[0] == 1 else x, "fails"),
    ],
)
def test_how_a_check_ends(monkeypatch: pytest.MonkeyPatch, kind: str, function: Any, ends: str) -> None:
    monkeypatch.setattr(opinfo, "entries", lambda: (entry(function),))
    assert checks.check(f"{kind}:foo::float32")[0] == ends
    assert checks.check(f"{kind}:foo:variant:float32")[0] == "absent"
    assert checks.check(f"{kind}:foo::float64")[0] == "absent"


@pytest.mark.filterwarnings("ignore")
def test_an_entry_of_pytorchs() -> None:
    assert checks.check("symbolic:trace::float32") == ("passes", "")


@pytest.mark.parametrize(
    ("body", "frames", "ends"),
    [("x + x.shape[0]", 1, "passes"), ("x if x.sum() > 2 else -x", 1, "fails"), ("x + 1", 2, "fails")],
)
def test_a_regression_test_counts_frames(body: str, frames: int, ends: str) -> None:
    assert checks.test(make_test("foo", REPRO.replace("BODY", body), frames, "aot_eager")) == ends


def test_an_entry_goes_by_its_aliases() -> None:
    assert [str(entry.name) for entry in opinfo.named("absolute")] == ["abs"]
    assert subjects.chosen(["special.expit"]) == subjects.chosen(["aten::special_expit"]) == ["sigmoid"]


def test_other_sizes_of_a_dtype_without_kernels_are_left_out() -> None:
    plain, unsigned = torch.arange(6.0).reshape(2, 3), torch.zeros(2, dtype=torch.uint16)
    changed = {label: inputs[0].shape for label, inputs in sizes.others([plain])}
    assert changed["2 becomes 0"] == (0, 3)
    assert changed["all are 16"] == (16, 16)
    assert [label for label, _ in sizes.others([unsigned]) if label == "2 becomes 3"] == []
