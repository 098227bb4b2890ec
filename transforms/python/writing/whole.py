"""A function is converted whole or not at all: which rewrites are of no use, since the call stops elsewhere in it."""

from __future__ import annotations

import ast
import bisect
import sys
from collections.abc import Sequence

from transforms.python.flow.nodes import EXITS

# Places that ask while Python runs, so that a call which reaches one of them, left as it is, stops there.
ASKING = frozenset(
    {"if", "ifexp", "while", "assert", "check", "coercion", "extremum", "root", "filter", "sort", "layout", "resize",
     "pieces", "choice", "elements", "pair", "hashed", "number", "compared",
     "turns", "asserted", "counting", "array", "copied", "read"}
)  # fmt: skip
Path = tuple[tuple[int, str], ...]
"""The blocks around a place, outermost first: the line of the statement that holds each, and which of its blocks."""


class Paths:
    """Where the nodes of a function stand, and those of them that are left as they are."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef, left: Sequence[ast.AST]) -> None:
        self._paths: dict[int, Path] = {}
        self._exits: set[Path] = set()
        self._note(function.body, ())
        self._left: dict[Path, list[tuple[int, int]]] = {}
        """Of each block the nodes left in it by line, each with the first of those up to it."""
        lines = sorted((getattr(node, "lineno", 0), index) for index, node in enumerate(left))
        for line, index in lines:
            path = self._paths.get(id(left[index]))
            if path is not None:
                block = self._left.setdefault(path, [])
                block.append((line, min(index, block[-1][1]) if block else index))

    def _note(self, statements: Sequence[ast.stmt], path: Path) -> None:
        if isinstance(statements[-1], EXITS):
            self._exits.add(path)
        for statement in statements:
            self._note_node(statement, path)

    def _note_node(self, node: ast.AST, path: Path) -> None:
        pending: list[tuple[ast.AST, Path]] = [(node, path)]
        while pending:
            inner, at = pending.pop()
            self._paths[id(inner)] = at
            for name, value in ast.iter_fields(inner):
                if isinstance(inner, ast.stmt) and isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                    self._note(value, (*at, (inner.lineno, name)))
                elif isinstance(inner, ast.IfExp) and name in ("body", "orelse"):
                    pending.append((value, (*at, (inner.lineno, f"{name} of a conditional expression"))))
                elif isinstance(inner, ast.BoolOp) and name == "values":
                    pending.append((value[0], at))
                    pending += ((operand, (*at, (inner.lineno, "operand"))) for operand in value[1:])
                else:
                    members = value if isinstance(value, list) else [value]
                    pending += ((member, at) for member in members if isinstance(member, ast.AST))

    def stop(self, place: ast.AST, general: bool | None = None) -> int | None:
        """Which of the nodes that are left every call asks that reaches `place`, the first of them; None for none.

        Where `place` is a branch that sizes in general decide as `general` says, a call goes on there.
        """
        inside = self._paths.get(id(place))
        if inside is None:
            return None
        stops, returns = [], False
        if general is not None and isinstance(place, ast.If):
            taken = self._left.get((*inside, (place.lineno, "body" if general else "orelse")), [])
            stops += [first for _, first in taken[-1:]]
        for depth in range(len(inside), -1, -1):  # the blocks around the place, outwards
            returns = returns or (inside[: depth + 1] in self._exits and depth < len(inside))
            left = self._left.get(inside[:depth], [])
            count = bisect.bisect(left, (getattr(place, "lineno", 0), sys.maxsize)) if returns else len(left)
            stops += [first for _, first in left[count - 1 : count]]
        return min(stops, default=None)
