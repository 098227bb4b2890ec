"""Checks that do what PyTorch's OpInfo tests do, one for an entry of its registries of expected failures.

A check's id is `kind:operator:variant:dtype`. The kinds follow `_test_make_fx_helper` of test/test_proxy_tensor.py
(`symbolic`, `symbolic-inplace`, `symbolic-out`) and `_test_aot_autograd_helper` of test/functorch/test_aotdispatch.py
(`aot-symbolic`), which call the same functions of torch.testing._internal.optests. `unbacked` is what
test/test_ops_unbacked.py does: every sample with all sizes from 2 on unbacked goes through Dynamo.
"""

from __future__ import annotations

import copy
import importlib
import itertools
import unittest
from pathlib import Path
from typing import Any

import torch

from . import opinfo
from .documents import write_json
from .setup import prepare

SAMPLES = 100
OUT_SAMPLES = 5
"""How many samples test/test_proxy_tensor.py takes, and how many with `out=`."""
CHECKED_DATA = ("nn.functional.max_unpool1d", "nn.functional.max_unpool2d", "nn.functional.max_unpool3d")
"""Entries whose inputs test_aotdispatch.py does not make random."""


def run(job: dict[str, Any], out: Path) -> None:
    """Do the checks of `job`, or run its tests, and write how each ended after every one.

    Raises what loading the libraries raises, and ImportError where a module of the job cannot be imported.
    """
    if obstacle := prepare(job):
        raise ImportError(obstacle)
    kind = "checks" if "checks" in job else "tests"
    document: dict[str, Any] = {"running": None, "done": False, kind: {}}
    for identity in job[kind]:
        document["running"] = {"name": identity}
        write_json(out, document)
        document[kind][identity] = check(identity)[0] if kind == "checks" else test(identity)
    document.update(running=None, done=True)
    write_json(out, document)


def test(method: str) -> str:
    """How a test method ends, "passes" or "fails", in a class that compares tensors as PyTorch's own do."""
    import torch._dynamo.testing

    class Case(unittest.TestCase):
        def assertEqual(self, first: Any, second: Any, msg: Any = None) -> None:
            torch.testing.assert_close(first, second, equal_nan=True)

    space: dict[str, Any] = {"torch": torch}
    exec(compile(method, "<regression test>", "exec"), space)
    name = next(name for name in space if name.startswith("test_"))
    try:
        space[name](Case())
    except Exception:
        return "fails"
    return "passes"


class Absent(Exception):
    """There is nothing to check: no such entry, variant or dtype, or the test would skip itself."""


def check(identity: str) -> tuple[str, str]:
    """How a check ends, "passes", "fails" or "absent", and what it failed with."""
    kind, name, variant, dtype = identity.split(":")
    try:
        matching = [entry for entry in opinfo.entries() if (entry.name, entry.variant_test_name) == (name, variant)]
        scalar = getattr(torch, dtype, None)
        if not matching or scalar not in matching[0].supported_dtypes("cpu"):
            raise Absent
        _run(kind, matching[0], scalar)
    except Absent:
        return "absent", ""
    except Exception as error:
        if type(error).__name__ == "DynamicOutputShapeException":
            return "absent", ""
        return "fails", f"{type(error).__name__}: {error}"[:400]
    return "passes", ""


def _optests() -> Any:
    return importlib.import_module("torch.testing._internal.optests")


def _run(kind: str, entry: Any, dtype: Any) -> None:
    torch.manual_seed(0)
    if kind == "aot-symbolic":
        _aot(entry, dtype)
    elif kind == "unbacked":
        _unbacked(entry, dtype)
    else:
        _make_fx(kind, entry, dtype)


def _make_fx(kind: str, entry: Any, dtype: Any) -> None:
    inplace, out = kind == "symbolic-inplace", kind == "symbolic-out"
    function = entry.op
    if inplace:
        method = entry.get_inplace()
        if not method:
            raise Absent

        def function(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            return method(tensor.clone(), *args, **kwargs)

    if out and not entry.supports_out:
        raise Absent
    count = OUT_SAMPLES if out else SAMPLES
    for sample in itertools.islice(entry.sample_inputs("cpu", dtype, requires_grad=False), count):
        if inplace and sample.broadcasts_input:
            continue
        args, kwargs = [sample.input, *sample.args], dict(sample.kwargs)
        if out:
            kwargs["out"] = function(*args, **kwargs)
        _optests().make_fx_check(function, args, kwargs, "symbolic", torch.testing.assert_close, randomize_data=True)


def _aot(entry: Any, dtype: Any) -> None:
    if not entry.supports_autograd:
        raise Absent
    for sample in entry.sample_inputs("cpu", dtype, requires_grad=True):
        _optests().aot_autograd_check(
            entry.op,
            [sample.input, *sample.args],
            sample.kwargs,
            True,
            check_gradients=True,
            try_check_data_specialization=entry.name not in CHECKED_DATA,
            skip_correctness_check=getattr(entry, "skip_correctness_check_compile_vs_eager", False),
        )


def _unbacked(entry: Any, dtype: Any) -> None:
    from torch._dynamo.decorators import mark_unbacked
    from torch.utils import _pytree as pytree

    ran = False
    for sample in entry.sample_inputs("cpu", dtype, requires_grad=False):
        arguments = copy.deepcopy(((sample.input, *sample.args), dict(sample.kwargs)))
        tensors = [leaf for leaf in pytree.tree_leaves(arguments) if isinstance(leaf, torch.Tensor)]
        marked = [(tensor, dimension) for tensor in tensors for dimension in range(tensor.ndim)]
        marked = [(tensor, dimension) for tensor, dimension in marked if tensor.shape[dimension] >= 2]
        if not marked:
            continue
        ran = True
        for tensor, dimension in marked:
            mark_unbacked(tensor, dimension)
        torch._dynamo.reset()
        torch.compile(lambda args, kwargs: entry.op(*args, **kwargs), backend="eager", fullgraph=True)(*arguments)
    if not ran:
        raise AssertionError("no sample has a size that can be unbacked")
