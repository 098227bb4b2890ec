"""Is every name that symfix prints about a tree accepted by every command, and does `F.NAME` mean its operator?

    python tests/corpus/names_in_trees.py TREE

TREE is a PyTorch source release; symfix runs in a copy. Exit 0 where each name is accepted, 1 where one is refused.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from corpus_trees import copy_tree, git

from codemod.errors import SymfixError
from codemod.model.plan import Plan
from codemod.planning.operators import Operators
from codemod.planning.selection import Selection

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.names_shown import names_shown, run

PUBLIC = ("cross_entropy", "F.cross_entropy", "torch.nn.functional.cross_entropy")
"""Names of one function, and what it calls."""
CALLED = "aten::cross_entropy_loss"


def refused_names(tree: Path, page: Path) -> list[str]:
    """A line for each output with how many names it has, and one for each name that is refused; prints the former."""
    plan = Plan.from_json(run(tree, "scan", "--format", "json"))
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
        wrong = [*refused_names(tree, Path(folder) / "page.html"), *unlike(tree)]
    print("\n".join(wrong) or "each is accepted")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
