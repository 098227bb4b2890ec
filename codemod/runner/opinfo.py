"""Calls from PyTorch's own samples (OpInfo): the entries that call an operator, and their samples.

OpInfo lives in torch.testing._internal and needs the packages PyTorch's tests need (numpy, expecttest, packaging);
where they are absent there are no entries, and inputs come from the schema.
"""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch

from .cases import Call
from .documents import write_json

SAMPLES = 40
"""How many samples of an entry are taken."""
INDEXED = 3
"""How many samples of each entry are run to see which operators it calls."""
HOMES = ("torch", "torch.nn.functional", "torch.Tensor", "torch.linalg", "torch.fft", "torch.special")
UNSEEDED = """from torch.testing._internal import common_methods_invocations

# Entries of random operators seed themselves; here the inputs and the call are seeded from outside.
common_methods_invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)"""


GRADIENTS = """

def gradients(*arguments, **options):
    def is_moved(value):
        return isinstance(value, torch.Tensor) and value.is_floating_point()

    def along(*moved):
        rest = iter(moved)
        return {}(*(next(rest) if is_moved(value) else value for value in arguments), **options)

    value, pull = torch.func.vjp(along, *filter(is_moved, arguments))
    return pull(torch.utils._pytree.tree_map(torch.ones_like, value))"""


@cache
def entries() -> tuple[Any, ...]:
    """PyTorch's OpInfo entries, none where they cannot be imported."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch.testing._internal import common_methods_invocations, common_utils
            from torch.testing._internal.opinfo import core
    except ImportError:
        return ()
    vars(common_methods_invocations)["wrapper_set_seed"] = lambda op, *args, **kwargs: op(*args, **kwargs)
    for module in (common_utils, core):  # each iterator of samples asks for the running test, by all frames' sources
        vars(module)["extract_test_fn"] = lambda: None
    return tuple(common_methods_invocations.op_db)


def label(entry: Any) -> str:
    """`name` or `name.variant`."""
    return f"{entry.name}.{entry.variant_test_name}".rstrip(".")


def samples(entry: Any, gradient: bool, count: int = SAMPLES) -> list[Any]:
    """The first `count` samples for the CPU, in float32 where the entry takes it; always the same ones."""
    dtypes = entry.supported_dtypes("cpu")
    if not dtypes:
        return []
    dtype = torch.float32 if torch.float32 in dtypes else sorted(dtypes, key=str)[0]
    torch.manual_seed(0)
    differentiable = gradient and entry.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    try:
        return list(itertools.islice(entry.sample_inputs("cpu", dtype, requires_grad=differentiable), count))
    except Exception:  # samples that need a device or a package that is not here
        return []


@cache
def _homes() -> dict[int, str]:
    """The expressions of PyTorch's public callables, by identity."""
    expressions: dict[int, str] = {}
    for home in reversed(HOMES):
        place: Any = torch
        for part in home.split(".")[1:]:
            place = getattr(place, part)
        for name, value in vars(place).items():
            if callable(value) and not name.startswith("__"):
                expressions[id(value)] = f"{home}.{name}"
    return expressions


def public_name(function: Any) -> str:
    """The expression of one of PyTorch's public callables, "" for any other."""
    return _homes().get(id(function), "")


def callee(entry: Any) -> tuple[str, str]:
    """The expression of what the entry calls, and the lines it needs."""
    expression = _homes().get(id(entry.op))
    if expression:
        return expression, ""
    value: Any = torch
    for part in str(entry.name).split("."):
        value = getattr(value, part, None)
    if value is not None and value is entry.op:
        return f"torch.{entry.name}", ""
    name, variant = entry.name, entry.variant_test_name
    lines = (
        f"{UNSEEDED}\nentry = next(e for e in common_methods_invocations.op_db"
        f" if (e.name, e.variant_test_name) == ({name!r}, {variant!r}))\ncall = entry.op"
    )
    return "call", lines


def calls(entry: Any, piece: str, count: int = SAMPLES) -> Iterator[Call]:
    """The calls of the entry's first `count` samples that exercise `piece`."""
    if piece == "out" and not entry.supports_out:
        return
    if piece in ("backward", "double_backward") and not entry.supports_autograd:
        return
    expression, preface = callee(entry)
    inplace = getattr(entry.inplace_variant, "__name__", "") if entry.inplace_variant else ""
    if piece == "inplace" and not inplace.endswith("_"):
        return
    for sample in samples(entry, piece in ("backward", "double_backward"), count):
        positional, named = [sample.input, *sample.args], dict(sample.kwargs)
        if piece != "inplace":
            yield Call(expression, positional, named, preface)
        elif not sample.broadcasts_input and isinstance(sample.input, torch.Tensor):
            yield Call(f".{inplace}", positional, named, "", mutates=True)


def gradients(entry: Any) -> Iterator[Call]:
    """Calls of the entry's samples that return the gradients of what the entry returns."""
    expression, preface = callee(entry)
    for call in calls(entry, "backward"):
        yield Call("gradients", call.positional, call.named, f"{preface}\n{GRADIENTS.format(expression)}".strip())


def simple_name(entry: Any) -> str:
    """The entry's name in the form operators have."""
    return str(entry.name).removeprefix("nn.functional.").replace(".", "_")


def aliases(entry: Any) -> set[str]:
    """The entry's other names, as they are and in the form operators have; OpInfo keeps objects that have a `name`."""
    names = {str(getattr(alias, "name", alias)) for alias in entry.aliases}
    return names | {name.replace(".", "_") for name in names}


def named(base: str) -> list[Any]:
    """The entries of the operator `base`, by name or alias; those first that name it as the dispatcher does.

    `unfold` is `Tensor.unfold`, beside which `F.unfold` is `im2col`.
    """
    plain = base.strip("_")
    matching = []
    for entry in entries():
        names = {simple_name(entry), getattr(entry, "aten_name", ""), *aliases(entry)}
        if base in names or plain in names:
            matching.append(entry)
    return sorted(matching, key=lambda entry: getattr(entry, "aten_name", "") not in (base, plain))


class Index:
    """Which operators each entry calls forward, and which in its backward; each made once and cached in `folder`."""

    def __init__(self, folder: str | None) -> None:
        self._folder = Path(folder) if folder else None
        self._calls: dict[str, dict[str, list[str]]] = {}

    def open(self, way: str) -> None:
        """Read one half of the index, or make it (some two seconds, for `backward` five)."""
        if way not in self._calls:
            self._calls[way] = self._load(way)

    def callers(self, operator: str, piece: str) -> list[Any]:
        """The entries that call `operator` (for a backward piece forward or backward), the simplest first."""
        ways = ("forward", "backward") if piece in ("backward", "double_backward") else ("forward",)
        for way in ways:
            self.open(way)
        matching = [e for e in entries() if any(operator in self._calls[way].get(label(e), ()) for way in ways)]
        return sorted(matching, key=lambda entry: sum(len(self._calls[way][label(entry)]) for way in ways))

    def _load(self, way: str) -> dict[str, list[str]]:
        path = self._folder / f"opinfo-{torch.__version__}-{way}.json" if self._folder is not None else None
        try:
            if path is not None:
                loaded: dict[str, list[str]] = json.loads(path.read_bytes())
                if loaded.keys() == set(map(label, entries())):  # else made where packages were missing
                    return loaded
        except (OSError, ValueError):
            pass  # made again
        index = {label(entry): called(entry, way) for entry in entries()}
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_json(path, index)
        return index


def called(entry: Any, way: str) -> list[str]:
    """The operators that the first samples of `entry` call, `forward` or in the `backward` of their results."""
    from torch.autograd.profiler import profile

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = samples(entry, True, INDEXED)
        results = []
        with profile() as forward:
            for sample in chosen:
                try:
                    results.append(entry.op(sample.input, *sample.args, **sample.kwargs))
                except Exception:  # a sample that this build refuses shows nothing
                    continue
        if way == "forward":
            return _names(forward)
        with profile() as backward:
            for result in results:
                for tensor in result if isinstance(result, list | tuple) else [result]:
                    if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
                        try:
                            torch.autograd.backward(tensor.abs().sum(), retain_graph=True)
                        except Exception:
                            continue
        return _names(backward)


def _names(profiled: Any) -> list[str]:
    return sorted({event.name for event in profiled.function_events or () if "::" in event.name})
