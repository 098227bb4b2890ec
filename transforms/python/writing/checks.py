"""Checks that take the place of branches which only raise or check."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Sequence

import libcst as cst

from transforms.python.flow.catching import OTHER, RAISED, raised, taken
from transforms.python.flow.nodes import called, dotted
from transforms.python.flow.torch_names import CHECKS
from transforms.python.writing.branches import is_elif, raises
from transforms.python.writing.comments import directives_beside
from transforms.python.writing.logic import Undecided
from transforms.python.writing.messages import check_lazy, is_read_elsewhere, is_text
from transforms.python.writing.names import NoPlace
from transforms.python.writing.nodes import code, parenthesized
from transforms.python.writing.place import Change, Place

_BY_EXCEPTION = {
    "RuntimeError": "_check",
    "ValueError": "_check_value",
    "IndexError": "_check_index",
    "TypeError": "_check_type",
    "NotImplementedError": "_check_not_implemented",
}
_HOLDS_VALUES = "Dynamo takes no check whose message holds values"
_WITHOUT = "write the message without them"
_APART = "call one without them where torch.compiler.is_compiling(), and leave the branch to eager"


def exception_check(raised: ast.Raise) -> tuple[str, ast.expr | None]:
    """The check that raises the same exception ("" where none does), and the message."""
    exception = raised.exc
    if exception is None:
        return "", None
    arguments = exception.args if isinstance(exception, ast.Call) else []
    kind = exception.func if isinstance(exception, ast.Call) else exception
    if not isinstance(kind, ast.Name) or raised.cause or len(arguments) > 1 or getattr(exception, "keywords", None):
        return "", None
    if arguments and isinstance(arguments[0], ast.Starred):
        return "", None
    if kind.id not in _BY_EXCEPTION and kind.id != "AssertionError":
        return "", None
    return _BY_EXCEPTION.get(kind.id, f"_check_with({kind.id}, "), arguments[0] if arguments else None


def folded_raise(place: Place, branch: ast.If) -> tuple[str, ast.expr | None]:
    """The check that a branch's body amounts to ("" where to none), and the message.

    The body is a `raise` with a message that is surely a string, or before it an assignment of that message, which
    nothing else reads.
    """
    *before, raised = branch.body
    if not isinstance(raised, ast.Raise):
        return "", None
    function, message = exception_check(raised)
    if not before:
        return (function, message) if is_text(place, message) else ("", None)
    assignment = before[0]
    if (
        len(before) == 1
        and isinstance(assignment, ast.Assign)
        and isinstance(message, ast.Name)
        and [ast.unparse(target) for target in assignment.targets] == [message.id]
        and not is_read_elsewhere(place.function, branch, message.id)
        and is_text(place, assignment.value)
    ):
        return function, assignment.value
    return "", None


def closes_over(message: ast.expr | None) -> bool:
    """Whether a message, or the function that makes it, holds values, which Dynamo takes in no check."""
    return message is not None and any(isinstance(node, ast.Name) for node in ast.walk(message))


def refuse_message(place: Place, branch: ast.If, because: Undecided) -> None:
    """Raises Undecided where a check in the place of a branch would be none that Dynamo takes, for what it tells."""
    function, folded = folded_raise(place, branch)
    if not isinstance(because, NoPlace) and (not function or branch.orelse or is_elif(place, branch)):
        return  # something else is in the way
    raised = (branch.orelse if raises(branch.orelse) else branch.body)[-1]
    exception = raised.exc if isinstance(raised, ast.Raise) else None
    messages = [folded] if folded is not None else exception.args if isinstance(exception, ast.Call) else []
    if place.inlined and any(map(closes_over, messages)):
        # Eager, which runs the branch too, has no check that costs it nothing, whatever that says.
        also = place.shared and not (place.names.scripted or place.names.sympy)
        raise Undecided(f"{_HOLDS_VALUES}: {_APART if also else _WITHOUT}") from None


def check_statement(
    place: Place, branch: ast.If, function: str, condition: cst.BaseExpression, message: ast.expr
) -> Change:
    """`function` called with the condition and a lazy message, in place of the branch.

    What tells a checker to pass over a line (`# type: ignore[union-attr]`, `# noqa`) stays with what is on it.
    """
    check_lazy(message)
    name, _, kind = function.partition("(")
    place.names.builtin(kind.rstrip(", ") or next(e for e, check in _BY_EXCEPTION.items() if check == name))
    layout = place.layout
    place.names("torch._check")  # Undecided where no check serves
    beside = directives_beside(layout, branch, message)
    text = check_text(place, function, condition, message, layout.indent(branch) or "", beside)
    end = layout.end(branch)
    tail = layout.text(end, layout.line_end(branch.end_lineno or branch.lineno)).strip()
    if tail and not tail.startswith("#"):
        raise Undecided("another statement stands on the line of the raise")
    return Change(layout.start(branch), layout.line_end(branch.end_lineno or branch.lineno), text)


def check_text(
    place: Place,
    function: str,
    condition: cst.BaseExpression,
    message: ast.expr,
    outer: str,
    beside: Sequence[Sequence[str]],
) -> str:
    """The call of a check, behind an `if` where `where_present` says so, in place of a statement indented by `outer`.

    Over several lines where `beside` has directives of the condition or of the message.
    """
    layout = place.layout
    newline, step = layout.newline, layout.unit(place.function)
    present, condition = where_present(condition, message)
    indent = outer + step if present else outer
    before = f"{present}{newline}{indent}" if present else ""
    name, _, kind = function.partition("(")
    opening = f"{place.names.torch}.{name}("
    first = f"{kind}{code(condition)}".replace(newline, "\n").replace("\n", newline)
    message_text = layout.text(layout.start(message), layout.end(message))
    text = f"{opening}{first}, lambda: {message_text})"
    if "\n" not in text and not any(beside):
        return before + text
    of_condition, of_message = ("".join(f"  {comment}" for comment in directives) for directives in beside)
    if "\n" in message_text:
        message_text = f"({newline}{indent}{step}{step}{message_text}{of_message}{newline}{indent}{step})"
        of_message = ""
    pieces = [(kind.rstrip(", "), "")] if kind else []
    pieces += [(code(condition), of_condition), (f"lambda: {message_text}", of_message)]
    lines = (f"{newline}{indent}{step}{piece},{directive}" for piece, directive in pieces)
    return f"{before}{opening}{''.join(lines)}{newline}{indent})"


def where_present(condition: cst.BaseExpression, message: ast.expr) -> tuple[str, cst.BaseExpression]:
    """The `if` before the check of `weight is None or …` whose message asks something of `weight`, and the rest.

    No type checker knows in a message what the condition beside it asks (mypy: `Item "None" of "Tensor | None" has no
    attribute "shape"`), behind an `if` all do. "" and the whole condition for others.
    """
    asked = {ast.unparse(node.value) for node in ast.walk(message) if isinstance(node, (ast.Attribute, ast.Subscript))}
    operands = _alternatives(condition)
    present = list(itertools.takewhile(bool, map(_absent, operands[:-1])))
    if not asked.intersection(present):
        return "", condition
    first, *others = operands[len(present) :]
    rest = first.with_changes(lpar=[], rpar=[])
    for operand in others:
        rest = cst.BooleanOperation(rest, cst.Or(), operand)
    return f"if {' and '.join(f'{name} is not None' for name in present)}:", rest


def _alternatives(condition: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(condition, cst.BooleanOperation) and isinstance(condition.operator, cst.Or):
        return [*_alternatives(condition.left), condition.right]
    return [condition]


def _absent(test: cst.BaseExpression) -> str:
    """The variable of a test `x is None`; "" for what is no such test."""
    found = code(test)
    name = found.removesuffix(" is None")
    return name if name != found and name.isidentifier() else ""


def is_caught(place: Place, node: ast.stmt | ast.expr) -> bool:
    """Whether the function or its caller may catch what a node raises: then the answer is needed while tracing."""
    return not _raised(node).isdisjoint(_caught(place.function).get(id(node), frozenset()) | place.names.caught)


@functools.lru_cache(maxsize=2)
def _caught(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[int, frozenset[str]]:
    """The exceptions that end at a statement around a node, by the id of the node."""
    caught: dict[int, frozenset[str]] = {}
    for node in ast.walk(function):
        if exceptions := taken(node):
            for inner in getattr(node, "body", []):
                for part in ast.walk(inner):
                    caught[id(part)] = exceptions.union(caught.get(id(part), ()))
    return caught


def _raised(node: ast.AST) -> frozenset[str]:
    """The exceptions that a node raises, or has checks raise; all where none is seen."""
    names: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Assert):
            names.add("AssertionError")
        elif isinstance(part, ast.Raise):
            names.add(raised(part.exc))
        elif isinstance(part, ast.Call) and called(part) in CHECKS:
            names.add(next((kind for kind, check in _BY_EXCEPTION.items() if check == called(part)), OTHER))
    return frozenset(names) or RAISED


def condition_of(check: ast.stmt) -> ast.expr | None:
    """What a statement checks that is an assertion, or calls `torch._check` or its kin; None for others."""
    if isinstance(check, ast.Assert):
        return check.test
    if not isinstance(check, ast.Expr) or not isinstance(check.value, ast.Call) or called(check.value) not in CHECKS:
        return None
    arguments = check.value.args[called(check.value) == "_check_with" :]
    return arguments[0] if arguments and not isinstance(arguments[0], ast.Starred) else None


def checked_unless(place: Place, unless: Sequence[cst.BaseExpression], check: ast.stmt) -> str:
    """The source of a check (see `condition_of`) whose condition need not hold where one of `unless` does.

    Raises Undecided where Dynamo would refuse it, and where what is checked may be no bool.
    """
    condition = condition_of(check)
    assert condition is not None
    if isinstance(check, ast.Expr) and isinstance(check.value, ast.Call):
        place.names.check_torchs(dotted(check.value.func))
    if place.inlined and (isinstance(check, ast.Assert) or any(map(closes_over, _messages(check)))):
        raise Undecided(f"{_HOLDS_VALUES}: {_WITHOUT}")
    operands = [*unless, place.tree(condition)]
    if not all(place.conditions.surely_bool(operand) or "sym_not(" in code(operand) for operand in operands):
        raise Undecided("what is checked may be no bool")
    joined = parenthesized(operands[0])
    for operand in operands[1:]:
        joined = cst.BooleanOperation(joined, cst.Or(), parenthesized(operand))
    if isinstance(check, ast.Assert) and not is_text(place, check.msg):
        message = f", {place.text(check.msg)}" if check.msg is not None else ""
        return f"assert {code(place.conditions.expected(joined))}{message}"
    written = code(place.conditions.symbolic(joined))
    if isinstance(check, ast.Assert) and check.msg is not None:
        place.names("torch._check_with")
        place.names.builtin("AssertionError")
        check_lazy(check.msg)
        return f"{place.names.torch}._check_with(AssertionError, {written}, lambda: {place.text(check.msg)})"
    text, start = place.text(check).encode(), place.layout.start(check)
    before, after = text[: place.layout.start(condition) - start], text[place.layout.end(condition) - start :]
    return before.decode() + written + after.decode()


def _messages(check: ast.stmt) -> list[ast.expr]:
    return check.value.args[1:] if isinstance(check, ast.Expr) and isinstance(check.value, ast.Call) else []
