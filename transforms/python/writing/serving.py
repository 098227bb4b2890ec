"""Whether the path that sizes in general take serves an empty input too, and what makes it do so."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

import libcst as cst

from transforms.python.flow.nodes import called, own_nodes
from transforms.python.flow.torch_names import CHECKS
from transforms.python.writing.branches import neutral
from transforms.python.writing.evaluation import EXITS
from transforms.python.writing.logic import Undecided
from transforms.python.writing.nodes import call
from transforms.python.writing.place import Change, Place

# Reductions without an identity, and reads of elements.
_NEEDS_ELEMENTS = re.compile(
    r"^(?:(?:a?(?:max|min)_?)+|arg(?:max|min)|aminmax|(?:nan)?median|mode|kthvalue|item|tolist)$"
)


def serving(place: Place, branch: ast.If, general: bool | None, shortcut: bool) -> tuple[Change, ...]:
    """Changes after which the path for sizes in general serves empty inputs too; None are needed most often.

    `shortcut` says that the branch asks for nothing but emptiness. Raises Undecided where the path cannot serve them.
    """
    if shortcut and general is not None and _needs_elements(place, branch, general):
        raise Undecided("the path for sizes in general asks for what an empty tensor has not")
    if general is not None and _refuses(branch.body if general else branch.orelse):
        raise Undecided("the path for sizes in general checks what was asked of no others")
    if shortcut and general is not None and _stands_for_none(place, branch, general):
        raise Undecided("what is empty may stand for nothing at all, and is used by the path for sizes in general")
    path = list(_general_path(place, branch, general))
    if _counts_from_end(branch, path):
        raise Undecided("the path for sizes in general slices by a size from the end, where 0 is the beginning")
    quotients = _divisions(place, path)
    safe = _never_zero(place, quotients)
    if quotients and not safe:
        raise Undecided("the path for sizes in general divides by a size that may be 0")
    return safe


def _refuses(statements: Sequence[ast.stmt]) -> bool:
    """Whether a path may end in an exception that it raises itself, or makes a check."""
    return any(
        isinstance(node, (ast.Assert, ast.Raise)) or called(node) in CHECKS
        for statement in statements
        for node in ast.walk(statement)
    )


def _stands_for_none(place: Place, branch: ast.If, general: bool) -> bool:
    """Whether what goes on below the branch is another thing for an empty tensor, and not its like without elements.

    `if bias.numel() > 0: x = x + bias`: without elements the sum is no x. `x = x.conj()` where x has some still is one,
    `n += x.numel()` adds nothing, and no strides but one tell nothing of what has no elements.
    """
    taken, special = (branch.body, branch.orelse) if general else (branch.orelse, branch.body)
    if any(path and isinstance(path[-1], EXITS) for path in (taken, special)) or neutral(
        [*taken, *special], place.values
    ):
        return False
    asked = {ast.unparse(node) for node in ast.walk(branch.test) if isinstance(node, ast.expr)}
    changed = _changed(special, asked)
    if changed or not taken:
        return changed != _changed(taken, asked)
    return not _changed(taken, asked) <= asked


def _changed(statements: Sequence[ast.stmt], asked: Collection[str]) -> set[str]:
    """The variables that are changed otherwise than by what is `asked` about, and the functions called without it."""
    targets: list[ast.AST] = []
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.Assign) and called(node.value) != "stride":
            targets += node.targets
        elif isinstance(node, ast.AugAssign):
            added = isinstance(node.op, (ast.Add, ast.Sub)) and ast.unparse(node.value) in asked
            targets += [] if added else [node.target]
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr, ast.For)):
            targets.append(node.target)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            given = {ast.unparse(part) for argument in node.value.args for part in ast.walk(argument)}
            in_place = called(node.value).endswith("_")
            targets += [node.value.func] if in_place or given.isdisjoint(asked) else []
    names = set()
    for target in targets:
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            target = target.value
        names |= {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
    return names


def _general_path(place: Place, branch: ast.If, general: bool | None) -> Iterator[ast.AST]:
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


def _divisions(place: Place, nodes: Iterable[ast.AST]) -> list[ast.BinOp]:
    """The divisions by a size on a path, which are not valid for empty inputs."""
    return [
        node
        for node in nodes
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod))
        and place.values.value(node.right).kind in ("int", "float")
    ]


def _never_zero(place: Place, quotients: Sequence[ast.BinOp]) -> tuple[Change, ...]:
    """Changes after which divisions serve empty inputs too: a size below 1 divides as 1. Empty where that is no help.

    The result is the same for every size the path served before.
    """
    simple = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
    if place.shared or not all(
        isinstance(n.right, simple) and isinstance(n.op, (ast.Mod, ast.FloorDiv)) for n in quotients
    ):
        return ()
    function = place.names("torch.sym_max")
    return tuple(
        change
        for node in quotients
        for change in place.replaced(node.right, call(function, place.tree(node.right), cst.Integer("1")))
    )


def _needs_elements(place: Place, branch: ast.If, general: bool) -> bool:
    """Whether the path for sizes in general always asks for what an empty tensor has not, such as its maximum."""
    path: Sequence[ast.stmt] = branch.body if general else branch.orelse
    if not path and not general:
        blocks = (getattr(node, name, None) for node in (place.function, *place.nodes) for name in ("body", "orelse"))
        block = next((b for b in blocks if isinstance(b, list) and any(s is branch for s in b)), [branch])
        path = block[next(index for index, s in enumerate(block) if s is branch) + 1 :]
    return any(
        isinstance(node, ast.Call) and _NEEDS_ELEMENTS.match(called(node))
        for statement in path
        if not isinstance(statement, (ast.If, ast.For, ast.While, ast.FunctionDef))
        for node in ast.walk(statement)
    )


def _counts_from_end(branch: ast.If, nodes: Iterable[ast.AST]) -> bool:
    """Whether a path slices by `-n` for an `n` that the branch asks about: 0 from the end is the beginning."""
    expressions = {ast.unparse(node) for node in ast.walk(branch.test) if isinstance(node, ast.expr)}
    bounds = (bound for node in nodes if isinstance(node, ast.Slice) for bound in (node.lower, node.upper))
    return any(
        isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub) and ast.unparse(bound.operand) in expressions
        for bound in bounds
    )
