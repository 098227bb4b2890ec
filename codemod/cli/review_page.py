"""`symfix review --html`: the review as a page."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from codemod.cli.run import Run
from codemod.errors import SymfixError
from codemod.model.findings import Level
from codemod.model.groups import Group
from codemod.model.plan import Plan
from codemod.terminal import note


def write_page(run: Run, plan: Plan, path: Path) -> int:
    """Write the page for `plan`, which holds what was decided, to `path`; returns the exit code.

    It shows the changes up to the run's level, and whatever is left alone. Raises SymfixError where it cannot write.
    """
    from codemod.bundle.shard_evidence import StoredRuns
    from codemod.bundle.shard_names import ShardNames
    from codemod.bundle.shards import make_shards
    from codemod.reporting.manual import all_rules
    from codemod.reporting.report import plural
    from codemod.review.page.code import highlight
    from codemod.review.page.data import merged, shown_paths
    from codemod.review.page.html import render
    from codemod.tree.sources import Sources
    from codemod.writing.files import replace_file

    groups = _shown(run, plan)
    read = Sources(run.checkout.root)
    sources = {name: read.of(name) for name in shown_paths(groups)}
    names = ShardNames.load(run.journal)
    changed = make_shards([group for group in groups if group.edits], sources=sources, names=names)
    left = make_shards([group for group in groups if not group.edits], names=names)
    stored = StoredRuns(run.journal, changed, sources, names)
    page = render(
        plan,
        merged(changed, left),
        sources,
        run.project.facts(highlight, [name for name in sources if sources[name]]),
        title=run.checkout.root.name or "checkout",
        rules=all_rules(),
        ran={shard.name: stored.of(shard.name) for shard in changed},
    )
    try:
        replace_file(path, page)
    except OSError as error:
        raise SymfixError(f"{path}: the page cannot be written: {error.strerror}") from error
    changes = sum(bool(group.edits) for group in groups)
    explained = sum(len(group.findings) for group in groups if not group.edits)
    note(f"symfix: wrote {path}: {plural(changes, 'change')} to decide, {plural(explained, 'finding')} left alone")
    note("symfix: open it in a browser; what its Export saves is taken by symfix review --import")
    return 0


def _shown(run: Run, plan: Plan) -> list[Group]:
    everything = dataclasses.replace(run.selection, level=Level.MANUAL).groups(plan.findings)
    return [group for group in everything if group.level <= run.selection.level or not group.edits]
