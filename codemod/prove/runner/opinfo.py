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

SAMPLES = 40
"""So many samples of an entry are looked at."""
INDEXED = 3
"""So many samples of each entry are run to see which operators it calls."""
HOMES = ("torch", "torch.nn.functional", "torch.Tensor", "torch.linalg", "torch.fft", "torch.special")
UNSEEDED = """from torch.testing._internal import common_methods_invocations

# Entries of random operators seed themselves; here the inputs and the call are seeded from outside.
common_methods_invocations.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)"""


@cache
def entries() -> tuple[Any, ...]:
    """PyTorch's OpInfo entries, none where they cannot be imported."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from torch.testing._internal import common_methods_invocations
    except ImportError:
        return ()
    vars(common_methods_invocations)["wrapper_set_seed"] = lambda op, *args, **kwargs: op(*args, **kwargs)
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
    wanted = gradient and entry.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    try:
        return list(itertools.islice(entry.sample_inputs("cpu", dtype, requires_grad=wanted), count))
    except Exception:  # samples that need a device or a package that is not here
        return []


@cache
def _homes() -> dict[int, str]:
    """The expressions of PyTorch's public callables, by identity."""
    found: dict[int, str] = {}
    for home in reversed(HOMES):
        place: Any = torch
        for part in home.split(".")[1:]:
            place = getattr(place, part)
        for name, value in vars(place).items():
            if callable(value) and not name.startswith("__"):
                found[id(value)] = f"{home}.{name}"
    return found


def callee(entry: Any) -> tuple[str, str]:
    """The expression of what the entry calls, and the lines it needs."""
    known = _homes().get(id(entry.op))
    if known:
        return known, ""
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


def calls(entry: Any, piece: str) -> Iterator[Call]:
    """The calls of the entry's samples that exercise `piece`."""
    if piece == "out" and not entry.supports_out:
        return
    if piece in ("backward", "double_backward") and not entry.supports_autograd:
        return
    expression, preface = callee(entry)
    inplace = getattr(entry.inplace_variant, "__name__", "") if entry.inplace_variant else ""
    if piece == "inplace" and not inplace.endswith("_"):
        return
    for sample in samples(entry, gradient=piece in ("backward", "double_backward")):
        positional, named = [sample.input, *sample.args], dict(sample.kwargs)
        if piece != "inplace":
            yield Call(expression, positional, named, preface)
        elif not sample.broadcasts_input and isinstance(sample.input, torch.Tensor):
            yield Call(f".{inplace}", positional, named, "", mutates=True)


def simple_name(entry: Any) -> str:
    """The entry's name in the form operators have."""
    return str(entry.name).removeprefix("nn.functional.").replace(".", "_")


def named(base: str) -> list[Any]:
    """The entries of the operator `base`, by name or alias."""
    plain = base.strip("_")
    found = []
    for entry in entries():
        names = {simple_name(entry), getattr(entry, "aten_name", ""), *(str(a) for a in entry.aliases)}
        if base in names or plain in names:
            found.append(entry)
    return found


class Index:
    """Which operators each entry calls, forward and backward; made once and kept in `folder`."""

    def __init__(self, folder: str | None) -> None:
        self._path = Path(folder) / f"opinfo-{torch.__version__}.json" if folder else None
        self._calls: dict[str, dict[str, list[str]]] = {}

    def open(self) -> None:
        """Read the index, or make it (some ten seconds)."""
        if not self._calls:
            self._calls = self._load()

    def callers(self, operator: str, piece: str) -> list[Any]:
        """The entries that call `operator` (for a backward piece forward or backward), the simplest first."""
        self.open()
        ways = ("forward", "backward") if piece in ("backward", "double_backward") else ("forward",)
        found = [e for e in entries() if any(operator in self._calls.get(label(e), {}).get(way, ()) for way in ways)]
        return sorted(found, key=lambda entry: sum(len(self._calls[label(entry)][way]) for way in ways))

    def _load(self) -> dict[str, dict[str, list[str]]]:
        try:
            if self._path is not None:
                loaded: dict[str, dict[str, list[str]]] = json.loads(self._path.read_bytes())
                return loaded
        except (OSError, ValueError):
            pass  # made again
        made = {label(entry): called(entry) for entry in entries()}
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            staged = self._path.with_suffix(".tmp")
            staged.write_text(json.dumps(made))
            staged.replace(self._path)
        return made


def called(entry: Any) -> dict[str, list[str]]:
    """The operators that the first samples of `entry` call, `forward` and in all with `backward`."""
    from torch.autograd.profiler import profile

    names: dict[str, set[str]] = {"forward": set(), "backward": set()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = samples(entry, True, INDEXED)
        results = []
        with profile() as forward:
            for sample in chosen:
                try:
                    results.append(entry.op(sample.input, *sample.args, **sample.kwargs))
                except Exception:  # a sample that this build refuses says nothing
                    continue
        with profile() as backward:
            for result in results:
                for tensor in result if isinstance(result, list | tuple) else [result]:
                    if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
                        try:
                            torch.autograd.backward(tensor.abs().sum(), retain_graph=True)
                        except Exception:
                            continue
    for way, profiled in (("forward", forward), ("backward", backward)):
        names[way] = {event.name for event in profiled.function_events or () if "::" in event.name}
    return {way: sorted(found) for way, found in names.items()}
