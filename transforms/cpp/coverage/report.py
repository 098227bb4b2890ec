"""Operators that symbols cannot pass, as findings: what to register, and a sketch of it."""

from __future__ import annotations

from collections.abc import Callable

from codemod.model.findings import Finding, Step
from codemod.planning.naming import base_name
from transforms.cpp.coverage.operators import Obstacle
from transforms.cpp.coverage.sketch import made, sketch
from transforms.cpp.rules.missing_fake import LEVEL, MODE, NAME


def missing_fake(obstacle: Obstacle, read: Callable[[str], bytes]) -> Finding:
    """The finding about one operator, at its definition; `read` gives the bytes of a file."""
    operator, kernel = obstacle.operator, obstacle.kernel
    registration = operator.definition
    message, refusal, reason = _said(obstacle)
    source = made(kernel, read(kernel.path)) if kernel is not None else ""
    seen = f"; `{kernel.name}` makes what it returns: `{source}`" if kernel is not None and source else ""
    keys = [f"{operator.name} is registered for {r.key or 'CompositeImplicitAutograd'}" for _, r in operator.kernels]
    steps = [Step(path, r.line, text) for (path, r), text in zip(operator.kernels, keys, strict=True)]
    if obstacle.root is not None and kernel is not None and kernel is not obstacle.root:
        steps.append(Step(kernel.path, kernel.line, f"{obstacle.root.name} calls {kernel.name}"))
    function = obstacle.root or kernel
    return Finding(
        operator.path,
        registration.start,
        registration.end,
        registration.line,
        1,
        MODE,
        NAME,
        LEVEL,
        function.qualified if function is not None else "",
        tuple(filter(None, (base_name(operator.name),))),
        message,
        f"{reason}: {sketch(obstacle)}{seen}",
        refusal,
        tuple(steps),
    )


def _said(obstacle: Obstacle) -> tuple[str, str, str]:
    """The message, the refusal, and what to do."""
    name, kernel = obstacle.operator.name, obstacle.kernel
    if obstacle.stable:
        why = "torch::stable has no symbolic accessor, so that its sizes are concrete there; register a fake in Python"
        return f"{name} has a kernel for symbols that is written with torch::stable", "stable-kernel", why
    if obstacle.root is not None and kernel is not None:
        called = f"calls `{kernel.name}` ({kernel.path}:{kernel.line}), which reads memory"
        below = "reads memory itself" if kernel is obstacle.root else called
        define = "" if obstacle.operator.schema is not None else "define it with a schema, "
        why = f"{define}register its kernels for their backends, its derivative, if any, for Autograd, and a fake"
        return f"{name} is a composite that {below}", "composite-kernel", why
    backends = ", ".join(obstacle.backends)
    return f"{name} has kernels for {backends}, and no Meta kernel or fake was found", "no-fake", "register a fake"
