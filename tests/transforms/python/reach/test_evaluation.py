"""Expressions that registrations are followed through: each is evaluated once."""

from __future__ import annotations

from typing import Any

import pytest

from transforms.python.reach import evaluation
from transforms.python.reach.reached import reach
from transforms.python.reach.registrations import Registrations
from transforms.python.reach.tree import SourceTree
from transforms.python.reading.extract import extract
from transforms.python.reading.registering import parsed_expression

F = "def f(x):\n    return x\n"


def test_names_that_are_made_of_one_another_are_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated = 0

    def counting(text: str) -> Any:
        nonlocal evaluated
        evaluated += 1
        assert evaluated < 10_000
        return parsed_expression(text)

    monkeypatch.setattr(evaluation, "parsed_expression", counting)
    chain = "".join(f"n{i} = Kind(n{i - 1}, n{i - 1}, n{(i + 1) % 12})\n" for i in range(1, 12))
    source = f"n0 = Kind('my', n11)\n{chain}{F}n11.register_fake('my::op')(n11, f)\n"
    reach(SourceTree({"a.py": extract("a.py", source.encode())}))
    assert evaluated


def test_what_two_calls_make_of_functions_is_told_apart_without_looking_into_them() -> None:
    source = (
        "def made(function):\n    torch.library.register_fake('my::op')(function)\n"
        "    def inner(x):\n        return function(x)\n    return inner\n"
        "def register(function, again):\n    held = made(function)\n    if again:\n        held = made(function)\n"
        "    torch.library.register_fake('my::op')(held)\n"
        "def f(x):\n    return x.new_empty(x.size(0))\n"
        "def setup(again):\n    register(lambda x: f(x), again)\n"
        "setup(flag)\n"
    )
    tree = SourceTree({"m.py": extract("m.py", f"import torch\n{source}".encode())})
    assert {role.operator for roles in Registrations(tree).roles.values() for role in roles} == {"my::op"}
