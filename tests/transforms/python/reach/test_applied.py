"""What a call of `apply` of a torch.autograd.Function reaches, and what its methods then hold."""

from __future__ import annotations

from typing import Any

import pytest

from tests.transforms.python.reach.following import followed
from transforms.python.flow.values import A_SIZE, A_TENSOR, NOTHING, SOME_TENSORS
from transforms.python.reach.reached import Reached

METHODS = """
    @staticmethod
    def forward(ctx, x, n):
        return x
    @staticmethod
    def backward(ctx, grad):
        return grad, None
"""
CLASS = f"class F(torch.autograd.Function):{METHODS}"
BOTH = {"F.forward", "F.backward"}


def functions_of(**files: str) -> dict[str, Reached]:
    """What is reached, by its name; each file imports torch."""
    sources = {f"{name}.py": f"import torch\n{source}\n" for name, source in files.items()}
    return {definition.function.name: reached for definition, reached in followed(sources)[1].items()}


def compiled(call: str) -> str:
    return f"@torch.compile\ndef use(x, n: torch.SymInt):\n    return {call}\n"


@pytest.mark.parametrize(
    "files",
    [
        {"a": f"{CLASS}{compiled('F.apply(x, n)')}"},
        {"a": f"from torch.autograd import Function\nclass F(Function):{METHODS}{compiled('F.apply(x, n)')}"},
        {"a": f"from torch import autograd as ag\nclass F(ag.Function):{METHODS}{compiled('F.apply(x, n)')}"},
        {"a": f"{CLASS}run = F.apply\n{compiled('run(x, n)')}"},
        {"a": CLASS, "b": f"from a import F as G\n{compiled('G.apply(x, n)')}"},
        {"a": CLASS, "b": f"import a\n{compiled('a.F.apply(x, n)')}"},
        {"a": f"{CLASS}run = F.apply\n", "b": f"from a import run as go\n{compiled('go(x, n)')}"},
        {"a": CLASS, "b": f"from a import F\nrun = F.apply\n{compiled('run(x, n)')}"},
        {"a": CLASS, "b": f"from a import F\nclass G(F):\n    pass\n{compiled('G.apply(x, n)')}"},
        {"a": f"{CLASS}    @classmethod\n    def use(cls, x):\n        return cls.apply(x, 1)\n{compiled('F.use(x)')}"},
    ],
)
def test_apply_runs_forward_and_backward(files: Any) -> None:
    assert functions_of(**files).keys() >= BOTH


@pytest.mark.parametrize(
    "source",
    [
        f"class F:{METHODS}{compiled('F.apply(x, n)')}",
        f"class F(Other.Function):{METHODS}{compiled('F.apply(x, n)')}",
        f"{CLASS}    @staticmethod\n    def apply(x): ...\n{compiled('F.apply(x, n)')}",
        f"{CLASS}{compiled('x.apply(n)')}",
        f"{CLASS}def use(x):\n    return F.apply(x, 1)\n",
    ],
)
def test_no_other_apply_does(source: str) -> None:
    assert functions_of(a=source).keys().isdisjoint(BOTH)


def test_a_class_within_a_function() -> None:
    inner = CLASS.replace("\n", "\n    ")
    found = functions_of(a=f"@torch.compile\ndef use(x):\n    {inner}\n    return F.apply(x, 1)\n")
    assert found.keys() == {"use", "use.F.forward", "use.F.backward"}


@pytest.mark.parametrize(
    ("forward", "call"),
    [
        ("@staticmethod\n    def forward(ctx, x, n): ...", "F.apply(x, n)"),
        ("@classmethod\n    def forward(cls, ctx, x, n): ...", "F.apply(x, n)"),
        ("@staticmethod\n    def forward(x, n): ...\n    @staticmethod\n    def setup_context(ctx, given, output): ...",
         "F.apply(x, n=n)"),
    ],
)  # fmt: skip
def test_the_context_is_none_of_the_arguments(forward: str, call: str) -> None:
    found = functions_of(a=f"class F(torch.autograd.Function):\n    {forward}\n\n# x.shape\n{compiled(call)}")
    held = found["F.forward"].parameters
    assert {name: value for name, value in held.items() if value != NOTHING} == {"n": A_SIZE}
    assert ("F.setup_context" in found) == ("setup_context" in forward)


def test_backward_gets_tensors() -> None:
    found = functions_of(a=f"{CLASS.replace('ctx, grad', 'ctx, grad, *more')}{compiled('F.apply(x, n)')}")
    assert found["F.backward"].parameters == {"grad": A_TENSOR, "more": SOME_TENSORS}
    assert [step.text for step in found["F.backward"].path()] == [
        "use: compiled by @torch.compile",
        "F.forward: called by use",
        "F.backward: goes with F.forward",
    ]


@pytest.mark.parametrize("call", ["F.apply(x, 1)", "run(x, 1)", "F.forward(None, x, 1)"])
def test_what_eager_applies_eager_runs(call: str) -> None:
    source = f"{CLASS}run = F.apply\n{compiled('F.apply(x, n)')}"
    assert not any(reached.eager for reached in functions_of(a=source).values())
    found = functions_of(a=source, b=f"from a import F, run\ndef other(x):\n    return {call}\n")
    assert [found[name].eager for name in ("F.forward", "F.backward")] == [True, "forward" not in call]


def test_what_is_left_to_eager_is_not_reached() -> None:
    source = CLASS.replace(
        "    @staticmethod\n    def backward", "    @staticmethod\n    @torch.compiler.disable\n    def backward"
    )
    assert functions_of(a=f"{source}{compiled('F.apply(x, n)')}").keys() == {"use", "F.forward"}
