"""Which classes are modules, so that symbols reach their `forward`."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from tests.transforms.python.reach.following import followed

FORWARD = "    def forward(self, x: Tensor):\n        return x\n"
INIT = "    def __init__(self, n):\n        super().__init__(n)\n        {0}\n"
OUTSIDE = "from other import Model\n"


def forwards_of(**files: str) -> set[str]:
    """The classes whose `forward` is reached; each file imports torch and torch.nn."""
    head = "import torch\nfrom torch import nn\n"
    sources = {f"{name}.py": head + source for name, source in files.items()}
    return {d.function.name.removesuffix(".forward") for d in followed(sources)[1]}


@pytest.mark.parametrize(
    "files",
    [
        {"a": f"class A(nn.Module): ...\nclass C(A):\n{FORWARD}"},
        {"a": f"class A(nn.Module):\n{FORWARD}class B(A):\n    k = 1\nclass C(B):\n{FORWARD}"},
        {"a": "class A(nn.Module): ...\n", "b": f"from a import A\nclass C(A):\n{FORWARD}"},
        {"a": "class A(nn.Module): ...\n", "b": f"import a as other\nclass C(other.A):\n{FORWARD}"},
        {"p/__init__": "from p.a import A\n", "p/a": "class A(nn.Module): ...\n",
         "p/b/c": f"from .. import A as B\nclass C(B):\n{FORWARD}"},
        {"p/__init__": "from .A import A\n", "p/A": "class A(nn.Module): ...\n",
         "c": f"from p import A\nclass C(A):\n{FORWARD}"},
        {"a": f"class A(nn.Module, Generic[T]): ...\nclass C(A[int]):\n{FORWARD}"},
        {"a": f"from torch.nn import Module as M\nclass C(M):\n{FORWARD}"},
        {"a": f"class C(nn.Linear):\n{FORWARD}"},
        {"a": f"from torch.nn.modules.loss import _Loss\nclass C(_Loss):\n{FORWARD}"},
        {"a": f"{OUTSIDE}class C(Model):\n{INIT.format('self.a = nn.Linear(n, n)')}{FORWARD}"},
        {"a": f"{OUTSIDE}class C(Model):\n{INIT.format('self.a = nn.Parameter(torch.ones(n))')}{FORWARD}"},
        {"a": f"{OUTSIDE}class C(Model):\n{INIT.format('self.register_buffer(str(n), torch.ones(n))')}{FORWARD}"},
        {"a": f"{OUTSIDE}class A(Model):\n{INIT.format('self.a = nn.ReLU()')}class C(A):\n{FORWARD}"},
        {"a": f"{OUTSIDE}class C(Model):\n{INIT.format('self.a = D(n)')}{FORWARD}class D(nn.Module): ...\n"},
        {"a": f"{OUTSIDE}class C(Model):\n    def __init__(self, n):\n        Model.__init__(self)\n"
              f"        self.a = nn.Linear(n, n)\n{FORWARD}"},
    ],
)  # fmt: skip
def test_a_forward_of_a_module_is_reached(files: Any) -> None:
    assert "C" in forwards_of(**files)


@pytest.mark.parametrize(
    "source",
    [
        f"class A: ...\nclass C(A):\n{FORWARD}",
        f"{OUTSIDE}class C(Model):\n{FORWARD}",
        f"{OUTSIDE}class C(Model):\n{INIT.format('self.a = Model(n)')}{FORWARD}",
        f"{OUTSIDE}class C(Model):\n    def __init__(self, n):\n        self.a = nn.Linear(n, n)\n{FORWARD}",
        f"class C:\n{INIT.format('self.a = nn.Linear(n, n)')}{FORWARD}",
        f"from abc import ABC\nclass C(ABC):\n{INIT.format('self.a = nn.Linear(n, n)')}{FORWARD}",
        f"class C(dict):\n{INIT.format('self.a = nn.Linear(n, n)')}{FORWARD}",
        f"class C(torch.autograd.Function):\n{INIT.format('self.a = nn.Linear(n, n)')}{FORWARD}",
        f"{OUTSIDE}class C(Model):\n{INIT.format('self.a = D(n)')}{FORWARD}class D(Model):\n{INIT.format('C(n)')}",
        f"{OUTSIDE}class C(Model):\n{INIT.format('self.a = nn.functional.relu(n)')}{FORWARD}",
    ],
)
def test_a_forward_of_what_says_nothing_is_not(source: str) -> None:
    assert forwards_of(a=source) == set()


@pytest.mark.parametrize(("head", "known"), [("import torch\n", True), ("import paddle\n", False)])
def test_the_methods_by_which_modules_keep_what_they_hold_are_those_of_torch(head: str, known: bool) -> None:
    constructor = INIT.format("self.register_buffer(str(n), n)")
    source = f"{head}from other import Layer\nclass C(Layer):\n{constructor}{FORWARD}"
    assert bool(followed({"a.py": source})[1]) == known


@pytest.mark.parametrize(
    ("head", "base", "known"),
    [
        ("from flax import linen as nn\n", "nn.Module", False),
        ("import mlx.nn as nn\n", "nn.Module", False),
        ("from frames import Module\n", "Module", False),
        ("import torch\nfrom frames import FrameModule\n", "FrameModule", True),
        ("from torch import nn\n", "nn.Module", True),
        ("from names import *\n", "nn.Module", True),
        ("from b import nn\n", "nn.Module", True),
        ("from b import Base\n", "Base", True),
    ],
)
def test_modules_of_other_frameworks_are_none_of_torchs(head: str, base: str, known: bool) -> None:
    other = "import torch.nn as nn\nclass Base(nn.Module): ...\n"
    found = followed({"a.py": f"{head}class C({base}):\n{FORWARD}", "b.py": other})[1]
    assert bool(found) == known


OWN = "class Module:\n    def parameters(self): ...\n"
FALLBACK = textwrap.indent(OWN, "    ")


@pytest.mark.parametrize(
    ("files", "known"),
    [
        ({"a": f"import numpy as np\n{OWN}class C(Module):\n{FORWARD}"}, False),
        ({"a": f"from b import Module\nclass C(Module):\n{FORWARD}", "b": OWN}, False),
        ({"a": f"from b import Module\nclass C(Module):\n{FORWARD}", "b": f"import torch\n{OWN}"}, True),
        ({"a": f"import torch\nfrom b import Module\nclass C(Module):\n{FORWARD}", "b": OWN}, True),
        (
            {"a": f"try:\n    from torch.nn import Module\nexcept ImportError:\n{FALLBACK}class C(Module):\n{FORWARD}"},
            True,
        ),
    ],
)
def test_a_module_that_a_tree_makes_itself_is_torchs_where_torch_is_imported(
    files: dict[str, str], known: bool
) -> None:
    assert bool(followed({f"{name}.py": source for name, source in files.items()})[1]) == known


def test_classes_that_make_one_another_end() -> None:
    classes = [f"class C{i}(Model):\n{INIT.format(f'self.a = C{i + 1}(n)')}{FORWARD}" for i in range(1500)]
    assert forwards_of(a=OUTSIDE + "".join(classes)) == set()
