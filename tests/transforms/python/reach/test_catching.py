"""Who may catch what a function raises: then a check that is made when the code runs comes too late."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.transforms.cpp.snippets import MemoryProject
from transforms.python.transform import PythonTransform

HELPER = "def same(x: Tensor, y: Tensor):\n    if x.size(0) != y.size(0):\n        raise ValueError('sizes differ')\n"
FAKE = "\n\n@torch.library.register_fake('own::f')\ndef f(x: Tensor, y: Tensor):\n"
CALLED = "    try:\n        same(x, y)\n    except {}:\n        {}\n    return x.new_empty(y.shape)\n"
TAKEN = [
    "    try:\n        same(x, y)\n    finally:\n        return x\n",
    "    with suppress(ValueError):\n        same(x, y)\n    return x\n",
    "    with contextlib.suppress(KeyError, Exception):\n        same(x, y)\n    return x\n",
    "    try:\n        each(same, x, y)\n    except (KeyError, ValueError):\n        return x\n    return y\n",
    "    def inner():\n        same(x, y)\n" + CALLED.replace("same(x, y)", "inner()").format("ValueError", "return x"),
    *(CALLED.format(kind, "return x") for kind in ("ValueError", "Exception", "errors.Own", "(KeyError, ValueError)")),
    CALLED.format("ValueError", "if x.dim():\n            return x\n        raise"),
]
LEFT = [
    "    same(x, y)\n    return x\n",
    "    try:\n        x = x.t()\n    except ValueError:\n        same(x, y)\n    return x\n",
    "    with suppress(KeyError):\n        same(x, y)\n    return x\n",
    "    try:\n        same(x, y)\n    finally:\n        print()\n    return x\n",
    CALLED.format("KeyError", "return x"),
    CALLED.format("ValueError as error", "raise TypeError from error"),
]


def edited(tmp_path: Path, body: str, helper: str = HELPER) -> bool:
    """Whether the helper's branch becomes a check."""
    source = f"import contextlib\nfrom contextlib import suppress\n\nimport torch\n\n\n{helper}{FAKE}{body}"
    found = PythonTransform().analyse(MemoryProject(tmp_path, {"own/a.py": source}, tmp_path / "none.yaml"))
    return any(finding.edits and finding.rule == "raise-check" for finding in found)


@pytest.mark.parametrize("body", TAKEN)
def test_what_a_caller_may_catch_is_asked_while_tracing(tmp_path: Path, body: str) -> None:
    assert not edited(tmp_path, body)
    deeper = HELPER.replace("same", "deep") + "\n\ndef same(x, y):\n    deep(x, y)\n"
    assert not edited(tmp_path, body, deeper)


@pytest.mark.parametrize("body", LEFT)
def test_what_no_caller_catches_is_a_check(tmp_path: Path, body: str) -> None:
    assert edited(tmp_path, body)


@pytest.mark.parametrize(("kind", "left"), [("ValueError", True), ("KeyError", False)])
def test_the_caller_of_a_method_may_be_in_a_class_above(tmp_path: Path, kind: str, left: bool) -> None:
    calling = CALLED.format(kind, "return x").replace("same(", "self.same(")
    body = textwrap.indent(f"@torch.compile\ndef f(self, x: Tensor, y: Tensor):\n{calling}", "    ")
    method = textwrap.indent(HELPER.replace("(x", "(self, x"), "    ")
    source = f"import torch\nfrom torch import Tensor\n\n\nclass Base:\n{body}\n\nclass Own(Base):\n{method}"
    found = PythonTransform().analyse(MemoryProject(tmp_path, {"own/a.py": source}, tmp_path / "none.yaml"))
    assert [bool(finding.edits) for finding in found if finding.rule == "raise-check"] == [not left]


@pytest.mark.parametrize("body", [*TAKEN, *LEFT])
def test_what_the_function_itself_catches(tmp_path: Path, body: str) -> None:
    statement = "if x.size(0) != y.size(0):\n    raise ValueError('sizes differ')\n"
    for called in ("same(x, y)", "each(same, x, y)"):
        lines = [line for line in body.splitlines(keepends=True) if line.strip() == called]
        for line in lines:
            indent = " " * (len(line) - len(line.lstrip()))
            inlined = body.replace(line, "".join(indent + part for part in statement.splitlines(keepends=True)))
            if "def inner" not in body:
                assert edited(tmp_path, inlined, "") is (body in LEFT)


ATTEMPT = (
    "def attempt(function, *args):\n    try:\n        return function(*args)\n    except {}:\n        return args[0]\n"
)
WRAP = """
def wrap(function):
    def inner(*args):
        try:
            return function(*args)
        except {}:
            return args[0]
    return inner
"""
MAKER = (
    f"\ndef maker(n):\n{''.join('    ' + line for line in WRAP.lstrip().splitlines(keepends=True))}    return wrap\n"
)
CLASS = """
class Wrap:
    def __init__(self, function):
        self.function = function
    def __call__(self, *args):
        try:
            return self.function(*args)
        except {}:
            return args[0]
"""
GUARD = """
class Guard:
    def __enter__(self):
        return self
    def __exit__(self, kind, value, traceback):
        return {}
"""
GENERATOR = "\n@contextlib.contextmanager\ndef guard():\n    try:\n        yield\n    except {}:\n        print()\n"
PLAIN = "    same(x, y)\n    return x\n"
WITHIN = "    with {}:\n        same(x, y)\n    return x\n"


def decorated(by: str) -> str:
    return f"\n\n@{by}\n{HELPER}"


@pytest.mark.parametrize(
    ("helper", "body"),
    [
        (HELPER + ATTEMPT, "    return attempt(same, x, y)\n"),
        (HELPER + ATTEMPT, "    return attempt(partial(same, x), y)\n"),
        (HELPER + ATTEMPT, "    same(y, x)\n    return attempt(lambda: same(x, y))\n"),
        (WRAP + decorated("wrap"), PLAIN),
        (MAKER + decorated("maker(1)"), PLAIN),
        (CLASS + decorated("Wrap"), PLAIN),
        (HELPER + WRAP, "    same(x, y)\n    again = wrap(same)\n    return again(x, y)\n"),
        (HELPER + GENERATOR, WITHIN.format("guard()")),
        (
            HELPER,
            "    for each in (same, len):\n        try:\n            each(x, y)\n        except {}:\n            pass\n"
            + PLAIN,
        ),
    ],
)
def test_what_is_passed_a_function_may_catch_what_it_raises(tmp_path: Path, helper: str, body: str) -> None:
    for kind in ("ValueError", "KeyError"):
        assert edited(tmp_path, body.replace("{}", kind), helper.replace("{}", kind)) is (kind == "KeyError")


@pytest.mark.parametrize(
    ("manager", "returned", "left"),
    [
        ("Guard()", "kind is ValueError", False),
        ("Guard()", "None", True),
        ("Guard()", "False", True),
        ("torch.no_grad()", "", True),
        ("contextlib.nullcontext()", "", True),
        ("open('f')", "", True),
        ("unknown", "", False),
        ("made[0]", "", False),
    ],
)
def test_a_manager_ends_nothing_where_that_is_known(tmp_path: Path, manager: str, returned: str, left: bool) -> None:
    guard = GUARD.format(returned or "None")
    assert edited(tmp_path, WITHIN.format(manager), HELPER + guard) is left
    inlined = f"    with {manager}:\n        if x.size(0) != y.size(0):\n            raise ValueError\n    return x\n"
    assert edited(tmp_path, inlined, guard) is left


def test_a_wrapper_of_another_file_is_found(tmp_path: Path) -> None:
    for kind in ("ValueError", "KeyError"):
        source = f"import torch\nfrom own.b import wrap\n\n{decorated('wrap')}{FAKE}{PLAIN}"
        files = {"own/a.py": source, "own/b.py": WRAP.format(kind), "own/__init__.py": ""}
        found = PythonTransform().analyse(MemoryProject(tmp_path, files, tmp_path / "none.yaml"))
        assert any(f.edits and f.rule == "raise-check" for f in found) is (kind == "KeyError")
