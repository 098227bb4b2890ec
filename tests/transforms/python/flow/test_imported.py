"""What torch is called in a file makes no difference to what is found there, and what else has its names does."""

from __future__ import annotations

import re
from textwrap import indent
from typing import Any

import pytest

from codemod.model.transform import Example
from transforms.python.flow.imported import meanings
from transforms.python.rules import load_rules

EXAMPLES = [
    (place_rule.rule.name, example)
    for place_rule in load_rules()
    for example in place_rule.rule.examples
    if "from torch" not in example.before
]
OTHERWISE = "import torch as th\nimport torch.nn.functional as nnf"
CALLED = re.compile(r"^(?!\s*@)(.*?)(?<![\w.])(torch|F)\.([a-z]\w*)\(", re.M)
PADS = "def f(x: Tensor):\n    if x.size(0) % 8 != 0:\n        x = {pad}(x, (0, -x.size(0) % 8))\n    return x\n"
USUAL = "import torch\nimport torch.nn.functional as F"


def renamed(source: str) -> str:
    return re.sub(r"(?<![\w.])F\.", "nnf.", re.sub(r"(?<![\w.])torch\.(?!fx\.|_prims_common)", "th.", source))


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_by_another_name(name: str, example: Example, rewrite: Any) -> None:
    assert rewrite(renamed(example.before), imports=OTHERWISE) == renamed(rewrite(example.before))


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_by_its_own_name(name: str, example: Example, look: Any) -> None:
    plain, spaces = example.before, {"torch": "torch", "F": "torch.nn.functional"}
    imports = ["import torch"]
    while found := CALLED.search(plain):
        imports.append(f"from {spaces[found[2]]} import {found[3]}")
        plain = CALLED.sub(r"\1\3(", plain, count=1)
    by_name = [(f.rule, f.level, bool(f.edits)) for f in look(plain, imports="\n".join(imports))]
    assert by_name == [(f.rule, f.level, bool(f.edits)) for f in look(example.before)]


@pytest.mark.parametrize(
    ("imports", "pad"),
    [
        (USUAL, "F.pad"),
        ("import torch\nfrom torch.nn import functional", "functional.pad"),
        ("import torch\nfrom torch.nn.functional import pad", "pad"),
        ("import torch\nfrom torch.nn.functional import pad as padded", "padded"),
        ("import torch\nfrom torch import nn as layers", "layers.functional.pad"),
        ("import torch\nfrom compat import F", "F.pad"),
    ],
)
def test_what_pads(imports: str, pad: str, look: Any) -> None:
    found = look(PADS.format(pad=pad), imports=imports, inlined=True)
    assert [(finding.rule, bool(finding.edits)) for finding in found] == [("padding-branch", True)]


@pytest.mark.parametrize(
    ("imports", "pad"),
    [
        ("import torch\nimport torchvision.transforms.functional as F", "F.pad"),
        ("import torch\nfrom . import functional as F", "F.pad"),
        ("import torch\nfrom flax import linen as nn", "nn.functional.pad"),
        ("import torch\nfrom images import pad", "pad"),
        ("import torch\nfrom torch.nn.functional import pad\ndef pad(x, amount): return x", "pad"),
    ],
)
def test_what_pads_otherwise(imports: str, pad: str, look: Any) -> None:
    assert not [f for f in look(PADS.format(pad=pad), imports=imports, inlined=True) if f.rule == "padding-branch"]


@pytest.mark.parametrize(
    "body",
    [
        PADS.format(pad="pad").replace("Tensor", "Tensor, pad"),
        PADS.format(pad="pad").replace(":\n", ":\n    pad = other\n", 1),
        "def around(pad):\n" + indent(PADS.format(pad="pad"), "    ") + "    return f\n",
    ],
)
def test_variables_are_no_functions_of_torch(body: str, look: Any) -> None:
    found = look(body, imports="import torch\nfrom torch.nn.functional import pad", inlined=True)
    assert not [finding for finding in found if finding.rule == "padding-branch"]


def test_what_names_stand_for() -> None:
    imports = {
        "th": "torch",
        "torch": "torch",
        "nnf": "torch.nn.functional",
        "F": "torch.nn.functional",
        "nn": "torch.nn",
        "cat": "torch.cat",
        "pad": "torch.nn.functional.pad",
        "rfft": "torch.fft.rfft",
        "linear": "torch.nn.linear",
        "onp": "numpy",
        "np": "jax.numpy",
        "prod": "math.prod",
    }
    assert meanings(imports.items(), ()) == {
        "th": "torch",
        "nnf": "F",
        "cat": "torch.cat",
        "pad": "F.pad",
        "rfft": "torch.fft.rfft",
        "linear": "nn.linear",
        "onp": "np",
        "np": "jax.numpy",
    }
    assert meanings({"th": "torch"}.items(), {"th"}) == {}
    assert meanings({"F": "torch.functional"}.items(), ()) == {"F": "torch"}
    assert meanings({"F": "torchaudio.functional"}.items(), ()) == {"F": "torchaudio.functional"}
