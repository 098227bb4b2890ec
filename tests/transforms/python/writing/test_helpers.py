"""Code that more than tracing runs is written with helpers, which stand once in a tree and cost a bool nothing."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from codemod.model.edits import apply_edits
from transforms.python.writing.helpers import HELPERS, HOME, SHAPE_HELPERS, SOURCE, home_of

BRANCH = "def f(x: Tensor, y: Tensor):\n    if x.numel() == 0:\n        return x.clone()\n    return x.exp()\n"
IMPORTS = "from collections.abc import Sequence\nfrom typing import Any, TYPE_CHECKING\n"
HELD = "import torch\n" + IMPORTS + SOURCE


def helper_edits(findings: Any) -> set[Any]:
    return {edit for finding in findings for edit in finding.edits if edit.path == HOME}


@pytest.mark.parametrize("who", [{"eager": True}, {"scripted": True}, {"sympy": True}])
def test_code_that_others_run_too_asks_the_helper(rewrite: Any, look: Any, who: dict[str, bool]) -> None:
    assert "if torch._prims_common.sym_guard_or_false(x.numel() == 0):" in rewrite(BRANCH, **who)
    (edit,) = helper_edits(look(BRANCH, **who))
    assert apply_edits(b"import torch\n", [edit]).decode() == HELD
    assert not helper_edits(look(BRANCH))


def test_helpers_stand_once(rewrite: Any, look: Any) -> None:
    twice = BRANCH + BRANCH.replace("def f", "def g")
    assert len(helper_edits(look(twice, eager=True))) == 1
    assert not helper_edits(look(twice, eager=True, home=HELD.encode()))
    assert "if sym_guard_or_false(" in rewrite(BRANCH, path=HOME, eager=True)
    aliased = "import torch._prims_common as utils\n\n\n" + BRANCH
    assert "if utils.sym_guard_or_false(" in rewrite(aliased, eager=True)


@pytest.mark.parametrize("home", [None, b"def sym_guard_or_true(): ...\n", b"import (\n", b"import torch"])
def test_without_a_place_for_helpers_eager_code_is_left(look: Any, home: bytes | None) -> None:
    (finding,) = look(BRANCH, eager=True, home=home)
    assert not finding.edits
    assert "eager" in finding.reason


def test_helpers_keep_newlines_of_their_file() -> None:
    home = home_of(HOME, b"import torch\r\n")
    assert home is not None
    (edit,) = home.edits()
    assert b"\n" not in edit.new.replace(b"\r\n", b"")


def symbolic(name: str) -> Any:
    methods = {"__rand__": lambda self, left: self, "__eq__": lambda self, right: Bool(), "__hash__": None}
    return type(name, (), {**methods, "__and__": methods["__rand__"]})


Bool, Int = symbolic("SymBool"), symbolic("SymInt")


class FakeTorch(types.SimpleNamespace):
    """torch with the symbolic types above, and what is asked of it."""

    def __init__(self, dynamo: bool = False) -> None:
        self.checked: list[Any] = []
        super().__init__(
            SymBool=Bool,
            SymInt=Int,
            Tensor=object,
            jit=types.SimpleNamespace(is_scripting=lambda: False),
            compiler=types.SimpleNamespace(is_dynamo_compiling=lambda: dynamo),
            _check=lambda condition: self.checked.append(condition),
        )


def helpers(torch: FakeTorch) -> dict[str, Any]:
    names: dict[str, Any] = {"torch": torch, "TYPE_CHECKING": False}
    exec(compile(SOURCE, "helpers", "exec"), names)
    return names


@pytest.mark.parametrize("value", [True, False, 3, object(), "a proxy"])
def test_a_helper_gives_back_what_is_no_symbol(value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.fx.experimental.symbolic_shapes", None)  # an import would fail
    torch = FakeTorch()
    for name in ("sym_guard_or_false", "sym_guard_or_true", "sym_expect_true"):
        assert helpers(torch)[name](value) is value
    for name in ("sym_shape_eq", *SHAPE_HELPERS.values()):
        assert helpers(torch)[name]((1, 2), (1, 2)) is True
        assert helpers(torch)[name]((1, 2), [1, 2]) is False
    assert not torch.checked


def test_shapes_of_traced_tensors_are_compared_as_they_were() -> None:
    class Traced:
        """A size while torch.jit.trace runs: it may be compared, and nothing may be computed of the outcome."""

        def __eq__(self, size: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    for name in ("sym_shape_eq", *SHAPE_HELPERS.values()):
        assert helpers(FakeTorch())[name]((Traced(), 2), (Traced(), 2)) is True
        assert helpers(FakeTorch())[name]((Traced(), 2), (Traced(),)) is False


@pytest.mark.parametrize("dynamo", [False, True])
def test_a_helper_asks_symbolic_shapes_about_symbols(dynamo: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def guard(name: str, default: bool, condition: object) -> bool:
        asked.append(name)
        return default

    guards = types.SimpleNamespace(
        guard_or_false=functools.partial(guard, "false", False), guard_or_true=functools.partial(guard, "true", True)
    )
    monkeypatch.setitem(sys.modules, "torch.fx.experimental.symbolic_shapes", guards)
    torch, condition = FakeTorch(dynamo), object() if dynamo else Bool()
    names = helpers(torch)
    assert names["sym_guard_or_false"](condition) is False
    assert names["sym_guard_or_true"](condition) is True
    assert names["sym_expect_true"](condition) is True
    assert asked == ["false", "true", "true"]
    assert torch.checked == [condition]
    assert isinstance(names["sym_shape_eq"]((Int(), 2), (2, Int())), Bool)
    asked.clear()
    assert [names[name]((Int(), 2), (2, Int())) for name in SHAPE_HELPERS.values()] == [False, True, True]
    assert asked == ["false", "true", "true"]


def test_every_helper_is_defined() -> None:
    defined = {node.name for node in ast.parse(SOURCE).body if isinstance(node, ast.FunctionDef)}
    assert {*HELPERS.values(), *SHAPE_HELPERS.values()} <= defined


STUB = """
from collections.abc import Iterator
from typing import Any

class Size(tuple[int, ...]): ...

class Tensor:
    shape: Size
    def size(self, dim: int) -> int: ...
    def chunk(self, chunks: int, dim: int) -> tuple[Tensor, ...]: ...
    def split(self, sizes: list[int], dim: int) -> tuple[Tensor, ...]: ...

class SymBool: ...
class SymInt: ...
def __getattr__(name: str) -> Any: ...
"""
CALLER = """
def f(x: torch.Tensor, y: torch.Tensor, known: torch.Tensor | bool, sizes: list[int]) -> bool:
    first, second = sym_chunk(x, 2)
    equal = sym_shape_eq(x.shape[1:], (3, *sizes)) and sym_expect_shape_eq(first.shape, sizes)
    return equal and sym_shape_eq_or_true(x.shape, y.shape) and sym_expect_true(known) and sym_guard_or_false(known)
"""


def test_type_checkers_take_any_sizes_for_those_of_a_helper(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.pyi").write_text(STUB, encoding="utf-8")
    (tmp_path / "home.py").write_text(f"{HELD}\n{CALLER}", encoding="utf-8")
    options = ("--config-file=", "--check-untyped-defs", "--ignore-missing-imports", "--no-site-packages")
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "home.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout) == (0, "Success: no issues found in 1 source file\n")
