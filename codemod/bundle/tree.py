"""Shards as a tree for the terminal: each below the one it is stacked on, with its size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codemod.bundle.commits import Step
from codemod.bundle.shards import Limits, Shard, changed_lines
from codemod.reporting.report import plural
from codemod.terminal import shorten, style, table


def shard_tree(steps: Sequence[Step], sources: Mapping[str, bytes], limits: Limits) -> list[str]:
    """A line for each shard: its name, files, lines added and removed, what it is about, and what it needs."""
    children: dict[str, list[Step]] = {}
    for step in sorted(steps, key=lambda step: step.shard.name):
        children.setdefault(step.parent, []).append(step)
    rows: list[tuple[str, ...]] = []

    def add(step: Step, lead: str, mark: str, below: str) -> None:
        rows.append((lead + mark + shorten(step.shard.name, 60), *_sizes(step, sources, limits)))
        inner = children.get(step.shard.name, [])
        for child in inner:
            last = child is inner[-1]
            add(child, lead + below, "└─ " if last else "├─ ", "   " if last else "│  ")

    for step in children.get("", []):
        add(step, "", "", "")
    return table(rows, right=(1, 2, 3))


def totals(steps: Sequence[Step], sources: Mapping[str, bytes]) -> str:
    """One line of sums."""
    added, removed = changed_lines({edit for step in steps for edit in step.shard.edits}, sources)
    files = {path for step in steps for path in step.files}
    small = sum(len(step.files) <= 3 for step in steps)
    stacked = sum(bool(step.parent) for step in steps)
    return (
        f"{plural(len(steps), 'shard')} in {plural(len(files), 'file')}, +{added:,} -{removed:,} lines;"
        f" {small:,} touch at most 3 files, {stacked:,} are stacked on others"
    )


def over_limits(shards: Sequence[Shard], sources: Mapping[str, bytes], limits: Limits) -> list[str]:
    """The names of shards that are larger than `limits`."""
    return [shard.name for shard in shards if limits.exceeded(shard.edits, sources)]


def _sizes(step: Step, sources: Mapping[str, bytes], limits: Limits) -> tuple[str, ...]:
    shard = step.shard
    own = [edit for edit in shard.edits if edit.path in step.files]
    added, removed = changed_lines(own, sources)
    large = style("too large", "red") if limits.exceeded(own, sources) else ""
    extra = [base for base in shard.bases if base != step.parent]
    needs = style("also needs " + ", ".join(extra), "dim") if extra else ""
    words = "  ".join(word for word in (large, needs) if word)
    return plural(len(step.files), "file"), f"+{added}", f"-{removed}", words
