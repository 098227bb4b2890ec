"""Where an import goes, and in which order its names stand."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import pytest

from codemod.model.edits import Edit, apply_edits
from transforms.python.writing.names import Layout, Names, TopLevel
from transforms.python.writing.style import Style

IMPORT = "from torch.fx.experimental.symbolic_shapes import"
BODY = "def f(x):\n    {}if x:\n        return x\n    return x + 1\n"
NEW = f"{IMPORT} guard_or_false, sym_eq\n"


def imported(source: str, path: str = "models/net.py", limit: int = 88) -> str:
    """A source in whose function `guard_or_false` and `sym_eq` are made known."""
    tree, layout = ast.parse(source), Layout(source.encode())
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    names = Names(TopLevel(tree, source.encode()), [function], path)
    insertions = names.imports(layout, {"guard_or_false", "sym_eq"}, Style(limit).fits)
    edits = [Edit(path, start, end, layout.source[start:end], text.encode()) for start, end, text in insertions]
    return apply_edits(layout.source, edits).decode()


@pytest.mark.parametrize(
    ("head", "written"),
    [
        ("import torch\n", f"import torch\n{NEW}"),
        ("import numpy\nimport torch\nfrom numpy import array\n",
         f"import numpy\nimport torch\nfrom numpy import array\n{NEW}"),
        ("import torch\nfrom torch import nn\nfrom transformers import Net\n",
         f"import torch\nfrom torch import nn\n{NEW}from transformers import Net\n"),
        ("import torch\nfrom zarr import a\nfrom torch import nn\n",
         f"import torch\nfrom zarr import a\nfrom torch import nn\n{NEW}"),
        ("import math\n\nimport torch  # why\n\nfrom models import net\n",
         f"import math\n\nimport torch  # why\n{NEW}\nfrom models import net\n"),
        ("import math\n\nfrom models import net\nfrom . import layers\n",
         f"import math\n\n{NEW}\nfrom models import net\nfrom . import layers\n"),
        ("from .layers import torch\n", f"{NEW}\nfrom .layers import torch\n"),
        ("import functools\nfrom typing import Any\n", f"import functools\nfrom typing import Any\n\n{NEW}"),
        ("import torch\n\ntry:\n    import triton\nexcept ImportError:\n    pass\n",
         f"import torch\n{NEW}\ntry:\n    import triton\nexcept ImportError:\n    pass\n"),
    ],
)  # fmt: skip
def test_a_new_import_stands_in_its_section_and_in_order(head: str, written: str) -> None:
    body = textwrap.indent(f"{head}\nif x:\n    return x\nreturn x + 1\n", "    ")
    result = imported(f"def f(x):\n{body}")
    assert result.startswith(f"def f(x):\n{textwrap.indent(written, '    ')}\n    if x:")


@pytest.mark.parametrize(
    ("present", "written"),
    [
        ("sym_and", "guard_or_false, sym_and, sym_eq"),
        ("ShapeEnv, Zero, expect_true", "ShapeEnv, Zero, expect_true, guard_or_false, sym_eq"),
        ("expect_true, ShapeEnv", "expect_true, guard_or_false, ShapeEnv, sym_eq"),
        (
            "sym_and, DimDynamic, ShapeEnv, guard_int",
            "sym_and, DimDynamic, ShapeEnv, guard_int, guard_or_false, sym_eq",
        ),
        ("sym_and as both", "guard_or_false, sym_and as both, sym_eq"),
        ("guard_or_false, sym_eq", "guard_or_false, sym_eq"),
        ("(sym_and)", "(guard_or_false, sym_and, sym_eq)"),
        (
            "(\n    DimDynamic,\n    sym_and,\n)",
            "(\n    DimDynamic,\n    guard_or_false,\n    sym_and,\n    sym_eq,\n)",
        ),
        ("(\n    sym_and,  # both\n)", "(\n    sym_and, guard_or_false, sym_eq,  # both\n)"),
        ("sym_and, \\\n    ShapeEnv", "sym_and, \\\n    ShapeEnv, guard_or_false, sym_eq"),
    ],
)
def test_an_import_is_extended_in_its_own_order(present: str, written: str) -> None:
    result = imported(f"import torch\n{IMPORT} {present}\n\n\n{BODY.format('')}", limit=130)
    assert result.startswith(f"import torch\n{IMPORT} {written}\n\n\ndef f")


def test_an_import_that_is_too_long_has_a_line_for_each_name() -> None:
    several = f"{IMPORT} (\n    guard_or_false,\n    sym_and,\n    sym_eq,\n)\n"
    alone = textwrap.indent(several.replace("    sym_and,\n", ""), "    ")
    assert alone in imported(f"import torch\n\n\n{BODY.format('')}", limit=60)
    source = f"import torch\n{IMPORT} sym_and  # all\n\n\n{BODY.format('')}"
    assert several.replace(")\n", ")  # all\n") in imported(source, limit=60)


@pytest.mark.parametrize(
    ("head", "written"),
    [
        ("", f"{NEW}\n    "),
        ("import math\n\n    ", f"import math\n\n    {NEW}\n    "),
        (
            "import torch.fx\n    from torch.nn import Linear\n\n    ",
            f"import torch.fx\n    {NEW}    from torch.nn import Linear\n\n    ",
        ),
        ("'''Doc.'''\n    # why\n    ", f"'''Doc.'''\n    {NEW}\n    # why\n    "),
        (
            f"'''Doc.'''\n    import math\n\n    {IMPORT} sym_eq\n\n    ",
            f"'''Doc.'''\n    import math\n\n    {NEW}\n    ",
        ),
    ],
)
def test_an_import_of_a_function_is_one_of_its_imports(head: str, written: str) -> None:
    assert imported(BODY.format(head), "torch/_refs/a.py").startswith(f"def f(x):\n    {written}if ")


ONLY = f"{IMPORT} guard_size_oblivious"
OBLIVIOUS = "    if guard_size_oblivious(x.numel() == 0):\n        return x.clone()\n"
HELPED = "    if torch._prims_common.sym_guard_or_false(x.numel() == 0):\n        return x.clone()\n"


@pytest.mark.parametrize(
    ("head", "left"),
    [
        (f"    {ONLY}\n\n", ""),
        (f"    {ONLY}\n", ""),
        (f'    """What it does."""\n    {ONLY}\n\n', '    """What it does."""\n\n'),
        (f'    """What it does."""\n\n    {ONLY}\n\n', '    """What it does."""\n\n'),
        (f"    {ONLY}, sym_eq\n\n", f"    {ONLY.replace('guard_size_oblivious', 'sym_eq')}\n\n"),
        (f"    {ONLY}  # no circle\n\n", f"    {ONLY}  # no circle\n\n"),
    ],
)
def test_an_import_goes_with_its_last_use_where_the_helpers_of_the_tree_take_its_place(
    rewrite: Any, head: str, left: str
) -> None:
    tail = "    return x.view(sym_eq(x.shape, ()))\n" if "sym_eq" in head else "    return x\n"
    after = rewrite(f"def f(x: Tensor):\n{head}{OBLIVIOUS}{tail}", eager=True)
    assert after == f"def f(x: Tensor):\n{left}{HELPED}{tail}"
    assert rewrite(after, eager=True) == after


def test_an_import_stays_where_another_use_stays(rewrite: Any) -> None:
    again = "    return map(guard_size_oblivious, truths(x))\n"
    after = rewrite(f"def f(x: Tensor):\n    {ONLY}\n\n{OBLIVIOUS}{again}", eager=True)
    assert ONLY in after


@pytest.mark.parametrize(
    ("several", "left"),
    [("", "\n"), (", sym_eq", f"    {IMPORT} sym_eq\n\n"), (", guard_or_false, sym_eq", f"    {IMPORT} sym_eq\n\n")],
)
def test_an_import_further_down_loses_what_stands_at_the_head_and_what_nothing_uses(
    rewrite: Any, several: str, left: str
) -> None:
    tail = f"    y = x.view(-1)\n    {ONLY}{several}\n\n{OBLIVIOUS}    return {'sym_eq' if several else 'x'}\n"
    after = rewrite(f"def f(x: Tensor):\n    if x.size(0) == 0:\n        return x.clone()\n{tail}")
    guarded = OBLIVIOUS.replace("guard_size_oblivious", "guard_or_false")
    assert after == (
        f"def f(x: Tensor):\n    {IMPORT} guard_or_false\n\n"
        "    if guard_or_false(x.size(0) == 0):\n        return x.clone()\n"
        f"    y = x.view(-1)\n{left}{guarded}    return {'sym_eq' if several else 'x'}\n"
    )


ROOT = "def f(x: Tensor):\n    return x * (1 / math.sqrt(x.numel()))\n"


@pytest.mark.parametrize(
    ("head", "left"),
    [
        ("import math\n\n\n", ""),
        ("import sys\n\nimport math\n\n\n", "import sys\n\n\n"),
        ("import math\nimport sys\n\n\n", "import sys\n\n\n"),
        ("import sys\n\nimport math\n\nimport numpy\n\n\n", "import sys\n\nimport numpy\n\n\n"),
        ("import math, sys\n\n\n", "import math, sys\n\n\n"),
        ("import math  # for roots\n\n\n", "import math  # for roots\n\n\n"),
        ("import math\n\nPI = math.pi\n\n\n", "import math\n\nPI = math.pi\n\n\n"),
        ("import math\n\n__all__ = ['math']\n\n\n", "import math\n\n__all__ = ['math']\n\n\n"),
    ],
)
def test_an_import_of_the_file_goes_with_its_last_use(rewrite: Any, head: str, left: str) -> None:
    written = ROOT.replace("math.sqrt", "torch.sym_sqrt")
    assert rewrite(head + ROOT) == left + written


def test_an_import_goes_where_functions_take_its_last_uses_together(rewrite: Any, look: Any) -> None:
    twice = ROOT + ROOT.replace("def f", "def g")
    assert rewrite(f"import math\n\n\n{twice}") == twice.replace("math.sqrt", "torch.sym_sqrt")
    assert len({finding.group for finding in look(f"import math\n\n\n{twice}")}) == 1
    kept = f"import math\n\n\n{twice}def h(x: Tensor):\n    return math.pi\n"
    assert "import math" in rewrite(kept)
    assert len({finding.group for finding in look(kept) if finding.edits}) == 2
