"""Which parameters hold what a call passes, by their places, their names and `*args`."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from tests.transforms.python.reach.following import followed
from transforms.python.flow.values import (
    A_NUMBER,
    A_SHAPE,
    A_SIZE,
    A_TENSOR,
    NOTHING,
    SOME_SHAPE,
    SOME_TENSORS,
    Value,
    element,
    join,
)

HEAD = """import torch
from torch.library import register_fake

@register_fake("a::one")
def one(x: torch.Tensor, y: torch.Tensor):
"""


def passed(parameters: str, arguments: str) -> dict[str, Value]:
    """What the parameters of a helper hold that is called once."""
    source = f"{HEAD}    helper({arguments})\n\n\ndef helper({parameters}):\n    return x.shape\n"
    _, functions = followed({"ops.py": source})
    (helper,) = (reached for definition, reached in functions.items() if definition.function.name == "helper")
    return {name: value for name, value in helper.parameters.items() if value != NOTHING}


def test_by_place_and_by_name() -> None:
    assert passed("a, b", "x.shape[0], b=x.shape") == {"a": A_SIZE, "b": A_SHAPE}
    assert passed("a, /, b=2, *, c", "x.shape[0], c=x.shape[1]") == {"a": A_SIZE, "c": A_SIZE}


@pytest.mark.parametrize("parameters", ["*sizes, exact=False", "*sizes, exact", "*sizes, **exact"])
def test_what_is_given_by_place_is_not_for_what_takes_a_name(parameters: str) -> None:
    held = passed(parameters, "x.shape[0], x.shape[1]")
    assert held.keys() == {"sizes"}
    assert element(held["sizes"]) == A_SIZE


@pytest.mark.parametrize(
    ("name", "calls", "held"),
    [
        ("_helper", ["dim=1", "dim=2"], A_NUMBER),
        ("_helper", ["dim=1", "dim=x"], NOTHING),
        ("_helper", ["dim=x", "dim=1"], NOTHING),
        ("_helper", ["dim=y.anything", "dim=1"], NOTHING),
        ("_helper", ["dim=1", "dim=y.anything"], NOTHING),
        ("helper", ["dim=1", "dim=2"], NOTHING),
    ],
)
def test_numbers_are_known_of_what_no_other_file_calls(name: str, calls: list[str], held: Value) -> None:
    lines = "".join(f"    {name}(x, {argument})\n" for argument in calls)
    source = f"{HEAD}{lines}\n\ndef {name}(x, *, dim):\n    return x.size(0) == dim\n"
    _, functions = followed({"ops.py": source})
    (helper,) = (reached for definition, reached in functions.items() if definition.function.name == name)
    assert helper.parameters.get("dim", NOTHING) == held


@pytest.mark.parametrize(
    ("arguments", "held"),
    [
        ("1, x.shape, y.shape", A_SHAPE),
        ("1, x.shape, *(t.shape for t in (x, y))", A_SHAPE),
        ("1, x.shape[0], *y.shape", A_SIZE),
        ("1, x, y", element(SOME_TENSORS)),
        ("1, x, *[y, y]", element(SOME_TENSORS)),
        ("1, x, y.shape[0]", A_TENSOR._replace(sure=False)),
    ],
)
def test_what_follows_the_parameters_is_held_by_the_rest(arguments: str, held: Value) -> None:
    assert element(passed("first, *rest", arguments)["rest"]) == held


@pytest.mark.parametrize(
    ("parameters", "arguments", "held"),
    [
        ("a, b, c", "x.shape, *y.shape", {"a": A_SHAPE, "b": A_SIZE, "c": A_SIZE}),
        ("a, b, c=1, *, d", "x.shape, *y.shape, d=x", {"a": A_SHAPE, "b": A_SIZE, "d": A_TENSOR._replace(sure=False)}),
        ("a, b, c", "*x.shape, x", dict.fromkeys("abc", A_TENSOR._replace(sure=False))),
        ("a", "1, *x.shape", {}),
        (
            "a, b, c, d=1",
            "x, *(1, x.shape, x.shape[0])",
            {"a": A_TENSOR._replace(sure=False), "c": A_SHAPE, "d": A_SIZE},
        ),
        ("a, *rest", "*(1, x.shape[0], 2)", {"rest": SOME_SHAPE}),
        ("a, b", "*unknown, x.shape", {"a": A_SHAPE, "b": A_SHAPE}),
    ],
)
def test_what_is_unpacked_fills_what_has_no_default(parameters: str, arguments: str, held: dict[str, Value]) -> None:
    assert passed(parameters, arguments) == held


def test_an_annotation_says_more_than_calls() -> None:
    assert passed("*rest: torch.Tensor", "x.shape[0]") == {}
    assert passed("*rest: int", "x.shape[0]") == {}


METHODS = """import torch


class Block(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        CALL

    DECORATOR
    def helper(PARAMETERS):
        return n.shape
"""


@pytest.mark.parametrize(
    ("decorator", "parameters", "call"),
    [
        ("", "self, n", "self.helper(x.shape)"),
        ("", "self, n", "Block.helper(self, x.shape)"),
        ("@staticmethod", "n, k", "self.helper(x.shape, 1)"),
        ("@staticmethod", "n, k", "Block.helper(x.shape, 1)"),
        ("@classmethod", "cls, n", "self.helper(x.shape)"),
        ("@classmethod", "cls, n", "Block.helper(x.shape)"),
    ],
)
def test_what_a_method_is_called_on_is_no_argument(decorator: str, parameters: str, call: str) -> None:
    source = METHODS.replace("DECORATOR", decorator).replace("PARAMETERS", parameters).replace("CALL", call)
    _, functions = followed({"model.py": source})
    (helper,) = (reached for definition, reached in functions.items() if definition.function.own_name == "helper")
    assert helper.parameters["n"] == A_SHAPE
    assert set(helper.parameters) == {"n"}


PASSED = {"x": A_TENSOR, "x.shape": A_SHAPE, "x.shape[0]": A_SIZE, "7": NOTHING}


@st.composite
def signatures(draw: st.DrawFn) -> str:
    """The parameters of a function of any form."""
    names = iter("abcdefgh")
    counts = [draw(st.integers(0, 2)) for _ in range(3)]
    before, either, named = ([next(names) for _ in range(count)] for count in counts)
    parts = [*before, *(["/"] if before else []), *either]
    rest = draw(st.sampled_from(["", "*rest", "*"]))
    if named or rest == "*rest":
        parts += [rest or "*"]
    parts += [f"{name}=0" for name in named]
    # Beside `a, /` a keyword `a` is for `**more`: nobody writes that.
    return ", ".join([*parts, *(draw(st.sampled_from([[], ["**more"]])) if not before else [])])


@given(signatures(), st.lists(st.sampled_from(sorted(PASSED)), max_size=5), st.data())
def test_as_python_binds_them(written: str, positional: list[str], data: st.DataObject) -> None:
    exec(f"def helper({written}): pass", (scope := dict[str, Any]()))
    signature = inspect.signature(scope["helper"])
    by_place = [p.name for p in signature.parameters.values() if "POSITIONAL" in p.kind.name and p.name != "rest"]
    if "rest" not in signature.parameters:
        positional = positional[: len(by_place)]
    free = sorted(signature.parameters.keys() - by_place[: len(positional)] - {"rest", "more"})
    names = data.draw(st.lists(st.sampled_from(free), max_size=3, unique=True)) if free else []
    by_name = {name: data.draw(st.sampled_from(sorted(PASSED))) for name in names}
    try:
        bound = signature.bind(*positional, **by_name).arguments
    except TypeError:
        reject()
    wanted = {name: PASSED[text].kind for name, text in bound.items() if isinstance(text, str)}
    wanted["rest"] = join(PASSED[text] for text in bound.get("rest", ())).kind

    split = data.draw(st.integers(0, len(positional)))
    unpacked = [f"*({', '.join(positional[split:])},)"] if positional[split:] else []
    found = passed(
        written, ", ".join([*positional[:split], *unpacked, *(f"{name}={text}" for name, text in by_name.items())])
    )

    kinds = {name: (element(value) if name == "rest" else value).kind for name, value in found.items()}
    assert kinds == {name: kind for name, kind in wanted.items() if kind != "plain"}
