"""Findings of the rule `missing-fake` in PyTorch itself: the metas that were drawn from what kernels show.

They stand at the operator in native_functions.yaml; what they add goes to torch/_meta_registrations.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from codemod.model.drawn import DrawnMeta
from codemod.model.edits import Edit
from codemod.model.findings import Finding, Level, Mode
from codemod.model.transform import Project
from codemod.tree.checkout import NATIVE_FUNCTIONS
from transforms.python.metas.registering import HOME, Meta, paragraph, place, registered
from transforms.python.reach.unfaked import RULE
from transforms.python.writing.style_settings import Styles


def findings(project: Project, drawn: Sequence[DrawnMeta]) -> Iterator[Finding]:
    """A finding for each overload of the tree that has no meta there and that a meta, or a reason, was drawn for.

    Nothing in a tree that is not PyTorch's, or where PATHS ask for other files.
    """
    listed = set(project.files((".py", ".yaml")))
    if not {HOME, NATIVE_FUNCTIONS} <= listed or not project.selected(HOME):
        return
    yaml, home = project.read(NATIVE_FUNCTIONS), project.read(HOME)
    there, offset, style = registered(home), place(home), Styles(project).of(HOME)
    for meta in drawn:
        base = meta.overload.partition(".")[0]
        span = _entry(yaml, meta.overload)
        if span is None or not there.isdisjoint({base, meta.overload}) or meta.functional in _written(drawn):
            continue
        if meta.reason or offset is None:
            reason = meta.reason or f"{HOME} has no activate_meta to stand before"
            yield _finding(yaml, span, meta, reason, ())
        else:
            written = Meta((meta.overload, *_variants(drawn, meta)), meta.parameters, meta.body, _outputs(drawn, meta))
            yield _finding(yaml, span, meta, "", (Edit(HOME, offset, offset, b"", paragraph(written, style)),))


def _written(drawn: Sequence[DrawnMeta]) -> set[str]:
    return {meta.overload for meta in drawn if not meta.reason}


def _of(drawn: Sequence[DrawnMeta], meta: DrawnMeta) -> list[DrawnMeta]:
    """The out variants that are registered with `meta`."""
    return [variant for variant in drawn if variant.functional == meta.overload and not variant.reason]


def _variants(drawn: Sequence[DrawnMeta], meta: DrawnMeta) -> tuple[str, ...]:
    return tuple(variant.overload for variant in _of(drawn, meta))


def _outputs(drawn: Sequence[DrawnMeta], meta: DrawnMeta) -> tuple[str, ...]:
    return next((variant.outputs for variant in _of(drawn, meta)), meta.outputs)


def _entry(yaml: bytes, overload: str) -> tuple[int, int] | None:
    """The span of an overload's schema in native_functions.yaml; None where the tree does not have it."""
    base, _, name = overload.partition(".")
    spelled = re.escape(base if name == "default" else overload).encode()
    match = re.search(rb"^- func: (" + spelled + rb"\([^\n]*)", yaml, re.M)
    return match.span(1) if match is not None else None


def _finding(yaml: bytes, span: tuple[int, int], meta: DrawnMeta, reason: str, edits: tuple[Edit, ...]) -> Finding:
    start, end = span
    said = f"{meta.overload} has a kernel, and no way to trace it"
    if edits:
        said += f": a meta that says what the kernel of torch {meta.torch} does on {meta.samples} calls"
        said += f" (on {meta.fatal} more the kernel alone ends its process)" if meta.fatal else ""
        said += "" if meta.unbacked == "passes" else f"; with unbacked sizes it stops: {meta.unbacked}"
    return Finding(
        NATIVE_FUNCTIONS,
        start,
        end,
        yaml.count(b"\n", 0, start) + 1,
        start - yaml.rfind(b"\n", 0, start),
        Mode.TENSOR_ITERATOR,
        RULE,
        Level.REVIEW if edits else Level.MANUAL,
        meta.overload,
        (meta.operator,),
        said,
        f"no meta can be drawn: {reason}" if reason else "",
        "no-meta" if reason else "",
        edits=edits,
    )
