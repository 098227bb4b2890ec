"""What `torch.compile(dynamic=True)` gives over OpInfo: eager's values and gradients, and how many graphs it takes.

    python tests/corpus/audit_dynamic.py [--torch COPY] [--only 'fft.*'] [--backend aot_eager] [--gradients]
    python tests/corpus/audit_dynamic.py [--torch COPY] --backend export

Compiles each entry (fullgraph) on its first samples and calls what was compiled on each sample, then on the same sample
in other sizes, those that eager takes: each size plus one and doubled, all sizes plus one, doubled and 16. With the
installed torch and with a patched copy of it, each in processes of its own. Prints the entries that take fewer graphs,
or more, and each call that passes before and fails after, or the other way round; exits 1 where a call broke or an
entry takes more graphs. `--gradients` asks for those of the sum of the results, too. `--backend export` exports each
sample once, with `Dim.DYNAMIC` for each size above 1, runs the default decompositions, and calls that program.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from audit_modules import as_function_of_tensors
from audit_unbacked import called, entries, refusal_of, sample_arguments
from corpus_sizes import agree, other_sizes
from corpus_torch import add_torch_option, of_both_torches
from corpus_workers import Workers, add_worker_options

EQUAL = "equal"
OTHER = "other values than eager's"


def line_of(error: Exception) -> str:
    """The error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def calls(arguments: Any) -> Iterator[tuple[str, Any]]:
    """The sample, then the sample in other sizes above 1, each with what was changed; all dense tensors."""
    yield "sample", arguments
    for label, variant in other_sizes(arguments):
        if label.rpartition(" ")[2] not in ("0", "1"):
            yield label, variant


def with_gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives the function's results, and the gradients of their sum for the tensors that want some."""
    import torch
    from torch.utils import _pytree as pytree

    def both(args: Any, kwargs: Any) -> Any:
        result = function(args, kwargs)
        outputs = [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
        inputs = [leaf for leaf in pytree.tree_leaves((args, kwargs))
                  if isinstance(leaf, torch.Tensor) and leaf.requires_grad]  # fmt: skip
        if not outputs or not inputs:
            return result
        sums = [(torch.view_as_real(out) if out.is_complex() else out).sum() for out in outputs]
        return result, torch.autograd.grad(sums, inputs, allow_unused=True)

    both.__name__ = function.__name__
    return both


def exported(function: Callable[..., Any], arguments: Any) -> Callable[..., Any]:
    """A function that calls the exported and decomposed program of the call, whose sizes above 1 are dynamic."""
    import torch
    from torch.utils import _pytree as pytree

    called_module, tensors = as_function_of_tensors(function, arguments, {})
    dynamic = tuple({d: torch.export.Dim.DYNAMIC for d, size in enumerate(t.shape) if size > 1} for t in tensors)
    program = torch.export.export(called_module, tensors, dynamic_shapes=(dynamic,)).run_decompositions().module()

    def call(args: Any, kwargs: Any) -> Any:
        return program(*(leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)))

    return call


class Audit:
    """The audit of entries in this process."""

    def __init__(self, samples: int, backend: str, gradients: bool) -> None:
        self.samples, self.backend, self.gradients = samples, backend, gradients

    def entry(self, op: Any) -> list[dict[str, Any]]:
        """Of each sample how the calls end, by what was changed, and how many graphs they took."""
        wanted = self.gradients and op.supports_autograd
        return [self.sample(called(op), sample) for sample in sample_arguments(op, self.samples, wanted)]

    def sample(self, function: Callable[..., Any], arguments: Any) -> dict[str, Any]:
        """How the calls of one sample end, which is given as `(args, kwargs)`, and how many graphs they took."""
        import copy

        import torch
        from torch._dynamo.testing import CompileCounterWithBackend

        asked = with_gradients if self.gradients else lambda function: function

        def seeded(call: Callable[..., Any], sample: Any) -> Any:
            torch.manual_seed(0)
            return asked(call)(*copy.deepcopy(sample))

        torch.compiler.reset()
        counter = CompileCounterWithBackend("eager" if self.backend == "export" else self.backend)
        ends: dict[str, str] = {}
        try:
            if self.backend == "export":
                compiled: Any = exported(function, copy.deepcopy(arguments))
            else:
                compiled = torch.compile(function, backend=counter, fullgraph=True, dynamic=True)
        except Exception as error:
            return {"graphs": 0, "ends": {"sample": line_of(error)}}
        compiled.__name__ = function.__name__
        refusal = refusal_of(function, arguments)
        for label, variant in calls(arguments):
            if refusal(variant):  # says nothing, nor does what eager itself reads out of nowhere
                continue
            expected = seeded(function, variant)
            try:
                actual = seeded(compiled, variant)
            except Exception as error:
                ends[label] = line_of(error)
                continue
            ends[label] = EQUAL if agree(asked(function), variant, actual, expected) else OTHER
        return {"graphs": counter.frame_count, "ends": ends}


def _setup(samples: int, backend: str, gradients: bool) -> tuple[Any, Callable[[Any], Any]]:
    import torch._inductor.config

    ops = entries()
    torch._inductor.config.fallback_random = True  # eager's numbers
    audit = Audit(samples, backend, gradients)
    return list(ops), lambda name: audit.entry(ops[name])


def audit(package: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """What `Audit.entry` gives for each chosen entry, over the torch package below `package`.

    `{"outcome": …}` where the process hangs or dies.
    """
    settings = (arguments.samples, arguments.backend, arguments.gradients)
    with Workers(package, _setup, settings, arguments.jobs, arguments.timeout) as workers:
        chosen = [n for n in workers.announced if any(fnmatch.fnmatch(n, p) for p in arguments.only)]
        print(f"torch of {package}, {len(chosen)} entries", file=sys.stderr)
        return dict(workers.results(chosen))


def differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """What differs: its kind, "broken", "cured", "more graphs" or "fewer graphs"; entry and call; before and after."""
    for name in sorted(before.keys() & after.keys()):
        sides = [side[name] if isinstance(side[name], list) else [] for side in (before, after)]
        if bool(sides[0]) != bool(sides[1]):
            yield "broken" if sides[0] else "cured", name, str(before[name])[:300], str(after[name])[:300]
        for index, (first, second) in enumerate(zip(*sides, strict=False)):
            place = f"{name} [{index}]"
            for label in first["ends"].keys() & second["ends"].keys():
                old, new = first["ends"][label], second["ends"][label]
                if (old == EQUAL) != (new == EQUAL):
                    yield "broken" if old == EQUAL else "cured", f"{place} {label}", old, new
            old, new = first["graphs"], second["graphs"]
            if old != new and list(first["ends"].values()) == list(second["ends"].values()):
                yield "more graphs" if new > old else "fewer graphs", place, str(old), str(new)


def totals(results: dict[str, Any]) -> tuple[int, int]:
    """How many calls give eager's values, and how many graphs there are."""
    samples = [sample for ended in results.values() if isinstance(ended, list) for sample in ended]
    equal = sum(end == EQUAL for sample in samples for end in sample["ends"].values())
    return equal, sum(sample["graphs"] for sample in samples)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_torch_option(parser)
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="globs of entries")
    parser.add_argument("--backend", default="inductor", help="export, or one of torch.compile's, %(default)s")
    parser.add_argument("--gradients", action="store_true", help="compile the backward as well")
    parser.add_argument("--samples", type=int, default=2, help="of each entry, %(default)s")
    add_worker_options(parser, jobs=2, timeout=300)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all results as JSON")
    arguments = parser.parse_args(argv)
    before, after = of_both_torches(audit, arguments)
    found = list(differences(before, after))
    for kind in ("fewer graphs", "cured", "more graphs", "broken"):
        rows = [row for row in found if row[0] == kind]
        print(f"{kind}: {len(rows)}, of {len({place.partition(' ')[0] for _, place, _, _ in rows})} entries")
        for _, place, old, new in rows:
            print(f"  {place}: {old} -> {new}")
    (equal, graphs), (equal_now, graphs_now) = map(totals, (before, after))
    print(f"{len(before)} entries: {equal} calls equal eager before, {equal_now} after; "
          f"{graphs} graphs before, {graphs_now} after")  # fmt: skip
    return 1 if any(row[0] in ("broken", "more graphs") for row in found) else 0


if __name__ == "__main__":
    sys.exit(main())
