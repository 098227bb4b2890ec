"""What the rules on branches share: which way a branch goes in general, where its paths begin, and how to pin one.

To *pin* a path is to check, where it was picked for unknown sizes, that its condition does hold when the code runs: the
compiled code then stops with an assertion where it would have been wrong.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

import libcst as cst

from transforms.python.flow.nodes import own_nodes
from transforms.python.writing.logic import Undecided, call, code, parenthesized
from transforms.python.writing.place import Change, Place

TERMINATORS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
# Operations that give the same result where the shapes or sizes happen to agree.
NEUTRAL = re.compile(
    r"^(?:expand|reshape|view|contiguous|clone|to(?:_\w+)?|bool|narrow|size|dim|\w*broadcast\w*|expand_as|list)$"
)

PADDING = re.compile(r"^(?:constant_pad_nd|pad|len)$")


def outcome(place: Place, node: cst.BaseExpression) -> bool | None:
    """What a condition comes to for sizes in general; None where that depends on more than sizes."""
    conditions = place.conditions
    if isinstance(node, cst.BooleanOperation):
        sides = (outcome(place, node.left), outcome(place, node.right))
        short = isinstance(node.operator, cst.Or)
        if short in sides:
            return short
        return None if None in sides else not short
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        inner = outcome(place, node.expression)
        return None if inner is None else not inner
    if not conditions.asks(node):
        return None
    if isinstance(node, cst.Comparison):
        parts = [conditions.general(comparison) for comparison in conditions.special(node)]
        return None if None in parts or not parts else all(parts)
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in ("all", "any"):
        parts = [conditions.general(comparison) for comparison in conditions.special(node)]
        return parts[0] if len(parts) == 1 else None
    return True if place.values.value(ast.parse(f"({code(node)})", mode="eval").body).kind in ("int", "float") else None


def kinds(place: Place, node: cst.BaseExpression) -> set[str]:
    """What a condition compares: "empty" (a size beside 0), "one" (beside 1), "size" (beside anything else), "shape"
    (whole shapes) or "order" (which of two sizes is larger)."""
    compared = set()
    for comparison in place.conditions.special(node):
        target = comparison.comparisons[0]
        sides = (comparison.left, target.comparator)
        if place.conditions.general(comparison) is None:
            compared.add("order")
        elif not isinstance(target.operator, (cst.In, cst.NotIn)) and any(
            place.conditions.value(side).shapelike for side in sides
        ):
            compared.add("shape")
        else:
            compared.add(_special(place, comparison))
    return compared or {"empty"}


def _special(place: Place, comparison: cst.Comparison) -> str:
    """Whether a comparison singles out empty sizes, size 1, or something else (a remainder, a difference)."""
    target = comparison.comparisons[0]
    sides = (comparison.left, target.comparator)
    bounds = [side.evaluated_value for side in sides if isinstance(side, cst.Integer)]
    computed = any(operator in code(side) for side in sides for operator in "%-")
    if computed or not bounds or isinstance(target.operator, (cst.In, cst.NotIn)):
        return "size"
    if isinstance(target.operator, (cst.Equal, cst.NotEqual)):
        return {0: "empty", 1: "one"}.get(bounds[0], "size")
    greater = isinstance(target.operator, (cst.GreaterThan, cst.GreaterThanEqual))
    strict = isinstance(target.operator, (cst.GreaterThan, cst.LessThan))
    above = greater == isinstance(target.comparator, cst.Integer)
    return "empty" if bounds[0] + (strict if above else not strict) == 1 else "one"


def raises(statements: Sequence[ast.stmt]) -> bool:
    """Whether a path ends in an exception."""
    if not statements:
        return False
    last = statements[-1]
    return isinstance(last, ast.Raise) or (isinstance(last, ast.If) and raises(last.body) and raises(last.orelse))


def general_path(place: Place, branch: ast.If, general: bool | None) -> Iterator[ast.AST]:
    """The nodes of the code that runs for sizes in general; of both paths where `general` is None."""
    if general is not False:
        for statement in branch.body:
            yield from ast.walk(statement)
    if general is not True:
        for statement in branch.orelse:
            yield from ast.walk(statement)
        if not branch.orelse:
            last = branch.end_lineno or branch.lineno
            yield from (node for node in own_nodes(place.function) if getattr(node, "lineno", 0) > last)


def divisions(place: Place, nodes: Iterable[ast.AST]) -> list[ast.BinOp]:
    """The divisions by a size on a path, which are not valid for empty inputs."""
    return [
        node
        for node in nodes
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod))
        and place.values.value(node.right).kind in ("int", "float")
    ]


def never_zero(place: Place, quotients: Sequence[ast.BinOp]) -> tuple[Change, ...]:
    """Changes after which divisions serve empty inputs too: a size below 1 divides as 1. Empty where that is no help.

    The result is the same for every size the path served before.
    """
    simple = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
    if place.scripted or not all(
        isinstance(n.right, simple) and isinstance(n.op, (ast.Mod, ast.FloorDiv)) for n in quotients
    ):
        return ()
    function = place.names("torch.sym_max")
    return tuple(
        change
        for node in quotients
        for change in place.replaced(node.right, call(function, place.tree(node.right), cst.Integer("1")))
    )


def lean(place: Place, node: cst.BaseExpression) -> bool | None:
    """The outcome towards which every truth about sizes in a condition leans; None where they pull apart.

    A condition that comes out the other way does so because of what is known.
    """
    if not place.conditions.asks(node):
        return None
    if isinstance(node, cst.BooleanOperation):
        sides = {lean(place, side) for side in (node.left, node.right) if place.conditions.asks(side)}
        return sides.pop() if len(sides) == 1 else None
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        inner = lean(place, node.expression)
        return None if inner is None else not inner
    return outcome(place, node)


def neutral(statements: Sequence[ast.stmt], padding: bool = False) -> bool:
    """Whether a path only expands, reshapes or raises: all the same where nothing was to be done.

    With `padding` it may also compute amounts and pad by them.
    """
    for statement in statements:
        if isinstance(statement, ast.If):
            if not (neutral(statement.body, padding) and neutral(statement.orelse, padding)):
                return False
        elif not isinstance(statement, (ast.Raise, ast.Pass, ast.Assert)):
            calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
            named = [getattr(c.func, "attr", getattr(c.func, "id", "")) for c in calls]
            if not isinstance(statement, (ast.Assign, ast.Return)):
                return False
            if not all(NEUTRAL.search(name) or (padding and PADDING.search(name)) for name in named):
                return False
            if not (calls or padding or isinstance(statement, ast.Return)):
                return False
    return True


def pads_by_difference(branch: ast.If) -> bool:
    """Whether a branch on `a != b` does nothing but pad by `a - b`, which is nothing where they are equal."""
    test = branch.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.NotEq):
        return False
    sides = {ast.dump(test.left), ast.dump(test.comparators[0])}
    subtracted = [
        {ast.dump(node.left), ast.dump(node.right)}
        for statement in branch.body
        for node in ast.walk(statement)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
    ]
    return sides in subtracted and not branch.orelse and neutral(branch.body, padding=True)


def only(statements: Sequence[ast.stmt], function: str) -> bool:
    """Whether a path does nothing but call `….function(…)`."""
    return bool(statements) and all(
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Attribute)
        and statement.value.func.attr == function
        for statement in statements
    )


def is_elif(place: Place, branch: ast.If) -> bool:
    """Whether an `if` is written `elif`."""
    return place.layout.source[place.layout.start(branch) :].startswith(b"elif")


def pinned(place: Place, branch: ast.If, test: cst.BaseExpression, general: bool, function: str = "_check") -> Change:
    """A check at the head of the path that was picked. Raises Undecided where that path has no place for it."""
    layout = place.layout
    condition = place.conditions.symbolic(test) if general else place.conditions.negated(test)
    indent = layout.indent(branch)
    if is_elif(place, branch):
        line = layout.lines[branch.lineno - 1]
        indent = line[: len(line) - len(line.lstrip())].decode()
    if indent is None:
        raise Undecided("the branch does not stand on a line of its own")
    if general or (branch.orelse and not _else_is_elif(place, branch)):
        first = branch.body[0] if general else branch.orelse[0]
        inner = layout.indent(first)
        if inner is None:
            raise Undecided("the path stands on the line of its condition")
        offset = layout.line_start(min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))]))
        return Change(offset, offset, place.check(condition, inner, function))
    if branch.orelse:
        raise Undecided("the check belongs between the branches of a chain")
    offset = layout.line_end(branch.end_lineno or branch.lineno)
    if isinstance(branch.body[-1], TERMINATORS) and not is_elif(place, branch):
        lines = place.check(condition, indent, function)
    else:
        lines = f"{indent}else:{layout.newline}" + place.check(condition, indent + "    ", function)
    # Behind what else ends there; the checks of inner branches, which stand further right, come first.
    return Change(offset, offset, layout.newline + lines.removesuffix(layout.newline), 1000 - len(indent))


def _else_is_elif(place: Place, branch: ast.If) -> bool:
    first = branch.orelse[0]
    return len(branch.orelse) == 1 and isinstance(first, ast.If) and is_elif(place, first)


def decided(place: Place, branch: ast.If | ast.IfExp, pin: bool) -> tuple[Change, ...]:
    """The changes that let sizes in general decide a branch, with a check on the path that was picked where `pin`.

    Raises Undecided where a path cannot be picked or has no place for the check.
    """
    test = place.tree(branch.test)
    guarded = place.conditions.guarded(test)
    changes = place.replaced(branch.test, guarded)
    if not pin:
        return changes
    general = lean(place, test)
    if general is None:
        raise Undecided("which path serves sizes in general depends on more than sizes")
    if isinstance(branch, ast.If):
        return (*changes, pinned(place, branch, test, general))
    return (*changes, _pinned_before(place, branch, test, guarded, general))


def _pinned_before(
    place: Place, branch: ast.IfExp, test: cst.BaseExpression, guarded: cst.BaseExpression, general: bool
) -> Change:
    holders = (
        node
        for node in place.nodes
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)) and node.value is branch
    )
    statement = next(holders, None)
    indent = place.layout.indent(statement) if statement is not None else None
    if statement is None or indent is None or place.scripted:
        raise Undecided("the value for sizes in general may be wrong for special ones; write the branch as a statement")
    condition = place.conditions.symbolic(test) if general else place.conditions.negated(test)
    newline = place.layout.newline
    guard_text = code(guarded if general else cst.UnaryOperation(cst.Not(), parenthesized(guarded)))
    if "\n" in guard_text:
        guard_text = f"({guard_text})" if "#" in guard_text else re.sub(r"\s*\n\s*", " ", guard_text)
    text = f"if {guard_text}:{newline}" + place.check(condition, indent + "    ") + indent
    offset = place.layout.start(statement)
    return Change(offset, offset, text)
