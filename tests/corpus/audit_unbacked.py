"""Which OpInfo entries compile when the size of every input dimension is unbacked.

    python tests/corpus/audit_unbacked.py run --out before.json
    python tests/corpus/audit_unbacked.py run --torch COPY --edge --out after.json
    python tests/corpus/audit_unbacked.py compare before.json after.json

`run` compiles each entry (backend aot_eager, fullgraph) on its first four samples with
`torch._dynamo.decorators.mark_unbacked` on all dimensions and compares the values with eager.
`--torch COPY` names a folder that holds another `torch` package. `--edge` also calls the compiled
function on inputs whose sizes are turned into 0 and 1, where a wrong choice of path shows.
`compare` prints both runs, and what was cured and what broke.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import multiprocessing
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

DATA_DEPENDENT = re.compile(
    r"GuardOnDataDependent|data-dependent|PendingUnbackedSymbolNotFound|UnbackedSymNode"
    r"|Could not extract specialized integer"
)
MACHINERY = re.compile(
    r"/torch/(?:__init__|_subclasses/\w+|fx/experimental/(?:symbolic_shapes|sym_node|recording|_\w+))\.py$"
    r"|/functools\.py$"
)
CAUSE = re.compile(r"Caused by: .*\((\S+:\d+ in \w+)\)")
ORDER = ("pass", "skip", "data-dependent", "error", "wrong", "timeout")
"""Outcomes of a sample, from best to worst; an entry has the outcome of its worst sample."""


def describe(error: BaseException) -> dict[str, str]:
    """The kind of failure, the line PyTorch blames, and the end of the message."""
    text = f"{type(error).__name__}: {error}"
    outcome = "data-dependent" if DATA_DEPENDENT.search(text) else "error"
    return {"outcome": outcome, "where": where(error), "message": text[:3000]}


def where(error: BaseException) -> str:
    """The innermost line of torch that asked for the value, as `torch/file.py:line in function`.

    "C++ below torch/…" where that line is a call and the question came from C++.
    """
    cause = CAUSE.search(str(error))
    causes = [error]
    while (inner := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(inner)
    for one in reversed(causes):
        frames = traceback.extract_tb(one.__traceback__)
        known = [i for i, frame in enumerate(frames) if not MACHINERY.search(frame.filename)]
        if not known:
            continue
        last = frames[known[-1]]
        above = frames[known[-1] + 1].filename if known[-1] + 1 < len(frames) else ""
        if "/_dynamo/variables/" in last.filename and cause:
            return cause[1]
        place = f"torch/{last.filename.rpartition('/torch/')[2]}:{last.lineno} in {last.name}"
        return f"C++ below {place}" if above.endswith(("sym_node.py", "fake_tensor.py")) else place
    return ""


def arbitrary(function: Any, arguments: Any) -> bool:
    """Whether the values of eager's result depend on the seed, or on what the memory held before."""
    import copy

    import torch

    if function.__name__.startswith(("empty", "new_empty")):
        return True
    results = []
    for seed in (0, 1):
        torch.manual_seed(seed)
        results.append(function(*copy.deepcopy(arguments)))
    return not same_values(*results)


def same_values(one: Any, other: Any) -> bool:
    """Whether two results agree in structure, shapes, dtypes and values."""
    import torch

    try:
        torch.testing.assert_close(one, other, rtol=2e-4, atol=2e-4, equal_nan=True)
    except AssertionError:
        return False
    except TypeError:  # plain Python objects among the results
        return bool(repr(one) == repr(other))
    return True


def same_shapes(one: Any, other: Any) -> bool:
    """Whether two results agree in structure, shapes and dtypes."""
    import torch
    from torch.utils import _pytree as pytree

    first, second = pytree.tree_leaves(one), pytree.tree_leaves(other)
    return len(first) == len(second) and all(
        not isinstance(a, torch.Tensor) or (isinstance(b, torch.Tensor) and a.shape == b.shape and a.dtype == b.dtype)
        for a, b in zip(first, second, strict=True)
    )


def unbacked(arguments: Any) -> tuple[Any, int]:
    """A copy of the arguments with every dimension of every tensor marked, and how many those are."""
    import copy

    import torch
    from torch._dynamo.decorators import mark_unbacked
    from torch.utils import _pytree as pytree

    copied = copy.deepcopy(arguments)
    marked = 0
    for leaf in pytree.tree_leaves(copied):
        if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided:
            for dimension in range(leaf.dim()):
                mark_unbacked(leaf, dimension)
                marked += 1
    return copied, marked


def resized(arguments: Any) -> Iterator[tuple[str, Any]]:
    """The arguments with each size of their tensors, one at a time and then all, turned into 0 and into 1."""
    import torch
    from torch.utils import _pytree as pytree

    leaves, spec = pytree.tree_flatten(arguments)
    sizes = sorted(
        {s for x in leaves if isinstance(x, torch.Tensor) and x.layout == torch.strided for s in x.shape if s}
    )
    choices: list[set[int]] = [{s} for s in sizes]
    if len(sizes) > 1:
        choices.append(set(sizes))
    for chosen in choices:
        for small in (0, 1):
            changed = []
            for leaf in leaves:
                if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided:
                    for dimension, size in enumerate(leaf.shape):
                        if size in chosen:
                            leaf = leaf.narrow(dimension, 0, small)
                    leaf = leaf.clone()
                changed.append(leaf)
            yield f"{sorted(chosen)} -> {small}", pytree.tree_unflatten(changed, spec)


def edges(function: Any, compiled: Any, arguments: Any) -> dict[str, Any]:
    """What the compiled function does on sizes 0 and 1: how often it agrees, asserts, or is wrong."""
    import copy

    import torch

    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for label, variant in resized(arguments):
        try:
            torch.manual_seed(0)
            expected = function(*copy.deepcopy(variant))
        except Exception:  # eager does not accept these sizes
            counts["refused by eager"] += 1
            continue
        try:
            torch.manual_seed(0)
            actual = compiled(*unbacked(variant)[0])
        except Exception as error:  # any failure is acceptable here, a value is not
            counts["data-dependent" if DATA_DEPENDENT.search(str(error)) else "asserted"] += 1
            continue
        if same_values(actual, expected) or (same_shapes(actual, expected) and arbitrary(function, variant)):
            counts["equal"] += 1
        else:
            # The same wherever the sizes are known: then not for the path that was picked.
            torch.compiler.reset()
            torch.manual_seed(0)
            known = torch.compile(function, backend="aot_eager", dynamic=False)(*copy.deepcopy(variant))  # type: ignore[no-untyped-call]
            same = same_values(actual, known)
            counts["unlike eager for known sizes too" if same else "wrong"] += 1
            if not same:
                wrong.append(label)
    return {**counts, "wrong sizes": wrong}


def audit_sample(op: Any, arguments: Any, with_edges: bool) -> dict[str, Any]:
    """The outcome of one sample, given as `(args, kwargs)`."""
    import copy

    import torch

    call = op.op

    def function(args: Any, kwargs: Any) -> Any:
        return call(*args, **kwargs)

    function.__name__ = str(op.name).rpartition(".")[2]
    torch.compiler.reset()
    try:
        torch.manual_seed(0)
        expected = function(*copy.deepcopy(arguments))
        inputs, marked = unbacked(arguments)
    except Exception as error:  # a sample that eager or deepcopy refuses says nothing
        return {"outcome": "skip", "message": f"eager: {error}"[:300]}
    if not marked:
        return {"outcome": "skip", "message": "no dimension to mark"}
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    try:
        torch.manual_seed(0)
        actual = compiled(*inputs)
    except Exception as error:
        return describe(error)
    equal = same_values(actual, expected)
    if not equal and not (same_shapes(actual, expected) and arbitrary(function, arguments)):
        return {"outcome": "wrong", "message": f"{actual!r} is not {expected!r}"[:600]}
    result: dict[str, Any] = {"outcome": "pass"}
    if with_edges:
        result["edges"] = edges(function, compiled, arguments)
        if result["edges"].get("wrong"):
            result["outcome"] = "wrong"
    return result


def audit_entry(op: Any, samples: int, with_edges: bool) -> dict[str, Any]:
    """The outcome of an OpInfo entry over its first `samples` samples."""
    import itertools

    import torch

    dtypes = op.supported_dtypes("cpu")
    dtype = torch.float32 if torch.float32 in dtypes else sorted(dtypes, key=str)[0]
    torch.manual_seed(0)
    results = []
    for sample in itertools.islice(op.sample_inputs("cpu", dtype, requires_grad=False), samples):
        arguments = ((sample.input, *sample.args), sample.kwargs)
        results.append(audit_sample(op, arguments, with_edges))
    worst = max(results, key=lambda r: ORDER.index(r["outcome"]), default={"outcome": "skip"})
    if worst["outcome"] == "skip" and any(r["outcome"] == "pass" for r in results):
        worst = next(r for r in results if r["outcome"] == "pass")
    return {**worst, "samples": results}


def worker(pipe: Connection, samples: int, with_edges: bool) -> None:
    """Audit the entries whose numbers arrive on `pipe`, until None arrives."""
    import warnings

    warnings.filterwarnings("ignore")
    import logging

    import torch
    import torch._dynamo
    from torch.testing._internal import common_methods_invocations

    # Entries of random operators seed themselves in a way Dynamo cannot trace; here every call is seeded from outside.
    vars(common_methods_invocations)["wrapper_set_seed"] = lambda op, *args, **kwargs: op(*args, **kwargs)
    op_db = common_methods_invocations.op_db
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    torch._dynamo.config.verbose = True  # keep the traceback below the compiler
    torch._dynamo.config.capture_scalar_outputs = True
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    pipe.send((str(Path(torch.__file__).parent), [f"{op.name}.{op.variant_test_name}".rstrip(".") for op in op_db]))
    for number in iter(pipe.recv, None):
        try:
            pipe.send(audit_entry(op_db[number], samples, with_edges))
        except Exception as error:  # an entry whose samples cannot be made
            pipe.send({"outcome": "skip", "message": f"{type(error).__name__}: {error}"[:300]})


class Worker:
    """A process that audits one entry at a time and is replaced when it hangs or dies."""

    home: str
    names: list[str]

    def __init__(self, samples: int, with_edges: bool) -> None:
        self.settings = (samples, with_edges)
        self.entry = -1
        self.deadline = 0.0
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=worker, args=(other, *self.settings), daemon=True)
        self.process.start()
        other.close()
        self.home, self.names = self.pipe.recv()

    def give(self, entry: int, seconds: float) -> None:
        self.entry, self.deadline = entry, time.monotonic() + seconds
        self.pipe.send(entry)

    def replace(self) -> None:
        self.process.kill()
        self.process.join()
        self.start()


def run(arguments: argparse.Namespace) -> int:
    """Audit the chosen entries in `--jobs` processes and write one JSON file."""
    if arguments.torch:
        if not (arguments.torch / "torch" / "__init__.py").is_file():
            print(f"{arguments.torch}: holds no torch package; pass the folder above it", file=sys.stderr)
            return 2
        sys.path.insert(0, str(arguments.torch.resolve()))  # the processes take it over
    workers = [Worker(arguments.samples, arguments.edge) for _ in range(arguments.jobs)]
    names = workers[0].names
    todo = [i for i, name in enumerate(names) if any(fnmatch.fnmatch(name, p) for p in arguments.entry)]
    if arguments.only:
        chosen = json.loads(arguments.only.read_text())
        wanted = set(chosen if isinstance(chosen, list) else (n for n, r in chosen.items() if r["outcome"] != "pass"))
        todo = [i for i in todo if names[i] in wanted]
    todo.reverse()
    results: dict[str, Any] = {}
    print(f"torch of {workers[0].home}, {len(todo)} entries", file=sys.stderr)
    idle, busy = list(workers), list[Worker]()
    while todo or busy:
        while todo and idle:
            idle[-1].give(todo.pop(), arguments.timeout)
            busy.append(idle.pop())
        ready = wait([w.pipe for w in busy], timeout=1)
        for one in list(busy):
            if one.pipe in ready:
                try:
                    results[names[one.entry]] = one.pipe.recv()
                except EOFError:
                    results[names[one.entry]] = {"outcome": "error", "message": "the process died"}
                    one.replace()
            elif time.monotonic() > one.deadline:
                results[names[one.entry]] = {"outcome": "timeout"}
                one.replace()
            else:
                continue
            busy.remove(one)
            idle.append(one)
            if len(results) % 25 == 0:
                print(f"{len(results)} done", dict(Counter(r["outcome"] for r in results.values())), file=sys.stderr)
                arguments.out.write_text(json.dumps(results, indent=1, sort_keys=True))
    for one in workers:
        one.pipe.send(None)
    arguments.out.write_text(json.dumps(results, indent=1, sort_keys=True))
    print(dict(Counter(r["outcome"] for r in results.values())))
    return 0


def blame(result: dict[str, Any]) -> str:
    """The line of torch that PyTorch names for a failure, else the first line of its message."""
    return str(result.get("where") or result.get("message", "").splitlines()[:1])


def compare(arguments: argparse.Namespace) -> int:
    """Print the outcomes of two runs, and the entries cured, broken and left; 1 where something broke."""
    before, after = (json.loads(path.read_text()) for path in (arguments.before, arguments.after))
    common = sorted(before.keys() & after.keys())
    for label, results in (("before", before), ("after", after)):
        print(f"{label}: {dict(Counter(results[name]['outcome'] for name in common))}")
    failed = [n for n in common if before[n]["outcome"] not in ("pass", "skip")]
    cured = [n for n in failed if after[n]["outcome"] == "pass"]
    broken = [
        n for n in common if before[n]["outcome"] in ("pass", "skip") and after[n]["outcome"] != before[n]["outcome"]
    ]
    wrong = [n for n in common if after[n]["outcome"] == "wrong" and before[n]["outcome"] != "wrong"]
    for label, chosen in (("cured", cured), ("broken", broken), ("wrong values", wrong)):
        print(f"\n{label}: {len(chosen)}")
        for name in chosen:
            print(f"  {name}" + ("" if label == "cured" else f": {blame(after[name])}"))
    left = [n for n in failed if n not in cured]
    print(f"\nleft: {len(left)}")
    for name in left:
        print(f"  {name}: {after[name]['outcome']}: {blame(after[name])}")
    totals: Counter[str] = Counter()
    for name in cured:
        for sample in after[name].get("samples", ()):
            totals.update({k: v for k, v in sample.get("edges", {}).items() if isinstance(v, int)})
    if totals:
        print(f"\nsizes 0 and 1, cured entries: {dict(totals)}")
    return 1 if broken or wrong else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the two commands and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run", help="audit a torch package")
    runner.add_argument("--torch", type=Path, help="a folder that holds another torch package")
    runner.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    runner.add_argument("--entry", nargs="+", default=["*"], help="globs of entries, as name or name.variant")
    runner.add_argument("--only", type=Path, help="a JSON list of entries, or a run: its entries that did not pass")
    runner.add_argument("--samples", type=int, default=4)
    runner.add_argument("--jobs", type=int, default=2)
    runner.add_argument("--timeout", type=float, default=180, help="seconds for one entry")
    runner.add_argument("--edge", action="store_true", help="also sizes 0 and 1")
    runner.set_defaults(function=run)
    comparer = commands.add_parser("compare", help="print two runs side by side")
    comparer.add_argument("before", type=Path)
    comparer.add_argument("after", type=Path)
    comparer.set_defaults(function=compare)
    arguments = parser.parse_args(argv)
    return int(arguments.function(arguments))


if __name__ == "__main__":
    sys.exit(main())
