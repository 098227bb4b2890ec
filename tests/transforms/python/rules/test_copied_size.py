"""Tensors that are made of sizes: what torch.tensor makes as well, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.transforms.cpp.snippets import MemoryProject
from transforms.python.transform import PythonTransform

HEAD = "def f(self, x: Tensor, xs: list[Tensor], k: int, u):\n    n, c = x.shape\n"
MODULE = {"inlined": True, "eager": True, "exported": True}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.as_tensor(x.shape)", "torch.tensor(x.shape)"),
        ("torch.as_tensor(n / 2)", "torch.tensor(n / 2)"),
        ("torch.as_tensor([n, self.k], device=x.device)", "torch.tensor([n, self.k], device=x.device)"),
        ("torch.asarray((n, c), dtype=x.dtype)", "torch.tensor((n, c), dtype=x.dtype)"),
        ("torch.as_tensor([[n, 2], [3, 4]])", "torch.tensor([[n, 2], [3, 4]])"),
        ("torch.LongTensor([n] * 2)", 'torch.tensor([n] * 2, dtype=torch.int64, device="cpu")'),
        ("torch.IntTensor((n, u))", 'torch.tensor((n, u), dtype=torch.int32, device="cpu")'),
        ("torch.FloatTensor([n]).to(x.device)", "torch.tensor([n], dtype=torch.float32).to(x.device)"),
        ("torch.LongTensor([n]).cuda()", "torch.tensor([n], dtype=torch.int64).cuda()"),
        ("torch.LongTensor([n]).to(u)", 'torch.tensor([n], dtype=torch.int64, device="cpu").to(u)'),
        (
            "torch.Tensor([c]).to(device=u)",
            "torch.tensor([c], dtype=torch.get_default_dtype()).to(device=u)",
        ),
    ],
)
def test_what_torch_tensor_makes_too(rewrite: Any, before: str, after: str) -> None:
    source = f"{HEAD}    return x + {before}\n"
    assert "".join(rewrite(source, **MODULE).split()) == "".join(source.replace(before, after).split())


@pytest.mark.parametrize(
    "call",
    [
        "torch.FloatTensor((n, 1), device=x.device)",
        "torch.asarray([n], copy=True)",
        "torch.as_tensor(self.k or n)",
        "torch.LongTensor([n] * c)",
    ],
)
def test_what_it_may_not_make_is_named(look: Any, call: str) -> None:
    found = look(f"{HEAD}    return x + {call}\n", **MODULE)
    assert "copied-size" in {finding.rule for finding in found}
    assert {finding.edits for finding in found} == {()}


@pytest.mark.parametrize(
    "call",
    [
        "torch.Tensor(x.shape)",
        "torch.Tensor(x.size() + (n,))",
        "torch.Tensor(n, c)",
        "torch.FloatTensor(*[n, c])",
        "torch.Tensor(*x.shape)",
        "torch.as_tensor(*[n])",
        "torch.LongTensor(n)",
        "torch.as_tensor(xs)",
        "torch.as_tensor([x, x])",
        "torch.as_tensor(u)",
        "torch.as_tensor([1, x.dim()])",
        "torch.tensor([n])",
        "x.new_tensor([n])",
        "self.as_tensor([n])",
    ],
)
def test_what_is_made_of_no_size_is_not(look: Any, call: str) -> None:
    assert not look(f"{HEAD}    return x + {call}\n", **MODULE)


def test_fake_tensors_read_the_number_in_either(look: Any) -> None:
    assert not look(f"{HEAD}    return x + torch.as_tensor([n])\n")


@pytest.mark.parametrize(
    ("name", "parameter", "above", "written"),
    [
        ("scale", "size", "", False),
        ("_scale", "size", "", True),
        ("scale", "size: int", "", True),
        ("scale", "size", "size = size * 2\n    ", False),
    ],
)
def test_what_callers_elsewhere_may_give_is_left(
    tmp_path: Path, name: str, parameter: str, above: str, written: bool
) -> None:
    helper = f"def {name}({parameter}):\n    {above}return torch.as_tensor(size)\n\n\n"
    source = f"import torch\n\n\n{helper}@torch.compile\ndef f(x: torch.Tensor):\n    return x * {name}(x.size(0))\n"
    found = PythonTransform().analyse(MemoryProject(tmp_path, {"p.py": source}, tmp_path / "none.yaml"))
    assert {finding.rule for finding in found} == {"copied-size"}
    assert written == any(finding.edits for finding in found)


FORMS = [
    "torch.as_tensor(x.shape)", "torch.as_tensor([x.size(0), 2.5])", "torch.as_tensor(x.size(0), dtype=torch.float16)",
    "torch.asarray((x.size(0), 2))", "torch.LongTensor([x.size(0), True])", "torch.LongTensor([x.size(0) // 2])",
    "torch.Tensor([[x.size(0), 2], [3, 4]])", "torch.Tensor((x.size(0),))", "torch.HalfTensor([x.size(0)])",
    "torch.IntTensor([x.size(0)] * 3)", "torch.DoubleTensor([d for d in x.shape])", "torch.as_tensor([x.size(0) > 3])",
]  # fmt: skip


def functions(rewrite: Any, form: str) -> list[Any]:
    """A function of torch before and after."""
    source = f"import torch\n@torch.compile\ndef f(x: torch.Tensor):\n    return {form}\n"
    after = rewrite(source, home=None)
    assert "torch.tensor(" in after
    both: list[Any] = []
    for text in (source, after):
        names: dict[str, Any] = {"__name__": __name__}
        exec(text.replace("@torch.compile\n", ""), names)
        both.append(names["f"])
    return both


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", FORMS)
def test_the_tensors_are_the_same(rewrite: Any, form: str) -> None:
    torch = pytest.importorskip("torch")
    before, after = functions(rewrite, form)
    for device in ("cpu", "meta"):
        for rows in (torch.ones(0, 2), torch.ones(1, 3), torch.ones(7, 2)):
            with torch.device(device):
                first, second = before(rows), after(rows)
            assert (first.dtype, first.device, first.shape) == (second.dtype, second.device, second.shape)
            assert device == "meta" or torch.equal(first, second)
    first, second = (torch.jit.trace(f, torch.ones(3, 2), check_trace=False)(torch.ones(5, 2)) for f in (before, after))
    assert torch.equal(first, second)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", FORMS[::2])
def test_one_graph_serves_what_took_one_for_each_size(rewrite: Any, form: str) -> None:
    torch = pytest.importorskip("torch")
    counters = pytest.importorskip("torch._dynamo.testing")
    graphs = []
    for function in functions(rewrite, form):
        torch._dynamo.reset()
        counter = counters.CompileCounterWithBackend("aot_eager")
        compiled = torch.compile(function, backend=counter, dynamic=True)
        for size in (5, 17, 30):
            rows = torch.ones(size, size)
            assert torch.equal(compiled(rows), function(rows))
        graphs.append(counter.frame_count)
    assert graphs[1] == 1 < graphs[0]
