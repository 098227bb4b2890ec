"""Settings of torch, as lines of a program."""

from __future__ import annotations

import pytest

from codemod.fix.settings import setting_edits, setting_for
from codemod.model.edits import apply_edits
from codemod.probe.advice import DUCK_ADVICE, DUCK_SIZING
from codemod.probe.answers import Answer
from codemod.probe.contraction import ORDER_ADVICE, ORDERED

LINE = "torch._dynamo.config.capture_scalar_outputs = True"
OTHER = "torch._dynamo.config.capture_dynamic_output_shape_ops = True"


@pytest.mark.parametrize(
    ("source", "new"),
    [
        ("import torch\n\nf()\n", f"import torch\n\n{LINE}\n\nf()\n"),
        ('"""A program."""\nimport torch\r\nx = 1\r\n', f'"""A program."""\nimport torch\r\n\r\n{LINE}\r\nx = 1\r\n'),
        ("import os\nimport torch\nfrom a import (\n    b,\n)\nb()\n",
         f"import os\nimport torch\nfrom a import (\n    b,\n)\n\n{LINE}\nb()\n"),
        ("import torch\n", f"import torch\n\n{LINE}\n"),
    ],
)  # fmt: skip
def test_a_setting_stands_behind_the_imports(source: str, new: str) -> None:
    edits = setting_edits("a.py", source.encode(), LINE)
    assert apply_edits(source.encode(), edits).decode() == new


def test_all_settings_have_places() -> None:
    source = b"import torch\n\nf()\n"
    edits = [edit for setting in (LINE, OTHER, ORDERED) for edit in setting_edits("a.py", source, setting)]
    lines = f"import torch\n\n{LINE}\n\n{ORDERED}\n\n{OTHER}\n\nf()\n"
    assert apply_edits(source, edits).decode() == lines


def test_a_setting_of_einsum_that_the_program_makes_is_left() -> None:
    source = b"import torch\nfrom torch import backends\nbackends.opt_einsum.enabled = True\n"
    assert not setting_edits("a.py", source, ORDERED)


@pytest.mark.parametrize("own", ["torch.fx.experimental._config", "_config"])
def test_what_the_program_says_of_equal_sizes_is_left(own: str) -> None:
    source = "import torch\nfrom torch.fx.experimental import _config\n"
    assert setting_edits("a.py", source.encode(), DUCK_SIZING)
    assert not setting_edits("a.py", f"{source}{own}.use_duck_shape = True\n".encode(), DUCK_SIZING)


@pytest.mark.parametrize(
    ("text", "advice", "setting"),
    [
        ("a number is read from a tensor's data", "", LINE),
        ("a shape depends on data: aten.nonzero.default", "", OTHER),
        ("x.size(0) == 3", ORDER_ADVICE, ORDERED),
        ("x.size(0) == x.size(1)", DUCK_ADVICE, DUCK_SIZING),
        ("x.size(0) == 3", "", ""),
    ],
)
def test_which_setting_is_against_an_answer(text: str, advice: str, setting: str) -> None:
    assert setting_for(Answer("specialized", text, "", None, None, "", advice=advice)) == setting


@pytest.mark.parametrize(
    "source",
    [
        "x = 1\n",
        "import torch; x = 1\n",
        "import torch",
        "import numpy as torch\n",
        "x = 1\nimport torch\n",
        f"import torch\n{LINE}\n",
        f"import torch\n{LINE.replace('True', 'False')}\n",
        "import torch\ntorch = 1\n",
        "import torch\nf(\n",
    ],
)
def test_a_file_without_a_place_is_left(source: str) -> None:
    assert not setting_edits("a.py", source.encode(), LINE)
