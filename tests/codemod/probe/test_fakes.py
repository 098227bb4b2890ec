"""Errors of operators without a fake, in the words of torch."""

from __future__ import annotations

import pytest

from codemod.probe.fakes import lacking, operator_of
from codemod.probe.texts import read_text
from codemod.probe.trace import Frame

CUSTOM = (
    "Traceback (most recent call last):\n"
    "torch._dynamo.exc.TorchRuntimeError: RuntimeError when making fake tensor call\n"
    "  Explanation: Dynamo failed to run FX node with fake tensors: call_function shop.clip(): got RuntimeError("
    "'There was no fake impl registered for <CustomOpDef(shop::clip)>. This is necessary for torch.compile to work.')\n"
    '\nfrom user code:\n   File "/home/u/model.py", line 21, in f\n    return clip(x)\n'
    '  File "/venv/lib/python3.11/site-packages/torch/_library/custom_ops.py", line 863, in __call__\n    return op()\n'
)


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        (CUSTOM, "shop::clip"),
        ("Developer debug context: unsupported operator: shop.clip.default\n", "shop::clip"),
        ("torch._subclasses.fake_tensor.UnsupportedOperatorException: shop.clip.default\n", "shop::clip"),
        (
            "NotImplementedError: shop::clip: attempted to run this operator with Meta tensors, but there was no",
            "shop::clip",
        ),
        (f"{CUSTOM}caught\nTraceback (most recent call last):\nOSError: no data\n", ""),
        ("RuntimeError when making fake tensor call", ""),
    ],
)
def test_the_operator_is_named(text: str, operator: str) -> None:
    assert lacking(text) == (f"{operator}: torch finds no fake of it" if operator else "")


def test_a_text_of_such_an_error_is_an_answer_at_the_programs_line() -> None:
    (answer,) = read_text(CUSTOM).answers
    assert (answer.kind, operator_of(answer.text)) == ("fake", "shop::clip")
    assert answer.place == Frame("/home/u/model.py", 21, "f", "return clip(x)")
    assert operator_of("shop.clip.default: was not there") == "shop::clip"
