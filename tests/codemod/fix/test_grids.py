"""Numbers in equal steps, as many as a size."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from codemod.fix.grids import grid_at
from codemod.model.edits import apply_edits

HEAD = "import torch\n\n\ndef f(x, a, b, d):\n    n = x.shape[0]\n"
TRACED = "torch.compiler.is_compiling()"


def computed(body: str, line: int = 6) -> str:
    """The rest of a function's body, with the edits for a line of its file."""
    file = (HEAD + body).encode()
    written = apply_edits(file, grid_at("case.py", file, line))
    return written[len(HEAD) :].decode()


@pytest.mark.parametrize(
    ("call", "new"),
    [
        ("torch.linspace(0, 1, n)", "torch.arange(n) / max(n - 1, 1)"),
        ("torch.linspace(0.0, 255, n)", "255.0 * torch.arange(n) / max(n - 1, 1)"),
        ("torch.linspace(0.1, 0.3, n)", "0.1 + (0.3 - 0.1) * torch.arange(n) / max(n - 1, 1)"),
        ("torch.linspace(0, a, n + 1)", "a * torch.arange(n + 1) / max((n + 1) - 1, 1)"),
        ("torch.linspace(-1, 1, x.size(0))", "2 * torch.arange(x.size(0)) / max(x.size(0) - 1, 1) - 1"),
        ("torch.linspace(a - 1, -b, n)", "(a - 1) + (-b - (a - 1)) * torch.arange(n) / max(n - 1, 1)"),
        (
            "torch.linspace(start=1, end=3, steps=n, device=d)",
            "2 * torch.arange(n, device=d) / max(n - 1, 1) + 1",
        ),
    ],
)
def test_what_is_compiled_is_computed_of_arange(call: str, new: str) -> None:
    text = computed(f"    return {call}\n")
    assert " ".join(text.split()).replace("( ", "(").replace(" )", ")") == f"return ({new} if {TRACED} else {call})"
    assert max(map(len, text.splitlines())) <= 88
    compile(text.replace("return ", "y = ").lstrip(), "case.py", "exec")


@pytest.mark.parametrize(
    "call",
    [
        "torch.linspace(0, 1, 5)",
        "torch.linspace(0, 1, n, out=d)",
        "torch.linspace(0, 1, n, requires_grad=True)",
        "torch.linspace(*a, n)",
        "torch.linspace(0, 1, **a)",
        "torch.linspace(0, 1)",
        "torch.linspace(0, 1, next(a))",
        "torch.linspace(a(), 1, n)",
        "np.linspace(0, 1, n)",
        "linspace(0, 1, n)",
    ],
)
def test_what_is_no_such_grid_is_left(call: str) -> None:
    assert computed(f"    return {call}\n") == f"    return {call}\n"


def test_a_call_on_several_lines_stays_as_it_is_written() -> None:
    call = "torch.linspace(\n        0,\n        1,\n        n,  # of them\n    )"
    text = computed(f"    y = {call}\n", 9)
    assert "# of them" in text
    compile(f"{HEAD}{text}", "case.py", "exec")
    assert computed(f"    y = {call}\n", 5) == f"    y = {call}\n"


def test_a_file_in_another_encoding_is_read_as_bytes() -> None:
    source = b"# coding: latin-1\nimport torch\n\n\ndef f(n):\n    return torch.linspace(0, 1, n)  # \xe9\n"
    (edit,) = grid_at("case.py", source, 6)
    assert b"torch.arange(n)" in edit.new


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("call", ["torch.linspace(-1, 1, n)", "torch.linspace(a, b, n)", "torch.linspace(0, b, n)"])
def test_it_is_what_linspace_gives_to_the_last_bit_but_one(call: str) -> None:
    import torch

    space: dict[str, Any] = {"torch": torch}
    exec(computed(f"    return {call}\n").join([HEAD, ""]).replace(TRACED, "d"), space)
    function = space["f"]
    for n in (0, 1, 2, 3, 7, 64, 1023):
        grids = [function(torch.ones(n), 0.5, 30.0, traced) for traced in (True, False)]
        assert grids[0].dtype == grids[1].dtype
        torch.testing.assert_close(*grids, rtol=3e-7, atol=2e-7)
        assert [grid[-1:].tolist() for grid in grids[:1]] == [grids[1][-1:].tolist()]
