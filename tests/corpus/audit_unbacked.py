"""Which OpInfo entries compile when the size of every input dimension is unbacked, and which sizes the graphs take.

    python tests/corpus/audit_unbacked.py run --sizes --out before.json
    python tests/corpus/audit_unbacked.py run --sizes --torch COPY --out after.json
    python tests/corpus/audit_unbacked.py compare before.json after.json --torch COPY

`run` compiles each entry (backend aot_eager, fullgraph) on its first four samples with
`torch._dynamo.decorators.mark_unbacked` on all dimensions and compares the values with eager. `--backend inductor`
asks what users have by default, and takes ten times as long: `--only` and `--unpassed` choose.
`--torch COPY` names a folder that holds another `torch` package. `--sizes` also calls the compiled function on the
samples in other sizes: each size plus one, doubled, 0 and 1, and all sizes plus one, doubled, 16, 0 and 1. Sizes for
which eager's own result is only what memory held (offsets past the end, say) are left out, and counted. `--load` and
`--metas` add what symfix writes in C++ (cpp_overlay.py) and for `--mode 3` (metas.py), with which an installed torch
stands for one that is built with all of it.

`compare` prints both runs, what was cured and what broke, and the valid inputs that the graphs of cured entries
refuse: those in other sizes that eager takes, in the run before where it says so. An input that a graph refuses
(with an assertion, or because a guard of it would compile anew) violates assertions that tracing took down, each with
the line of the package that made it. Where one of these lines is a check that COPY has and the installed torch lacks,
and none is torch's own, the refusal is the patch's; else it is torch's own. audit_checks.py shows which of those
checks are needed.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from corpus_refusals import INDEFINITE, print_comparison
from corpus_sizes import agree, definite, other_sizes, unbacked
from corpus_torch import require_torch
from corpus_workers import Workers

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
    for raised in reversed(causes):
        frames = traceback.extract_tb(raised.__traceback__)
        outside = [i for i, frame in enumerate(frames) if not MACHINERY.search(frame.filename)]
        if not outside:
            continue
        last = frames[outside[-1]]
        above = frames[outside[-1] + 1].filename if outside[-1] + 1 < len(frames) else ""
        if "/_dynamo/variables/" in last.filename and cause:
            return cause[1]
        place = f"torch/{last.filename.rpartition('/torch/')[2]}:{last.lineno} in {last.name}"
        return f"C++ below {place}" if above.endswith(("sym_node.py", "fake_tensor.py")) else place
    return ""


class Audit:
    """The audit of entries in this process: every trace's assertions are recorded."""

    def __init__(self, samples: int, with_sizes: bool, backend: Any = "aot_eager") -> None:
        from corpus_asserts import Recorder

        self.samples, self.with_sizes = samples, with_sizes
        self.backend = backend
        self.derived: Callable[[Any], Any] = lambda call: call  # what is called, of what is compiled
        self.recorder = Recorder()

    def entry(self, op: Any) -> dict[str, Any]:
        """The outcome of an OpInfo entry over its first samples."""
        results = [self.sample(op, arguments) for arguments in sample_arguments(op, self.samples)]
        worst = max(results, key=lambda r: ORDER.index(r["outcome"]), default={"outcome": "skip"})
        if worst["outcome"] == "skip" and any(r["outcome"] == "pass" for r in results):
            worst = next(r for r in results if r["outcome"] == "pass")
        return {**{key: worst[key] for key in ("outcome", "where", "message") if key in worst}, "samples": results}

    def sample(self, op: Any, arguments: Any) -> dict[str, Any]:
        """The outcome of one sample, given as `(args, kwargs)`."""
        function = called(op)
        try:
            expected = eager(function, arguments)
            marked = unbacked(arguments)[1]
        except Exception as error:  # a sample that eager or deepcopy refuses says nothing
            return {"outcome": "skip", "message": f"eager: {error}"[:300]}
        if not marked:
            return {"outcome": "skip", "message": "no dimension to mark"}
        result = self.compiled(function, arguments, expected)
        if self.with_sizes:
            variants = dict(other_sizes(arguments))
            refusal = refusal_of(function, arguments)
            taken = {label: refusal(variant) for label, variant in variants.items()}
            result["eager"] = {label: message for label, message in taken.items() if message}
            result["taken"] = [label for label, message in taken.items() if not message]
            if result["outcome"] == "pass":
                result["sizes"] = self.sizes(function, {label: variants[label] for label in result["taken"]})
                wrong = any(end["outcome"] == "wrong" for end in result["sizes"].values())
                result["outcome"] = "wrong" if wrong else "pass"
        return result

    def compiled(self, function: Any, arguments: Any, expected: Any) -> dict[str, Any]:
        """How a fresh compilation with unbacked sizes ends; `self.call` is the compiled function."""
        import torch

        torch.compiler.reset()
        self.recorder.forget()
        compiler: Any = torch.compile
        self.call = self.derived(compiler(function, backend=self.backend, fullgraph=True))
        try:
            torch.manual_seed(0)
            actual = self.call(*unbacked(arguments)[0])
        except Exception as error:
            return {**describe(error), "checks": self.recorder.last.places()}
        result: dict[str, Any] = {"outcome": "pass", "checks": self.recorder.last.places()}
        if not agree(function, arguments, actual, expected):
            result |= {"outcome": "wrong", "message": f"{actual!r} is not {expected!r}"[:600]}
        return result

    def sizes(self, function: Any, variants: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """What the graph just compiled does on the same sample in other sizes, which eager takes.

        "equal", "wrong", "refused", or "recompiled: …" with how a graph for those sizes ends. With what the sizes
        violate, for all but the first.
        """
        import torch
        import torch._dynamo

        trace = self.recorder.last
        ends: dict[str, dict[str, Any]] = {}
        anew: list[str] = []
        for label, variant in variants.items():
            expected = eager(function, variant)
            try:
                with torch._dynamo.config.patch(error_on_recompile=True):
                    torch.manual_seed(0)
                    actual = self.call(*unbacked(variant)[0])
            except torch._dynamo.exc.RecompileError:
                anew.append(label)
                ends[label] = {"outcome": "recompiled", "violated": trace.violated(variant)}
            except Exception as error:
                message = f"{type(error).__name__}: {error}".splitlines()[0][:200]
                ends[label] = {"outcome": "refused", "message": message, "violated": trace.violated(variant)}
            else:
                ends[label] = {"outcome": "equal"}
                if not agree(function, variant, actual, expected):
                    # The same wherever the sizes are known: then not for the path that was picked.
                    torch.manual_seed(0)
                    compiler: Any = torch.compile
                    static = compiler(_again(function), backend="aot_eager", dynamic=False)(*variant)
                    same = agree(function, variant, actual, static)
                    ends[label]["outcome"] = "unlike eager for known sizes too" if same else "wrong"
        for label in anew:
            end = self.compiled(function, variants[label], eager(function, variants[label]))
            ends[label]["outcome"] = f"recompiled: {'equal' if end['outcome'] == 'pass' else end['outcome']}"
            ends[label] |= {"message": end["message"].splitlines()[0][:200]} if "message" in end else {}
        return ends


def called(op: Any) -> Callable[..., Any]:
    """A function `(args, kwargs)` that calls the operator and has its name."""
    call = op.op

    def function(args: Any, kwargs: Any) -> Any:
        return call(*args, **kwargs)

    function.__name__ = str(op.name).rpartition(".")[2]
    return function


def _again(function: Any) -> Any:
    """The function with code of its own, so that its compilations are not those of the other."""
    import types

    return types.FunctionType(function.__code__.replace(), function.__globals__, closure=function.__closure__)


def eager(function: Any, arguments: Any) -> Any:
    """What eager gives for a copy of the arguments, seeded."""
    import copy

    import torch

    torch.manual_seed(0)
    return function(*copy.deepcopy(arguments))


def refusal_of(function: Any, sample: Any) -> Callable[[Any], str]:
    """A function that says why eager refuses the sample in other sizes; "" where it takes them.

    `INDEFINITE` where eager has a result for the sample but, in these sizes, only what memory happened to hold: such
    an input is not valid, though nothing refuses it.
    """
    judged = definite(function, sample)

    def refusal(arguments: Any) -> str:
        try:
            eager(function, arguments)
            return INDEFINITE if judged and not definite(function, arguments) else ""
        except Exception as error:
            return f"{type(error).__name__}: {error}".splitlines()[0][:200]

    return refusal


def sample_arguments(op: Any, samples: int, requires_grad: bool = False) -> list[Any]:
    """The first samples of an entry as `(args, kwargs)`, the same in every process."""
    import itertools

    import torch

    dtypes = op.supported_dtypes("cpu")
    dtype = torch.float32 if torch.float32 in dtypes else sorted(dtypes, key=str)[0]
    torch.manual_seed(0)
    inputs = op.sample_inputs("cpu", dtype, requires_grad=requires_grad)
    return [((sample.input, *sample.args), sample.kwargs) for sample in itertools.islice(inputs, samples)]


def entries() -> dict[str, Any]:
    """The entries of OpInfo by name, as `name` or `name.variant`; sets this process up to compile them quietly."""
    import logging
    import warnings

    warnings.filterwarnings("ignore")
    import torch
    import torch._dynamo
    from torch.testing._internal import common_methods_invocations

    # Entries of random operators seed themselves in a way Dynamo cannot trace; here every call is seeded from outside.
    vars(common_methods_invocations)["wrapper_set_seed"] = lambda op, *args, **kwargs: op(*args, **kwargs)
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    torch._dynamo.config.verbose = True  # keep the traceback below the compiler
    torch._dynamo.config.capture_scalar_outputs = True
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    return {f"{op.name}.{op.variant_test_name}".rstrip("."): op for op in common_methods_invocations.op_db}


def _setup(
    samples: int, with_sizes: bool, backend: str, libraries: Sequence[str], metas: Sequence[dict[str, Any]]
) -> tuple[Any, Callable[[str], Any]]:
    import torch
    import torch._inductor.config

    from codemod.runner.libraries import load

    for library in libraries:
        load(library)
    for meta in metas:
        _install(meta)
    ops = entries()
    torch._inductor.config.fallback_random = True  # eager's numbers
    audit = Audit(samples, with_sizes, backend)
    return (str(Path(torch.__file__).parent), list(ops)), lambda name: audit.entry(ops[name])


def _install(meta: dict[str, Any]) -> None:
    """Register a meta that was drawn, with the out variants it is registered for."""
    import torch

    from codemod.runner.drawing import install

    base, _, name = meta["overload"].partition(".")
    overload = getattr(getattr(torch.ops.aten, base), name)
    install(overload, meta["parameters"], meta["body"], meta["outputs"])


def run(arguments: argparse.Namespace) -> int:
    """Audit the chosen entries in `--jobs` processes and write one JSON file."""
    if arguments.torch:
        require_torch(arguments.torch)
    package = arguments.torch and arguments.torch.resolve()
    libraries = arguments.load.read_text().split() if arguments.load else []
    metas = json.loads(arguments.metas.read_text()) if arguments.metas else []
    drawn = [meta for meta in metas if not meta["reason"]]
    settings = (arguments.samples, arguments.sizes, arguments.backend, libraries, drawn)
    results: dict[str, Any] = {}
    with Workers(package, _setup, settings, arguments.jobs, arguments.timeout) as workers:
        home, names = workers.announced
        chosen = [name for name in names if any(fnmatch.fnmatch(name, p) for p in arguments.only)]
        if arguments.unpassed:
            before = json.loads(arguments.unpassed.read_text())
            chosen = [n for n in chosen if n in before and before[n]["outcome"] != "pass"]
        print(f"torch of {home}, {len(chosen)} entries", file=sys.stderr)
        for name, result in workers.results(chosen):
            results[name] = result
            if len(results) % 25 == 0:
                print(f"{len(results)} done", dict(Counter(r["outcome"] for r in results.values())), file=sys.stderr)
                arguments.out.write_text(json.dumps(results, indent=1, sort_keys=True))
    arguments.out.write_text(json.dumps(results, indent=1, sort_keys=True))
    print(dict(Counter(r["outcome"] for r in results.values())))
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the two commands and return its exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run", help="audit a torch package")
    runner.add_argument("--torch", type=Path, help="a folder that holds another torch package")
    runner.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    runner.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="globs of entries")
    runner.add_argument("--unpassed", type=Path, metavar="RUN", help="the entries that did not pass in another run")
    runner.add_argument("--load", type=Path, metavar="LIST", help="libraries to load, as cpp_overlay.py prints them")
    runner.add_argument("--metas", type=Path, help="metas to register, as metas.py draw --json writes them")
    runner.add_argument("--backend", default="aot_eager", help="one of torch.compile's")
    runner.add_argument("--samples", type=int, default=4)
    runner.add_argument("--jobs", type=int, default=2)
    runner.add_argument("--timeout", type=float, default=180, help="seconds for one entry")
    runner.add_argument("--sizes", action="store_true", help="also call the graphs on other sizes")
    runner.set_defaults(function=run)
    comparer = commands.add_parser("compare", help="print two runs side by side")
    comparer.add_argument("before", type=Path)
    comparer.add_argument("after", type=Path)
    comparer.add_argument("--torch", type=Path, help="the folder of the run after; tells its checks from torch's own")
    comparer.set_defaults(function=compare)
    arguments = parser.parse_args(argv)
    return int(arguments.function(arguments))


def compare(arguments: argparse.Namespace) -> int:
    """Print both runs side by side; returns the exit code."""
    before, after = (json.loads(path.read_text()) for path in (arguments.before, arguments.after))
    return print_comparison(before, after, arguments.torch)


if __name__ == "__main__":
    sys.exit(main())
