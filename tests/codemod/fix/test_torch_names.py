"""What files call torch, and the import of those that have no name for it."""

from __future__ import annotations

import ast

import pytest

from codemod.fix.asked import asked_at
from codemod.fix.checks import check_at
from codemod.fix.conversions import conversions_at
from codemod.fix.marks import DYNAMIC, Mark, mark_edits
from codemod.fix.settings import setting_edits
from codemod.fix.torch_names import Torch, full_name, imported_names, parsed_with_torch, torch_in
from codemod.fix.trial import Call
from codemod.model.edits import Edit, apply_edits
from codemod.probe.answers import Answer

BODY = """
class A(nn.Module):
    def forward(self, x: Tensor, n):
        if x.shape[0] != n:
            raise ValueError
        if self.table.shape[0] != n:
            self.table = make(n)
        if x.shape[0] > n:
            x = x[:n]
        return int(x.shape[0] * 2)


f(x)
"""
SETTING = "torch._dynamo.config.capture_scalar_outputs = True"
HEADS = {
    "torch": "import torch\nfrom torch import nn, Tensor\n",
    "th": "import torch as th\nfrom torch import nn, Tensor\n",
    "": "from torch import nn, Tensor\n",
}


def of(source: str) -> tuple[str, str] | None:
    torch = torch_in("a.py", source.encode(), ast.parse(source))
    return None if torch is None else (torch.name, apply_edits(source.encode(), torch.imported).decode())


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import torch\n", "torch"),
        ("import torch.nn as nn\nimport torch\n", "torch"),
        ("import torch.nn\n", "torch"),
        ("import numpy as np, torch as th\n", "th"),
        ("import torch as torch\n", "torch"),
        ("import torch as th\ndef f(torch): pass\n", "th"),
        ("import torch as th\nimport torch\nth = 1\n", "torch"),
    ],
)
def test_the_name_is_that_of_the_import(source: str, name: str) -> None:
    assert of(source) == (name, source)


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", "from torch import nn\n"),
        ('"""Text."""\n', "from torch import nn\n"),
        ("from __future__ import annotations\n\n", "from torch.nn import functional as F\nfrom torch import nn\n"),
        ("import math\nimport numpy as np\n\n", "import torch.nn as nn\nx = 1\n"),
        ("import os\n", "import yaml\nfrom einops import rearrange\nfrom torch import nn\n"),
        ("import math\nimport os\n", "from einops import rearrange\nfrom torch import nn\n"),
        ("from einops import rearrange\nimport os\n", "from torch import nn\n"),
        ("x = 1; y = 2\n", "import math, torch.nn as nn\n"),
        ("import math\r\n", "from torch import nn\r\n"),
    ],
)
def test_a_file_that_imports_what_is_of_torch_imports_it(before: str, behind: str) -> None:
    line = "import torch\r\n" if behind.endswith("\r\n") else "import torch\n"
    assert of(before + behind) == ("torch", before + line + behind)


@pytest.mark.parametrize(
    "source",
    [
        "import math\n",
        "import torch\ntorch = 1\n",
        "import torch\ndef torch(): pass\n",
        "import torch as th\nth += 1\n",
        "import torch as th\nimport th.x\n",
        "from torch import nn\ndef f(torch): pass\n",
        "from torch import nn\ntorch.x\n",  # what that is is not seen
        "from .torch import nn\n",
        "from torchvision import nn\n",
        "import os; from torch import nn\n",
        "def f():\n    from torch import nn\n",
        "if True:\n    import torch\n",
    ],
)
def test_a_file_where_that_is_not_to_be_told_is_left(source: str) -> None:
    assert of(source) is None


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("def f(x):\n    import torch\n    return int(x)  # here\n", "torch"),
        ("def f():\n    import torch as th\n    def g(x):\n        return int(x)  # here\n", "th"),
        ("import torch as th\ndef f(x):\n    import torch\n    return int(x)  # here\n", "th"),
        ("def f(x):\n    y = int(x)  # here\n    import torch\n", None),
        ("def f(x):\n    if x:\n        import torch\n    return int(x)  # here\n", None),
        ("def f(x):\n    import torch\n    torch = x\n    return int(x)  # here\n", None),
        ("def f(torch):\n    import torch\n    def g(x):\n        return int(x)  # here\n", None),
        ("def f():\n    import torch\ndef g(x):\n    return int(x)  # here\n", None),
    ],
)
def test_what_a_function_around_a_line_imports_is_its_name_there(source: str, name: str | None) -> None:
    line = 1 + source[: source.index("# here")].count("\n")
    found = parsed_with_torch("a.py", source.encode(), line)
    assert (None if found is None else found[1]) == (None if name is None else Torch(name))
    assert (parsed_with_torch("a.py", source.encode()) is None) is not source.startswith("import")


@pytest.mark.parametrize(
    ("imports", "written", "name"),
    [
        ("import torch.nn.functional as nnf", "nnf.pad", "torch.nn.functional.pad"),
        ("from torch.nn.functional import max_pool1d as pool", "pool", "torch.nn.functional.max_pool1d"),
        ("from torch import nn as layers", "layers.functional.pad", "torch.nn.functional.pad"),
        ("import torch.nn", "torch.nn.MaxPool1d", "torch.nn.MaxPool1d"),
        ("from torchvision.transforms import functional as F", "F.pad", "torchvision.transforms.functional.pad"),
        ("from .layers import functional as F", "F.pad", ".layers.functional.pad"),
        ("from common import *", "F.pad", "torch.nn.functional.pad"),
    ],
)
def test_names_stand_for_what_is_imported(imports: str, written: str, name: str) -> None:
    assert full_name(ast.parse(written, mode="eval").body, imported_names(ast.parse(imports))) == name


@pytest.mark.parametrize("name", HEADS)
def test_all_that_is_written_names_torch_as_the_file_does(name: str) -> None:
    head = HEADS[name]
    source, first = (head + BODY).encode(), head.count("\n")
    answer = Answer("error", "", "", None, None, "")
    check = check_at("a.py", source, first + 4)
    call = Call(("a.py", first + 3, "forward"), "a.py", first + 13, 0, (first + 13, 4))
    written: list[tuple[Edit, ...]] = [
        check.edits if check is not None else (),
        *(edits for line in (6, 8) for _, edits in asked_at(answer, "a.py", source, first + line)),
        conversions_at("a.py", source, first + 10),
        mark_edits("a.py", source, call, ["x"], Mark(DYNAMIC, "x", 0)),
        setting_edits("a.py", source, SETTING),
    ]
    assert len(written) == 6
    own = name or "torch"
    new = apply_edits(source, [edit for edits in written for edit in edits]).decode()
    assert new.count(f"{own}.compiler.is_compiling()") == 3
    for text in (f"{own}._check(", f"{own}.sym_int(", f"{own}._dynamo.mark_dynamic(x, 0)", f"\n{own}._dynamo.config."):
        assert text in new
    assert new.startswith(head if name else f"import torch\n{head}")
    assert all(apply_edits(source, edits) != source for edits in written)
