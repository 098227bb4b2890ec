"""Metas drawn for the overloads of an operator that have no way to trace, each compared with its kernel on every call.

A meta that differs on one call, or stops there, is left out, with that call. `check` compares those that stand.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch._decomp
import torch._meta_registrations
from torch._dynamo.decorators import mark_unbacked
from torch._prims_common.wrappers import out_wrapper
from torch.utils import _pytree as pytree

from . import causes, fakes, hypotheses, observing, opinfo, schema, uncovered
from .documents import write_json
from .forks import survive

Entry = dict[str, Any]
"""`overload`, `parameters` and `body` of a meta, `outputs` of one for out variants, how many `samples` it equals its
kernel on, and how a compile with `unbacked` sizes ends; else `reason`, why there is none."""
LONG = 5 * observing.STUCK
"""Seconds after which a comparison is given up."""
COMPILED = 60
"""Seconds after which a compile is given up."""


def run(job: dict[str, Any], out: Path) -> None:
    """Name the operators of `job["untraced"]` that have an overload without a way to trace, or draw for one."""
    document: dict[str, Any] = {"torch": torch.__version__}
    if "untraced" in job:
        wanted = set(job["untraced"])
        names = {each.name for each, _ in uncovered.uncovered() if each.name in wanted}
        document["operators"] = sorted(names)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            document["metas"] = drawn(job["draw"], opinfo.Index(job.get("cache")))
    write_json(out, document)


def drawn(operator: str, index: opinfo.Index) -> list[Entry]:
    """An entry for each overload of `operator` without a way to trace; out variants follow what they stand on."""
    pairs = (pair for pair in uncovered.uncovered() if pair[0].name == operator)
    missing = sorted(pairs, key=lambda pair: str(pair[1]))
    plain = [(each, overload) for each, overload in missing if not schema.is_out(each)]
    calls = recorded(operator, [overload for _, overload in plain], index)
    entries = [_of_plain(each, overload, calls.get(overload, ())) for each, overload in plain]
    with_meta = {entry["overload"] for entry in entries if "body" in entry}
    without = {entry["overload"] for entry in entries} - with_meta
    for each, overload in missing:
        if schema.is_out(each):
            entries.append(_of_out(each, overload, with_meta, without, index))
    return entries


def recorded(operator: str, overloads: Collection[Any], index: opinfo.Index) -> Any:
    """The calls of `overloads` that samples of PyTorch end in which call `operator`."""
    return observing.recorded(overloads, index.callers(operator, "backward"))


def _accepted(overload: Any, each: Any, recordings: Sequence[Any]) -> list[tuple[Any, Any]]:
    """(call, what it showed) of each call of an overload, recorded or drawn, that eager accepts."""
    made = list(observing.calls(overload, each, recordings))
    seen = observing.observe(overload, each, made)
    return [(call, observation) for call, observation in zip(made, seen, strict=True) if observation]


def _of_plain(each: Any, overload: Any, calls: Sequence[Any]) -> Entry:
    entry: Entry = {"overload": _name(each)}
    if uncovered.size_depends_on_data(overload):
        return {**entry, "reason": "its sizes depend on values"}
    accepted = _accepted(overload, each, calls)
    try:
        body = hypotheses.body(each, [(observing.bound(each, call), o) for call, o in accepted])
    except hypotheses.NoRule as error:
        return {**entry, "reason": str(error)}
    written = {"parameters": parameters(each), "body": body, "outputs": []}
    install(overload, written["parameters"], body, ())
    return _compared(entry, written, overload, overload, [call for call, _ in accepted])


def _of_out(
    each: Any, overload: Any, with_meta: Collection[str], without: Collection[str], index: opinfo.Index
) -> Entry:
    """The entry of an out variant, whose functional overload traces or is among `with_meta`."""
    entry: Entry = {"overload": _name(each)}
    sibling = _functional(each)
    if sibling is None:
        return {**entry, "reason": "no overload of its name is the same without out"}
    name = _name(sibling)
    if name in without:
        return {**entry, "reason": f"{name} has no meta"}
    functional = schema.overload_of(each.name, sibling)
    outputs = [argument.name for argument in each.arguments if argument.is_out]
    if len(outputs) == 1 and outputs != ["out"]:
        return {**entry, "reason": f"its out argument is {outputs[0]}, and out_wrapper takes one that is called out"}
    passed = [f"{a.name}={a.name}" if a.kwarg_only else a.name for a in each.arguments if not a.is_out]
    body = [f"return aten.{name}({', '.join(passed)})"]
    written: Entry = {"parameters": parameters(each), "body": body, "outputs": outputs}
    install(overload, written["parameters"], body, outputs)
    recordings = recorded(each.name, [functional], index).get(functional, ())
    calls = [call for call, _ in _accepted(functional, sibling, recordings)]
    if name in with_meta:
        written["functional"] = name
    return _compared(entry, written, overload, functional, calls)


def _compared(entry: Entry, written: Entry, overload: Any, source: Any, calls: Sequence[Any]) -> Entry:
    """`entry` with what is `written`, where that equals the kernel on each of `calls`; else with the reason."""
    end, samples = compared(overload, source, calls, written["outputs"])
    if end != fakes.PASSES:
        return {**entry, "reason": f"{'; '.join(written['body'])}: {end}"}
    return {**entry, **written, "samples": samples, "unbacked": unbacked(overload, source, calls, written["outputs"])}


def _name(each: Any) -> str:
    return f"{each.name.partition('::')[2]}.{each.overload_name or 'default'}"


def _functional(out: Any) -> Any | None:
    """The overload of the same name that takes what an out variant takes beside its out arguments; None for none."""
    return next((variant for variant in schema.schemas(out.name) if _alike(variant, out)), None)


def _alike(functional: Any, out: Any) -> bool:
    """Whether an overload takes what another takes beside its out arguments."""
    if schema.is_out(functional) or schema.writes(functional):
        return False
    mine = [(a.name, str(a.type)) for a in functional.arguments]
    return mine == [(a.name, str(a.type)) for a in out.arguments if not a.is_out]


def parameters(each: Any) -> list[str]:
    """The parameters of a meta, as Python has them, without the out arguments."""
    result: list[str] = []
    for argument in each.arguments:
        if argument.is_out:
            continue
        if argument.kwarg_only and "*" not in result:
            result.append("*")
        default = argument.default_value
        value = tuple(default) if isinstance(default, list) else default
        result.append(argument.name + (f"={value!r}" if argument.has_default_value() else ""))
    return result


def install(overload: Any, names: Sequence[str], body: Sequence[str], outputs: Sequence[str]) -> None:
    """Register a meta in this process as `activate_meta` of torch/_meta_registrations.py does."""
    lines = [f"def meta({', '.join(names)}):", *(f"    {line}" for line in body)]
    space = dict(vars(torch._meta_registrations))
    exec("\n".join(lines), space)
    meta: Callable[..., Any] = space["meta"]
    if outputs:  # as register_meta of torch/_decomp does: several out arguments are one parameter in Python
        parted: Any = torch._decomp._convert_out_params
        meta = parted(out_wrapper(*outputs)(meta))
    overload.py_impl(torch._C.DispatchKey.Meta)(meta)
    library: Any = torch._meta_registrations._meta_lib_dont_use_me_use_register_meta
    library.impl(overload, meta)


def compared(overload: Any, source: Any, calls: Sequence[Any], outputs: Sequence[str]) -> tuple[str, int]:
    """How an overload's fake ends beside its kernel, the first that does not pass, and on how many calls.

    `calls` are of `source`, which is the functional overload where it has `outputs`. Each is made in a process of its
    own, as far as it ends that.
    """

    def work(first: int) -> Iterator[tuple[int, Any]]:
        for number in range(first, len(calls)):
            yield number, None
            signal.alarm(LONG)
            made = _with_outs(source, calls[number], outputs) if outputs else [calls[number]]
            several = [fakes.compared(overload, *observing.copied(call)) for call in made]
            yield number, [end for end in several if end is not None]

    ended: list[str] = []
    ends = [end for several in survive(work, ended) for end in several]
    failed = next((end for end in ends if end != fakes.PASSES), "")
    if not failed and ended:
        failed = f"a call ends the process: {ended[0]}"
    if not failed and len(ends) < hypotheses.ENOUGH:
        failed = f"eager accepts {len(ends)} of the calls that are made, of which {hypotheses.ENOUGH} are wanted"
    return failed or fakes.PASSES, len(ends)


def _with_outs(overload: Any, call: Any, names: Sequence[str]) -> Iterator[Any]:
    """A call with tensors to write to: empty ones, and ones of the right shape and strides."""
    positional, named = observing.copied(call)
    result = overload(*positional, **named)
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    for make in (torch.empty_like, lambda tensor: tensor.new_empty(0)):
        positional, named = observing.copied(call)
        yield positional, {**named, **dict(zip(names, map(make, results), strict=True))}


def unbacked(overload: Any, source: Any, calls: Sequence[Any], outputs: Sequence[str]) -> str:
    """How a compile of the first of `calls` ends with every size above 1 unbacked."""

    def work(first: int) -> Iterator[tuple[int, Any]]:
        for number in range(first, min(1, len(calls))):
            yield number, None
            signal.alarm(COMPILED)
            call = next(_with_outs(source, calls[number], outputs)) if outputs else calls[number]
            yield number, _unbacked(overload, call)

    return str(next(survive(work), "the compile ends its process, or does not end"))


def _unbacked(overload: Any, call: Any) -> str:
    positional, named = observing.copied(call)
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
    return fakes.PASSES


def check(operator: str, index: opinfo.Index) -> dict[str, str]:
    """How each overload of `operator` that Python gives a meta, or nothing does, ends beside its kernel."""
    missing = {str(overload) for each, overload in uncovered.uncovered() if each.name == operator}
    ends: dict[str, str] = {}
    for each in schema.schemas(operator):
        overload = schema.overload_of(operator, each)
        if str(overload) not in missing and overload not in torch._decomp.meta_table:
            continue
        sibling = _functional(each) if schema.is_out(each) else each
        if sibling is None:
            continue
        source = schema.overload_of(operator, sibling)
        recordings = recorded(operator, [source], index).get(source, ())
        calls = [call for call, _ in _accepted(source, sibling, recordings)]
        outputs = [argument.name for argument in each.arguments if argument.is_out]
        ends[f"{fakes.NAME} {_name(each)}"] = compared(overload, source, calls, outputs)[0]
    return ends
