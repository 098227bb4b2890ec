"""Operators that symbols cannot pass, as findings: what to register, and a sketch of it."""

from __future__ import annotations

import functools
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Step
from codemod.planning.naming import base_name
from codemod.reporting.report import plural
from transforms.cpp.coverage.body import Body, shared
from transforms.cpp.coverage.kernel import body_of, syntax_of
from transforms.cpp.coverage.operators import Obstacle, needs_none
from transforms.cpp.coverage.placing import Homes, edits_of
from transforms.cpp.coverage.sketch import made, sketch
from transforms.cpp.coverage.uses import Callee, Callees
from transforms.cpp.coverage.values import OWN_NAMES, Underivable
from transforms.cpp.reach.calls import Index
from transforms.cpp.reading.marks import is_template
from transforms.cpp.rules.missing_fake import LEVEL, MODE, NAME
from transforms.schema.schema import Argument, Schema

# What a kernel does that takes concrete tensors, by feature; the first that it has is said.
_READS = "reads memory"
_DOES = {
    "data_ptr": _READS,
    "accessor": _READS,
    "launch": "launches a kernel of the device",
    "dispatch": "is written for one scalar type at a time (AT_DISPATCH)",
    "parallel": "shares its work among threads, where nothing is traced",
}
_CONDITION = re.compile(rb"(?m)^[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b")


@dataclass(frozen=True, slots=True)
class Sources:
    """What fakes are read from."""

    read: Callable[[str], bytes]
    """Gives the bytes of a file."""
    schemas: Mapping[str, Sequence[Schema]]
    """Those of ATen's operators."""
    index: Index
    """The functions of the tree."""

    def callees(self, near: str) -> Callees:
        """The functions of the tree that a call in a file may mean."""
        return functools.cache(functools.partial(self._named, near))

    def _named(self, near: str, name: str, arguments: int) -> Sequence[Callee]:
        functions = [f for f in self.index.named(name, near) if f.body >= 0 and len(f.params) >= arguments]
        return [
            Callee([p.type for p in f.params], [p.name for p in f.params], syntax_of(f, self.read(f.path)))
            for f in functions
        ]


def missing_fake(obstacle: Obstacle, sources: Sources, homes: Homes) -> Finding:
    """The finding about one operator, at its definition, with its fake where the kernels show that.

    `homes` are the modules that take fakes.
    """
    read = sources.read
    operator, kernel = obstacle.operator, obstacle.kernel
    registration = operator.definition
    message, refusal, reason = _said(obstacle)
    edits: tuple[Edit, ...] = ()
    unwritten = ""
    if obstacle.kernels:
        try:
            edits, left = written(obstacle, sources, homes)
        except Underivable as error:
            unwritten = f"; not written by symfix: {_in_words(error)}"
    source = made(kernel, read(kernel.path)) if kernel is not None else ""
    seen = f"; `{kernel.name}` makes what it returns: `{source}`" if kernel is not None and source else ""
    keys = [f"{operator.name} is registered for {r.key or 'CompositeImplicitAutograd'}" for _, r in operator.kernels]
    steps = [Step(path, r.line, text) for (path, r), text in zip(operator.kernels, keys, strict=True)]
    if obstacle.root is not None and kernel is not None and kernel is not obstacle.root:
        steps.append(Step(kernel.path, kernel.line, f"{obstacle.root.name} calls {kernel.name}"))
    function = obstacle.root or kernel
    alone = obstacle.faked or _needs_none(obstacle)
    said = reason if alone else f"{reason}: {sketch(obstacle)}{seen}{unwritten}"
    if edits:
        several = len(set(obstacle.kernels)) > 1
        why = (
            "kernels, which a fake cannot make or which not all of them make,"
            if several
            else "kernel, which a fake cannot make,"
        )
        stays = "stays" if left == 1 else "stay"
        kept = f"; {plural(left, 'check')} of the {why} {stays} there alone" if left else ""
        said = f"the fake returns what `{kernel.name if kernel else ''}` makes{kept}"
    return Finding(
        operator.path,
        registration.start,
        registration.end,
        registration.line,
        1,
        MODE,
        NAME,
        LEVEL if edits else Level.MANUAL,
        function.qualified if function is not None else "",
        tuple(filter(None, (base_name(operator.name),))),
        message,
        said,
        "" if edits else refusal,
        tuple(steps),
        (),
        edits,
        f"fake of {operator.name}" if edits else "",
    )


def written(obstacle: Obstacle, sources: Sources, homes: Homes) -> tuple[tuple[Edit, ...], int]:
    """The edits that write an operator's fake, and how many checks of its kernel they leave out.

    Raises Underivable where its kernels do not show the fake, or no module is there for it.
    """
    operator, read = obstacle.operator, sources.read
    schema = operator.schema
    if schema is None or any(not _usable(argument) for argument in schema.arguments):
        raise Underivable("its schema is not read")
    if any(argument.annotation for argument in (*schema.arguments, *schema.returns)):
        raise Underivable("it writes to its arguments, or returns views of them")
    if not schema.returns:
        raise Underivable("it gives no result, and what it does instead is not known")
    if "CPU" not in obstacle.backends:
        raise Underivable("it has no kernel for the CPU, to run the fake beside")
    if any(is_template(read(path)) for path in {operator.path, *(kernel.path for kernel in obstacle.kernels)}):
        raise Underivable("it is written in a template, whose operators are known when it is rendered")
    if conditional(read(operator.path), operator.definition.start):
        raise Underivable("not every build defines it, as #if says, and a fake of what is not there raises")
    kernels = tuple(dict.fromkeys(obstacle.kernels))
    bodies = []
    for kernel in kernels:
        try:
            bodies.append(body_of(kernel, read(kernel.path), schema, sources.schemas, sources.callees(kernel.path)))
        except Underivable as error:
            if len(kernels) == 1:
                raise
            raise Underivable(f"{_in_words(error)} (`{kernel.name}`, {kernel.path}:{kernel.line})") from error
    other = next((index for index, body in enumerate(bodies) if body.result != bodies[0].result), 0)
    if other:
        named = " and ".join(f"`{kernel.name}`" for kernel in (kernels[0], kernels[other]))
        raise Underivable(f"its kernels return different things: {named} do")
    body = shared(bodies)
    hidden = _hidden(body, schema)
    if hidden:
        raise Underivable(f"its argument `{hidden}` hides Python's `{hidden}`, which its fake calls")
    home = homes.of(operator)
    if home is None:
        raise Underivable("no module of Python is known to load it")
    return edits_of(operator.name, schema, body, home), body.left


def _in_words(error: Underivable) -> str:
    """Why a fake is not written; an error may be a part of the kernel by itself."""
    return f"what {error} is in Python is not known" if re.fullmatch(r"`[^`]*`", str(error)) else str(error)


def _hidden(body: Body, schema: Schema) -> str:
    """The argument that has the name of something that the fake calls; "" where none has."""
    called = body.needed().names & OWN_NAMES | {"torch"}
    return next((argument.name for argument in schema.arguments if argument.name in called), "")


def conditional(source: bytes, offset: int) -> bool:
    """Whether a place of a file stands between `#if` and `#endif`; those around the whole file are no condition."""
    opened = list(_CONDITION.finditer(source, 0, offset))
    depth = 0
    for match in opened:
        depth += {b"if": 1, b"en": -1}[match[1][:2]]
    guarded = bool(opened) and not source[: opened[0].start()].strip() and opened[0][1] != b"endif"
    return depth - (guarded and source.rstrip().endswith(b"#endif")) > 0


def _needs_none(obstacle: Obstacle) -> bool:
    """Whether a kernel above the backends only writes to what it is given; no schema that torch infers says so."""
    root, schema = obstacle.root, obstacle.operator.schema
    if root is None:
        return False
    return needs_none(schema) if schema is not None else re.search(r"\bvoid$", root.returns) is not None


def _usable(argument: Argument) -> bool:
    return argument.name.isidentifier() and not keyword.iskeyword(argument.name)


def _said(obstacle: Obstacle) -> tuple[str, str, str]:
    """The message, the refusal, and what to do."""
    name, kernel = obstacle.operator.name, obstacle.kernel
    if obstacle.stable:
        why = "torch::stable has no symbolic accessor, so that its sizes are concrete there; register a fake in Python"
        return f"{name} has a kernel for symbols that is written with torch::stable", "stable-kernel", why
    if obstacle.root is not None and kernel is not None:
        does = next((does for feature, does in _DOES.items() if feature in kernel.features), _READS)
        called = f"calls `{kernel.name}` ({kernel.path}:{kernel.line}), which {does}"
        own = f"{does} itself" if does == _READS else does
        below = own if kernel is obstacle.root else called
        if obstacle.above:
            has = "" if obstacle.backends else ", register its kernels for their backends"
            why = "tracing runs it before any fake: call the operator there, below Autograd"
            why += f" (at::AutoDispatchBelowADInplaceOrView){has}"
            why = why if obstacle.faked or _needs_none(obstacle) else f"{why}, and register a fake"
            return f"{name} has a kernel for Autograd that {below}", "autograd-kernel", why
        writes = _needs_none(obstacle)
        marks = " that marks what it writes to, as `Tensor(a!) out`" if writes else ""
        define = "" if obstacle.operator.schema is not None else f"define it with a schema{marks}, "
        why = f"{define}register its kernels for their backends, its derivative, if any, for Autograd"
        if obstacle.faked:
            why = f"torch refuses its fake while it is one: {why}"
        elif writes:
            why = f"{why}: what writes and returns nothing needs no fake"
        else:
            why = f"{why}, and a fake"
        return f"{name} is a composite that {below}", "composite-kernel", why
    backends = ", ".join(obstacle.backends)
    return f"{name} has kernels for {backends}, and no Meta kernel or fake was found", "no-fake", "register a fake"
