"""Which modules still trace and script: torch.jit.trace, torch.jit.script, torch.fx and the tracing of torch.onnx.

    python tests/corpus/audit_modules.py [--torch COPY] [--only 'nn.*Loss'] [--samples 4] [--out modules.json]

Every module of `torch.testing._internal.common_modules.module_db`, training and not, on its first samples: with the
installed torch and with a patched copy of it, each in processes of its own. A module passes with a tracer where one
sample does; what a tracer made of it is run and compared with the module itself. Prints a table, then each sample that
passes before and fails after with its error, and exits 1 where there is one. ONNX stands for the TorchScript exporter
up to the graph of ONNX operators, which needs no further package.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from corpus_torch import add_torch_option, of_both_torches
from corpus_workers import Workers, add_worker_options

TRACERS = ("trace", "script", "fx", "onnx")


def module_samples(info: Any, training: bool, samples: int) -> Iterator[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    """The module of each of the first samples, initialized, with the arguments of its call."""
    import itertools

    import torch

    dtype = torch.float32 if torch.float32 in info.dtypes else sorted(info.dtypes, key=str)[0]
    torch.manual_seed(0)
    inputs = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=False, training=training)
    for sample in itertools.islice(inputs, samples):
        module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs).train(training)
        forward = sample.forward_input
        args, kwargs = (forward.args, forward.kwargs) if forward is not None else ((), {})
        if info.is_lazy:
            module(*args, **kwargs)
        yield module, args, kwargs


def as_function_of_tensors(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """The module as one of only the tensors among its arguments, which is all that a trace takes, and these tensors."""
    import torch
    from torch.utils import _pytree as pytree

    leaves, spec = pytree.tree_flatten((args, kwargs))

    class Called(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, *tensors: Any) -> Any:
            rest = iter(tensors)
            filled = [next(rest) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            called, named = pytree.tree_unflatten(filled, spec)
            return self.module(*called, **named)

    return Called(), tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))


def end(tracer: str, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """How one of `TRACERS` ends for a call of the module: "" where it passes, else its error."""
    import copy

    import torch
    from corpus_sizes import same_values

    def seeded(function: Callable[..., Any], *called: Any, **named: Any) -> Any:
        torch.manual_seed(0)
        return function(*copy.deepcopy(called), **copy.deepcopy(named))

    try:
        own = copy.deepcopy(module)
        expected = seeded(own, *args, **kwargs)
        if tracer == "script":
            actual = seeded(torch.jit.script(module), *args, **kwargs)
        elif tracer == "fx":
            actual = seeded(torch.fx.symbolic_trace(module), *args, **kwargs)
        else:
            called, tensors = as_function_of_tensors(module, args, kwargs)
            if tracer == "onnx":
                from torch.onnx._internal.torchscript_exporter import utils

                utils._model_to_graph(called, tensors)
                return ""
            tracing: Any = torch.jit.trace
            actual = seeded(tracing(called, tensors, check_trace=False), *tensors)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:1500]
    arbitrary = not same_values(expected, seeded(own, *args, **kwargs))
    return "" if arbitrary or same_values(actual, expected) else "other values than the module's own"


def _setup(samples: int) -> tuple[Any, Callable[[Any], Any]]:
    import logging
    import warnings

    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    import torch
    from torch.testing._internal.common_modules import module_db

    torch.set_num_threads(1)
    named = {f"{info.name}{' training' if training else ''}": (info, training)
             for info in module_db for training in (False, True)}  # fmt: skip

    def work(item: tuple[str, str]) -> list[str]:
        return [end(item[1], *sample) for sample in module_samples(*named[item[0]], samples)]

    return list(named), work


def audit(package: Path, arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """How the samples of each chosen module end with each tracer, over the torch package below `package`.

    A list of what `end` returns; `{"outcome": …}` where the process hangs or dies.
    """
    ends: dict[str, dict[str, Any]] = {}
    with Workers(package, _setup, (arguments.samples,), arguments.jobs, arguments.timeout) as workers:
        chosen = [n for n in workers.announced if any(fnmatch.fnmatch(n, p) for p in arguments.only)]
        for (name, tracer), result in workers.results([(name, tracer) for name in chosen for tracer in TRACERS]):
            ends.setdefault(name, {})[tracer] = result
    return ends


def passes(result: Any) -> bool:
    """Whether any sample passes."""
    return isinstance(result, list) and "" in result


def broken(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> list[tuple[str, str, int, str]]:
    """The module, tracer, sample and error of each that passes before and fails after."""
    gone: list[tuple[str, str, int, str]] = []
    for name, results in before.items():
        for tracer, ended in results.items():
            now = after[name][tracer]
            for index, error in enumerate(ended if isinstance(ended, list) else ()):
                end_now = now[index] if isinstance(now, list) else now.get("message", now["outcome"])
                gone += [(name, tracer, index, end_now)] if not error and end_now else []
    return gone


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_torch_option(parser)
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="globs of modules, as nn.Linear")
    parser.add_argument("--samples", type=int, default=4, help="of each module, %(default)s")
    add_worker_options(parser, jobs=1, timeout=300)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all results as JSON")
    arguments = parser.parse_args(argv)
    before, after = of_both_torches(audit, arguments)
    gone = broken(before, after)
    samples = sum(max(len(ended) for ended in r.values() if isinstance(ended, list)) for r in before.values())
    print(f"{len(before)} modules (each training and not), {samples} samples")
    print(f"{'':8}{'pass before':>12}{'after':>8}{'modules broken':>16}{'samples broken':>16}")
    for tracer in TRACERS:
        counts = [sum(passes(results[tracer]) for results in side.values()) for side in (before, after)]
        names = [name for name, t, _, _ in gone if t == tracer]
        print(f"{tracer:8}{counts[0]:12}{counts[1]:8}{len(set(names)):16}{len(names):16}")
    reasons: dict[tuple[str, str], list[str]] = {}
    for name, tracer, index, error in gone:
        reasons.setdefault((tracer, " ".join(error.split())[:300]), []).append(f"{name} [{index}]")
    for (tracer, error), names in reasons.items():
        print(f"\n{tracer}: {error}\n  {len(names)} samples: {', '.join(names)}")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main())
