"""The verdicts of `symfix prove` over a tree, as a table in Markdown: quoted from its evidence, nothing is run.

    symfix prove --python PYTHON        (in TREE; it goes on where it was stopped)
    python tests/corpus/prove_tree.py TREE --torch 2.6.0 > tests/corpus/prove_2_6_0.md

Evidence over another torch, or about code that has changed since, is not quoted: such shards count as not run.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from codemod.bundle.make import sources_of
from codemod.bundle.shards import closure, make_shards
from codemod.cli.run import Run
from codemod.model import transform
from codemod.model.findings import Level
from codemod.planning.analysis import analyse
from codemod.planning.selection import Selection
from codemod.prove.evidence import Evidence, Outcome, evidence_for
from codemod.prove.table import verdict_text
from codemod.terminal import one_line, shorten
from codemod.tree.cache import Cache
from codemod.tree.checkout import find_checkout, user_cache
from codemod.tree.pool import default_jobs
from codemod.tree.project import CheckoutProject
from codemod.writing.changes import changes_in, make_changes

OUTCOMES: tuple[Outcome, ...] = ("cured", "unchanged", "worse", "not provable")


def evidence_of(tree: Path, torch: str) -> Iterator[tuple[str, list[Evidence]]]:
    """Each shard of what plain `apply` changes in `tree`, and its evidence over a torch whose version begins so."""
    checkout = find_checkout(tree)
    cache = Cache.of(checkout.root, user_cache())
    project = CheckoutProject(checkout=checkout, cache=cache, paths=(), vocabulary=None, jobs=default_jobs())
    selection = Selection(level=Level.SAFE)
    journal = Run(checkout, project, selection, {}).journal
    plan = analyse(project, transform.load_transforms)
    groups = [group for group in selection.groups(plan.findings) if group.edits]
    transforms = transform.load_transforms()
    whole = make_changes(project.listing, plan, groups, transforms, lambda work, items: [work(item) for item in items])
    sources = sources_of(checkout.root, whole)
    shards = {shard.name: shard for shard in make_shards(whole.groups)}
    for shard in shards.values():
        found = evidence_for(journal, changes_in(closure(shard, shards), sources))
        yield shard.name, [evidence for evidence in found if evidence.versions.get("torch", "").startswith(torch)]


def report(rows: Sequence[tuple[str, list[Evidence]]], torch: str) -> Iterator[str]:
    """The lines of the table."""
    run = [(name, found) for name, found in rows if found]
    everything = [evidence for _, found in run for evidence in found]
    counts = Counter(evidence.outcome for evidence in everything)
    passed = sum(evidence.outcome == "unchanged" and evidence.passed_before for evidence in everything)
    provable = sum(any(evidence.outcome != "not provable" for evidence in found) for _, found in run)
    yield f"# What `symfix prove` found over torch {torch}"
    yield ""
    yield f"Made by `tests/corpus/prove_tree.py`. {len(run)} of {len(rows)} shards were run; {provable} are provable."
    yield "An operator counts once for each shard that it shows."
    yield ""
    yield "| outcome | operators |"
    yield "|---|---|"
    for outcome in OUTCOMES:
        more = f", {passed} of which passed before" if outcome == "unchanged" else ""
        yield f"| {outcome} | {counts[outcome]}{more} |"
    yield f"| in shards that were not run | {len(rows) - len(run)} shards |"
    reasons = Counter(
        shorten(one_line(evidence.reason), 80) for evidence in everything if evidence.outcome == "not provable"
    )
    yield from ("", "## Why not provable", "", "| operators | reason |", "|---|---|")
    yield from (f"| {count} | {_cell(reason)} |" for reason, count in reasons.most_common())
    for outcome in ("worse", "cured", "unchanged"):
        yield from (
            "",
            f"## {outcome.capitalize()}",
            "",
            "| operator | before → after | in a few words |",
            "|---|---|---|",
        )
        for evidence in sorted(everything, key=lambda evidence: evidence.operator):
            if evidence.outcome == outcome and evidence.before is not None and evidence.after is not None:
                shown = f"{verdict_text(evidence.before)} → {verdict_text(evidence.after)}"
                yield f"| {evidence.operator} | {shown} | {_cell(shorten(one_line(evidence.reason), 110))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace(str(Path.home()), "~")


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--torch", default="", metavar="VERSION", help="the torch whose evidence is quoted")
    options = parser.parse_args()
    print("\n".join(report(list(evidence_of(options.tree, options.torch)), options.torch)))


if __name__ == "__main__":
    main()
