"""A tensor that is resized in place keeps its memory only where it has enough."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "import math\n\nimport torch\nimport torch._prims_common as utils\n\n\n"
RESIZE = "x.resize_(s, memory_format=torch.contiguous_format)\n    return x\n"


@pytest.mark.parametrize(
    "x",
    [
        lambda torch: torch.empty(2, 3, device="meta"),
        lambda torch: torch.empty(3, 2, device="meta").t(),
        lambda torch: torch.empty(1, 3, device="meta").expand(2, 3),
        lambda torch: torch.empty(8, device="meta")[2:],
        lambda torch: torch.empty(4, device="meta"),
    ],
)
def test_it_gives_the_same_tensor(rewrite: Any, x: Any) -> None:
    torch = pytest.importorskip("torch", reason="no torch in this environment")
    source = f"{HEAD}def f(x: Tensor, y: Tensor):\n    s = y.shape\n    {RESIZE}"
    written = rewrite(source)
    assert "guard_or_true(" in written
    layouts = []
    for text in (source, written):
        names: dict[str, Any] = {"Tensor": torch.Tensor}
        exec(text, names)
        given = names["f"](x(torch), torch.empty(6))
        layouts.append((given.shape, given.stride(), given.storage_offset(), given.untyped_storage().nbytes()))
    assert layouts[0] == layouts[1]


@pytest.mark.parametrize("parameters", ["x: Tensor, s", "x: Tensor, s: int", "x: Tensor, s: int | list[int]"])
def test_a_size_that_may_be_one_number_is_left(look: Any, parameters: str) -> None:
    assert not any(finding.edits for finding in look(f"{HEAD}def f({parameters}):\n    {RESIZE}"))


def test_so_is_the_number_of_elements(look: Any) -> None:
    source = f"{HEAD}def f(x: Tensor, y: Tensor):\n    s = y.numel()\n    {RESIZE}"
    assert not any(finding.edits for finding in look(source))
