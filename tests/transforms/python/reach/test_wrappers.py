"""Decorators run where a function is defined, what they make of it where it is called."""

from __future__ import annotations

import pytest

from tests.transforms.python.reach.following import followed

NET = """import torch
from made import made
class Net(torch.nn.Module):
    @{0}
    def forward(self, x):
        return x
"""


def reached(decorator: str, made: str) -> set[str]:
    """What is reached of a file that makes the decorator of a module's forward."""
    sources = {"net.py": NET.format(decorator), "made.py": f"import torch\n{made}"}
    return {definition.function.name for definition in followed(sources)[1] if definition.path == "made.py"}


WRAPPER = "def made(f):\n    check(f)\n    def inner(x):\n        return f(size(x))\n    return inner\n"
FACTORY = """def made(a):
    def outer(f):
        check(a)
        def inner(x):
            return f(size(x))
        return inner
    return outer
"""
HELPERS = "def check(a):\n    return a.shape[0]\ndef size(x):\n    return x\n"


@pytest.mark.parametrize(
    ("decorator", "made", "found"),
    [
        ("made", WRAPPER, {"made.inner", "size"}),
        ("made(1)", FACTORY, {"made.outer.inner", "size"}),
        ("made", WRAPPER.replace("f(size(x))", "run(f, size(x))"), {"made.inner", "size"}),
        ("made", "def made(f):\n    def inner(f):\n        return f(check(f))\n    return inner(f)\n", set()),
        (
            "made",
            "def made(f=None, a=1):\n    def inner(f):\n        return check(f, a=a)\n    return inner(f)\n",
            set(),
        ),
        ("made(1)", "def made(a):\n    check(a)\n    return lambda f: f\n", set()),
        ("made.other", WRAPPER, set()),
    ],
)
def test_a_wrapper_is_reached_and_what_makes_it_is_not(decorator: str, made: str, found: set[str]) -> None:
    assert reached(decorator, made + HELPERS) == found


def test_the_way_names_the_decorator() -> None:
    sources = {"net.py": NET.format("made"), "made.py": f"import torch\n{WRAPPER}{HELPERS}"}
    functions = {d.function.name: found for d, found in followed(sources)[1].items()}
    assert [step.text for step in functions["size"].path()] == [
        "Net.forward: the forward of a module",
        "made.inner: made by @made of Net.forward",
        "size: called by made.inner",
    ]
