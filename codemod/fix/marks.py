"""Marks: a line before the call of a compiled function that says which size of an argument varies."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemod.fix.calls import NAME, argument_of, call_at, calls_beside, keyword_of, name_of, rest_of
from codemod.fix.nodes import end_of, offset
from codemod.fix.torch_names import parsed_with_torch
from codemod.fix.trial import Call
from codemod.model.edits import Edit
from codemod.probe.answers import Answer

_SPECIALIZED = re.compile(rf"^2 <= ({NAME})\.size\((\d+)\)$")
_STATIC = re.compile(rf"^tensor '({NAME})' size mismatch at index (\d+)\.")
_SIZE = re.compile(rf"\b({NAME})\.size\((\d+)\)")
_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)
_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.expr_context)
_MARKS = frozenset({"mark_dynamic", "maybe_mark_dynamic", "mark_static", "mark_unbacked"})
DYNAMIC, UNBACKED = "torch._dynamo.mark_dynamic", "torch._dynamo.decorators.mark_unbacked"


@dataclass(frozen=True, slots=True)
class Mark:
    """`function` is what marks dimension `dimension` of the parameter `name`.

    That is `kwargs['x']` or `args[0]` where what is compiled takes its arguments so, as a decorator's wrapper.
    """

    function: str
    name: str
    dimension: int

    @property
    def size(self) -> str:
        """The size that is marked, as answers name it."""
        return f"{self.name}.size({self.dimension})"

    @property
    def is_element(self) -> bool:
        """Whether it is one of all arguments that come by name, or by their place."""
        return not self.name.isidentifier()

    @property
    def argument(self) -> str:
        """A name for the argument: that which a call gives it by, where it is given by name."""
        return keyword_of(self.name) or ("argument" if self.is_element else self.name)


def marks_for(answer: Answer) -> list[Mark]:
    """The marks that may help against an answer, the least first."""
    static, special = _STATIC.match(answer.text), _SPECIALIZED.match(answer.text)
    if static is not None:
        return [Mark(function, static[1], int(static[2])) for function in (DYNAMIC, UNBACKED)]
    if special is not None:
        return [Mark(UNBACKED, special[1], int(special[2]))]
    if answer.kind in ("recompiled", "specialized"):
        return [Mark(UNBACKED, name, int(dimension)) for name, dimension in dict.fromkeys(_SIZE.findall(answer.text))]
    return []


def mark_edits(path: str, source: bytes, call: Call, parameters: Sequence[str], mark: Mark) -> tuple[Edit, ...]:
    """The edits of `path` that mark an argument before a call; none where no line can be put before it.

    That needs a statement that begins its line, and an argument before which it evaluates no call. An argument that is
    no name gets one. Where Python does not say the column, the call has to be the only one of its line.
    """
    if (found := parsed_with_torch(path, source, call.line)) is None:
        return ()
    tree, torch = found
    node = call_at(tree, call)
    if node is None or not (mark.is_element or mark.name in parameters):
        return ()
    rest, _ = rest_of(mark.name)
    if rest and {rest, rest[1:]}.isdisjoint(parameters):
        parameters = [rest]  # a decorator's wrapper takes them all
    for statement in (node for node in ast.walk(tree) if isinstance(node, _SIMPLE)):
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(statement)):
            continue
        if any(part is node for part in _evaluated_once(statement)):
            argument = argument_of(node, parameters, mark.name)
            if argument is None or _is_marked(tree, statement, argument, mark):
                return ()
            if _goes_first(statement, argument):
                edit = _inserted(path, source, tree, statement, argument, mark, torch.spelled(mark.function))
                return () if edit is None else (edit, *torch.imported)
    return ()


def _inserted(
    path: str, source: bytes, tree: ast.Module, statement: ast.stmt, argument: ast.expr, mark: Mark, function: str
) -> Edit | None:
    lines = source.splitlines(keepends=True)
    begin = offset(lines, statement.lineno, 0)
    start = begin + statement.col_offset
    indent = source[begin:start]
    first, last = offset(lines, argument.lineno, argument.col_offset), end_of(lines, argument)
    if indent.strip() or not start <= first <= last:
        return None
    newline = b"\r\n" if lines[statement.lineno - 1].endswith(b"\r\n") else b"\n"
    text, name, hoisted = source[first:last], source[first:last], b""
    if not isinstance(argument, ast.Name):
        name = _free_name(tree, mark.argument).encode()
        hoisted = name + b" = " + text + newline + indent
    marked = b"%s(%s, %d)" % (function.encode(), name, mark.dimension)
    new = hoisted + marked + newline + indent + source[start:first] + name
    return Edit(path, start, last, source[start:last], new)


def _evaluated_once(statement: ast.stmt) -> Iterator[ast.AST]:
    """What a statement evaluates, without what a lambda or a comprehension does any number of times."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.BoolOp,
                                 ast.IfExp)):  # fmt: skip
            pending += ast.iter_child_nodes(node)


def _is_marked(tree: ast.Module, statement: ast.stmt, argument: ast.expr, mark: Mark) -> bool:
    """Whether the function around a call marks the same dimension of an argument; two marks of one are contrary."""
    calls = calls_beside(tree, statement)
    return any(_may_mark(call, argument, mark.dimension) for call in calls if name_of(call) in _MARKS)


def _may_mark(call: ast.Call, argument: ast.expr, dimension: int) -> bool:
    """Whether a mark is of an argument, and its dimensions include this one, or are not all numbers."""
    given = [*call.args[:2], *(each.value for each in call.keywords if each.arg in ("t", "index"))]
    if ast.dump(argument) not in map(ast.dump, given):
        return False
    items = (each.elts if isinstance(each, (ast.Tuple, ast.List)) else [each] for each in given[1:])
    numbers = [item.value if isinstance(item, ast.Constant) else dimension for each in items for item in each]
    return not numbers or dimension in numbers


def _goes_first(statement: ast.stmt, argument: ast.expr) -> bool:
    """Whether a statement evaluates only names and constants before an argument, which may then be evaluated before."""
    if isinstance(argument, ast.Name):
        return True
    place = (argument.lineno, argument.col_offset)
    around = {id(node) for node in ast.walk(statement) if any(inner is argument for inner in ast.walk(node))}
    before = (
        node for node in ast.walk(statement)
        if id(node) not in around and isinstance(node, ast.expr) and (node.lineno, node.col_offset) < place
    )  # fmt: skip
    return all(isinstance(node, _PLAIN) for node in before)


def _free_name(tree: ast.Module, wanted: str) -> str:
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.asname or node.name for node in ast.walk(tree) if isinstance(node, ast.alias)}
    while wanted in used:
        wanted += "_"
    return wanted
