"""Checks: a branch that only raises, or an assertion, is where it is compiled a check that is made when the code runs.

    if chosen.shape[0] != wanted:                  if torch.compiler.is_compiling():
        raise ValueError(f"{chosen.shape[0]}…")        torch._check(chosen.shape[0] == wanted)
                                                   elif chosen.shape[0] != wanted:
                                                       raise ValueError(f"{chosen.shape[0]}…")
    assert a.shape[0] == n, f"{a.shape}…"          if torch.compiler.is_compiling():
                                                       torch._check(a.shape[0] == n)
                                                   else:
                                                       assert a.shape[0] == n, f"{a.shape}…"

Eager keeps its exception and a message that holds sizes, which Dynamo takes in no check (the handler of torch._check in
torch/_dynamo/variables/torch.py), nor in an assertion. What is checked is what has to hold for the branch not to raise,
and nothing more: `a >= b` is that for `a < b` where both are whole numbers, of which none is NaN. What is asked before
the sizes, as in `mask is not None and mask.shape[0] != n`, is asked before the check, and so is what an `elif` stands
behind. A condition that binds a name is left.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from codemod.fix.catching import guard_around, names_around, raised_by
from codemod.fix.nodes import asks_on, function_around, holds_line, offset
from codemod.fix.torch_names import COMPILING, Torch, parsed_with_torch
from codemod.fix.whole_numbers import is_whole, whole_names
from codemod.model.edits import Edit

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}  # fmt: skip
_CHECK = "torch._check"
"""In one name, as no file has it, so that it is told from what its own conditions name."""
_EQUALITY = (ast.Eq, ast.NotEq)
_ONCE = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
"""What does something where it is evaluated."""


@dataclass(frozen=True, slots=True)
class Check:
    """The edits that put checks before a branch, the names of the function that has it, and what it raises."""

    edits: tuple[Edit, ...]
    names: tuple[str, ...]
    raised: type[BaseException] | None
    """None where its name does not tell."""
    caught: int
    """The line of what may catch that in the function itself; 0 where nothing does."""


def check_at(path: str, source: bytes, line: int) -> Check | None:
    """The check of `path` for the branch or the assertion that asks on `line`; None where it does more than raise."""
    if (found := parsed_with_torch(path, source, line)) is None:
        return None
    tree, torch = found
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and asks_on(node, line) and _only_raises(node):
            edit, raised, place = _checked(path, source, tree, node, torch), raised_by(node), node.body[-1].lineno
        elif isinstance(node, ast.stmt) and (asserted := _asserted(node)) is not None and holds_line(node, line):
            edit, raised, place = _apart(path, source, tree, node, asserted, torch), AssertionError, node.lineno
        else:
            continue
        caught = guard_around(tree, place, raised)
        return None if edit is None else Check((edit, *torch.imported), names_around(tree, place), raised, caught)
    return None


def _only_raises(branch: ast.If) -> bool:
    """Whether a branch does nothing but raise; it may first give names to what that is made of."""
    *named, last = branch.body
    plain = all(isinstance(each, ast.Assign) and all(isinstance(t, ast.Name) for t in each.targets) for each in named)
    return not branch.orelse and plain and isinstance(last, ast.Raise)


def _asserted(node: ast.stmt) -> ast.expr | None:
    """What an assertion, or a call of `torch._assert`, says to be true; None of other statements."""
    match node:
        case ast.Assert(test=test):
            return test
        case ast.Expr(value=ast.Call(func=ast.Name(id="_assert") | ast.Attribute(attr="_assert"), args=[test, _])):
            return test
    return None


def _apart(path: str, source: bytes, tree: ast.Module, node: ast.stmt, test: ast.expr, torch: Torch) -> Edit | None:
    """The edit that checks `test` where it is compiled, and leaves the assertion to eager."""
    checks = _true(test)
    lines = source.splitlines(keepends=True)
    before, end = offset(lines, node.lineno, 0), node.end_lineno or node.lineno
    start, stop = before + node.col_offset, offset(lines, end, node.end_col_offset or 0)
    indent, behind = source[before:start], lines[end - 1][node.end_col_offset or 0 :].strip()
    texts = (part for part in ast.walk(node) if isinstance(part, (ast.Constant, ast.JoinedStr)))
    broken = any((text.end_lineno or text.lineno) > text.lineno for text in texts)  # which may be within a text
    if checks is None or indent.strip() or (behind and not behind.startswith(b"#")) or broken:
        return None
    if (written := _written(checks, tree, test, torch)) is None:
        return None
    outer = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno < node.lineno and holds_line(n, end)]
    around = [n.col_offset for n in outer]
    unit = indent[max(around) :] if around else b"    "
    newline = b"\r\n" if lines[node.lineno - 1].endswith(b"\r\n") else b"\n"
    first, *rest = source[start:stop].splitlines(keepends=True)
    moved = b"".join([indent, unit, first, *(unit + line if line.strip() else line for line in rest)])
    new = _compiled(written, indent, unit, newline) + b"else:" + newline + moved
    return Edit(path, start, stop, source[start:stop], new)


def _compiled(written: Sequence[str], indent: bytes, unit: bytes, newline: bytes) -> bytes:
    """The branch for what is compiled, up to the place of what is run else; `written` is indented by four spaces."""
    lines = []
    for line in written:
        bare = line.lstrip(" ")
        lines.append(indent + unit * ((len(line) - len(bare)) // 4) + bare.encode())
    return newline.join([*lines, indent])[len(indent) :]


def _check(condition: ast.expr) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name(_CHECK, ast.Load()), [condition], []))


def _true(test: ast.expr) -> list[ast.stmt] | None:
    """The checks that `test` is true; None where that is not seen by comparisons alone."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return _together(map(_true, test.values))
    if isinstance(test, ast.BoolOp):
        return _behind(ast.UnaryOp(ast.Not(), _joined(test)), _true(test.values[-1]))
    if isinstance(test, ast.Call):
        return _of_each(test, "all", _true)
    if not isinstance(test, ast.Compare) or any(type(op) not in _OPPOSITE for op in test.ops):
        return None
    sides = [test.left, *test.comparators]
    if any(isinstance(part, ast.Call) for side in sides[1:-1] for part in ast.walk(side)):
        return None  # it would be called twice
    pairs = zip(sides[:-1], test.ops, sides[1:], strict=True)
    return [_check(ast.Compare(left=left, ops=[op], comparators=[right])) for left, op, right in pairs]


def _together(parts: Iterable[list[ast.stmt] | None]) -> list[ast.stmt] | None:
    """All the checks of `parts`; None where there are none of one."""
    checks: list[ast.stmt] = []
    for part in parts:
        if part is None:
            return None
        checks += part
    return checks


def _joined(test: ast.BoolOp) -> ast.expr:
    """What is asked before the last operand, as `mask is not None` is."""
    return ast.BoolOp(test.op, test.values[:-1]) if test.values[2:] else test.values[0]


def _behind(condition: ast.expr, checks: list[ast.stmt] | None) -> list[ast.stmt] | None:
    """The checks that are made where a condition holds, which is asked first as it was."""
    return None if checks is None else [ast.If(condition, checks, [])]


def _of_each(
    test: ast.expr, function: str, checks_of: Callable[[ast.expr], list[ast.stmt] | None]
) -> list[ast.stmt] | None:
    """The loop that checks each element which `function`, that is `all` or `any`, asks of one generator."""
    match test:
        case ast.Call(ast.Name(id=name), [ast.GeneratorExp(element, [ast.comprehension() as turns])], []):
            checks = checks_of(element) if name == function and not turns.is_async else None
            if checks is None:
                return None
            for condition in reversed(turns.ifs):
                checks = [ast.If(condition, checks, [])]
            return [ast.For(turns.target, turns.iter, checks, [])]
    return None


def _written(checks: Sequence[ast.stmt], tree: ast.Module, test: ast.expr, torch: Torch) -> list[str] | None:
    """The lines of checks where it is compiled; None where they may do something, hide a name, or are not all ASCII.

    A loop binds its names in the function, where a generator's are its own.
    """
    parts = list(ast.walk(test))
    if any(isinstance(part, _ONCE) for part in parts):
        return None
    bound = {name for part in parts if isinstance(part, ast.comprehension) for name in _names_in(part.target)}
    if bound and not bound.isdisjoint(_names_of(function_around(tree, test) or tree)):
        return None
    for name in (part for check in checks for part in ast.walk(check) if isinstance(part, ast.Name)):
        name.id = torch.spelled(_CHECK) if name.id == _CHECK else name.id
    compiled = ast.If(ast.Name(torch.spelled(COMPILING), ast.Load()), [*checks], [])
    lines = ast.unparse(ast.fix_missing_locations(compiled)).split("\n")
    return lines if all(map(str.isascii, lines)) else None


def _names_in(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _names_of(scope: ast.AST) -> set[str]:
    """The names of a scope, without those that comprehensions have for themselves."""
    if isinstance(scope, (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)):
        inner = set().union(*map(_names_of, ast.iter_child_nodes(scope)))
        return inner - {name for turns in scope.generators for name in _names_in(turns.target)}
    own = {scope.id} if isinstance(scope, ast.Name) else {scope.arg} if isinstance(scope, ast.arg) else set()
    return own.union(*map(_names_of, ast.iter_child_nodes(scope)))


def _checked(path: str, source: bytes, tree: ast.Module, branch: ast.If, torch: Torch) -> Edit | None:
    lines = source.splitlines(keepends=True)
    begin = offset(lines, branch.lineno, 0)
    start = begin + branch.col_offset
    indent = source[begin:start]
    checks = _false(branch.test, whole_names(tree, branch))
    keyword = next((word for word in (b"if", b"elif") if source.startswith(word, start)), b"")
    if checks is None or indent.strip() or not keyword:
        return None
    if (written := _written(checks, tree, branch.test, torch)) is None:
        return None
    body = branch.body[0]
    deeper = source[offset(lines, body.lineno, 0) :][: body.col_offset]
    if deeper.strip() or not deeper.startswith(indent) or body.lineno == branch.lineno:
        deeper = indent + b"    "
    newline = b"\r\n" if lines[branch.lineno - 1].endswith(b"\r\n") else b"\n"
    new = _compiled(written, indent, deeper[len(indent) :], newline) + b"elif"
    return Edit(path, start, start + len(keyword), keyword, keyword + new.removeprefix(b"if"))


def _false(test: ast.expr, whole: Collection[str]) -> list[ast.stmt] | None:
    """The checks that `test` is false; None where that is not seen by comparisons alone.

    The names `whole` are of whole numbers.
    """
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return _together(_false(value, whole) for value in test.values)
    if isinstance(test, ast.BoolOp):
        return _behind(_joined(test), _false(test.values[-1], whole))
    if isinstance(test, ast.Call):
        return _of_each(test, "any", lambda element: _false(element, whole))
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        compared = isinstance(test.operand, ast.Compare) and len(test.operand.ops) == 1
        return _true(test.operand) if compared or isinstance(test.operand, ast.Call) else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _OPPOSITE:
        return None
    if not isinstance(test.ops[0], _EQUALITY) and not all(is_whole(n, whole) for n in (test.left, *test.comparators)):
        return None
    opposite = _OPPOSITE[type(test.ops[0])]()
    return [_check(ast.Compare(left=test.left, ops=[opposite], comparators=test.comparators))]
