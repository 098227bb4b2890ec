"""What may catch the exception of a branch, in whose place a check would raise another one."""

from __future__ import annotations

import pytest

from codemod.fix.catching import Callers, guard_around, names_around, parsed, raised_by
from codemod.fix.checks import check_at


def in_function(body: str) -> int:
    source = f"import torch\ndef f(a, b):\n{body}"
    line = 1 + source[: source.index("if a")].count("\n")
    check = check_at("case.py", source.encode(), line)
    assert check is not None
    return check.caught


def test_the_function_itself_may_catch_it() -> None:
    branch = "        if a != b:\n            raise ValueError\n"
    assert in_function(f"    try:\n{branch}    except ValueError:\n        return None\n") == 3
    assert in_function(f"    try:\n{branch}    except (KeyError, RuntimeError):\n        return None\n") == 3
    assert in_function(f"    try:\n{branch}    except Own:\n        return None\n") == 3
    assert in_function(f"    try:\n{branch}    finally:\n        return None\n") == 3
    assert in_function(f"    with own():\n{branch}") == 3
    assert not in_function(f"    try:\n{branch}    except (KeyError, ImportError):\n        return None\n")
    assert not in_function(f"    try:\n{branch}    finally:\n        b = a\n")
    assert not in_function(f"    try:\n        a += 1\n    except ValueError:\n{branch}")
    assert not in_function(f"    with torch.no_grad():\n{branch}")


CALLS = """
def needed(a, b): pass

def other(a):
    {call}

def pick(a):
    try:
        {inner}
    except {kind}:
        return None
"""


def caught(call: str, inner: str, kind: str = "ValueError", raised: type[BaseException] | None = ValueError) -> bool:
    files = {"case.py": CALLS.format(call=call, inner=inner, kind=kind).encode(), "tests/test_it.py": TEST}
    return Callers(files).catching(("needed",), raised) == "case.py:8"


TEST = b"def test_it():\n    with pytest.raises(ValueError):\n        needed(1, 2)\n"


def test_a_caller_may_catch_it() -> None:
    assert caught("pass", "needed(a, 1)")
    assert caught("return needed(a, 1)", "return module.other(a)")
    assert caught("pass", "map(needed, a)")
    assert caught("pass", "needed(a, 1)", "Exception", None)
    assert not caught("return needed(a, 1)", "return a")
    assert not caught("pass", "needed(a, 1)", "KeyError")
    assert not caught("pass", "needed(a, 1)", "KeyboardInterrupt", None)


@pytest.mark.parametrize("line", ["from case import needed as n", "n = torch.compile(needed)", "n = {1: needed}"])
def test_another_name_of_the_function_is_followed(line: str) -> None:
    source = f"{line}\ndef g():\n    try:\n        n(1)\n    except ValueError: pass\n".encode()
    assert Callers({"a.py": source}).catching(("needed",), ValueError) == "a.py:3"


@pytest.mark.parametrize("name", ["forward", "__call__", "__iter__"])
def test_who_names_what_runs_by_itself_tells_of_no_call(name: str) -> None:
    """Of a library's modules every other `forward` calls something that somebody tries."""
    source = f"def g(x):\n    try:\n        x.net.{name}(1)\n    except ValueError: pass\n".encode()
    assert not Callers({"a.py": source}).catching((name,), ValueError)
    assert not Callers({"a.py": source + f"def {name}(): needed()\n".encode()}).catching(("needed",), ValueError)
    made = source.replace(f"x.net.{name}".encode(), b"Made")
    assert Callers({"a.py": made}).catching(("__init__", "Made"), ValueError) == "a.py:2"


def test_a_result_is_no_name_of_the_function() -> None:
    source = b"n = needed(1)\ndef g():\n    try:\n        n + 1\n    except ValueError: pass\n"
    assert not Callers({"a.py": source}).catching(("needed",), ValueError)


@pytest.mark.parametrize(("kind", "caught"), [("ValueError", True), ("Exception", False), ("RuntimeError", True)])
def test_code_in_no_function_may_only_tell_the_two_apart(kind: str, caught: bool) -> None:
    source = f"try:\n    needed(1)\nexcept {kind}:\n    pass\n".encode()
    assert bool(Callers({"a.py": source}).catching(("needed",), ValueError)) is caught


def test_managers_that_are_given_exceptions_may_catch_them() -> None:
    source = b"def g():\n    with suppress(ValueError):\n        needed(1)\n"
    assert Callers({"a.py": source}).catching(("needed",), ValueError) == "a.py:2"
    assert not Callers({"a.py": source.replace(b"ValueError", b"KeyError")}).catching(("needed",), ValueError)


TRIED = (
    "def wrap(function):\n    def inner(a):\n        try:\n            return function(a)\n        except {}: pass\n"
)
KEEPS = "class wrap:\n    def __init__(self, f):\n        self.f = f\n    def __call__(self, a):\n        try:\n"
KEEPS += "            return self.f(a)\n        except {}: pass\n"


@pytest.mark.parametrize("wrapper", [TRIED, KEEPS])
@pytest.mark.parametrize(
    "line",
    ["@wrap\ndef needed(a): pass", "@module.wrap(3)\ndef needed(a): pass", "wrap(needed)(1)",
     "def g():\n    wrap(partial(needed, 1))", "def g():\n    wrap(lambda: needed(1))"],
)  # fmt: skip
def test_what_is_passed_the_function_may_catch_it(line: str, wrapper: str) -> None:
    for kind, where in (("ValueError", "b.py"), ("KeyError", "")):
        files = {"a.py": f"{line}\n".encode(), "b.py": wrapper.format(kind).encode()}
        assert Callers(files).catching(("needed",), ValueError).partition(":")[0] == where


def test_what_wraps_another_function_catches_nothing_of_this_one() -> None:
    source = b"@wrap\ndef other(a): pass\ndef needed(a): pass\nneeded(1)\n"
    assert not Callers({"a.py": source, "b.py": TRIED.format("ValueError").encode()}).catching(("needed",), ValueError)


def test_the_function_around_a_line_is_the_innermost() -> None:
    body = b"        try:\n            def g():\n                pass\n        except E: pass\n"
    source = b"class C:\n    def __init__(self):\n" + body
    module = parsed(source)
    assert module is not None
    assert names_around(module, 5) == ("g",)
    assert guard_around(module, 5, ValueError) == 0  # where it is defined it does not run
    assert names_around(module, 6) == ("__init__", "C")
    assert parsed(b"def") is None


@pytest.mark.parametrize(("text", "kind"), [("ValueError", ValueError), ("KeyError(1)", KeyError), ("own.Error", None)])
def test_the_exception_is_known_by_its_name(text: str, kind: type[BaseException] | None) -> None:
    module = parsed(f"if a:\n    raise {text}\n".encode())
    assert module is not None
    (branch,) = module.body
    assert raised_by(branch) is kind  # type: ignore[arg-type]
