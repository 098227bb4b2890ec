"""Which tensors surely have the same shape, and the same dtype, as others: told by how both are made of one tensor."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from transforms.python.flow.nodes import called
from transforms.python.flow.sources import given_to
from transforms.python.flow.torch_names import operands
from transforms.python.flow.values import BOOL, FLOAT, INT
from transforms.python.writing.place import Place

UNSEEN = ""
"""The form of what may be anything."""

# What each element becomes by itself, or changes its place or its memory.
_EACH = r"conj\w*|neg|negative|positive|abs|square|relu|clone|contiguous|detach|nan_to_num|flip|roll|tril|triu"
_KEEPS_DTYPE = re.compile(rf"^(?:{_EACH}|zero_|(?:zeros|ones|empty|full|rand|randn)_like)$")
_FLOATING = r"exp|expm1|log|log1p|sqrt|rsqrt|reciprocal|sigmoid|tanh|gelu|silu|sin|cos|erf|softmax|log_softmax"
_CASTS = r"to|type|float|half|bfloat16|double|int|long|bool|type_as"
_TRUTHS = r"isnan|isinf|logical_not|eq|ne|lt|le|gt|ge"
_KEEPS_SHAPE = re.compile(rf"^(?:{_EACH}|{_FLOATING}|{_CASTS}|{_TRUTHS}|cumsum|clamp\w*|\w+_like)_?$")
# What gives of the same shape the same shape, whatever the elements are, and keeps the dtype.
_BY_SHAPE = re.compile(
    r"^(?:view|reshape|flatten|unflatten|transpose|permute|t|squeeze|unsqueeze|expand|narrow|select|movedim|swapaxes)$"
)
_REDUCTIONS = re.compile(r"^(?:sum|nansum|mean|prod|all|any|count_nonzero)$")
_BINARY = re.compile(r"^(?:add|sub|mul|div|true_divide|floor_divide|pow|maximum|minimum|fmod|remainder)$")
_ORDERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_OF_MEMORY = frozenset({"dtype", "device", "memory_format", "non_blocking", "copy", "layout", "dim"})
"""Arguments that say nothing of the shape of what is computed of each element."""
_MADE = re.compile(r"^(?:new_)?(?:zeros|ones|empty|full|rand|randn)$")


class Forms:
    """The forms of values behind a branch: where two are equal, the tensors have the same shape, or the same dtype."""

    def __init__(self, place: Place, branch: ast.If) -> None:
        self._place = place
        self._branch = branch
        self._open: set[str] = set()

    def shape(self, node: ast.expr) -> str:
        """What a shape is made of: the tensor whose it is, and what changes it."""
        match node:
            case ast.Name():
                return self._of_variable(node, "shape")
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
                return self.shape(operand)
            case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
                return self._of_both(left, right, "shape")
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, _ORDERS):
                return self._of_both(left, right, "shape")
            case ast.Call():
                return self._shape_of_call(node)
        return self._unchanged(node)

    def dtype(self, node: ast.expr) -> str:
        """What a dtype is that of: a tensor's, or one that is written; a sum may have a wider one than its tensor."""
        match node:
            case ast.Name():
                return self._of_variable(node, "dtype")
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
                return self.dtype(operand)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return _within("quotient", self._of_both(left, right, "dtype"))
            case ast.BinOp(left=left, right=right):
                return self._of_both(left, right, "dtype")
            case ast.Compare(ops=[op]) if isinstance(op, _ORDERS):
                return "torch.bool"
            case ast.Subscript(value=value):
                return self.dtype(value)
            case ast.Call():
                return self._dtype_of_call(node)
        return self._unchanged(node)

    def _form(self, node: ast.expr, asked: str) -> str:
        return self.shape(node) if asked == "shape" else self.dtype(node)

    def _shape_of_call(self, call: ast.Call) -> str:
        name, operand, others = _taken_apart(call)
        if operand is None:
            return UNSEEN
        if _MADE.match(name):
            sizes = others if name.startswith("new_") else [operand, *others]
            sized = sizes[0] if sizes else None
            if name.endswith("full"):
                sizes = sizes[:1]
            if isinstance(sized, ast.Attribute) and sized.attr == "shape":
                return self.shape(sized.value)
            if len(sizes) == 1 and isinstance(sized, (ast.Tuple, ast.List)):
                sizes = sized.elts
            return _listed(list(map(self._unchanged, sizes)))
        named = [keyword.value for keyword in call.keywords if keyword.arg not in _OF_MEMORY]
        if _KEEPS_SHAPE.match(name) and all(self._is_number(value) or _is_dtype(value) for value in (*others, *named)):
            return self.shape(operand)
        if _BINARY.match(name) and len(others) == 1:
            return self._of_both(operand, others[0], "shape")
        if _REDUCTIONS.match(name) and not others and not call.keywords:
            return _listed([])
        if _REDUCTIONS.match(name) or _BY_SHAPE.match(name):
            named = [keyword.value for keyword in call.keywords]
            words = [keyword.arg or "" for keyword in call.keywords]
            return _within(name, self.shape(operand), *words, *map(self._unchanged, [*others, *named]))
        return self._unchanged(call)

    def _dtype_of_call(self, call: ast.Call) -> str:
        name, operand, others = _taken_apart(call)
        if operand is None:
            return UNSEEN
        for keyword in call.keywords:
            if keyword.arg == "dtype":
                return self._unchanged(keyword.value)
        if _MADE.match(name):
            return self.dtype(operand) if name.startswith("new_") else UNSEEN if "full" in name else "default"
        if _KEEPS_DTYPE.match(name) or _BY_SHAPE.match(name):
            return self.dtype(operand)
        if _BINARY.match(name) and len(others) == 1:
            return _within("quotient" if "div" in name else "", self._of_both(operand, others[0], "dtype"))
        if re.fullmatch(_TRUTHS, name) or name in ("all", "any", "bool"):
            return "torch.bool"
        if re.fullmatch(rf"{_CASTS}|{_FLOATING}|{_REDUCTIONS.pattern}", name):
            return _within(name, self.dtype(operand), *map(self._unchanged, others))
        return self._unchanged(call)

    def _of_both(self, left: ast.expr, right: ast.expr, asked: str) -> str:
        """The form of what is computed of two tensors of one form, or of a tensor and a number."""
        for tensor, number in ((left, right), (right, left)):
            if self._is_number(number):  # a float makes floats of integers
                real = asked == "dtype" and self._place.values.value(number).real
                return _within("real" if real else "", self._form(tensor, asked))
        forms = {self._form(left, asked), self._form(right, asked)}
        return forms.pop() if len(forms) == 1 else UNSEEN

    def _is_number(self, node: ast.expr) -> bool:
        value = self._place.values.value(node)
        return value.numbers and (value.kind in (INT, FLOAT, BOOL) or bool(value.scalar))

    def _of_variable(self, read: ast.Name, asked: str) -> str:
        """The form of all that a variable may hold: what it held before the branch, and what it was given since.

        While that is asked, what it is given of itself says nothing more.
        """
        before, at = f"<{read.id}>", getattr(read, "lineno", 0)
        if read.id in self._open:
            return before
        given = given_to(self._place.function, read.id)
        since = [(line, value) for line, value in given if line > self._branch.lineno]
        loops = (node for node in self._place.nodes if isinstance(node, (ast.For, ast.AsyncFor, ast.While)))
        if since and any(loop.lineno <= at <= (loop.end_lineno or at) for loop in loops):
            return UNSEEN
        since = [(line, value) for line, value in since if line < at or at == 0]
        if not since:
            return before
        self._open.add(read.id)
        forms = {self._form(value, asked) if value is not None else UNSEEN for _, value in since}
        self._open.discard(read.id)
        held_before = any(line <= self._branch.lineno for line, _ in given) or any(
            isinstance(node, ast.arg) and node.arg == read.id for node in ast.walk(self._place.function.args)
        )
        forms |= {before} if held_before else set()
        return forms.pop() if len(forms) == 1 else UNSEEN

    def _unchanged(self, node: ast.expr) -> str:
        """An expression as it is written, where the variables in it are those of before the branch."""
        names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        held = [self._of_variable(name, "shape") for name in names if isinstance(name.ctx, ast.Load)]
        same = all(form == f"<{name.id}>" for form, name in zip(held, names, strict=False))
        return ast.unparse(node) if same and len(held) == len(names) else UNSEEN


def _taken_apart(call: ast.Call) -> tuple[str, ast.expr | None, Sequence[ast.expr]]:
    """The name of what is called, the tensor it is called with, and the other arguments by place."""
    passed = operands(call)
    if not passed or not isinstance(call.func, ast.Attribute):
        return "", None, ()  # a function of which nothing is known
    return called(call), passed[0], passed[1:]


def _is_dtype(node: ast.expr) -> bool:
    return re.fullmatch(r"torch\.\w+|[\w.]+\.dtype", ast.unparse(node)) is not None


def _within(name: str, *forms: str) -> str:
    if not name:
        return forms[0]
    return f"{name}({', '.join(forms)})" if all(forms) else UNSEEN


def _listed(forms: Sequence[str]) -> str:
    return f"({', '.join(forms)})" if all(forms) else UNSEEN
