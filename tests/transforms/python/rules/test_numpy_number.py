"""What numpy computes of sizes: which numbers nobody tells from Python's, and the import of math."""

from __future__ import annotations

from typing import Any

import pytest

NP = "import numpy as np\n\n\n"
MATH = "import math\n\nimport numpy as np\n\n\n"
HEAD = "def forward(self, x: Tensor, y: Tensor, n: int):\n    t, c = x.shape\n"
MODULE = {"inlined": True, "eager": True, "exported": True}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.view(-1, np.prod(x.shape[1:]))", "x.view(-1, math.prod(x.shape[1:]))"),
        ("x.new_zeros(int(np.prod(x.shape)))", "x.new_zeros(math.prod(x.shape))"),
        ("x.new_zeros(np.prod(x.shape, dtype=np.int64))", "x.new_zeros(math.prod(x.shape))"),
        ("torch.zeros(2 * np.prod([t, c]), n)", "torch.zeros(2 * math.prod([t, c]), n)"),
        ("x.new_zeros(int(np.ceil(t / self.m)))", "x.new_zeros(math.ceil(t / self.m))"),
        ("x.new_zeros(int(np.ceil(t / n) * n))", "x.new_zeros(int(math.ceil(t / n) * n))"),
        ("x.new_zeros(int(np.floor(t / 2)) * self.m)", "x.new_zeros(math.floor(t / 2) * self.m)"),
        ("x.new_zeros(int(np.round(t / n)))", "x.new_zeros(round(t / n))"),
        ("x / np.sqrt(x.size(-1))", "x / math.sqrt(x.size(-1))"),
        ("x / np.sqrt(t)", "x / math.sqrt(t)"),
        ("x / np.sqrt(2 * c / 3)", "x / math.sqrt(2 * c / 3)"),
        ("x.new_zeros(np.maximum(t, c))", "x.new_zeros(max(t, c))"),
        ("x.new_zeros(np.minimum(t, 3))", "x.new_zeros(min(t, 3))"),
    ],
)
def test_what_math_and_builtins_compute_as_well(rewrite: Any, before: str, after: str) -> None:
    source = f"{MATH}{HEAD}    return {before} + np.pi\n"
    assert rewrite(source, **MODULE) == source.replace(before, after)


@pytest.mark.parametrize(
    "body",
    [
        "return x * np.prod(x.shape, axis=0)",
        "return x.new_zeros(np.ceil(t / n))",  # a float, which torch takes for no size
        "a, b = self.sizes(t - n, c)\n    return x.new_zeros(int(np.sqrt(a + t)))",
        "s = (t - n, c)\n    a, b = s\n    return x / np.sqrt(a)",
        "return x / np.sqrt(t - n)",  # below 0 numpy gives nan
        "return x * (1 / np.sqrt(t))",  # by 0 numpy gives inf
        "return x + 7 // np.prod(x.shape)",
        "return x + np.prod(x.shape) % n",
        "return x, np.prod(x.shape)",
        "return self.layer(x, np.prod(x.shape))",
        "return x * np.prod(x.shape).item()",
        "k = np.prod(x.shape)\n    return x * k.item()",
        "k = np.prod(x.shape)\n    return x * k, k",
        "self.k = np.prod(x.shape)\n    return x",
        "k = np.prod(x.shape)\n    k %= n\n    return x.new_zeros(k)",
        "k = np.prod(x.shape)\n    return g(lambda: k)",
        "k = np.prod(x.shape)\n    def inner():\n        return k\n    return x.new_zeros(k)",
        "return x.new_zeros(int(np.ceil(t / n) * y.sum()))",
        "return x, np.prod(x.shape) > 3",
        "k = max(np.prod(x.shape), 1)\n    return k",
        "return self.split(np.prod(x.shape))",
        "return x.new_zeros(np.maximum(t, 1.5))",
        "return x * np.log2(t)",
        "for _ in range(np.prod(x.shape)):\n        x = x + 1\n    return x",
        "return x.new_zeros(tuple(np.array(x.shape)))",
        "return x.new_zeros(self.m * np.prod(x.shape))",  # of an array the dtype would be another
        "return x.new_zeros(int(np.prod(self.sizes, dtype=np.int32) * np.prod(x.shape, dtype=np.int32)))",
    ],
)
def test_what_somebody_may_tell_from_pythons_is_named(look: Any, body: str) -> None:
    found = look(f"{MATH}{HEAD}    {body}\n", **MODULE)
    assert "numpy-number" in {finding.rule for finding in found}
    assert {finding.edits for finding in found} == {()}


@pytest.mark.parametrize("body", ["np.prod(self.sizes)", "np.sqrt(n)", "np.arange(t)[:3]", "np.pi * t", "x.dim()"])
def test_what_makes_no_number_of_a_size_is_not(look: Any, body: str) -> None:
    assert not look(f"{NP}{HEAD}    return x * {body}\n", **MODULE)


def test_what_fake_tensors_run_as_python_does_is_not(look: Any) -> None:
    assert not look(f"{NP}{HEAD}    return x.view(-1, np.prod(x.shape[1:]))\n")


def test_a_size_beside_what_numpy_computed_before_is_named(look: Any) -> None:
    source = f"import numpy as np\n\nHOP = np.prod((2, 3))\n\n\n{HEAD}    return x.new_zeros(t // HOP)\n"
    (finding,) = look(source, **MODULE)
    assert (finding.rule, finding.line, finding.edits) == ("numpy-number", 8, ())
    assert finding.reason.startswith("`HOP` is numpy's, and Dynamo makes an array of a size")


ONE = f"{HEAD}    return x.view(-1, np.prod(x.shape[1:]))"


@pytest.mark.parametrize(
    ("imports", "after"),
    [
        ("import numpy as np\nfrom torch import nn\n", "import math\n\nfrom torch import nn\n"),
        ("import os\n\nimport numpy as np\n", "import math\nimport os\n\n"),
        ('"""A page."""\n\nfrom __future__ import annotations\n\nimport numpy as np\n\nimport abc\n', None),
        ("import math as m\nimport numpy as np\n", "import math as m\n"),
        ("import numpy\n", "import math\n\n"),
    ],
)
def test_math_is_imported_where_it_belongs(rewrite: Any, imports: str, after: str | None) -> None:
    function = ONE.replace("np.", "numpy.") if "as np" not in imports else ONE
    new = rewrite(f"{imports}\n\n{function}\n", **MODULE)
    called = "m.prod" if "as m" in imports else "math.prod"
    assert new.endswith(f"{HEAD}    return x.view(-1, {called}(x.shape[1:]))\n")
    assert new.count("import math") == 1
    assert "numpy" not in new
    assert after is None or new.startswith(after)


@pytest.mark.parametrize(
    "source",
    [
        f"import numpy as np\nfrom rows import math\n\n\n{ONE}\n",
        f"import numpy as np\nfrom rows import *\n\n\n{ONE}\n",
        f"from torch import nn; import numpy as np\n\n\n{ONE}\n",
        f"import numpy as np\nmath = None\n\n\n{ONE}\n",
        f"{NP}{HEAD}    math = x.size(0)\n    return x.view(math, np.prod(x.shape[1:]))\n",
    ],
)
def test_nothing_is_written_where_math_or_np_is_another_thing(look: Any, source: str) -> None:
    (finding,) = look(source, **MODULE)
    assert (finding.rule, finding.edits) == ("numpy-number", ())


def test_nothing_is_written_where_math_may_lack_it(look: Any) -> None:
    body = "    if hasattr(math, 'prod'):\n        n = math.prod(x.shape)\n    else:\n        n = np.prod(x.shape)\n"
    (finding,) = look(f"{MATH}{HEAD}{body}    return x.new_zeros(n)\n", **MODULE)
    assert "Python" in finding.reason
    assert not finding.edits


def test_what_else_is_called_np_is_no_numpy(look: Any) -> None:
    assert not look(f"import jax.numpy as np\n\n\n{ONE}\n", **MODULE)
    assert look(f"import numpy as np\n\n\n{ONE}\n", **MODULE)


def test_functions_that_need_math_import_it_once(rewrite: Any) -> None:
    source = f"import numpy as np\n\n\n{ONE}\n\n\n{ONE.replace('forward', 'other')}\n"
    assert rewrite(source, **MODULE).count("import math") == 1


def test_a_call_on_several_lines_keeps_them(rewrite: Any) -> None:
    call = "np.prod(\n            [t, c]  # both\n        )"
    source = f"{MATH}{HEAD}    return np.pi * x.view(\n        -1,\n        {call},\n    )\n"
    assert rewrite(source, **MODULE) == source.replace("np.prod", "math.prod")


def test_lines_of_what_becomes_another_call_are_joined(rewrite: Any) -> None:
    call = "int(\n            np.ceil(\n                t / n\n            ))"
    source = f"{MATH}{HEAD}    return np.pi * x.new_zeros(\n        {call} * n)\n"
    assert "    return np.pi * x.new_zeros(\n        math.ceil(t / n) * n)\n" in rewrite(source, **MODULE)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", ["np.prod(x.shape[1:])", "int(np.ceil(x.size(0) / 4))", "int(np.sqrt(x.size(0)))"])
def test_one_graph_serves_what_took_one_for_each_size(rewrite: Any, number: str) -> None:
    torch = pytest.importorskip("torch")
    counters = pytest.importorskip("torch._dynamo.testing")
    pytest.importorskip("numpy")
    source = (
        f"import numpy as np\nimport torch\n@torch.compile\ndef f(x: torch.Tensor):\n    return x.new_zeros({number})\n"
    )
    graphs = []
    for text in (source, rewrite(source, home=None)):
        names: dict[str, Any] = {}
        exec(text.replace("@torch.compile\n", ""), names)
        torch._dynamo.reset()
        counter = counters.CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(names["f"], backend=counter, dynamic=True)
        for size in (5, 17, 30):
            rows = torch.ones(size, size)
            assert compiled(rows).shape == names["f"](rows).shape
        graphs.append(counter.frame_count)
    assert graphs == [3, 1]
