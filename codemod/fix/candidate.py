"""A change that may help a program, and what several change together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from codemod.fix.trees import Tree
from codemod.model.edits import Edit, EditConflict
from codemod.probe.trace import Frame
from codemod.writing.changes import Change, changes_of_edits, read_source


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change that may help, known by its edits. `frame` is the line that torch named, `why` what it said there."""

    what: str = field(compare=False)
    tree: Tree
    edits: tuple[Edit, ...]
    frame: Frame = field(compare=False)
    why: str = field(compare=False)
    taken: tuple[Edit, ...] = field(default=(), compare=False)
    """Edits with which the program fails without a compiler if it takes the path that the change leaves; else none."""


def changes_of(candidates: Sequence[Candidate]) -> dict[Tree, tuple[Change, ...]]:
    """What all candidates together change in each tree.

    Raises EditConflict where they meet one another or a file has changed since, SymfixError where one cannot be read.
    """
    changes: dict[Tree, tuple[Change, ...]] = {}
    for tree in dict.fromkeys(candidate.tree for candidate in candidates):
        edits = [edit for candidate in candidates if candidate.tree == tree for edit in candidate.edits]
        sources = {path: read_source(tree.root, path) for path in {edit.path for edit in edits}}
        changes[tree] = changes_of_edits(edits, sources)
    return changes


def contents_of(candidates: Sequence[Candidate]) -> dict[Tree, dict[str, bytes]]:
    """The new bytes of the files that all candidates together change. Raises as changes_of."""
    return {tree: {change.path: change.new for change in own} for tree, own in changes_of(candidates).items()}


def conflict_free(candidates: Sequence[Candidate]) -> bool:
    """Whether the changes of all candidates can be made together."""
    try:
        contents_of(candidates)
    except EditConflict:
        return False
    return True
