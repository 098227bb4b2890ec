"""A function is converted whole or not at all: which rewrites are of no use, since the call stops elsewhere in it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

# Places that ask while Python runs, so that a call which reaches one of them, left as it is, stops there.
ASKING = frozenset(
    {"if", "ifexp", "while", "assert", "check", "coercion", "extremum", "root", "filter", "sort", "layout", "resize"}
)
_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
Path = tuple[tuple[int, str], ...]
"""The blocks around a place, outermost first: the line of the statement that holds each, and which of its blocks."""


class Paths:
    """Where the nodes of a function stand."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._paths: dict[int, Path] = {}
        self._exits: set[Path] = set()
        self._note(function.body, ())

    def _note(self, statements: Sequence[ast.stmt], path: Path) -> None:
        if isinstance(statements[-1], _EXITS):
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

    def stops(self, left: ast.AST, place: ast.AST) -> bool:
        """Whether every call that reaches `place` asks at `left` too."""
        if id(left) not in self._paths or id(place) not in self._paths:
            return False
        around, inside = self._paths[id(left)], self._paths[id(place)]
        if inside[: len(around)] != around:
            return False
        earlier = getattr(left, "lineno", 0) <= getattr(place, "lineno", 0)
        returns = any(inside[:depth] in self._exits for depth in range(len(around) + 1, len(inside) + 1))
        return earlier or not returns
