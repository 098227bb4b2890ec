"""What a file calls torch: a file that never names it is not given the name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.transforms.python.conftest import Rewrite

EXTREMUM = "def f(x: Tensor, y: Tensor):\n    return x.new_empty((min(x.shape[0], y.shape[0]),))\n"


@pytest.mark.parametrize(
    ("head", "written"),
    [
        ("import torch\n", "torch.sym_min"),
        ("import torch as t\n", "t.sym_min"),
        ("from helpers import *\n", "(min("),
        ("from helpers import *\n\n@torch.jit.ignore\n", "torch.sym_min"),
        ("if not TYPE_CHECKING:\n    import torch\n", "torch.sym_min"),
        ("if X:\n    with y:\n        import torch as t\n", "t.sym_min"),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    import torch\n", "torch.sym_min"),
        ("if TYPE_CHECKING:\n    import torch\n", "(min("),
        ("if typing.TYPE_CHECKING:\n    import torch\n", "(min("),
        ("def g():\n    import torch\n\n", "(min("),
        ("try:\n    import torch\nexcept ImportError:\n    pass\n", "torch.sym_min"),
        ("import os\n", "(min("),
        ("from torch import Tensor\n", "(min("),
    ],
)
def test_what_the_file_names_is_used(rewrite: Rewrite, head: str, written: str) -> None:
    assert written in rewrite(head + EXTREMUM, torch=False)


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("'Doc.'\n    import torch\n    ", "torch.sym_min"),
        ("import torch as t\n    ", "t.sym_min"),
        ("if g():\n        import torch\n    ", "(min("),
        ("torch = g()\n    ", "(min("),
        ("for torch in y:\n        g()\n    ", "(min("),
    ],
)
def test_a_function_may_import_it_or_take_the_name(rewrite: Rewrite, body: str, written: str) -> None:
    above = "" if "import torch" in body else "import torch\n"
    assert written in rewrite(above + EXTREMUM.replace("return", f"{body}return"), torch=False)


GUARD = "def f(x: Tensor, y: Tensor):\n    if x.numel() == 0:\n        return x.clone()\n    return x * y\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y: Tensor", "guard_or_false: Tensor"),
        ("x * y", "x * guard_or_false(x)"),
        ("    if", "    guard_or_false = 1\n    if"),
    ],
)
def test_a_guard_takes_the_name_of_nothing_else(rewrite: Rewrite, old: str, new: str) -> None:
    own = "def guard_or_false(x):\n    return x * 3\n\n\n"
    assert "import guard_or_false" in rewrite(own + GUARD)
    assert "symbolic_shapes" not in rewrite(own + GUARD.replace(old, new, 1))


@pytest.mark.parametrize(
    "head",
    ["class ValueError(Exception):\n    pass\n", "from errors import ValueError\n", "ValueError = make()\n"],
)
def test_an_exception_of_the_files_own_is_raised_as_it_was(rewrite: Rewrite, head: str) -> None:
    source = f"{head}def f(x: Tensor):\n    if x.size(0) != 2:\n        raise ValueError('two')\n    return x\n"
    written = rewrite(source)
    assert "expect_true(" in written
    assert "_check_value" not in written


@pytest.mark.parametrize("call", ["_check(m == n and m < 9, 'no')", "self._check(m == n and m < 9)"])
@pytest.mark.parametrize("branch", ["", "if m > 2:\n        "])
def test_a_check_of_the_files_own_is_called_as_it_was(rewrite: Rewrite, branch: str, call: str) -> None:
    own = "def _check(ok, text):\n    problems.append(ok)\n\n\n"
    source = f"{own}def f(x: Tensor):\n    m, n = x.shape\n    {branch}{call}\n    return x\n"
    assert call in rewrite(source)
    ours = source.replace("self.", "torch.").replace(" _check", " torch._check").replace("def torch.", "def ")
    assert "sym_and" in rewrite(ours)
    assert "sym_and" in rewrite("from torch import _check\n" + ours.removeprefix(own).replace("torch._", "_"))


OWN = "    n = min(x.shape[0], y.shape[0])\n    return x.new_empty(n, int(x.shape[0] / 2), max(x.shape[-2:]))\n"
PADDED = "    if x.shape[-1] < k:\n        x = F.pad(x, (0, k - x.shape[-1]))\n    return x * 2\n"


@pytest.mark.parametrize(
    ("head", "first", "left"),
    [
        ("", "", ()),
        ("import torch\n\n\ndef min(*args):\n    return 3\n", "", ("min",)),
        ("try:\n    from torch import max\nexcept ImportError:\n    pass\n", "", ("max",)),
        ("from own import (\n    min,\n    max,\n)\n", "", ("min", "max")),
        ("from torch import *\n", "", ("min", "max", "int")),
        ("import fast.round as int\n", "", ("int",)),
        ("if FAST:\n    min = fast_min\n", "", ("min",)),
        ("class Own:\n    def min(self):\n        return 3\n", "", ()),
        ("", "    int = round_up\n", ("int",)),
        ("", "    def max(*args):\n        return 3\n", ("max",)),
        ("", "    from torch import max\n", ("max",)),
    ],
)
def test_what_a_file_calls_like_a_builtin_is_none(rewrite: Rewrite, head: str, first: str, left: tuple[str]) -> None:
    new = rewrite(f"import torch\n{head}\ndef f(x: Tensor, y: Tensor):\n{first}{OWN}", torch=False)
    for name in ("min", "max", "int"):
        assert (f"sym_{name}(" not in new) is (name in left)
    compiled = f"{head}\n@torch.compile\ndef f(x: Tensor, k: int):\n{first}{PADDED}"
    assert ("max(k - x.shape[-1], 0)" in rewrite(compiled, inlined=True, home=None)) is ("max" not in left)


def test_torch_is_not_asked_where_its_name_is_a_parameters(rewrite: Rewrite) -> None:
    source = f"@torch.compile\ndef f(torch, x: Tensor, k: int):\n{PADDED}"
    assert rewrite(source, inlined=True, home=None) == source


@pytest.mark.parametrize("check", ["torch._check", "_check", "self._check", "own._check"])
def test_only_behind_a_check_of_torch_does_its_condition_hold(look: Any, check: str) -> None:
    """What a file gives such a name may collect what is wrong, and go on."""
    first = f"def f(self, x: Tensor):\n    n = x.size(0)\n    {check}"
    empty = f"{first}(n != 0)\n    if n == 0:\n        return x.new_zeros(3)\n    return x.sum(0)\n"
    assert any(finding.edits for finding in look(empty)) is (check == "torch._check")
    fixed = f"{first}(n == 2)\n    if n == 2:\n        return x\n    return x + 1\n"
    assert (look(fixed) == []) is (check == "torch._check")
