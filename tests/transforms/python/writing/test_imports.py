"""Where an import goes, and in which order its names stand."""

from __future__ import annotations

import ast
import textwrap

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
