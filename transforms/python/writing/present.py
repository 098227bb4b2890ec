"""Which variables may be None, and which parameters are Tensors, by what a function assigns to them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from transforms.python.flow.nodes import named_parameters, own_nodes, variables_in
from transforms.python.flow.parameters import none_by_default
from transforms.python.flow.torch_names import TENSOR_ATTRIBUTES
from transforms.python.flow.torch_results import SINGLE

_OPTIONAL = re.compile(r"\bOptional\b|\bNone\b|^$")
_VIEWS = TENSOR_ATTRIBUTES - {"grad"}
"""The attributes of a Tensor that are Tensors, and never None."""
_LOOKS_UP = frozenset({"get", "pop", "getattr"})


def present_tensors(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, bool]:
    """The parameters by whether they are never None nor anything else than what their annotation says.

    That is by annotation, by default, and by what is assigned to them: what surely gives a Tensor.
    """
    absent = none_by_default(function.args)
    present = {
        parameter.arg: parameter.arg not in absent
        and not _OPTIONAL.search(ast.unparse(parameter.annotation) if parameter.annotation else "")
        for parameter in named_parameters(function.args)
    }
    given = list(_given(function))
    for _ in present:
        gone = {name for name, value in given if present.get(name) and not _is_tensor(value, present)}
        if not gone:
            break
        present |= dict.fromkeys(gone, False)
    return present


def _given(function: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """The variables that a function gives values, with these; None for what a loop, a `with` or an unpacking gives."""
    values: dict[int, ast.expr] = {}
    for node in own_nodes(function):
        if isinstance(node, ast.Assign):
            values.update((id(target), node.value) for target in node.targets)
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            values[id(node.target)] = node.value
        elif isinstance(node, ast.AugAssign):
            values[id(node.target)] = ast.BinOp(ast.Name("", ast.Load()), node.op, node.value)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, values.get(id(node))


def _is_tensor(value: ast.expr | None, present: dict[str, bool]) -> bool:
    """Whether an expression surely gives a Tensor, if the parameters that are `present` are Tensors."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr in SINGLE
    if isinstance(value, ast.IfExp):
        return _is_tensor(value.body, present) and _is_tensor(value.orelse, present)
    if isinstance(value, ast.Attribute):
        return value.attr in _VIEWS and _is_tensor(value.value, present)
    if isinstance(value, ast.Subscript):
        return _is_tensor(value.value, present)
    if isinstance(value, ast.Name):
        return present.get(value.id, False)
    return isinstance(value, (ast.BinOp, ast.UnaryOp))


def none_for(target: ast.expr, value: ast.expr, absent: Collection[str]) -> set[str]:
    """The variables of an assignment's target that may be None then, where those of `absent` may be before."""
    if isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            pairs = zip(target.elts, value.elts, strict=True)
            return {name for part, given in pairs for name in none_for(part, given, absent)}
        return variables_in(target) if _may_be_none(value, absent) else set()
    return {target.id} if isinstance(target, ast.Name) and _may_be_none(value, absent) else set()


def none_within(statement: ast.stmt, absent: Collection[str]) -> set[str]:
    """The variables that some assignment in a statement may make None."""
    return {
        name
        for node in own_nodes(ast.Module([statement], []))
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for name in none_for(target, node.value, absent)
    }


def _may_be_none(value: ast.expr, absent: Collection[str]) -> bool:
    """Whether an expression may give None, or what stands for nothing, by the way it is written."""
    if isinstance(value, ast.Constant):
        return value.value is None
    if isinstance(value, ast.IfExp):
        return _may_be_none(value.body, absent) or _may_be_none(value.orelse, absent)
    if isinstance(value, ast.BoolOp):
        return isinstance(value.op, ast.And) or _may_be_none(value.values[-1], absent)
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return name in _LOOKS_UP
    return isinstance(value, ast.Name) and value.id in absent
