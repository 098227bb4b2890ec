"""What the rewrites cost eager: the import of torch, and the first and later calls of its functions.

    python tests/benchmarks/eager_cost.py [--torch COPY] [--only 'torch.nn.functional.*loss'] [--repeats 9]

40 functions of torch.nn.functional and torch.functional: those that the patch changes first (by themselves or through
functions of their module), then others, each on the OpInfo sample that runs through most of the changed lines. An
unpatched copy of the installed torch and a patched one take turns; each turn is a process that imports torch and
forks a child for each function, so that every first call is the first in its process. Times are the least of all
turns, as other work on the machine only adds to them. Prints each ratio, patched to unpatched, the median, and how
far two halves of the unpatched turns are apart by themselves. Exits 1 where calls import sympy that did not before;
no time is asserted.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import itertools
import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "corpus"))
from corpus_patch import changed_functions
from corpus_torch import add_torch_option, both_torches

MODULES = ("torch.nn.functional", "torch.functional")
BATCH = 20
"""So many later calls are timed together."""


def prepare(plain: Path, patched: Path, out: Path, options: argparse.Namespace) -> None:
    """Choose functions and samples, and pickle them to `out`; runs over the patched torch, in a process of its own."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    torch.set_num_threads(1)
    changes: dict[str, tuple[set[str], set[int]]] = {}
    for module in MODULES:
        path = Path(*module.split(".")).with_suffix(".py")
        changes[module] = changed_functions((plain / path).read_text("utf-8"), (patched / path).read_text("utf-8"))
    samples: dict[str, tuple[bool, Any]] = {}
    op: Any
    for op in op_db:
        short = op.name.rpartition(".")[2]
        module = MODULES[0] if op.name.startswith("nn.functional.") else MODULES[1]
        name = f"{module}.{short}"
        function = getattr(importlib.import_module(module), short, None)
        if not callable(function) or op.variant_test_name or not any(fnmatch.fnmatch(name, p) for p in options.only):
            continue
        torch.manual_seed(0)
        try:
            drawn = list(itertools.islice(op.sample_inputs("cpu", torch.float32, requires_grad=False), 8))
        except Exception:  # an operator of other types
            continue
        best, most = None, -1
        for sample in drawn:
            args, kwargs = _passed(op.op, module, short, ((sample.input, *sample.args), sample.kwargs))
            lines = _lines_run(function, args, kwargs)
            if lines is not None and len(lines & changes[module][1]) > most:
                best, most = (args, kwargs), len(lines & changes[module][1])
        if best is not None:
            samples[name] = short in changes[module][0] and most > 0, best
    chosen = sorted(samples, key=lambda name: (not samples[name][0], name))[: options.functions]
    out.write_bytes(pickle.dumps([(name, *samples[name]) for name in chosen]))


def _passed(operator: Callable[..., Any], module: str, name: str, sample: tuple[Any, Any]) -> tuple[Any, Any]:
    """What an operator passes on to the function of a module, as some have another order; else the sample itself."""
    place: Any = importlib.import_module(module)
    function, passed = getattr(place, name), []

    def recording(*args: Any, **kwargs: Any) -> Any:
        passed.append((args, kwargs))
        return function(*args, **kwargs)

    setattr(place, name, recording)
    try:
        operator(*sample[0], **sample[1])
    except Exception:
        return sample
    finally:
        setattr(place, name, function)
    return passed[0] if passed else sample


def _lines_run(function: Callable[..., Any], args: Any, kwargs: Any) -> set[int] | None:
    """The lines of the files of `MODULES` that a call runs; None where it fails."""
    files = {sys.modules[module].__file__ for module in MODULES}
    lines: set[int] = set()

    def trace(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        lines.add(frame.f_lineno)
        return trace

    sys.settrace(trace)
    try:
        function(*args, **kwargs)
    except Exception:
        return None
    finally:
        sys.settrace(None)
    return lines


def measure(samples: Path, out: Path) -> None:
    """One turn: import torch, then each function in a child; seconds, and whether sympy was imported, to `out`."""
    started = time.perf_counter()
    import torch

    times: dict[str, Any] = {"import": time.perf_counter() - started, "sympy": "sympy" in sys.modules, "functions": {}}
    torch.set_num_threads(1)
    for name, changed, (args, kwargs) in pickle.loads(samples.read_bytes()):
        module, _, short = name.rpartition(".")
        function = getattr(importlib.import_module(module), short)
        reading, writing = os.pipe()
        if not (child := os.fork()):
            try:
                os.write(writing, json.dumps({"changed": changed, **_timed(function, args, kwargs)}).encode())
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        if answer:
            times["functions"][name] = json.loads(answer)
    out.write_text(json.dumps(times))


def _timed(function: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any]:
    started = time.perf_counter()
    function(*args, **kwargs)
    first = time.perf_counter() - started
    batches = max(3, min(50, int(0.05 / max(first, 1e-6) / BATCH)))
    later = []
    for _ in range(batches):
        started = time.perf_counter()
        for _ in range(BATCH):
            function(*args, **kwargs)
        later.append((time.perf_counter() - started) / BATCH)
    return {"first": first, "later": min(later), "sympy": "sympy" in sys.modules}


def turn(package: Path, *arguments: str) -> None:
    """Run this program's own command over the torch below `package`; raises SystemExit where it fails."""
    environment = {**os.environ, "PYTHONPATH": str(package)}
    command = [sys.executable, __file__, *arguments]
    if subprocess.run(command, env=environment, stderr=subprocess.PIPE, check=False).returncode:
        raise SystemExit(f"{' '.join(command)}: failed over {package}")


def least(turns: Sequence[Any], name: str, key: str) -> float:
    """The least time of a function in these turns, in seconds."""
    return min(float(t["functions"][name][key] if name else t[key]) for t in turns)


def report(plain: Sequence[Any], patched: Sequence[Any]) -> int:
    """Print the table of the turns of both sides; returns the exit code."""

    def row(label: str, name: str, key: str) -> float:
        before, after = least(plain, name, key), least(patched, name, key)
        print(f"  {after / before:7.3f}  {before * 1e6:12.1f} → {after * 1e6:12.1f} µs  {label}")
        return after / before

    print(f"import of torch, least of {len(plain)}")
    row("import torch", "", "import")
    every = plain[0]["functions"]
    chosen = [name for name in every if all(name in turn["functions"] for turn in (*plain, *patched))]
    for key in ("first", "later"):
        print(f"{key} calls")
        ratios = [row(f"{name}{'' if every[name]['changed'] else ' (not changed)'}", name, key) for name in chosen]
        noise = [least(plain[::2], name, key) / least(plain[1::2], name, key) for name in chosen]
        over = f"{sum(ratio > 1.1 for ratio in ratios)} of {len(ratios)} over 1.10"
        print(f"  median {statistics.median(ratios):.3f}, greatest {max(ratios):.3f}, {over}")
        print(f"  unpatched halves: median {statistics.median(noise):.3f}, from {min(noise):.3f} to {max(noise):.3f}")
    lost = [name for name in every if name not in chosen]
    importing = [{name for turn in side for name, at in turn["functions"].items() if at["sympy"]} | (
        {"import torch"} if any(turn["sympy"] for turn in side) else set()) for side in (plain, patched)]  # fmt: skip
    more = sorted(importing[1] - importing[0])
    print(f"sympy is imported by {len(more)} that did not import it before: {', '.join(more) or 'none'}")
    if lost:
        print(f"failed, so not measured: {', '.join(lost)}")
    return 1 if more or lost else 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_torch_option(parser)
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="globs of functions")
    parser.add_argument("--functions", type=int, default=40, help="so many, %(default)s")
    parser.add_argument("--repeats", type=int, default=9, help="turns of each torch, %(default)s")
    parser.add_argument("--jobs", type=int, choices=[1], default=1, help="always one: more would disturb the times")
    parser.add_argument("--prepare", nargs=3, type=Path, help=argparse.SUPPRESS)  # its own commands, see `turn`
    parser.add_argument("--measure", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.repeats < 2:
        parser.error("--repeats: at least 2, so that the halves can be compared")
    if options.prepare:
        plain, patched, out = options.prepare
        prepare(plain, patched, out, options)
        return 0
    if options.measure:
        measure(*options.measure)
        return 0
    turns: dict[str, list[Any]] = {"plain": [], "patched": []}
    with both_torches(options.torch, alike=True) as (plain, patched), tempfile.TemporaryDirectory() as scratch:
        samples, out = Path(scratch) / "samples", Path(scratch) / "times.json"
        chosen = ["--only", *options.only, "--functions", str(options.functions)]
        turn(patched, *chosen, "--prepare", str(plain), str(patched), str(samples))
        for number in range(-1, options.repeats):  # the first writes the compiled files
            sides = [("plain", plain), ("patched", patched)]
            for side, package in sides if number % 2 else reversed(sides):
                turn(package, "--measure", str(samples), str(out))
                if number >= 0:
                    turns[side].append(json.loads(out.read_text()))
            print(f"turn {number + 1} of {options.repeats}", file=sys.stderr)
    return report(turns["plain"], turns["patched"])


if __name__ == "__main__":
    sys.exit(main())
