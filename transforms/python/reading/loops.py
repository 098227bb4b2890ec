"""What a file writes out for its loops to go over: `for name, order in [("a", 2), ("b", None)]`.

Libraries register their operators in such loops, under names that are put together of what the loop's variables hold.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import NoneType

from transforms.python.flow.nodes import dotted, variables_in, written

MOST_ITEMS = 64
"""Of a loop that is kept."""
LONGEST_ITEM = 500
"""Characters of a text that is kept, which may be an operator's schema."""

Binding = tuple[str, str, str]
"""(scope, name, what is assigned to it)."""


class Loops:
    """The loops of a file, with the lists that they may go over and the texts that their variables may be part of."""

    def __init__(self) -> None:
        self._loops: list[tuple[str, ast.For]] = []
        self._lists: dict[tuple[str, str], list[ast.expr]] = {}
        self._texts: list[tuple[str, str, ast.JoinedStr]] = []

    def add_loop(self, scope: str, loop: ast.For) -> None:
        """Take in a loop of a scope."""
        self._loops.append((scope, loop))

    def add_value(self, scope: str, variable: str, value: ast.expr) -> None:
        """Take in what a scope assigns to a variable."""
        self._lists.setdefault((scope, variable), []).append(value)
        if isinstance(value, ast.JoinedStr):
            self._texts.append((scope, variable, value))

    def bindings(self) -> Iterator[Binding]:
        """What the loops' variables are given, and the texts that these are put into in the same scope."""
        turned: set[tuple[str, str]] = set()
        for scope, loop in self._loops:
            for variable, items in self._items(scope, loop):
                turned.add((scope, variable))
                yield scope, variable, f"[{', '.join(dict.fromkeys(items))}]"
        for scope, variable, text in self._texts:
            if any((scope, name) in turned for name in variables_in(text)):
                yield scope, variable, written(text)

    def _items(self, scope: str, loop: ast.For) -> Iterator[tuple[str, list[str]]]:
        """Each variable of a loop with the texts, numbers and names that it is given, nothing where some are not."""
        target = loop.target
        targets = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        rows = self._rows(scope, loop.iter)
        for place, variable in enumerate(targets):
            if not isinstance(variable, ast.Name):
                continue
            column = rows if variable is target else [_part(row, place, len(targets)) for row in rows]
            items = [_item(node) for node in column]
            if items and None not in items:
                yield variable.id, [item for item in items if item is not None]

    def _rows(self, scope: str, node: ast.expr) -> Sequence[ast.expr]:
        """What an expression gives turn by turn, nothing where that is not written out, or much."""
        method = ""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
            method, node = node.func.attr, node.func.value
        if isinstance(node, ast.Name):
            values = self._lists.get((scope, node.id)) or self._lists.get(("", node.id), [])
            node = values[0] if len(values) == 1 else node
        if isinstance(node, ast.Dict) and None not in node.keys:
            pairs = list(zip(filter(None, node.keys), node.values, strict=True))
            keys, items = [key for key, _ in pairs], [ast.Tuple(list(pair)) for pair in pairs]
            by_method: dict[str, Sequence[ast.expr]] = {"": keys, "keys": keys, "values": node.values, "items": items}
            rows = by_method.get(method, ())
        elif method:
            return ()
        elif isinstance(node, ast.Call) and dotted(node.func) == "range" and not node.keywords:
            rows = _numbers(node.args)
        else:
            rows = node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else ()
        return rows if len(rows) <= MOST_ITEMS else ()


def _numbers(bounds: Sequence[ast.expr]) -> Sequence[ast.expr]:
    """What `range` gives for bounds that are numbers; nothing of many."""
    try:
        numbers = range(*map(ast.literal_eval, bounds))
        return [ast.Constant(number) for number in numbers] if len(numbers) <= MOST_ITEMS else ()
    except (ValueError, TypeError, RecursionError, MemoryError, OverflowError):
        return ()


def _part(row: ast.expr, place: int, count: int) -> ast.expr:
    """The item of a row that has `count` of them, else the row, which is none that is kept."""
    is_row = isinstance(row, (ast.Tuple, ast.List)) and len(row.elts) == count
    return row.elts[place] if is_row and isinstance(row, (ast.Tuple, ast.List)) else row


def _item(node: ast.expr) -> str | None:
    """The text of an item that is a constant or names something, None for others."""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return dotted(node) or None
    if not isinstance(node, ast.Constant) or not isinstance(node.value, (str, int, NoneType)):
        return None
    return repr(node.value) if len(str(node.value)) <= LONGEST_ITEM else None
