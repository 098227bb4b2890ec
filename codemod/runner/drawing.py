"""Metas drawn for the overloads of an operator that have no way to trace, each compared with its kernel on every call.

A meta that differs on one call, or stops there, is left out, with that call. `check` compares those that stand.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch._decomp
import torch._meta_registrations
from torch._prims_common.wrappers import out_wrapper

from . import comparing, fakes, hypotheses, observing, opinfo, refusing, schema, uncovered
from .documents import write_json
from .forks import survive

Entry = dict[str, Any]
"""`overload`, `parameters` and `body` of a meta, `outputs` of one for out variants, how many `samples` it equals its
kernel on, and how a compile with `unbacked` sizes ends; else `reason`, why there is none."""


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


def _tried(overload: Any, each: Any, recordings: Sequence[Any]) -> list[tuple[Any, Any]]:
    """(call, what became of it) of each call of an overload that is made: recorded, drawn, or changed."""
    made = list(observing.calls(overload, each, recordings))
    return list(zip(made, observing.outcomes(overload, each, made), strict=True))


def _accepted(tried: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Those that eager accepts."""
    return [(call, outcome) for call, outcome in tried if outcome and "refused" not in outcome]


def _of_plain(each: Any, overload: Any, calls: Sequence[Any]) -> Entry:
    entry: Entry = {"overload": _name(each)}
    if uncovered.size_depends_on_data(overload):
        return {**entry, "reason": "its sizes depend on values"}
    tried = _tried(overload, each, calls)
    accepted = _accepted(tried)
    try:
        body = hypotheses.body(each, [(observing.bound(each, call), o) for call, o in accepted])
    except hypotheses.NoRule as error:
        return {**entry, "reason": str(error)}
    checks = refusing.checks(overload, each, tried)
    calls = [call for call, _ in accepted]
    for lines in ([*checks, *body], body) if checks else (body,):
        written = {"parameters": parameters(each), "body": lines, "outputs": []}

        def work(first: int, written: Entry = written) -> Iterator[tuple[int, Any]]:
            if not first:  # in a process of its own, for a meta cannot be taken back
                yield 0, None
                install(overload, written["parameters"], written["body"], ())
                yield 0, _compared(entry, written, overload, overload, calls)

        ends = {**entry, "reason": f"{'; '.join(lines)}: the comparison ends its process"}
        ends = next(survive(work), ends)
        if ends.get("unbacked") == fakes.PASSES:
            break  # a check that unbacked sizes do not pass is not worth it
    if "body" in ends:
        install(overload, ends["parameters"], ends["body"], ())
    return ends


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
    passed = [f"{a.name}={a.name}" if a.kwarg_only else a.name for a in each.arguments if not a.is_out]
    call = f"aten.{name}({', '.join(passed)})"
    wrapped = len(outputs) > 1 or outputs == ["out"]
    if wrapped:
        written: Entry = {"parameters": parameters(each), "body": [f"return {call}"], "outputs": outputs}
    else:  # out_wrapper passes on what is not called out, and register_meta parts several alone
        written = {"parameters": parameters(each, outputs), "body": _into(outputs[0], call), "outputs": []}
    install(overload, written["parameters"], written["body"], written["outputs"])
    recordings = recorded(each.name, [functional], index).get(functional, ())
    calls = [call for call, _ in _accepted(_tried(functional, sibling, recordings))]
    if name in with_meta and wrapped:
        written["functional"] = name
    return _compared(entry, written, overload, functional, calls, outputs)


def _into(output: str, call: str) -> list[str]:
    """The body that writes what a call gives to an argument, as `out_wrapper` of torch/_prims_common does."""
    return [
        f"result = {call}",
        f"_maybe_resize_out({output}, result.shape)",
        f"_safe_copy_out(copy_from=result, copy_to={output})",
        f"return {output}",
    ]


def _compared(
    entry: Entry, written: Entry, overload: Any, source: Any, calls: Sequence[Any], outputs: Sequence[str] = ()
) -> Entry:
    """`entry` with what is `written`, where that equals the kernel on each of `calls`; else with the reason."""
    comparison = comparing.compared(overload, source, calls, outputs)
    if comparison.end != fakes.PASSES:
        return {**entry, "reason": f"{'; '.join(written['body'])}: {comparison.end}"}
    seen = {"samples": comparison.samples, "fatal": comparison.fatal}
    return {**entry, **written, **seen, "unbacked": comparing.unbacked(overload, source, calls, outputs)}


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


def parameters(each: Any, outputs: Collection[str] = ()) -> list[str]:
    """The parameters of a meta, as Python has them; of the out arguments those of `outputs`."""
    result: list[str] = []
    for argument in each.arguments:
        if argument.is_out and argument.name not in outputs:
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


def check(operator: str, index: opinfo.Index) -> dict[str, str]:
    """How each overload of `operator` that Python gives a meta, or nothing does, ends beside its kernel."""
    missing = {str(overload) for each, overload in uncovered.uncovered() if each.name == operator}
    ends: dict[str, str] = {}
    accepted: dict[Any, list[Any]] = {}
    for each in schema.schemas(operator):
        overload = schema.overload_of(operator, each)
        if str(overload) not in missing and overload not in torch._decomp.meta_table:
            continue
        sibling = _functional(each) if schema.is_out(each) else each
        if sibling is None:
            continue
        source = schema.overload_of(operator, sibling)
        if source not in accepted:
            recordings = recorded(operator, [source], index).get(source, ())
            accepted[source] = [call for call, _ in _accepted(_tried(source, sibling, recordings))]
        outputs = [argument.name for argument in each.arguments if argument.is_out]
        ends[f"{fakes.NAME} {_name(each)}"] = comparing.compared(overload, source, accepted[source], outputs).end
    return ends
