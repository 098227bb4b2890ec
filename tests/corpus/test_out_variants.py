"""How often a function with `out=` is compiled over four input sizes, before and after the rule `out-variant`."""

from __future__ import annotations

from typing import Any

import pytest

from codemod.model.edits import apply_edits
from transforms.python.jobs import FileJob, Job
from transforms.python.rewrite import findings

torch = pytest.importorskip("torch", reason="torch is not installed: pip install symfix[torch]")

CASES = {
    "topk": "def f(x, v, i):\n    torch.topk(x, 2, out=(v, i))\n    return v + 1, i\n",
    "norm": "def f(x, v, i):\n    return torch.linalg.norm(x, dim=0, out=v)\n",
    "max": "def f(x, v, i):\n    torch.max(x, 0, out=(v, i))\n    return v, i\n",
}


def rewritten(source: str) -> str:
    compiled = Job({}, {}, (), (), inlined=True)
    job = FileJob("user/code.py", "user/code.py", {"f": compiled}, frozenset())
    found = findings(job, source.encode())
    return apply_edits(source.encode(), [edit for finding in found for edit in finding.edits]).decode()


def compiled_frames(name: str, source: str, dynamic: bool | None) -> tuple[int, list[Any]]:
    """How many frames four input sizes compile, and the results."""
    from torch._dynamo.testing import CompileCounterWithBackend

    names: dict[str, Any] = {"torch": torch}
    exec(source, names)
    counter = CompileCounterWithBackend("aot_eager")
    torch.compiler.reset()
    function = torch.compile(names["f"], backend=counter, dynamic=dynamic)
    results = []
    for size in (4, 5, 6, 7):
        x = torch.arange(size * 3, dtype=torch.float32).reshape(3, size).cos()
        shape = (3, 2) if name == "topk" else (size,)
        results.append(function(x, torch.zeros(shape), torch.zeros(shape, dtype=torch.int64)))
    return counter.frame_count, results


@pytest.mark.parametrize("name", CASES)
def test_fewer_frames_and_the_same_results(name: Any) -> None:
    before, expected = compiled_frames(name, CASES[name], None)
    after, results = compiled_frames(name, rewritten(CASES[name]), None)
    assert (before, after) == (4, 2)
    torch.testing.assert_close(results, expected)
    assert compiled_frames(name, rewritten(CASES[name]), True)[0] == 1
