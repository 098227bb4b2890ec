"""Is every name that symfix prints about a tree accepted by every command, and does it mean the same findings?

A finding is chosen by each operator that it names, however that is spelled, and what is in a shard by the shard's name.

    python tests/corpus/names_in_trees.py TREE

TREE is a PyTorch source release; symfix runs in a copy. Exit 0 where each name is accepted, 1 where one is refused.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from corpus_trees import copy_tree, git

from codemod.bundle.shards import make_shards
from codemod.errors import SymfixError
from codemod.model.findings import Finding, Level
from codemod.model.plan import Plan
from codemod.planning.naming import base_name
from codemod.planning.operators import Operators
from codemod.planning.selection import Selection

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.names_shown import names_shown, run

PUBLIC = ("cross_entropy", "F.cross_entropy", "torch.nn.functional.cross_entropy")
"""Names of one function, and what it calls."""
CALLED = "aten::cross_entropy_loss"


def refused_names(tree: Path, page: Path, plan: Plan) -> list[str]:
    """A line for each output with how many names it has, and one for each name that is refused; prints the former."""
    operators = Operators(plan.findings)
    refused = []
    for output, names in names_shown(tree, page).items():
        print(f"{output}: {len(names):,} names", flush=True)
        for name in sorted(names):
            try:
                accepted = bool(Selection(ops=operators.resolve(name, output)).groups(plan.findings))
            except SymfixError:
                accepted = False
            refused += [] if accepted else [f"{output}: {name} is refused"]
    return refused or ([] if any(plan.findings) else ["the tree has no findings"])


def other_findings(findings: Sequence[Finding]) -> list[str]:
    """A line for each name that does not choose the findings that show it."""
    operators = Operators(findings)

    def chosen(name: str) -> frozenset[str]:
        return frozenset(group.id for group in Selection(ops=operators.resolve(name, "--op ")).groups(findings))

    groups = Selection(level=Level.MANUAL).groups(findings)
    naming: dict[str, set[str]] = {}
    for group in groups:
        for name in {name for finding in group.findings for name in finding.operators}:
            naming.setdefault(name, set()).add(group.id)
    wrong = []
    for name, shown in sorted(naming.items()):
        spellings = name, base_name(name), f"torch.ops.{name.replace('::', '.')}"
        sets = {chosen(spelling) for spelling in spellings}
        wrong += [f"{name} is shown by changes that it does not choose"] if any(shown - ids for ids in sets) else []
        wrong += [f"{', '.join(spellings)} choose different changes"] if len(sets) > 1 else []
    shards = make_shards(groups)
    wrong += [
        f"shard {shard.name} holds changes that it does not choose"
        for shard in shards
        if {group.id for group in shard.groups} - chosen(shard.name)
    ]
    print(f"{len(naming):,} operators and {len(shards):,} shards asked for what they choose", flush=True)
    return wrong


def unlike(tree: Path) -> list[str]:
    """A line for each public name that does not choose the findings of the operator that it calls."""
    expected = run(tree, "scan", "--op", CALLED, "--format", "csv")
    chosen = {name: run(tree, "scan", "--op", name, "--format", "csv") for name in PUBLIC}
    return [f"{name} means other findings than {CALLED}" for name, rows in chosen.items() if rows != expected]


def main(arguments: list[str] | None = None) -> int:
    """Print what is refused, and how many names there are; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, metavar="TREE")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        tree = copy_tree(options.tree.resolve(), Path(folder) / "tree")
        for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "start")):
            git(tree, *command)
        plan = Plan.from_json(run(tree, "scan", "--format", "json"))
        wrong = [*other_findings(plan.findings), *refused_names(tree, Path(folder) / "page.html", plan), *unlike(tree)]
    print("\n".join(wrong) or "each is accepted, and means the same")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
