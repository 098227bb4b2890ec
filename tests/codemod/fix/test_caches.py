"""What an object keeps for one size."""

from __future__ import annotations

import pytest

from codemod.fix.caches import cache_at
from codemod.model.edits import apply_edits

MADE = "            self.table = torch.arange(n)\n"
CONVERTED = "            if self.table.dtype != x.dtype:\n                self.table = self.table.to(x.dtype)\n"
HEAD = "import torch\nclass A:\n    def __init__(self):\n        self.table = None\n    def f(self, x, n):\n"


def made_anew(body: str, rest: str = "", line: int = 6) -> str | None:
    source = f"{HEAD}{body}{rest}"
    edits = cache_at("case.py", source.encode(), line)
    new = apply_edits(source.encode(), list(edits)).decode()
    compile(new, "case.py", "exec")
    return new.splitlines()[line - 1].strip() if edits else None


@pytest.mark.parametrize(
    "test",
    [
        "self.table.shape[0] != n",
        "self.table is None or self.table.size(0) < n",
        "not hasattr(self, 'table') or n > self.table.size(0)",
        "getattr(self, 'table', None) is None or self.table.numel() != n",
        "x.is_cuda and self.table.size(0) != n",
    ],
)
def test_what_is_made_where_it_does_not_fit_is_made_wherever_it_is_compiled(test: str) -> None:
    written = made_anew(f"        if {test}:\n{MADE}        return self.table\n")
    assert written == f"if torch.compiler.is_compiling() or {test}:"


@pytest.mark.parametrize(
    ("test", "written"),
    [
        ("self.table.size(0) >= n", "if not torch.compiler.is_compiling() and self.table.size(0) >= n:"),
        (
            "self.table is not None and self.table.size(0) == n",
            "if not torch.compiler.is_compiling() and (self.table is not None and self.table.size(0) == n):",
        ),
    ],
)
@pytest.mark.parametrize(
    "rest",
    [
        "            return self.table[:n]\n        self.table = torch.arange(n)\n        return self.table\n",
        f"{CONVERTED}            return self.table\n        table = torch.arange(n)\n        self.table = table\n",
        "            y = self.table\n        else:\n            y = torch.arange(n)\n            self.table = y\n",
    ],
)
def test_what_is_taken_where_it_fits_is_taken_in_eager_alone(test: str, written: str, rest: str) -> None:
    assert made_anew(f"        if {test}:\n{rest}") == written


def test_several_are_made_one_of_another() -> None:
    body = "            self.table = torch.arange(n)\n            self.cosine = self.table.cos()\n"
    assert made_anew(f"        if self.cosine.size(0) != n or n != self.table.size(0):\n{body}") is not None
    turned = "            self.cosine = self.table.cos()\n            self.table = torch.arange(n)\n"
    assert made_anew(f"        if self.cosine.size(0) != n or n != self.table.size(0):\n{turned}") is None


@pytest.mark.parametrize(
    "body",
    [
        "            self.table = self.table.repeat(n)\n",
        "            self.table = torch.rand(n)\n",
        "            self.table = torch.ones(n).bernoulli_(0.5)\n",
        "            self.table = self.dropout(torch.ones(n))\n",
        "            self.table = torch.nn.Linear(n, n)\n",
        "            self.other = torch.arange(n)\n",
        "            self.table += torch.arange(n)\n",
        "            return x\n",
    ],
)
def test_what_is_not_made_of_the_sizes_alone_is_left(body: str) -> None:
    assert made_anew(f"        if self.table.shape[0] != n:\n{body}") is None


@pytest.mark.parametrize(
    "method",
    [
        "    def step(self, x):\n        self.table = self.table + x\n",
        "    def step(self, x):\n        self.table[0] = x\n",
        "    def step(self, x):\n        self.table.add_(x)\n",
        "    def step(self, x):\n        del self.table\n",
    ],
)
def test_what_the_class_changes_elsewhere_is_state(method: str) -> None:
    fills = f"        if self.table.shape[0] != n:\n{MADE}"
    assert made_anew(fills, method) is None
    assert made_anew(fills, method.replace("step", "reset_tables")) is not None


def test_conditions_of_other_kinds_are_left() -> None:
    assert made_anew(f"        if self.table is None if x is None else n > 2:\n{MADE}") is None
    assert made_anew(f"        if n > 2:\n{MADE}") is None


def test_a_condition_of_several_lines_is_asked_for_on_any() -> None:
    several = f"        if (\n            self.table.size(0)\n            != n\n        ):\n{MADE}"
    source = f"{HEAD}{several}".encode()
    assert {cache_at("case.py", source, line) != () for line in (6, 7, 8)} == {True}
    assert cache_at("case.py", source, 10) == ()
