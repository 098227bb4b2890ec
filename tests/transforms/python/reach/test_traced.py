"""Functions that a running torch came to, where the tree does not show by which way."""

from __future__ import annotations

import pytest

from codemod.model.findings import Root
from codemod.model.transform import TracedLine
from tests.transforms.python.reach.following import tree_of
from transforms.python.reach.reached import reach

OPS = """import torch

def double(x):
    def inner(y):
        return y

    return inner(helper(x))

def helper(x):
    return x

def left(x):
    return x

TABLE = {"double": double}
"""
NET = """import torch
from ops import TABLE

class Net(torch.nn.Module):
    def forward(self, x):
        return TABLE["double"](x)
"""


def reached(*lines: TracedLine, **files: str) -> dict[str, tuple[Root, str]]:
    """Each function that is reached, with its root, and how it is."""
    tree = tree_of({f"{name.replace('__', '/')}.py": source for name, source in files.items()})
    return {d.function.name: (found.root, found.why) for d, found in reach(tree, traced=lines).items()}


def test_what_torch_came_to_is_reached_with_all_that_it_calls() -> None:
    assert reached(ops=OPS, net=NET).keys() == {"Net.forward"}
    assert reached(TracedLine("ops.py", 7, "double"), ops=OPS, net=NET) == {
        "Net.forward": (Root.MODULE, "the forward of a module"),
        "double": (Root.TRACED, "torch came to line 7"),
        "helper": (Root.TRACED, "called by double"),
        "double.inner": (Root.TRACED, "called by double"),
    }


def test_the_way_that_the_tree_shows_says_more() -> None:
    assert reached(TracedLine("net.py", 6, "forward"), net=NET)["Net.forward"][0] is Root.MODULE


@pytest.mark.parametrize(
    ("line", "name", "found"),
    [
        (5, "inner", {"double.inner"}),
        (3, "f", {"f#1"}),
        (5, "f", {"f"}),
        (9, "f", {"f"}),
        (3, "<listcomp>", set()),
        (3, "g", set()),
        (1, "f", set()),
    ],
)
def test_of_one_name_it_is_the_one_that_begins_before_the_line(line: int, name: str, found: set[str]) -> None:
    source = OPS if name == "inner" else "import torch\ndef f(x):\n    return x\ndef f(x):\n    return x\n"
    assert reached(TracedLine("a.py", line, name), a=source).keys() == found


def test_what_compiles_is_not_among_what_is_compiled() -> None:
    lines = [TracedLine(f"torch/{path}", 2, "f") for path in ("_dynamo/a.py", "nn/a.py")]
    source = "import torch\ndef f(x):\n    return x\n"
    tree = tree_of({"torch/__init__.py": "", "torch/_dynamo/a.py": source, "torch/nn/a.py": source})
    assert {d.path for d in reach(tree, traced=lines)} == {"torch/nn/a.py"}
