"""Lines of a run from copies, as lines of the files that the copies were made of."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping

from codemod.fix.catching import Callers
from codemod.fix.trees import Copy, Tree, tree_of
from codemod.model.transform import TracedLine
from codemod.probe.answers import Answer
from codemod.probe.trace import Frame


class Lines:
    """Lines of a run from copies, as lines of the files that the copies were made of."""

    def __init__(self, copy: Copy, changed: Mapping[Tree, Mapping[str, bytes]], answers: Iterable[Answer] = ()) -> None:
        """`changed` are the new bytes of the files that the run's copies have others of, `answers` what torch said."""
        self._copy = copy
        self._starts = copy.starts()
        self._changed = changed
        self._answers = tuple(answers)
        self._callers: dict[Tree, Callers] = {}
        self._traced: dict[Tree, frozenset[TracedLine]] = {}

    def tree(self, path: str) -> Tree | None:
        """The tree of the file that `path` is, or is a copy of; None where torch does not say the whole path."""
        if not os.path.isabs(path):
            return None
        original = self._copy.original(path)
        copied = (tree for tree in self._copy.folders if tree.relative(original))
        return next(copied, None) or tree_of(original, self._starts)

    def source(self, tree: Tree, path: str) -> bytes:
        """The bytes of a file, as it is without any change."""
        return (tree.root / path).read_bytes()

    def callers(self, tree: Tree) -> Callers:
        """Who calls what in a tree, as it is without any change."""
        if tree not in self._callers:
            self._callers[tree] = Callers(tree.python())
        return self._callers[tree]

    def traced(self, tree: Tree) -> frozenset[TracedLine]:
        """The lines of a tree by which torch came to what it said."""
        if tree not in self._traced:
            frames = {frame for answer in self._answers for frame in answer.frames}
            own = [frame for frame in frames if self.tree(frame.path) == tree]
            lines = (TracedLine(*self.original(tree, f.path, f.line), f.function) for f in own)
            self._traced[tree] = frozenset(lines)
        return self._traced[tree]

    def original(self, tree: Tree, path: str, line: int) -> tuple[str, int]:
        """The path below the root of `tree`, and the line there, of a line of the run."""
        relative = tree.relative(self._copy.original(path))
        changed = self._changed.get(tree, {}).get(relative)
        if changed is None:
            return relative, line
        before, after = self.source(tree, relative).splitlines(), changed.splitlines()
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for _, first, last, new_first, new_last in matcher.get_opcodes():
            if new_first < line <= new_last:
                return relative, min(first + line - new_first, max(last, first + 1))
        return relative, line

    def without_changes(self, frame: Frame) -> Frame:
        """A line of the run as the line that it is of a file without any change."""
        tree = self.tree(frame.path)
        if tree is None:
            return frame
        path, line = self.original(tree, frame.path, frame.line)
        return Frame(str(tree.root / path), line, frame.function, frame.text)

    def unchanged(self, tree: Tree, path: str, line: int) -> bool:
        """Whether a line is as it was, so that columns in it are too."""
        changed = self._changed.get(tree, {}).get(path)
        return changed is None or self.source(tree, path).splitlines()[line - 1] in changed.splitlines()
