"""What torch.export runs itself: the forward of modules, and what that calls."""

from __future__ import annotations

import pytest

from tests.transforms.python.reach.following import followed

MODULE = (
    "import torch\nfrom torch import nn\nfrom b import half\nclass M(nn.Module):\n    def forward(self, x):\n"
    "        return half(x) + self.rest(x)\n    def rest(self, x):\n        return x\n"
)
HALF = "def half(x):\n    return inner(x)\ndef inner(x):\n    return x\n"
COMPILED = "import torch\n@torch.compile\ndef f(x):\n    return inner(x)\ndef inner(x):\n    return x\n"
FAKE = "import torch\nfrom b import inner\n@torch.library.register_fake('a::b')\ndef fake(x):\n    return inner(x)\n"


@pytest.mark.parametrize("use", ["", "program = torch.export.export(M(), args)\n", "fast = torch.compile(M())\n"])
def test_what_a_module_calls(use: str) -> None:
    _, functions = followed({"a.py": MODULE + use, "b.py": HALF})
    assert {d.function.name for d, found in functions.items() if found.exported} == {
        "M.forward", "M.rest", "half", "inner",
    }  # fmt: skip


def test_what_dynamo_alone_traces_and_what_operators_run() -> None:
    assert not any(found.exported for found in followed({"a.py": COMPILED})[1].values())
    _, functions = followed({"a.py": MODULE, "b.py": HALF, "c.py": FAKE})
    assert {d.function.name for d, found in functions.items() if found.exported} == {"M.forward", "M.rest", "half"}
