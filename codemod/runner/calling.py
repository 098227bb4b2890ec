"""Probe one call that a process has at hand, as torch.library.opcheck tests one: the process then goes on as it was."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from torch.utils import _pytree as pytree

from . import fakes, opinfo, probing, schema, setup, tracing
from .cases import Call

Operator = torch._ops.OpOverload | torch._ops.OpOverloadPacket

_RULES = ("FuncTorchBatched", "CompositeImplicitAutograd")


class Subject:
    """What is called: an operator, or a function that a module holds under its name.

    Raises TypeError where it is neither, ValueError for the overload with `out=` arguments.
    """

    def __init__(self, op: Any) -> None:
        op = getattr(op, "_opoverload", op)  # what torch.library.custom_op returns
        self.function: Callable[..., Any] = op
        self.operator: Operator | None = op if isinstance(op, Operator) else None
        if self.operator is not None:
            packet = getattr(op, "overloadpacket", op)
            self.name = str(packet._qualified_op_name)
            self._schemas = schema.schemas(self.name)
            self._expression = f"torch.ops.{self.name.replace('::', '.')}"
            self._overload = f".{op._overloadname}" if packet is not op else ""
            self._own = [op._schema] if packet is not op else [s for s in self._schemas if not schema.is_out(s)]
            if any(map(schema.is_out, self._own)):
                raise ValueError(f"{op}: name the overload without `out=`; this one is probed with it")
            self._preface = ""
        else:
            self.name, self._preface = _named(op)
            self._schemas, self._expression, self._overload, self._own = [], self.name, "", []

    @property
    def _writes(self) -> bool:
        return bool(self._own) and all(map(schema.writes, self._own))

    def calls(self, piece: str, positional: Sequence[Any], named: Mapping[str, Any]) -> Iterator[Call]:
        """The call with these arguments that exercises `piece`; none where it has no such form."""
        overload = "" if piece == "out" else self._overload
        if piece == "out" and (self._writes or not any(map(schema.is_out, self._schemas))):
            return
        if piece == "inplace" or (piece == "backward" and self._writes):
            return  # what writes to its argument does so in `forward`
        if piece == "vmap" and self.operator is not None and not self._has_rule():
            return
        yield Call(f"{self._expression}{overload}", list(positional), dict(named), self._preface, mutates=self._writes)

    def _has_rule(self) -> bool:
        """Whether vmap has more for the operator than its loop over the samples, which makes all sizes constants."""
        for own in self._own:
            name = f"{self.name}.{own.overload_name}".rstrip(".")
            with suppress(RuntimeError):  # TorchScript's own, which the dispatcher does not know
                if any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in _RULES):
                    return True
        return False

    def compare(self, positional: Sequence[Any], named: Mapping[str, Any]) -> tuple[dict[str, str], str]:
        """How the operator's fake is beside its kernel, as `fakes.check` says it, and where it is registered."""
        if self.operator is None:
            return {}, ""
        return fakes.compare(self.operator, list(positional), dict(named)), fakes.source(self.name)


def _named(function: Any) -> tuple[str, str]:
    """(the expression of a function, the line that imports what it begins with)."""
    public = opinfo.public_name(function)
    if public:
        return public, ""
    home, name = getattr(function, "__module__", None) or "", getattr(function, "__qualname__", "")
    held: Any = sys.modules.get(home)
    for part in name.split("."):
        held = getattr(held, part, None)
    if held is None or held is not function:
        raise TypeError(f"{function!r}: neither an operator, nor a function that a module holds under its name")
    return f"{home}.{name}", f"import {home}"


def probe(
    subject: Subject, positional: Sequence[Any], named: Mapping[str, Any], modes: Sequence[str], folder: Path
) -> dict[str, Any]:
    """The runner's document (`probing.Report`) about one call; the trace of it lies in `folder` / "traces".

    Raises what eager raises for the arguments.
    """
    with _undisturbed():
        _call(subject.function, positional, named)
        report = probing.Report(folder / "out.json")
        with tracing.traced(str(folder / "traces")) as report.document["traced"]:

            def find(mode: str, report: probing.Report) -> Iterator[Any]:
                calls = subject.calls(probing.piece_of(mode), positional, named)
                return probing.cases_of(subject.name, mode, report, calls)

            probing.probe(modes, report, find, partial(subject.compare, positional, named))
    return report.document


def _call(function: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any]) -> None:
    copied = pytree.tree_map(_copy, (list(positional), dict(named)))
    function(*copied[0], **copied[1])


def _copy(leaf: Any) -> Any:
    return leaf.detach().clone() if isinstance(leaf, torch.Tensor) else leaf


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Settings as probing wants them, and as they were afterwards; what was compiled is compiled again when called."""
    deterministic = torch.are_deterministic_algorithms_enabled()
    warning = torch.is_deterministic_algorithms_warn_only_enabled()
    disabled = logging.root.manager.disable
    patched = torch._dynamo.config.patch(**setup.DYNAMO)
    with warnings.catch_warnings(), torch.random.fork_rng(devices=()), torch.enable_grad(), patched:
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(disabled)
            torch.use_deterministic_algorithms(deterministic, warn_only=warning)
            torch._dynamo.reset()
