"""`out=` becomes copies where it is known how many buffers there are, and that there are some."""

from __future__ import annotations

from typing import Any

import pytest

HEAD = "import torch\n\n\n@torch.compile\ndef f(x, k: int, out, other: Tensor):\n"
LOOP = "for buffer, result in zip(out, torch.{0}):\n        buffer.copy_(result)\n"


@pytest.mark.parametrize(
    "call", ["topk(x, k)", "sort(x)", "linalg.eigh(x)", "linalg.qr(x)", "max(x, 0)", "min(x, dim=-1)", "cummax(x, 0)"]
)
def test_a_variable_holds_as_many_buffers_as_there_are_results(rewrite: Any, call: str) -> None:
    source = f"{HEAD}    torch.{call[:-1]}, out=out)\n    return out\n"
    assert LOOP.format(call) in rewrite(source)
    assert ".copy_(" not in rewrite(source.replace("    torch.", "    y = torch."))


@pytest.mark.parametrize("call", ["norm(x)", "linalg.norm(x, dim=0)", "max(x)", "min(x, other)", "linalg.det(x)"])
def test_or_the_one_buffer(rewrite: Any, call: str) -> None:
    assert f"out.copy_(torch.{call})" in rewrite(f"{HEAD}    torch.{call[:-1]}, out=out)\n    return out\n")


@pytest.mark.parametrize("parameter", ["out=None", "out: Tensor | None", "out: Optional[Tensor]", "*, out=None"])
def test_what_may_be_no_buffer_is_left(look: Any, parameter: str) -> None:
    source = f"import torch\n\n\n@torch.compile\ndef f(x, {parameter}):\n    return torch.linalg.norm(x, out=out)\n"
    assert [(finding.refusal, finding.edits) for finding in look(source)] == [("no-buffer", ())]


def test_whether_there_are_several_is_not_guessed(look: Any) -> None:
    found = look(f"{HEAD}    torch.max(x, k, out=out)\n    return out\n")
    assert [(finding.refusal, finding.edits) for finding in found] == [("named-tuple", ())]


def test_the_names_of_the_loop_are_no_others(rewrite: Any) -> None:
    written = rewrite(f"{HEAD}    torch.topk(x, k, out=(out, buffer))\n    return out\n")
    assert "for _buffer, _result in zip((out, buffer)," in written
