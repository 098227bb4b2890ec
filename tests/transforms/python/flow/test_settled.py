"""Questions that a function has asked before: behind a test for symbols, or for a class, there is nothing to ask."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import own_nodes
from transforms.python.flow.sites import sites


def asked(body: str, parameters: str = "x: Tensor, n: SymInt, m: SymInt, k, shape: ShapeType") -> set[str]:
    """What the sites of a function ask, as written."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    function = ast.parse(f"def f({parameters}):\n{lines}").body[0]
    assert isinstance(function, ast.FunctionDef)
    nodes = own_nodes(function)
    return {ast.unparse(site.expression) for site in sites(nodes, Interpreter(function, nodes, {}, {}))}


@pytest.mark.parametrize(
    "test",
    [
        "not has_free_symbols(n)", "not free_symbols(n)", "isinstance(n, int)", "isinstance(n, (int, bool))",
        "isinstance(n, int | bool)", "not isinstance(n, torch.SymInt)", "not isinstance(n, (SymInt, SymFloat))",
        "is_concrete_int(n)", "statically_known_true(n)", "isinstance(n, int) and k",
    ],
)  # fmt: skip
def test_a_question_behind_its_answer_is_none(test: str) -> None:
    assert "int(n)" not in asked(f"y = {test} and int(n)")
    assert "int(n)" not in asked(f"if {test}:\n    y = int(n)")
    assert "int(n)" in asked(f"if {test}:\n    pass\nelse:\n    y = int(n)")
    assert "n > 1" not in asked(f"y = n > 1 if {test} else 0\nif not ({test}):\n    return x\nassert n > 1")
    assert "n > 1" not in asked(f"assert {test}\nif n > 1:\n    return x")
    assert not asked(f"if {test} and n == 0:\n    return x")


@pytest.mark.parametrize(
    "body",
    [
        "if has_free_symbols(n) and n == 0:\n    return x",
        "if not has_free_symbols(m) and n == 0:\n    return x",
        "if not has_free_symbols(n) or n == 0:\n    return x",
        "if n == 0 and not has_free_symbols(n):\n    return x",
        "if isinstance(n, torch.SymInt) and n == 0:\n    return x",
        "if isinstance(n, (int, torch.SymInt)) and n == 0:\n    return x",
        "if isinstance(n, int):\n    n = x.shape[0]\n    if n == 0:\n        return x",
        "for i in k:\n    if n == 0:\n        return x\n    n = x.shape[0]\nassert isinstance(n, int)",
        "if isinstance(n, int):\n    for i in k:\n        if n == 0:\n            return x\n        n = x.shape[i]",
        "if isinstance(n, int):\n    pass\nif n == 0:\n    return x",
        "if isinstance(n, int):\n    m = 1\nassert n == 0",
    ],
)
def test_a_question_is_open_where_the_answer_does_not_reach(body: str) -> None:
    assert any("n == 0" in question for question in asked(body))


def test_all_that_a_shape_holds_may_be_asked_at_once() -> None:
    assert not asked("if all(isinstance(s, int) for s in shape):\n    assert shape[0] == 1")
    assert not asked("if not any(has_free_symbols(s) for s in shape):\n    assert shape[0] == 1")
    assert asked("if any(isinstance(s, int) for s in shape):\n    assert shape[0] == 1")
    assert asked("if all(isinstance(s, int) for s in shape if s > 1):\n    assert shape[0] == 1")


def test_a_tensor_without_symbols_has_sizes_without_symbols() -> None:
    assert not asked("if not has_free_symbols(x):\n    assert x.shape[0] == x.numel()")
    assert asked("if not has_free_symbols(x.shape[0]):\n    assert x.shape[1] == 1") == {"x.shape[1] == 1"}


def test_an_assignment_ends_what_is_settled_and_its_own_value_is_before_it() -> None:
    body = "if not has_free_symbols(n):\n    n = int(n)\n    y = int(n * x.numel())"
    assert asked(body) == {"int(n * x.numel())"}


@pytest.mark.parametrize("classes", ["list", "(list, tuple)", "(int, list)"])
def test_a_parameter_that_is_asked_to_be_a_list_is_no_tensor_there(classes: str) -> None:
    assert not asked(f"if isinstance(x, {classes}):\n    assert len(x) == 1\n    x = x[0]")
    assert asked("if isinstance(x, (list, Tensor)):\n    return len(x)") == {"len(x)"}


def test_a_size_that_tracing_makes_a_tensor_of_is_a_size_still() -> None:
    assert asked("h = n.div(2) if isinstance(n, torch.Tensor) else n // 2\nassert h == 1") == {"h == 1"}


def test_many_tests_take_time_that_grows_as_they_do() -> None:
    def steps(count: int) -> int:
        import sys

        total = 0

        def profile(_frame: Any, event: str, _argument: Any) -> None:
            nonlocal total
            total += event == "call"

        source = " and ".join(f"isinstance(a{index}, int)" for index in range(count))
        function = ast.parse(f"def f(x):\n    if {source}:\n        pass\n").body[0]
        assert isinstance(function, ast.FunctionDef)
        nodes = own_nodes(function)
        sys.setprofile(profile)
        try:
            Interpreter(function, nodes)
        finally:
            sys.setprofile(None)
        return total

    assert steps(400) < 3 * steps(200)


@pytest.mark.parametrize(
    "check",
    [
        "torch._check(n == m)", "torch._check(n == m, lambda: 'no')", "torch._check_value(k and n == m)",
        "torch._check_with(AssertionError, n == m)", "torch._check(sym_and(m > 2, n == m))",
    ],
)  # fmt: skip
def test_what_was_checked_is_not_asked_again(check: str) -> None:
    assert "n == m" not in asked(f"{check}\nassert n == m\nreturn x")
    assert "n == m" not in asked(f"{check}\nif k:\n    assert n == m\nreturn x")
    assert "n == m" in asked(f"assert n == m\n{check}")
    assert "n == m" in asked(f"if k:\n    {check}\nassert n == m")
    assert "n == m" in asked(f"{check}\nn = x.size(0)\nassert n == m")
    assert "m == n" in asked(f"{check}\nassert m == n")


def test_a_size_is_an_element_of_the_shape() -> None:
    assert not asked("torch._check(x.size(0) == 1)\nassert x.shape[0] == 1")
    assert not asked("torch._check(x.shape[-1] < k.size()[0])\nassert x.size(-1) < k.shape[0]")
    assert asked("torch._check(x.size(1) == 1)\nassert x.shape[0] == 1")
    assert asked("torch._check(x.size(0) == 1)\nx = x.t()\nassert x.shape[0] == 1")


def test_one_of_two_is_not_known_where_either_was_checked() -> None:
    assert "n == m" in asked("torch._check(n == m or k)\nassert n == m")
    assert "n == m" in asked("torch._check(sym_or(n == m, n > 2))\nassert n == m")
