"""Reshapes that infer a size, as views of what lies in order."""

from __future__ import annotations

import pytest

from codemod.fix.reshapes import reshapes_at
from codemod.model.edits import apply_edits


def viewed(body: str, line: int = 2) -> str:
    """What stands in a function after the edits for one of its lines."""
    source = f"def f(x, y, b):\n{body}"
    edits = reshapes_at("case.py", source.encode(), line)
    return apply_edits(source.encode(), edits).decode().removeprefix("def f(x, y, b):\n")


@pytest.mark.parametrize(
    ("reshaped", "view"),
    [
        ("x.mT.reshape(b, -1, 3)", "x.mT.contiguous().view(b, -1, 3)"),
        ("x.mT.reshape((b, -1))", "x.mT.contiguous().view((b, -1))"),
        ("x.mT.contiguous().reshape(b, -1)", "x.mT.contiguous().view(b, -1)"),
        ("x[:, 1:].reshape(*x.shape[:2], -1) + y.mT.reshape([-1, b])",
         "x[:, 1:].contiguous().view(*x.shape[:2], -1) + y.mT.contiguous().view([-1, b])"),
        ("x.reshape(b)", "x.contiguous().view(b)"),
        ("(x + y).reshape(-1, b)", "(x + y).contiguous().view(-1, b)"),
    ],
)  # fmt: skip
def test_a_view_of_what_lies_in_order_infers_the_size(reshaped: str, view: str) -> None:
    assert viewed(f"    return {reshaped}\n") == f"    return {view}\n"


def test_a_call_on_several_lines_is_named_by_any_of_them() -> None:
    body = (
        "    z = (\n        x.mT\n        .reshape(\n            b,\n            -1,\n        )\n    )\n    return z\n"
    )
    for line in (3, 4, 5, 6):
        assert viewed(body, line) == body.replace(".reshape", ".contiguous().view")
    assert viewed(body, 2) == viewed(body, 9) == body


@pytest.mark.parametrize(
    "reshaped",
    ["x.mT.reshape(b, 3)", "torch.reshape(x, (b, -1))", "np.reshape(b, -1)", "x.reshape(-1, order=y)", "x.view(b, -1)"],
)  # fmt: skip
def test_other_calls_stay(reshaped: str) -> None:
    assert viewed(f"    return {reshaped}\n") == f"    return {reshaped}\n"


@pytest.mark.parametrize(
    "written",
    ["z += 1", "z[0] = 1", "z.add_(1)", "x.mul_(2)", "x.T[0] = 2", "torch.add(y, y, out=z)", "z.data.zero_()"],
)
def test_what_is_written_in_place_stays(written: str) -> None:
    body = f"    z = x.mT.reshape(b, -1).abs()\n    {written}\n    return z + x\n"
    assert viewed(body) == body
    assert viewed(body.replace(written, "y.add_(1)")) != body


def test_what_is_written_at_once_stays() -> None:
    body = "    return x.mT.reshape(b, -1).add_(1)\n"
    assert viewed(body) == body


def test_a_file_that_does_not_parse_is_left() -> None:
    assert reshapes_at("case.py", b"x.reshape(b, -1\n", 1) == ()


@pytest.mark.parametrize("sizes", [(2, 3, 4), (1, 3, 4), (2, 0, 3), (0, 2, 3)])
def test_both_give_and_refuse_the_same(sizes: tuple[int, ...]) -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(2 * sizes[0] * sizes[1] * sizes[2]).reshape(sizes[0], 2, *sizes[1:]).transpose(1, 2)
    for shape in ((sizes[0], -1, sizes[2]), (-1, 2), (sizes[0], sizes[1], -1), (sizes[0], 7, -1)):
        ends = []
        for tensor, method in ((x, "reshape"), (x.contiguous(), "view")):
            try:
                ends.append(getattr(tensor, method)(shape).tolist())
            except RuntimeError as error:
                ends.append(str(error))
        assert ends[0] == ends[1]
