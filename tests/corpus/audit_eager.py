"""Whether eager does on a device what it did: shapes, strides, dtypes, values, and the operations that each call runs.

    python tests/corpus/audit_eager.py [--torch COPY] [--device cuda] [--only 'nn.functional.*'] [--out eager.json]

Every OpInfo entry on its first samples, with the installed torch and with a patched copy of it, each in processes of
its own. Counted are the operators of the dispatcher, and on CUDA the kernels that are launched and how often the
processor waits for the device. Each call is made twice before it is counted; values that the unpatched torch gives
otherwise from one of these to the other (what memory held, sums in any order) are not compared. Prints what differs,
and exits 1 where something does.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from audit_unbacked import entries
from corpus_torch import add_torch_option, of_both_torches
from corpus_workers import Workers, add_worker_options

_LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel")
_WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaMemcpyAsync")


def described(value: Any) -> list[Any]:
    """The shape, strides, dtype and device of a tensor with a digest of its values; of anything else its text."""
    import torch

    if not isinstance(value, torch.Tensor):
        return [repr(value)[:80]]
    strides = list(value.stride()) if value.layout == torch.strided else []
    told: list[Any] = [list(value.shape), strides, str(value.dtype), value.device.type]
    if value.layout == torch.strided and not value.is_quantized:
        held = value.detach().resolve_conj().resolve_neg().cpu().contiguous().view(-1)
        told.append(hashlib.sha256(bytes(held.view(torch.uint8).numpy())).hexdigest()[:12])
    return told


def called(op: Any, sample: Any, device: str) -> dict[str, Any]:
    """What a call gives, what two calls before it gave otherwise, and how many operations it ran; or its error."""
    import torch
    from torch.profiler import ProfilerActivity, profile
    from torch.utils import _pytree as pytree

    def run() -> list[list[Any]]:
        torch.manual_seed(0)
        leaves = (sample.input, sample.args, sample.kwargs)
        first, args, kwargs = pytree.tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, leaves)
        return [described(leaf) for leaf in pytree.tree_leaves(op.op(first, *args, **kwargs))]

    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device == "cuda" else [])]
    try:
        earlier = [run(), run()]
        with profile(activities=activities) as profiler:
            given = run()
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    names = [event.name for event in profiler.events()]
    counts = {
        "operators": sum(name.startswith("aten::") for name in names),
        "launches": sum(name.startswith(_LAUNCHES) for name in names),
        "waits": sum(name in _WAITS for name in names),
    }
    return {"given": given, "steady": earlier == [given, given], **counts}


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """In what two ends of `called` differ: `values` only where they are steady before."""
    if "error" in before or "error" in after:
        return [] if before.get("error") == after.get("error") else ["error"]
    counted = [name for name in ("operators", "launches", "waits") if before[name] != after[name]]
    shapes = [[told[:4] for told in end["given"]] for end in (before, after)]
    if shapes[0] != shapes[1]:
        return ["shapes or strides", *counted]
    return [*(["values"] if before["steady"] and before["given"] != after["given"] else []), *counted]


def _setup(samples: int, device: str) -> tuple[Any, Callable[[str], Any]]:
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    ops = entries()
    import torch

    def work(name: str) -> Any:
        op = ops[name]
        supported = op.supported_dtypes(device)
        dtype = torch.float32 if torch.float32 in supported else sorted(supported, key=str)[0]
        torch.manual_seed(0)
        made = itertools.islice(op.sample_inputs(device, dtype, requires_grad=False), samples)
        return [called(op, sample, device) for sample in made]

    return list(ops), work


def audit(package: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """The ends of the samples of each chosen entry, over the torch package below `package`."""
    settings = (arguments.samples, arguments.device)
    with Workers(package, _setup, settings, arguments.jobs, arguments.timeout) as workers:
        chosen = [n for n in workers.announced if any(fnmatch.fnmatch(n, p) for p in arguments.only)]
        return dict(workers.results(chosen))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_torch_option(parser)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="%(default)s")
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="globs of entries")
    parser.add_argument("--samples", type=int, default=4, help="of each entry, %(default)s")
    add_worker_options(parser, jobs=1, timeout=180)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all results as JSON")
    arguments = parser.parse_args(argv)
    before, after = of_both_torches(audit, arguments, alike=True)
    calls = found = 0
    for name, ends in before.items():
        now = after[name]
        if not isinstance(ends, list) or not isinstance(now, list) or len(ends) != len(now):
            if ends != now:
                found += 1
                print(f"{name}: {json.dumps(ends)[:200]} → {json.dumps(now)[:200]}")
            continue
        for number, (old, new) in enumerate(zip(ends, now, strict=True)):
            calls += "error" not in old
            if differs := differences(old, new):
                found += 1
                print(f"{name} [{number}]: {', '.join(differs)}: {json.dumps(old)[:300]} → {json.dumps(new)[:300]}")
    print(f"{len(before)} entries, {calls} calls on {arguments.device}: {found} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
