"""What of a function runs only where nothing is traced or compiled: for TorchScript, for torch.jit.trace, in eager."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from transforms.python.flow.nodes import EXITS, blocks, operands_traced, outcome_traced


def untraced(
    nodes: Sequence[ast.AST],
    outcome: Callable[[ast.expr], bool | None] = outcome_traced,
    body: Sequence[ast.stmt] = (),
) -> Iterator[ast.AST]:
    """The roots of what no trace of a function runs, among its own `nodes`.

    `outcome` says what a condition comes to in every trace, None where it depends. `body` holds the statements of the
    function where they are not all among `nodes`.
    """
    for node in nodes:
        if isinstance(node, (ast.If, ast.IfExp)):
            if (decided := outcome(node.test)) is not None:
                path = node.orelse if decided else node.body
                yield from path if isinstance(path, list) else [path]
        elif isinstance(node, ast.BoolOp):
            yield from node.values[len(operands_traced(node)) :]
    yield from _left_behind(nodes, body)


def _left_behind(nodes: Sequence[ast.AST], body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that only eager comes to: `if torch.compiler.is_compiling(): return …` stands before them."""
    leaving = {id(node) for node in nodes if isinstance(node, ast.If) and isinstance(_traced_end(node), EXITS)}
    if not leaving:
        return
    inner = [block for node in nodes if isinstance(node, ast.stmt) for block in blocks(node)]
    held = {id(statement) for block in inner for statement in block}
    top = [node for node in nodes if isinstance(node, ast.stmt) and id(node) not in held]
    for block in (*inner, body or sorted(top, key=lambda statement: (statement.lineno, statement.col_offset))):
        first = next((index for index, statement in enumerate(block) if id(statement) in leaving), len(block))
        yield from block[first + 1 :]


def _traced_end(branch: ast.If) -> ast.stmt | None:
    """The last statement of the path that every trace takes through a branch; None where sizes decide."""
    outcome = outcome_traced(branch.test)
    path = [] if outcome is None else branch.body if outcome else branch.orelse
    return path[-1] if path else None
