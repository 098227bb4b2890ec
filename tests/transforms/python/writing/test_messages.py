"""Messages that a check makes in a lambda say what they said where they were raised."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import pytest

from tests.transforms.python.eager_torch import Sized, run_function

HEAD = "last = None\n\ndef f(x: Tensor, n: int):\n    m = x.size(0)\n"
OF_THE_FRAME = (
    "'%(m)s' % locals()",
    "'{m}'.format(**locals())",
    "str(vars()['m'])",
    "str('m' in dir())",
    "eval('m')",
    "str(exec('m'))",
    "sys._getframe().f_code.co_name",
    "inspect.currentframe().f_code.co_name",
    "inspect.stack()[0].function",
    "f'{(k := m)}'",
)


@pytest.mark.parametrize("message", OF_THE_FRAME)
@pytest.mark.parametrize(
    "form",
    [
        "if m != n:\n        raise ValueError({})",
        "if m != n:\n        last = {}\n        raise ValueError(last)",
        "assert m == n, {}",
        "torch._assert(m == n, {})",
        "if n > 3:\n        assert m == n, {}",
    ],
)
def test_what_depends_on_the_frame_is_made_where_it_was(rewrite: Any, form: str, message: str) -> None:
    source = f"{HEAD}    {form.format(message)}\n    return m\n"
    written = rewrite(source)
    assert "lambda" not in written
    if "torch._assert" not in form:
        assert raised(source) == raised(written)


@pytest.mark.parametrize(
    "message", ["str(vars(n))", "f'{dir(n)}'", "str(torch.stack(n))", "f'{x.shape} {n!r}'", "repr(g(m))"]
)
def test_other_calls_are_made_in_the_check(rewrite: Any, message: str) -> None:
    assert f"lambda: {message}" in rewrite(f"{HEAD}    if m != n:\n        raise ValueError({message})\n    return m\n")


NO_TEXT = ("m", "(m, n)", "None", "3", "g(m)", "KeyError('m')", "[m]", "g('m')", "'m'.split()", "text", "given")
TEXT = ("'m'", "f'{m}'", "'%s' % m", "'m ' + str(m)", "name + ' m'", "'m' if m else 'n'", "' '.join('mn')", "name")
FORMS = ("if m != n:\n        raise ValueError({})", "assert m == n, {}", "if n > 3:\n        assert m == n, {}")


def with_message(form: str, message: str) -> str:
    head = (
        "def g(m):\n    return m\n\ndef f(x: Tensor, n: int, name: str = 'name', given='given'):\n    m = x.size(0)\n"
    )
    return f"{head}    text = None\n    {form.format(message)}\n    return m\n"


@pytest.mark.parametrize("message", NO_TEXT)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_no_text_is_raised_as_it_was(rewrite: Any, form: str, message: str) -> None:
    source = with_message(form, message)
    written = rewrite(source)
    assert "expect_true" in written
    assert "lambda" not in written
    assert raised(source) == raised(written)


@pytest.mark.parametrize("message", TEXT)
@pytest.mark.parametrize("form", FORMS)
def test_text_is_made_in_a_check(rewrite: Any, form: str, message: str) -> None:
    source = with_message(form, message)
    written = rewrite(source)
    assert f"lambda: {message}" in written
    assert raised(source) == raised(written)


@pytest.mark.parametrize("error", ["NotImplementedError", "ValueError()", "AssertionError"])
def test_an_exception_without_message_gets_none(rewrite: Any, error: str) -> None:
    source = f"{HEAD}    if m != n:\n        raise {error}\n    return m\n"
    written = rewrite(source)
    assert "if not expect_true(m == n):" in written
    assert raised(source) == raised(written)


@pytest.mark.parametrize("lines", ["text = text + 'm'", "text, n = n, text", "other = text\n    text = other"])
def test_a_variable_is_text_where_all_that_it_holds_is(rewrite: Any, lines: str) -> None:
    source = f"{HEAD}    text = 'm'\n    {lines}\n    if m != n:\n        raise ValueError(text)\n    return m\n"
    assert ("lambda" in rewrite(source)) == lines.startswith("text = text")


@pytest.mark.parametrize(
    "source",
    [
        (
            "def f(x: Tensor, n: int):\n    global last\n    if x.size(0) != n:\n        last = f'{n}'\n"
            "        raise ValueError(last)\n    return n\n"
        ),
        (
            "def f(x: Tensor, n: int):\n    msg = None\n    try:\n        if x.size(0) != n:\n"
            "            msg = f'{n}'\n            raise ValueError(msg)\n"
            "        return n\n    finally:\n        note(msg)\n"
        ),
        (
            "def f(x: Tensor, n: int):\n    msg = None\n    keep(lambda: msg)\n    if x.size(0) != n:\n"
            "        msg = f'{n}'\n        raise ValueError(msg)\n    return n\n"
        ),
        (
            "def f(x: Tensor, n: int):\n    msg = None\n    def g():\n        nonlocal msg\n        return msg\n"
            "    keep(g)\n    if x.size(0) != n:\n        msg = f'{n}'\n        raise ValueError(msg)\n    return n\n"
        ),
    ],
)
def test_a_message_that_is_read_elsewhere_is_assigned(rewrite: Any, source: str) -> None:
    written = rewrite(source)
    assert "lambda: f" not in written
    assert "expect_true(" in written


def test_each_branch_has_a_message_of_its_own(rewrite: Any) -> None:
    branch = "    if x.size({0}) != n:\n        msg = f'{0}'\n        raise ValueError(msg)\n"
    source = f"def f(x: Tensor, n: int):\n    a, b = x.shape\n{branch.format(0)}{branch.format(1)}    return n\n"
    assert rewrite(source).count("lambda: f") == 2


def test_what_torch_assert_always_made_is_made_always(look: Any) -> None:
    source = f"{HEAD}    torch._assert(m == n, note('rows'))\n    return m\n"
    assert not any(finding.edits for finding in look(source))


@pytest.mark.parametrize("context", ["suppress(ValueError)", "contextlib.suppress(ValueError)", "self.assertRaises(E)"])
def test_what_a_context_manager_catches_decides(look: Any, context: str) -> None:
    source = f"{HEAD}    with {context}:\n        if m != n:\n            raise ValueError('n')\n    return m\n"
    assert [(finding.rule, finding.edits) for finding in look(source)] == [("raise-check", ())]


def raised(source: str) -> str:
    with pytest.raises((ValueError, AssertionError, NotImplementedError)) as info:
        run_function(source, sys=sys, inspect=inspect)(Sized(3), 4)
    return f"{info.type.__name__}: {info.value.args!r}"
