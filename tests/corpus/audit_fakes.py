"""Fakes that symfix reads from ATen's own kernels, beside those kernels, over the samples of PyTorch's OpInfos.

    python tests/corpus/audit_fakes.py PYTORCH_TREE

Each function of aten/src/ATen/native/*.cpp that native_functions.yaml names for the CPU or as a composite is read as
the kernel of a library is. What the samples of op_db come to in the installed torch is given to the fake as well, as
fake tensors. Printed is each fake that gives other shapes, dtypes or strides, or raises, then how many calls there are
of each. Needs torch.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from fuzz_fakes import described
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

sys.path.insert(0, str(Path(__file__).parents[2]))

from transforms.cpp.coverage.kernel import body_of
from transforms.cpp.coverage.placing import lines_of
from transforms.cpp.coverage.values import Underivable
from transforms.cpp.reading.extract import extract
from transforms.schema import native_functions
from transforms.schema.schema import Schema

_NATIVE = "aten/src/ATen/native"
_SAMPLES, _CALLS = 25, 40


class Fake(NamedTuple):
    """What was read from a kernel."""

    kernel: str
    code: str
    call: Callable[..., Any]


def fakes(tree: Path) -> dict[tuple[str, str], Fake]:
    """The fakes of functional operators by `aten::name` and overload."""
    own = native_functions.load("native_functions.yaml", (tree / _NATIVE / "native_functions.yaml").read_bytes())
    schemas, kernels = own.schemas(), defaultdict[str, list[Schema]](list)
    for entry in own.entries:
        if entry.schema.returns and not any(argument.written for argument in entry.schema.arguments):
            for key, kernel in entry.dispatch:
                if key == "CPU" or key.startswith("Composite"):
                    kernels[kernel.rpartition("::")[2]].append(entry.schema)
    found: dict[tuple[str, str], Fake] = {}
    for path in sorted((tree / _NATIVE).glob("*.cpp")):
        source = path.read_bytes()
        for function in extract(path.name, source).functions:
            for schema in kernels.get(function.name, ()) if function.body >= 0 else ():
                try:
                    lines = lines_of("a::b", schema, body_of(function, source, schema, schemas))[1:]
                except Underivable:
                    continue
                names: dict[str, Any] = {"torch": torch}
                exec("\n".join(lines), names)
                name = f"aten::{schema.base}", schema.overload
                found[name] = Fake(f"{path.name} {function.name}", "\n".join(lines), names["_"])
    return found


class Beside(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Runs the fake of each operator that is called beside it."""

    def __init__(self, by_operator: dict[tuple[str, str], Fake]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._by_operator = by_operator
        self.calls, self.kinds, self.shown = Counter[tuple[str, str]](), Counter[str](), dict[str, str]()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        key = func._schema.name, func._schema.overload_name
        if key in self._by_operator and self.calls[key] < _CALLS:
            self.calls[key] += 1
            self._compare(self._by_operator[key], args, kwargs or {}, result)
        return result

    def _compare(self, fake: Fake, args: Any, kwargs: Any, result: Any) -> None:
        mode = FakeTensorMode(allow_non_fake_inputs=True)
        given = tree_map(lambda a: mode.from_tensor(a) if isinstance(a, torch.Tensor) else a, (args, kwargs))
        try:
            with mode:
                said = fake.call(*given[0], **given[1])
        except Exception as error:  # whatever a fake raises
            kind, shown = "raises", str(error).splitlines()[0][:150]
        else:
            expected, made = (described(r if isinstance(r, (tuple, list)) else [r]) for r in (result, said))
            kind, shown = ("same", "") if made == expected else ("differs", f"{made} for {expected}")
        self.kinds[kind] += 1
        if shown:
            self.shown.setdefault(fake.kernel, f"{kind}: {shown}\n{fake.code}")


def _samples_of(info: Any) -> Any:
    return info.sample_inputs("cpu", torch.float32)


def samples() -> Iterator[tuple[Any, Any]]:
    """The operators of op_db, each with one of its samples."""
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        try:
            yield from ((info, sample) for sample in list(_samples_of(info))[:_SAMPLES])
        except (RuntimeError, ImportError, ValueError, TypeError):
            continue


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads, runs, compares, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    by_operator = fakes(parser.parse_args(arguments).tree)
    warnings.filterwarnings("ignore")
    beside = Beside(by_operator)
    for info, sample in samples():
        try:
            with beside:
                info.op(sample.input, *sample.args, **sample.kwargs)
        except Exception:  # what a sample does alone is no matter here
            continue
    for kernel, shown in beside.shown.items():
        print(f"{kernel}: {shown}\n")
    counts = ", ".join(f"{kind}: {count}" for kind, count in beside.kinds.most_common())
    print(f"{len(by_operator)} fakes read, {len(beside.calls)} of them run; calls {counts}")


if __name__ == "__main__":
    main()
