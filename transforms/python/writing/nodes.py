"""Small pieces of libcst: an expression from its source and back, calls, parentheses, operands."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import NamedTuple

import libcst as cst

from transforms.python.flow.nodes import is_read

# libcst's trees are walked by Python functions, several for each level; its parser takes time that grows with a high
# power of a chain's length, and ends the process where a few thousand brackets stand in one another.
_DEEPEST = 400
_BRIEF = 60

OPPOSITE: dict[type[cst.BaseCompOp], Callable[[], cst.BaseCompOp]] = {
    cst.Equal: cst.NotEqual, cst.NotEqual: cst.Equal,
    cst.LessThan: cst.GreaterThanEqual, cst.GreaterThanEqual: cst.LessThan,
    cst.GreaterThan: cst.LessThanEqual, cst.LessThanEqual: cst.GreaterThan,
    cst.Is: cst.IsNot, cst.IsNot: cst.Is, cst.In: cst.NotIn, cst.NotIn: cst.In,
}  # fmt: skip

_PURE = frozenset({"prod", "min", "max", "abs", "int", "float", "sum", "sym_min", "sym_max", "sym_int", "stride"})


class Moved(NamedTuple):
    """Operands that would be evaluated whatever those before them say.

    `held` are the operands before them that have been decided, with what each came to; `evaluated` has been evaluated.
    """

    held: tuple[tuple[cst.BaseExpression, bool], ...]
    evaluated: cst.BaseExpression
    operands: tuple[cst.BaseExpression, ...]


def check_depth(tree: ast.AST, source: str = "") -> None:
    """Raise RecursionError where a tree has more levels than libcst is given.

    libcst nests what `ast` holds side by side: the operands of `and` and `or`, and adjacent strings, which only the
    `source` shows; of these are at most as many as pairs of quotes that no string of `tree` needs.
    """
    strings = 0
    pending = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        if depth > _DEEPEST:
            raise RecursionError("nested too deep for libcst")
        strings += isinstance(node, (ast.Constant, ast.JoinedStr))
        below = depth + (len(node.values) if isinstance(node, ast.BoolOp) else 1)
        pending += ((child, below) for child in ast.iter_child_nodes(node))
    if source.count('"') + source.count("'") > 6 * strings + 2 * _DEEPEST:
        raise RecursionError("too many adjacent strings for libcst")


def code(node: cst.CSTNode) -> str:
    """The source of a node."""
    return cst.Module([]).code_for_node(node)


def parse_expression(source: str) -> cst.BaseExpression:
    """An expression that may run over several lines, as it stands in the file.

    Raises RecursionError where it is nested deeper than libcst's parser, which checks nothing itself, can go.
    """
    check_depth(ast.parse(f"({source})", mode="eval"), source)
    node = cst.parse_expression(f"({source})")
    return node.with_changes(lpar=node.lpar[1:], rpar=node.rpar[:-1])


def call(function: str, *arguments: cst.BaseExpression | cst.Arg) -> cst.Call:
    """`function(arguments)`; an argument's own parentheses fall away."""
    return cst.Call(
        cst.parse_expression(function),
        [argument if isinstance(argument, cst.Arg) else cst.Arg(bare(argument)) for argument in arguments],
    )


def bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """A node without its outer parentheses, save where they make a tuple or hold a comment."""
    if isinstance(node, (cst.Tuple, cst.GeneratorExp, cst.Yield, cst.NamedExpr)) or not node.lpar or "#" in code(node):
        return node
    return node.with_changes(lpar=[], rpar=[])


def briefly(operands: Sequence[cst.BaseExpression]) -> str:
    """Operands on one line of a reason, cut where it would be longer than is read."""
    text = " and ".join(" ".join(code(bare(operand)).split()) for operand in operands)
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}…"


def parenthesized(node: cst.BaseExpression) -> cst.BaseExpression:
    """A node that can stand beside any operator."""
    if node.lpar or isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer, cst.Tuple)):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def beside_comparison(node: cst.BaseExpression) -> cst.BaseExpression:
    """A node that can stand beside `==`."""
    negation = isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not)
    looser = isinstance(node, (cst.IfExp, cst.BooleanOperation, cst.Comparison, cst.NamedExpr, cst.Lambda))
    return parenthesized(node) if negation or looser else node


def all_of(parts: Sequence[cst.BaseExpression]) -> cst.BaseExpression:
    """`parts` joined by `and`."""
    joined = parts[0]
    for part in parts[1:]:
        joined = cst.BooleanOperation(joined, cst.And(), part)
    return parenthesized(joined)


def flattened(
    node: cst.BaseExpression, operator: type[cst.BaseBooleanOp]
) -> tuple[list[cst.BaseExpression], list[cst.BaseParenthesizableWhitespace]]:
    """The operands of `a and b and c` and the white space between them, line breaks and comments included."""
    if isinstance(node, cst.BooleanOperation) and isinstance(node.operator, operator):
        left, spaces = flattened(node.left, operator)
        around = (node.operator.whitespace_before, node.operator.whitespace_after)
        space = next(
            (whitespace for whitespace in around if isinstance(whitespace, cst.ParenthesizedWhitespace)),
            cst.SimpleWhitespace(" "),
        )
        return [*left, node.right], [*spaces, space]
    return [node], []


def in_general(node: cst.Comparison) -> bool | None:
    """Whether a single comparison holds for sizes in general; None where that is no question of being special."""
    target = node.comparisons[0]
    if isinstance(target.operator, (cst.Equal, cst.In)):
        return False
    if isinstance(target.operator, (cst.NotEqual, cst.NotIn)):
        return True
    left, right = node.left, target.comparator
    bound = right if isinstance(right, cst.Integer) else left if isinstance(left, cst.Integer) else None
    if bound is None:
        return None
    above = isinstance(target.operator, (cst.GreaterThan, cst.GreaterThanEqual)) == (bound is right)
    strict = isinstance(target.operator, (cst.GreaterThan, cst.LessThan))
    # `size > 1`, `size >= 2`, `size <= 1`, `size < 2` separate the special sizes from the rest.
    least = bound.evaluated_value + (strict if above else not strict)
    return above if 1 <= least <= 2 else None


def parsed(node: cst.BaseExpression) -> ast.expr:
    """An expression as Python's own parser reads it, on line 1."""
    return ast.parse(f"({code(node)})", mode="eval").body


def may_repeat(node: cst.BaseExpression) -> bool:
    """Whether an expression may be evaluated a second time."""
    return is_read(parsed(node), _PURE)
