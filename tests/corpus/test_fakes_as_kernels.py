"""A fake beside its kernel: what differs in any way is said. Needs torch."""

from __future__ import annotations

import importlib.util
import itertools
import os
import signal
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch

from codemod.runner import fakes, schema

torch.set_num_threads(1)  # as in the processes that compare: threads of other tests do not live on in forked children

NUMBERS = itertools.count()


def fatal(x: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def rows(x: Any) -> Any:
    return x.nonzero().contiguous()


def dynamic() -> Any:
    return torch.library.get_ctx().new_dynamic_size()


def ends(kernel: Any, fake: Any) -> str:
    """How the comparison ends for an operator of these two."""
    name = f"symfix_fakes::op{next(NUMBERS)}"
    torch.library.define(name, "(Tensor x) -> Tensor")
    torch.library.impl(name, "CPU", kernel)
    if fake is not None:
        torch.library.register_fake(name, fake)
    return fakes.check(name)[fakes.NAME]


@pytest.mark.parametrize(
    ("kernel", "fake", "end"),
    [
        (torch.clone, lambda x: torch.empty_like(x), "passes"),
        (lambda x: x, lambda x: x, "passes"),
        (torch.clone, lambda x: x.new_empty((3, *x.shape[1:])), "differs from the kernel for"),
        # The same for sizes that are neither 0 nor 1.
        (torch.clone, lambda x: x.new_empty([s if s > 1 else 2 for s in x.shape]), "differs from the kernel for"),
        # The same for what is contiguous.
        (torch.clone, lambda x: x.new_empty(x.shape), "strides"),
        (torch.clone, lambda x: torch.empty_like(x, dtype=torch.float64), "dtype torch.float64, not torch.float32"),
        (torch.clone, lambda x: x, "it does not share the memory of tensor 0"),
        (lambda x: x.clone(), lambda x: torch.empty_like(x, device="meta"), "device meta, not cpu"),
        (torch.clone, lambda x: x.view(int(x.data_ptr())), "stops: "),
        (torch.clone, None, "stops: "),
        (torch.clone, fatal, "stops: the fake ends its process"),
        (torch.clone, lambda x: x.new_empty(x.shape) if x.is_contiguous() else fatal(x), "the fake ends its process"),
        # A size that depends on data is any.
        (rows, lambda x: x.new_empty((dynamic(), x.dim()), dtype=torch.int64), "passes"),
        (rows, lambda x: x.new_empty((dynamic(), x.dim() + 1), dtype=torch.int64), "shape"),
        (rows, lambda x: x.new_empty((dynamic() + 1,), dtype=torch.int64), "shape"),
        # What the kernel does not survive is no call.
        (lambda x: x.clone() if x.numel() else fatal(x), torch.empty_like, "passes"),
    ],
)
def test_ends(kernel: Any, fake: Any, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "CALLS", 3)
    said = ends(kernel, fake)
    assert said == end if end == "passes" else end in said


@pytest.mark.parametrize(
    ("result", "fake", "end"),
    [
        ("SymInt", lambda x: x.shape[0] * 2, "passes"),
        ("SymInt", lambda x: x.shape[0] * 2 + 1, "differs"),
        ("bool", lambda x: x.shape[0] > 0, "passes"),
    ],
)
def test_numbers_are_compared_by_value(result: str, fake: Any, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "CALLS", 3)
    name = f"symfix_fakes::op{next(NUMBERS)}"
    torch.library.define(name, f"(Tensor x) -> {result}")
    torch.library.impl(name, "CPU", lambda x: x.shape[0] * 2 if result == "SymInt" else x.shape[0] > 0)
    torch.library.register_fake(name, fake)
    assert fakes.check(name)[fakes.NAME].startswith(end)
