"""Lists that are sorted by sizes: what is sorted, by which key, and whether it falls."""

from __future__ import annotations

import ast

from transforms.python.flow.nodes import called, variables_in
from transforms.python.flow.values import INT
from transforms.python.writing.logic import Undecided
from transforms.python.writing.place import Place

_SIMPLE = (ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant, ast.expr_context, ast.UnaryOp, ast.USub)
_PLAIN = (
    *_SIMPLE, ast.Tuple, ast.BinOp, ast.operator, ast.unaryop, ast.IfExp, ast.BoolOp, ast.boolop, ast.Compare,
    ast.cmpop, ast.keyword,
)  # fmt: skip
_READS = frozenset({"size", "stride", "numel", "nelement", "dim", "len", "abs"})


def sides(statement: ast.Assign | ast.Expr, node: ast.Call) -> tuple[ast.expr, ast.expr]:
    """What a sorted list is assigned to, and what is sorted; the same of a list that is sorted in place."""
    if isinstance(node.func, ast.Attribute) and not node.args:
        target = unsorted = node.func.value
    elif isinstance(statement, ast.Assign) and len(statement.targets) == len(node.args) == 1:
        (target,), (unsorted,) = statement.targets, node.args
    else:
        raise Undecided("what is sorted has several names")
    if not all(isinstance(part, _SIMPLE) for side in (target, unsorted) for part in ast.walk(side)):
        raise Undecided("what is sorted is computed in the same expression")
    if (
        target is not unsorted
        and ast.unparse(target) != ast.unparse(unsorted)
        and variables_in(unsorted) & variables_in(target)
    ):
        raise Undecided("what is sorted is overwritten")
    return target, unsorted


def check_kept(target: ast.expr, key: ast.expr) -> None:
    """Raise Undecided where a key reads the list that is sorted by it."""
    parts = {ast.unparse(part) for part in ast.walk(key) if isinstance(part, ast.expr)}
    if ast.unparse(target) in parts or (variables_in(target) & variables_in(key)) - {"self"}:
        raise Undecided("the key reads what is sorted")


def order(place: Place, node: ast.Call) -> tuple[ast.Lambda, bool]:
    """The key that a list is sorted by, and whether it falls."""
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    key, reverse = given.pop("key"), given.pop("reverse", ast.Constant(False))
    if given or not isinstance(reverse, ast.Constant) or place.site.value.kind != INT:
        raise Undecided("whether the sizes rise or fall is not to be seen")
    assert isinstance(key, ast.Lambda)
    if ast.unparse(key.args) != key.args.args[0].arg or not all(map(_is_plain, ast.walk(key.body))):
        raise Undecided("the key does more than look up sizes")
    return key, bool(reverse.value)


def _is_plain(part: ast.AST) -> bool:
    """Whether a part of a key may be evaluated again, and has no scope of its own."""
    return called(part) in _READS if isinstance(part, ast.Call) else isinstance(part, _PLAIN)


def key_of(place: Place, key: ast.Lambda, name: str) -> str:
    """The key of the element `name`, as an operand of a comparison."""
    layout, begin = place.layout, place.layout.start(key.body)
    text = place.text(key.body).encode()
    read = [part for part in ast.walk(key.body) if isinstance(part, ast.Name) and part.id == key.args.args[0].arg]
    for part in sorted(read, key=layout.start, reverse=True):
        text = text[: layout.start(part) - begin] + name.encode() + text[layout.end(part) - begin :]
    if b"#" in text:
        raise Undecided("the key holds a comment")
    return f"({text.decode()})" if isinstance(key.body, (ast.IfExp, ast.BoolOp, ast.Compare)) else text.decode()


def strided(place: Place, key: ast.expr) -> str:
    """The variable whose strides a list is sorted by, "" where it is sorted by something else."""
    owner = key.value if isinstance(key, ast.Subscript) else key
    line = key.lineno
    if isinstance(owner, ast.Name):
        held = [n for n in place.nodes if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == owner.id]
        owner, line = (
            (held[0].value, held[0].lineno) if len(held) == 1 == len(place.assigned(owner.id)) else (key, line)
        )
    if not isinstance(owner, ast.Call) or not isinstance(owner.func, ast.Attribute) or owner.func.attr != "stride":
        return ""
    tensor = owner.func.value
    stores = (n.lineno for n in place.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
              and isinstance(tensor, ast.Name) and n.id == tensor.id)  # fmt: skip
    other = not isinstance(tensor, ast.Name) or any(line <= stored < key.lineno for stored in stores)
    return "" if other else ast.unparse(tensor)
