"""Whether a torch package, compiled with known sizes, gives eager's values, strides and gradients over OpInfo.

    python tests/corpus/audit_gradients.py --torch COPY 'fft.*' stft '*upsample*'

Compiles each entry (backend aot_eager, fullgraph, dynamic) on its first samples in double precision, real and complex,
and differentiates the result. Prints what differs, and exits 1 where something does.
"""

from __future__ import annotations

import argparse
import fnmatch
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def differentiated(function: Callable[..., Any], arguments: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """The results, their strides, and the gradients of what requires one."""
    import torch
    from torch.utils import _pytree as pytree

    leaves = [x for x in pytree.tree_leaves(arguments) if isinstance(x, torch.Tensor) and x.requires_grad]
    results = [x for x in pytree.tree_leaves(function(*arguments)) if isinstance(x, torch.Tensor)]
    real = [x for x in results if x.requires_grad]
    torch.manual_seed(0)
    gradients = torch.autograd.grad(real, leaves, [torch.randn_like(x) for x in real]) if real else ()
    return results, [x.stride() for x in results], list(gradients)


def differences(op: Any, samples: int) -> Iterator[str | None]:
    """For each sample: None where the compiled operator agrees with eager, else what is the matter."""
    import torch
    import torch._dynamo

    def call(args: Any, kwargs: Any) -> Any:
        return op.op(*args, **kwargs)

    for dtype in (torch.float64, torch.complex128):
        if dtype not in op.supported_backward_dtypes("cpu"):
            continue
        for sample in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=True), samples):
            arguments = ((sample.input, *sample.args), sample.kwargs)
            torch._dynamo.reset()
            compiled = torch.compile(call, backend="aot_eager", fullgraph=True, dynamic=True)
            try:
                expected, actual = differentiated(call, arguments), differentiated(compiled, arguments)
                torch.testing.assert_close(actual, expected)
            except Exception as error:
                yield f"{dtype}: {type(error).__name__}: {error}".splitlines()[0][:200]
            else:
                yield None


def main() -> int:
    """Print the differences and a count."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--torch", type=Path, help="a folder that holds another torch package")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("entry", nargs="+", help="globs of entries, as name or name.variant")
    arguments = parser.parse_args()
    if arguments.torch:
        sys.path.insert(0, str(arguments.torch.resolve()))
    warnings.filterwarnings("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

    compared = different = 0
    for op in op_db:
        name = f"{op.name}.{op.variant_test_name}".rstrip(".")
        if any(fnmatch.fnmatch(name, pattern) for pattern in arguments.entry):
            for said in differences(op, arguments.samples):
                compared += 1
                if said is not None:
                    different += 1
                    print(f"{name}: {said}")
    print(f"{compared} samples compared, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
