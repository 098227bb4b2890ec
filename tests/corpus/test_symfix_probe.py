"""`symfix_probe` over a real torch: the call that a library's own tests make."""

from __future__ import annotations

import logging
import sys
from types import ModuleType
from typing import Any

import pytest

from codemod.testing import symfix_probe

torch: Any = pytest.importorskip("torch")

LIBRARY = """
import torch

library = torch.library.Library("symfix_tested", "DEF")
library.define("twice(Tensor x) -> Tensor")
library.define("rows(Tensor x) -> Tensor")
library.impl("twice", lambda x: 2 * x, "CPU")
library.impl("rows", lambda x: x.new_zeros(x.size(0), 2) + x.sum(), "CPU")


def twice_fake(x):
    return torch.empty_like(x)


def rows_fake(x):
    if x.size(0) == 4:
        return x.new_empty(4, 2)
    return x.new_empty(x.size(1), 2)


torch.library.register_fake("symfix_tested::twice", twice_fake, lib=library)
torch.library.register_fake("symfix_tested::rows", rows_fake, lib=library)


def fixed(x):
    return x.new_empty(int(x.shape[0]), x.shape[1])


def branching(x):
    return x.new_empty(x.shape) if x.shape[0] == 7 else torch.empty_like(x)


for fake in (fixed, branching):
    name = f"symfix_tested::{fake.__name__}"
    torch.library.custom_op(name, lambda x: x * 2, mutates_args=(), schema="(Tensor x) -> Tensor").register_fake(fake)


def halves(x):
    return x / 2


def dense_alone(x):
    if x.is_contiguous():
        return x + 1
    return x - 1 if x.size(0) == 7 else x + 1
"""


@pytest.fixture(scope="session")  # operators are defined once in a process, in whatever order tests run
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("library") / "symfix_tested.py"
    path.write_text(LIBRARY)
    module = ModuleType("symfix_tested")
    sys.modules["symfix_tested"] = module
    exec(compile(LIBRARY, str(path), "exec"), vars(module))
    yield module
    del sys.modules["symfix_tested"]


def test_an_operator_that_serves_every_size_is_reported(library: ModuleType) -> None:
    torch.use_deterministic_algorithms(True)
    try:
        report = symfix_probe(torch.ops.symfix_tested.twice, (torch.rand(3, 4),))
        assert torch.are_deterministic_algorithms_enabled()
    finally:
        torch.use_deterministic_algorithms(False)
    modes = {mode: cell.status for mode, cell in report.subjects[0].modes.items() if cell.cases}
    assert modes == dict.fromkeys(("forward", "unbacked", "sizes", "fake"), "passes")
    assert logging.root.manager.disable == 0
    assert not torch._dynamo.config.capture_scalar_outputs


def test_a_fake_that_is_wrong_fails_with_its_lines(library: ModuleType) -> None:
    with pytest.raises(AssertionError) as raised:
        symfix_probe(torch.ops.symfix_tested.rows.default, (torch.rand(4, 3),), modes=("forward", "fake"))
    text = str(raised.value)
    assert "specialized: a size or number became a constant" in text
    line = LIBRARY.splitlines().index("    if x.size(0) == 4:") + 1
    assert f"symfix_tested.py:{line} in rows_fake" in text
    assert "the fake differs from the kernel for (0, 3): shape (3, 2), not (0, 2)" in text
    assert "[your code]" in text


def test_what_cannot_be_asked_is_said(library: ModuleType) -> None:
    x = torch.rand(3, 4)
    report = symfix_probe(library.halves, (x,), modes=["forward", "vmap"])
    assert report.subjects[0].name == "symfix_tested.halves"
    assert [cell.status for cell in report.subjects[0].modes.values() if cell.cases] == ["passes", "passes"]
    with pytest.raises(TypeError, match="neither an operator, nor a function"):
        symfix_probe(lambda x: x, (x,))
    with pytest.raises(ValueError, match=r"modes=.*'sideways'.*: give a collection of forward, backward"):
        symfix_probe(library.halves, (x,), modes=["sideways"])
    with pytest.raises(ValueError, match="allow='guard': give a collection of error, wrong"):
        symfix_probe(library.halves, (x,), allow="guard")
    with pytest.raises(ValueError, match="name the overload without `out=`"):
        symfix_probe(torch.ops.aten.topk.values, (x, 2))
    with pytest.raises(ValueError, match="no script could be made"):
        symfix_probe(library.halves, (x.to_sparse(),), modes=["forward"])
    with pytest.raises(RuntimeError, match="selected index k out of range"):
        symfix_probe(torch.topk, (x, 20))


def test_strides_in_the_opposite_order_are_asked_too(library: ModuleType) -> None:
    x = torch.rand(3, 4)
    with pytest.raises(AssertionError, match="strides in the opposite order: "):
        symfix_probe(library.dense_alone, (x,), modes=("unbacked", "sizes"))
    assert symfix_probe(library.halves, (x,), modes=("unbacked", "sizes")).subjects[0].modes["sizes"].status == "passes"


@pytest.mark.parametrize("name", ["fixed", "branching"])
def test_fakes_that_hold_for_few_sizes_fail_though_opcheck_takes_them(library: ModuleType, name: str) -> None:
    operator, x = getattr(torch.ops.symfix_tested, name), torch.rand(3, 4)
    assert set(torch.library.opcheck(operator.default, (x,)).values()) == {"SUCCESS"}
    with pytest.raises(AssertionError, match=rf"symfix_tested\.py:\d+ in {name}  \[your code\]"):
        symfix_probe(operator, (x,), modes=("forward", "unbacked"))
