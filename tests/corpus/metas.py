"""Which overloads of the installed torch have no way to trace, and which metas can be drawn from what kernels show?

`list` counts the overloads by family. `write FOLDER` copies the installed torch's Python there and adds the metas that
say on every call what the kernel does; FOLDER/metas.json says which, and why the others have none. `prove FOLDER` runs
that torch: every meta beside its kernel, with symbols for sizes, and compiled with unbacked sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from corpus_torch import copy_torch

from transforms.python.metas.registering import HOME, Meta, with_metas

_JOBS = 2


def family(schema: Any, overload: Any) -> str:
    """What kind of overload it is, by its schema and tags."""
    from codemod.runner import schema as schemas
    from codemod.runner import uncovered

    returns = [str(value.type) for value in schema.returns]
    if uncovered.size_depends_on_data(overload):
        return "sizes that depend on values"
    if schemas.is_out(schema):
        return "out variant"
    if not returns or schemas.writes(schema):
        return "writes to its arguments"
    if "backward" in schema.name or "jvp" in schema.name:
        return "backward or jvp"
    return "gives one tensor" if returns == ["Tensor"] else "gives several"


def listed() -> list[tuple[Any, Any]]:
    """The overloads without a way to trace."""
    from codemod.runner.uncovered import uncovered

    return sorted(uncovered(), key=lambda pair: str(pair[1]))


def drawn(part: int) -> list[dict[str, Any]]:
    """For a part of the overloads: the meta, or why there is none."""
    warnings.simplefilter("ignore")
    from codemod.runner import hypotheses, observing, uncovered
    from codemod.runner import schema as schemas

    everything = listed()
    mine = [(s, o) for s, o in everything if not schemas.is_out(s)][part::_JOBS]
    recorded = observing.recorded([overload for _, overload in mine])
    entries = []
    for schema, overload in mine:
        entry: dict[str, Any] = {"overload": str(overload).removeprefix("aten."), "family": family(schema, overload)}
        entries.append(entry)
        if uncovered.size_depends_on_data(overload):
            entry["reason"] = "its sizes depend on values"
            continue
        made = list(observing.calls(overload, schema, recorded.get(overload, ())))
        seen = observing.observe(overload, schema, made)
        accepted = [(call, observation) for call, observation in zip(made, seen, strict=True) if observation]
        entry["samples"] = len(accepted)
        try:
            body = hypotheses.body(schema, [(observing.bound(schema, call), o) for call, o in accepted])
        except hypotheses.NoRule as error:
            entry["reason"] = str(error)
            continue
        entry.update(body=body, parameters=parameters(schema))
        print(entry["overload"], *body, file=sys.stderr, flush=True)
    return entries


def parameters(schema: Any) -> list[str]:
    """The parameters of a meta, without the out arguments."""
    result: list[str] = []
    for argument in schema.arguments:
        if argument.is_out:
            continue
        if argument.kwarg_only and "*" not in result:
            result.append("*")
        default = argument.default_value
        value = tuple(default) if isinstance(default, list) else default
        result.append(argument.name + (f"={value!r}" if argument.has_default_value() else ""))
    return result


def outs(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The out variants whose functional overload traces, or is among `entries` with a meta."""
    from codemod.runner import schema as schemas

    metas = {entry["overload"] for entry in entries if "body" in entry}
    missing = {str(overload).removeprefix("aten.") for _, overload in listed()}
    for schema, overload in listed():
        if not schemas.is_out(schema):
            continue
        name = str(overload).removeprefix("aten.")
        entry: dict[str, Any] = {"overload": name, "family": family(schema, overload)}
        yield entry
        sibling = next((each for each in schemas.schemas(schema.name) if alike(each, schema)), None)
        if sibling is None:
            entry["reason"] = "no overload of its name is the same without out"
            continue
        functional = f"{schema.name.partition('::')[2]}.{sibling.overload_name or 'default'}"
        if functional in missing and functional not in metas:
            entry["reason"] = f"{functional} has no meta"
            continue
        outputs = [argument.name for argument in schema.arguments if argument.is_out]
        entry.update(outputs=outputs, functional=functional, parameters=parameters(schema))
        if functional not in metas:
            names = [f"{n}={n}" if kind else n for n, kind in _named(schema)]
            entry["body"] = [f"return aten.{functional}({', '.join(names)})"]


def _named(schema: Any) -> list[tuple[str, bool]]:
    return [(argument.name, argument.kwarg_only) for argument in schema.arguments if not argument.is_out]


def alike(functional: Any, out: Any) -> bool:
    """Whether an overload takes what another takes beside its out arguments."""
    from codemod.runner import schema as schemas

    if schemas.is_out(functional) or schemas.writes(functional):
        return False
    mine = [(a.name, str(a.type)) for a in functional.arguments]
    return mine == [(a.name, str(a.type)) for a in out.arguments if not a.is_out]


def metas_of(entries: list[dict[str, Any]]) -> list[Meta]:
    """The metas of the entries that are to be written; out variants stand with their functional overload."""
    result = []
    kept = [entry for entry in entries if not entry.get("reason")]
    for entry in kept:
        if "body" not in entry:
            continue
        variants = [other for other in kept if other.get("functional") == entry["overload"] and "body" not in other]
        names = (entry["overload"], *(variant["overload"] for variant in variants))
        outputs = tuple(variants[0]["outputs"]) if variants else tuple(entry.get("outputs", ()))
        result.append(Meta(names, tuple(entry["parameters"]), tuple(entry["body"]), outputs))
    return result


def write(folder: Path) -> None:
    """Draw the metas, prove them over a patched copy, and take out those that differ."""
    with ProcessPoolExecutor(_JOBS) as pool:
        entries = [entry for part in pool.map(drawn, range(_JOBS)) for entry in part]
    entries += outs(entries)
    if not (folder / "torch").exists():
        copy_torch(folder)
    original = (folder / HOME).read_bytes()
    (folder / HOME).write_bytes(with_metas(original, metas_of(entries)))
    (folder / "metas.json").write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    ends = proved(folder)
    for entry in entries:
        if entry["overload"] in ends:
            entry["proof"] = ends[entry["overload"]]
            if entry["proof"]["end"] != "passes":
                entry["reason"] = entry["proof"]["end"]
    failing = {entry["overload"] for entry in entries if entry.get("reason")}
    for entry in entries:  # what stands on a meta that is taken out goes with it
        if entry.get("functional") in failing and not entry.get("reason"):
            entry["reason"] = f"{entry['functional']} has no meta"
    (folder / HOME).write_bytes(with_metas(original, metas_of(entries)))
    (folder / "metas.json").write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    table(entries)


def table(entries: list[dict[str, Any]]) -> None:
    """What became of each overload."""
    for entry in sorted(entries, key=lambda entry: (bool(entry.get("reason")), entry["overload"])):
        said = entry.get("reason") or f"{' '.join(entry.get('body', ['with its functional overload']))}"
        count = entry.get("proof", {}).get("samples", "")
        print(f"{'left' if entry.get('reason') else 'meta':5} {entry['overload']:55} {count:>5}  {said}")
    written = sum(not entry.get("reason") for entry in entries)
    unbacked = sum(entry.get("proof", {}).get("unbacked") == "passes" for entry in entries)
    print(f"{written} of {len(entries)} overloads get a meta that equals the kernel; {unbacked} compile unbacked")


def proved(folder: Path) -> dict[str, dict[str, Any]]:
    """How the metas of a patched torch end, by overload."""
    command = [sys.executable, __file__, "child", str(folder)]
    here = Path(__file__).resolve().parent.parent.parent
    environment = {**os.environ, "PYTHONPATH": f"{folder.resolve()}:{here}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=1800)
    if done.returncode:
        raise SystemExit(f"metas: the patched torch ends with {done.returncode}: {done.stderr[-2000:]}")
    ends: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return ends


def child(folder: Path) -> None:
    """Inside the patched torch: each meta beside its kernel. Prints JSON."""
    warnings.simplefilter("ignore")
    import torch

    from codemod.runner import observing
    from codemod.runner import schema as schemas

    assert Path(torch.__file__).is_relative_to(folder.resolve()), torch.__file__
    entries = [e for e in json.loads((folder / "metas.json").read_text(encoding="utf-8")) if not e.get("reason")]
    overloads = {entry["overload"]: _overload(entry["overload"]) for entry in entries}
    functional = {entry["overload"]: _overload(entry.get("functional", entry["overload"])) for entry in entries}
    recorded = observing.recorded(list(functional.values()))
    ends = {}
    for entry in entries:
        overload, source = overloads[entry["overload"]], functional[entry["overload"]]
        own = source._schema
        schema = next(s for s in schemas.schemas(own.name) if s.overload_name == own.overload_name)
        made = list(observing.calls(source, schema, recorded.get(source, ())))
        made = [call for call, seen in zip(made, observing.observe(source, schema, made), strict=True) if seen]
        ends[entry["overload"]] = _ends(overload, source, made, entry.get("outputs", ()))
    print(json.dumps(ends))


def _overload(name: str) -> Any:
    import torch

    base, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload)


def _with_outs(overload: Any, call: Any, names: Sequence[str]) -> Iterator[Any]:
    """A call with tensors to write to: empty ones, and ones of the right shape and strides."""
    import torch

    from codemod.runner.observing import copied

    positional, named = copied(call)
    result = overload(*positional, **named)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    for make in (torch.empty_like, lambda tensor: tensor.new_empty(0)):
        yield copied(call)[0], {**copied(call)[1], **dict(zip(names, map(make, results), strict=True))}


def _ends(overload: Any, source: Any, made: list[Any], outputs: Sequence[str]) -> dict[str, Any]:
    """How a meta ends beside its kernel, over all calls, and one compiled with unbacked sizes.

    Each call is made in a process of its own, as far as it ends that.
    """
    from codemod.runner import fakes
    from codemod.runner.forks import survive
    from codemod.runner.observing import STUCK, copied

    def work(first: int) -> Iterator[tuple[int, Any]]:
        for number in range(first, len(made)):
            yield number, None
            signal.alarm(5 * STUCK)
            calls = _with_outs(source, made[number], outputs) if outputs else [made[number]]
            compared = (fakes.compared(overload, *copied(call)) for call in calls)
            yield number, [end for end in compared if end is not None]

    def compiled(first: int) -> Iterator[tuple[int, Any]]:
        for number in range(first, min(1, len(made))):
            yield number, None
            call = next(iter(_with_outs(source, made[number], outputs))) if outputs else made[number]
            yield number, _unbacked(overload, call)

    ends = [end for several in survive(work) for end in several]
    end = next((end for end in ends if end != "passes"), "passes" if len(ends) >= 8 else "too few calls are accepted")
    return {"end": end, "samples": len(ends), "unbacked": next(survive(compiled), "the process ends")}


def _unbacked(overload: Any, call: Any) -> str:
    """How a compile with every size unbacked ends."""
    import torch
    from torch._dynamo.decorators import mark_unbacked
    from torch.utils import _pytree as pytree

    from codemod.runner import causes
    from codemod.runner.observing import copied

    positional, named = copied(call)
    for leaf in pytree.tree_leaves((positional, named)):
        if isinstance(leaf, torch.Tensor):
            for dimension, size in enumerate(leaf.shape):
                if size > 1:
                    mark_unbacked(leaf, dimension)
    torch._dynamo.reset()
    try:
        torch.compile(lambda a, k: overload(*a, **k), backend="eager", fullgraph=True)(positional, named)
    except Exception as error:
        return causes.first_line(error)
    return "passes"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("list", "write", "prove", "child"))
    parser.add_argument("folder", type=Path, nargs="?")
    options = parser.parse_args()
    if options.what == "list":
        counts = Counter(family(schema, overload) for schema, overload in listed())
        for name, count in counts.most_common():
            print(f"{count:4} {name}")
        print(f"{counts.total():4} overloads have a kernel for the CPU, and no way to trace")
    elif options.folder is None:
        parser.error("name a folder")
    elif options.what == "write":
        write(options.folder)
    elif options.what == "child":
        child(options.folder)
    else:
        for name, end in sorted(proved(options.folder).items()):
            print(f"{name:55} {end['samples']:5} {end['end']}; unbacked: {end['unbacked']}")


if __name__ == "__main__":
    main()
