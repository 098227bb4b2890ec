"""What may be written for an operator, and what it stands for."""

from __future__ import annotations

import pytest

from codemod.errors import SymfixError
from codemod.model.findings import Finding, Level, Mode
from codemod.planning.operators import Operators, TreeNames, spelled
from codemod.planning.selection import Selection

FUNCTIONS = {"cross_entropy": ("aten::cross_entropy_loss",), "relu": ("aten::relu_", "aten::relu")}


def finding(line: int, *operators: str, function: str = "f") -> Finding:
    return Finding(
        "a/Loss.cpp", line, line + 1, line, 1, Mode.DIRECT_THROW, "size", Level.SAFE, function, operators, "m"
    )


FINDINGS = [
    finding(1, "aten::cross_entropy_loss"),
    finding(2, "aten::glu_backward"),
    finding(3, "aten::linalg_cond", "aten::linalg_norm", function="at::native::spread"),
    finding(4, "torchvision::nms"),
    finding(5, "aten::add_", "aten::add"),
]
OPERATORS = Operators(FINDINGS, TreeNames(lambda: {"aten::relu", "aten::tensordot"}, lambda: FUNCTIONS))


def lines(written: str) -> list[int]:
    chosen = Selection(ops=OPERATORS.resolve(written, "--op "))
    return [finding.line for group in chosen.groups(FINDINGS) for finding in group.findings]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("cross_entropy_loss", [1]),
        ("aten::cross_entropy_loss", [1]),
        ("cross_entropy", [1]),
        ("F.cross_entropy", [1]),
        ("torch.nn.functional.cross_entropy", [1]),
        ("F.cross_*", [1]),
        ("glu", [2]),
        ("aten::glu", [2]),
        ("torch.linalg.cond", [3]),
        ("linalg.cond", [3]),
        ("torch.linalg.*", [3]),
        ("helper-spread", [3]),
        ("helper-spread-Loss", [3]),
        ("helper-spread-2", [3]),
        ("symfix/helper-spread", [3]),
        ("refs/heads/symfix/helper-spread-Loss", [3]),
        ("symfix/add", [5]),
        ("nms", [4]),
        ("torchvision.ops.nms", [4]),
        ("torch.ops.torchvision.nms.default", [4]),
        ("add", [5]),
        ("add_", [5]),
        ("aten::add.Tensor", [5]),
        ("torch.ops.aten.add.Tensor", [5]),
        ("torch.Tensor.add_", [5]),
        ("aten.add.Tensor", [5]),
        ("relu", []),
        ("F.relu", []),
        ("tensordot", []),
        ("*", [1, 2, 3, 4, 5]),
    ],
)
def test_every_name_of_an_operator_means_it(written: str, meant: list[int]) -> None:
    assert lines(written) == meant


@pytest.mark.parametrize(
    ("written", "close"),
    [
        ("tensordott", "; nearest: tensordot"),
        ("torch.linalg.condd", "; nearest: linalg_cond"),
        ("F.crossentropy", "; nearest: cross_entropy, cross_entropy_loss"),
        ("helper-sprade", "; nearest: helper-spread"),
        ("torchvision::mns", "; nearest: torchvision::nms"),
        ("zz*", ""),
    ],
)
def test_what_is_no_name_is_refused_with_the_nearest(written: str, close: str) -> None:
    with pytest.raises(SymfixError) as error:
        OPERATORS.resolve(written, "--op ")
    assert str(error.value).startswith(f"--op {written}: no operator of this tree has such a name{close}")
    assert close or str(error.value).endswith("name")


def test_what_the_plan_has_is_not_looked_up_in_the_tree() -> None:
    def never() -> frozenset[str]:
        raise AssertionError

    assert Operators(FINDINGS, TreeNames(never, dict)).resolve("glu_backward", "") == ("glu_backward",)


def test_a_dotted_name_is_spelled_as_the_schema_does() -> None:
    assert spelled("torch.fft.rfft") == ("aten::fft_rfft",)
    assert spelled("torch.nn.functional.pad") == ("aten::pad",)
    assert spelled("torch.ops.mylib.f.out") == ("mylib::f.out",)
    assert spelled("add.Tensor")[0] == "add.Tensor"
