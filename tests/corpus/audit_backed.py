"""Whether known (backed) sizes are traced as before: results, guards and graphs' output sizes over OpInfo.

    python tests/corpus/audit_backed.py run --out before.json
    python tests/corpus/audit_backed.py run --torch COPY --out after.json
    python tests/corpus/audit_backed.py compare before.json after.json

`run` traces every entry with `make_fx(tracing_mode="symbolic")` and keeps the guards, each conjunct by itself, and
whether the graph gives eager's values. `compare` exits 1 where an entry's guards or results differ.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from corpus_sizes import agree


def conjuncts(shape_env: Any) -> list[str]:
    """The guards of a trace, one truth each, sorted."""
    import sympy  # type: ignore[import-untyped]

    found: set[str] = set()
    for guard in shape_env.guards:
        parts = guard.expr.args if isinstance(guard.expr, sympy.And) else (guard.expr,)
        found.update(map(str, parts))
    return sorted(found)


def trace(name: str, call: Any, arguments: Any) -> dict[str, Any]:
    """The guards of one symbolic trace, and whether its graph gives what eager gives."""
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils import _pytree as pytree

    leaves, spec = pytree.tree_flatten(arguments)
    places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def function(*tensors: Any) -> Any:
        filled = list(leaves)
        for index, tensor in zip(places, tensors, strict=True):
            filled[index] = tensor
        args, kwargs = pytree.tree_unflatten(filled, spec)
        return call(*args, **kwargs)

    function.__name__ = name

    def inputs() -> list[Any]:
        return [leaves[index].clone() for index in places]

    torch.manual_seed(0)
    expected = function(*inputs())
    try:
        graph = make_fx(function, tracing_mode="symbolic")(*inputs())
    except Exception as error:
        return {"outcome": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
    torch.manual_seed(0)
    actual = graph(*inputs())
    equal = agree(function, tuple(inputs()), actual, expected)
    return {"outcome": "equal" if equal else "wrong", "guards": conjuncts(graph.shape_env)}


def audit(name: str, samples: int) -> tuple[str, list[dict[str, Any]]]:
    """The traces of the OpInfo entry of that name."""
    import itertools
    import logging
    import warnings

    import torch
    from torch.testing._internal import common_methods_invocations

    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    op: Any = next((entry for entry in common_methods_invocations.op_db if entry_name(entry) == name), None)
    if op is None:  # the list depends on what else is imported
        return name, []
    results: list[dict[str, Any]] = []
    try:
        dtypes = op.supported_dtypes("cpu")
        dtype = torch.float32 if torch.float32 in dtypes else sorted(dtypes, key=str)[0]
        torch.manual_seed(0)
        for sample in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), samples):
            results.append(trace(op.name, op.op, ((sample.input, *sample.args), sample.kwargs)))
    except Exception as error:  # samples that cannot be made or copied say nothing
        results.append({"outcome": f"no sample: {error}"[:120]})
    return name, results


def entry_name(op: Any) -> str:
    """The name of an OpInfo entry with its variant."""
    return f"{op.name}.{op.variant_test_name}".rstrip(".")


def run(arguments: argparse.Namespace) -> int:
    """Trace all entries in `--jobs` processes."""
    if arguments.torch:
        sys.path.insert(0, str(arguments.torch.resolve()))
    from torch.testing._internal.common_methods_invocations import op_db

    context = multiprocessing.get_context("spawn")
    with context.Pool(arguments.jobs, maxtasksperchild=100) as pool:
        found = dict(pool.imap_unordered(partial(audit, samples=arguments.samples), map(entry_name, op_db)))
    arguments.out.write_text(json.dumps(found, indent=1, sort_keys=True))
    outcomes = Counter(result["outcome"].partition(":")[0] for results in found.values() for result in results)
    print(f"{len(found)} entries, {dict(outcomes)}")
    return 0


def compare(arguments: argparse.Namespace) -> int:
    """Print the entries whose results or guards differ."""
    before, after = (json.loads(path.read_text()) for path in (arguments.before, arguments.after))
    common = sorted(before.keys() & after.keys())
    different = [name for name in common if before[name] != after[name]]
    for name in different:
        for first, second in zip(before[name], after[name], strict=False):
            if first != second:
                gone = sorted(set(first.get("guards", ())) - set(second.get("guards", ())))
                new = sorted(set(second.get("guards", ())) - set(first.get("guards", ())))
                print(f"{name}: {first['outcome']} -> {second['outcome']}; guards gone {gone}, new {new}")
    print(f"{len(common)} entries compared, {len(different)} differ")
    return 1 if different else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the two commands and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run", help="trace with a torch package")
    runner.add_argument("--torch", type=Path, help="a folder that holds another torch package")
    runner.add_argument("--out", type=Path, required=True)
    runner.add_argument("--samples", type=int, default=4)
    runner.add_argument("--jobs", type=int, default=2)
    runner.set_defaults(function=run)
    comparer = commands.add_parser("compare", help="print the differences of two runs")
    comparer.add_argument("before", type=Path)
    comparer.add_argument("after", type=Path)
    comparer.set_defaults(function=compare)
    arguments = parser.parse_args(argv)
    return int(arguments.function(arguments))


if __name__ == "__main__":
    sys.exit(main())
