"""The runtime assertions that PyTorch takes down while it traces, and which of them other sizes violate."""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_ASKING = re.compile(r"/torch/(?:__init__|_ops|fx/experimental/\w+|utils/_stats)\.py$|/functools\.py$")
"""What stands between a check and the shape environment."""
_DISPATCHING = re.compile(r"/torch/(?:_subclasses/fake_tensor|_prims_common/wrappers|_library/\w+)\.py$")
_DYNAMO = re.compile(r"/torch/(?:_dynamo/|_compile\.py$)")


@dataclass(slots=True)
class Trace:
    """What one shape environment was told: sources of its symbols, and assertions with the lines they come from."""

    sources: dict[Any, str] = field(default_factory=dict)
    asserts: list[tuple[Any, str]] = field(default_factory=list)

    def places(self) -> list[str]:
        """The lines that asserted anything, each once."""
        return list(dict.fromkeys(place for _, place in self.asserts))

    def violated(self, arguments: Sequence[Any]) -> list[tuple[str, str]]:
        """The assertions that do not hold for the arguments `(args, kwargs)` of the traced function, with their lines.

        What rests on values that only a run of the graph has is left out.
        """
        import sympy  # type: ignore[import-untyped]

        names = {"L": {"args": arguments[0], "kwargs": arguments[1]}}
        values = {}
        for symbol, source in self.sources.items():
            try:
                values[symbol] = sympy.Integer(eval(source, {}, names))
            except Exception:  # another kind of source than an argument's size
                continue
        violations: list[tuple[str, str]] = []
        for expression, place in self.asserts:
            try:
                if expression.xreplace(values) == sympy.false:
                    violations.append((str(expression), place))
            except ZeroDivisionError:  # the quotient of a size 0: another assertion stands for that
                continue
        return violations


def _line() -> str:
    """The line of Python that asserts, as `torch/file.py:line`; "C++ below …" where the question came from there."""
    from torch._guards import TracingContext

    frames = [frame for frame in traceback.extract_stack() if "/torch/" in frame.filename]
    while frames and _ASKING.search(frames[-1].filename):
        frames.pop()
    below = bool(frames) and bool(_DISPATCHING.search(frames[-1].filename))
    while frames and (_DISPATCHING.search(frames[-1].filename) or _ASKING.search(frames[-1].filename)):
        frames.pop()
    last: Any = frames[-1] if frames else None
    if last is None or _DYNAMO.search(last.filename):
        try:
            last = TracingContext.extract_stack()[-1]
        except (AssertionError, IndexError):
            return "unknown"
    path = f"torch/{last.filename.rpartition('/torch/')[2]}" if "/torch/" in last.filename else last.filename
    return f"{'C++ below ' if below else ''}{path}:{last.lineno}"


class Recorder:
    """Takes down every trace of this process; `last` is the newest."""

    def __init__(self) -> None:
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        self.traces: dict[int, Trace] = {}
        self._held: list[Any] = []  # so that no later environment has the id of an earlier one
        environment: Any = ShapeEnv
        assertion, symbol = environment.guard_or_defer_runtime_assert, environment.create_symbol

        def guard_or_defer_runtime_assert(env: Any, expression: Any, *args: Any, **kwargs: Any) -> Any:
            before = env.num_deferred_runtime_asserts
            result = assertion(env, expression, *args, **kwargs)
            if env.num_deferred_runtime_asserts != before:
                self._trace(env).asserts.append((expression, _line()))
            return result

        def create_symbol(env: Any, value: Any, source: Any, *args: Any, **kwargs: Any) -> Any:
            result = symbol(env, value, source, *args, **kwargs)
            name = source.name() if callable(source.name) else source.name
            self._trace(env).sources.setdefault(result, name)
            return result

        environment.guard_or_defer_runtime_assert = guard_or_defer_runtime_assert
        environment.create_symbol = create_symbol

    def forget(self) -> None:
        """Drop all traces."""
        self.traces.clear()
        self._held.clear()

    @property
    def last(self) -> Trace:
        """The trace that began last; an empty one where none did."""
        return next(reversed(self.traces.values()), Trace())

    def _trace(self, env: Any) -> Trace:
        if id(env) not in self.traces:
            self._held.append(env)
        return self.traces.setdefault(id(env), Trace())
