"""Metas for the operators of `symfix fix --mode 3`: drawn over the torch of --python, and kept for every command."""

from __future__ import annotations

import contextlib

from codemod.cli.run import Run
from codemod.cli.running import operators_of
from codemod.cli.samples import with_samples
from codemod.model import transform
from codemod.model.drawn import DrawnMeta
from codemod.model.plan import Plan
from codemod.planning.drawn import DrawnStore
from codemod.planning.naming import matches_operator
from codemod.reporting.report import plural
from codemod.terminal import note


def draw_metas(run: Run) -> None:
    """Draw for each operator asked for that has an overload without a way to trace, unless that was done before.

    Raises SymfixError where a name means no operator of the tree, or the installed torch does not answer.
    """
    from codemod.prove.isolate import terminable
    from codemod.prove.metas import draw_all, state, untraced
    from codemod.prove.target import find_target
    from codemod.tree.pool import progress

    names = operators_of(run, Plan((), {}))
    globs = [glob for written in run.selection.ops for glob in names.resolve(written, "")]
    declared = {name for t in transform.load_transforms() if isinstance(t, transform.NamesOperators)
                for name in t.operators(run.project)}  # fmt: skip
    matching = sorted({name for name in declared if any(matches_operator(glob, name) for glob in globs)})
    target = with_samples(find_target(run.values["python"]), run.values["install"])
    store, seconds, again = DrawnStore(run.journal), run.values["timeout"], run.values["no_cache"]
    with terminable():
        operators = untraced(target, matching, seconds) if matching else []
        now = state(target)
        kept = {name: None if again else store.of(name, now) for name in operators}
        ended = draw_all(target, operators, kept.get, run.project.jobs, seconds)
        fresh = sum(metas is None for metas in kept.values())
        if fresh:
            note(f"symfix: {plural(fresh, 'operator')} with an overload that torch {target.torch_version} has no way to"
                 " trace; running the kernels to see what they return")  # fmt: skip
        with contextlib.closing(ended), progress("drawing", len(operators)) as advance:
            for operator, metas, was_kept in ended:
                if not was_kept:
                    store.set(operator, now, metas)
                _say(metas)
                advance(1)


def _say(metas: list[DrawnMeta]) -> None:
    """Say on stderr which overloads get no meta, and why."""
    for meta in metas:
        if meta.reason:
            note(f"symfix: {meta.overload}: no meta: {meta.reason}")
