"""Which tensors surely have the same shape, and the same dtype, as others: told by how both are made of one tensor."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence, Set

from transforms.python.flow.nodes import EXITS, called
from transforms.python.flow.sources import given_to
from transforms.python.flow.torch_names import operands
from transforms.python.flow.values import BOOL, FLOAT, INT
from transforms.python.writing.callees import of_the_tensor
from transforms.python.writing.place import Place

UNSEEN = ""
"""The form of what may be anything."""

# What each element becomes by itself, or changes its place or its memory.
_EACH = r"conj\w*|neg|negative|positive|relu|clone|contiguous|detach|nan_to_num|flip|roll|tril|triu"
_LIKE = r"(?:zeros|ones|empty|full|rand|randn)_like"
_KEEPS_DTYPE = re.compile(rf"^(?:{_EACH}|zero_|{_LIKE})$")
_FLOATING = r"exp|expm1|log|log1p|sqrt|rsqrt|reciprocal|sigmoid|tanh|gelu|silu|sin|cos|erf|softmax|log_softmax"
# What has another dtype for some: the magnitudes of complex numbers are real, the squares of truths are int64.
_OF_SOME = r"abs|square"
_CASTS = r"to|type|float|half|bfloat16|double|int|long|bool|type_as"
_TRUTHS = r"isnan|isinf|logical_not|eq|ne|lt|le|gt|ge"
_KEEPS_SHAPE = re.compile(rf"^(?:{_EACH}|{_OF_SOME}|{_FLOATING}|{_CASTS}|{_TRUTHS}|cumsum|clamp\w*|\w+_like)_?$")
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
_WITHOUT_GRADIENT = re.compile(rf"^(?:detach|{_LIKE})$|{_MADE.pattern}")
# Dtypes that are floats, and those that are no bool's.
_FLOATS = re.compile(
    rf"^(?:default$|torch\.(?:float|bfloat|half|double)\w*$|(?:real|float|half|bfloat16|double|{_FLOATING}|mean)\()"
)
_NO_BOOLS = re.compile(
    rf"{_FLOATS.pattern}|^(?:torch\.u?(?:int|long)\w*$|(?:number|quotient|int|long|sum|nansum|prod)\()"
)
_NAMED = re.compile(r"^torch\.\w+$|^to\(.*\btorch\.\w+\)$|^(?:float|half|bfloat16|double|int|long|bool)\(")
"""The forms of dtypes that are written: by `dtype=torch.int64`, by a cast, by a comparison."""
_OF_INTS = re.compile(r"^(?:number|square)\(")
_OF_TENSORS = (ast.Slice, ast.Tuple)
"""Indices of tensors, not of what holds several."""


class Forms:
    """The forms of values behind a branch: where two are equal, the tensors have the same shape, or the same dtype."""

    def __init__(self, place: Place, branch: ast.If) -> None:
        self._place = place
        self._branch = branch
        self._open: set[str] = set()
        self._unseen = _bound_unseen(place.function)
        below = [node for node in ast.walk(place.function) if getattr(node, "lineno", 0) > branch.lineno]
        self._changed = any(map(_changes_a_tensor, below))
        self._within_context = {
            id(part) for node in below if isinstance(node, (ast.With, ast.AsyncWith)) for part in ast.walk(node)
        }
        """What runs under a context of the path itself, which may keep gradients off or cast."""
        self._stored = {
            node.attr for node in below if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }

    def shape(self, node: ast.expr) -> str:
        """What a shape is made of: the tensor whose it is, and what changes it."""
        match node:
            case ast.Name():
                return self._of_variable(node, "shape")
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
                return self.shape(operand)
            case ast.BinOp(left=left) if self._is_in_place(node):
                return self.shape(left)
            case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
                return self._of_both(left, right, "shape")
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, _ORDERS):
                return self._of_both(left, right, "shape")
            case ast.Call():
                return self._shape_of_call(node)
        return self._unchanged(node)

    def dtype(self, node: ast.expr) -> str:
        """What a dtype is that of: a tensor's, or one that is written; a sum may have a wider one than its tensor."""
        if not isinstance(node, ast.Name) and id(node) in self._within_context:
            return UNSEEN
        match node:
            case ast.Name():
                return self._of_variable(node, "dtype")
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
                return self.dtype(operand)
            case ast.BinOp(left=left) if self._is_in_place(node):
                return self.dtype(left)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return _real(self._of_both(left, right, "dtype"))
            case ast.BinOp(left=left, op=ast.Sub() | ast.FloorDiv() | ast.Mod(), right=right):
                return self._of_both(left, right, "dtype", bools=False)
            case ast.BinOp(left=left, right=right):
                return self._of_both(left, right, "dtype")
            case ast.Compare(ops=[op]) if isinstance(op, _ORDERS):
                return "torch.bool"
            case ast.Subscript(value=value, slice=index) if self._is_tensor(value) or isinstance(index, _OF_TENSORS):
                return self.dtype(value)
            case ast.Call():
                return self._dtype_of_call(node)
        return self._unchanged(node)

    def without_gradient(self, node: ast.expr) -> bool:
        """Whether a tensor may be one that no gradient reaches whatever it is made of: detached, made anew, a truth."""
        if isinstance(node, ast.Name):
            given = given_to(self._place.function, node.id)
            since = [value for line, value in given if line > self._branch.lineno and value is not None]
            return node.id not in self._open and self._opened(node.id, since)
        if self.dtype(node) == "torch.bool":
            return True
        if isinstance(node, ast.Call):
            name, operand, _ = _taken_apart(node)
            return _WITHOUT_GRADIENT.match(name) is not None or (operand is not None and self.without_gradient(operand))
        if isinstance(node, ast.BinOp):
            sides = [side for side in (node.left, node.right) if not self._is_number(side)]
            return bool(sides) and all(map(self.without_gradient, sides))
        inner = node.operand if isinstance(node, ast.UnaryOp) else getattr(node, "value", None)
        return isinstance(inner, ast.expr) and self.without_gradient(inner)

    def _opened(self, name: str, values: Sequence[ast.expr]) -> bool:
        self._open.add(name)
        found = any(map(self.without_gradient, values))
        self._open.discard(name)
        return found

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
        if name == "view" and not all(isinstance(value, ast.Tuple) or self._is_sized(value) for value in others):
            return self._unchanged(call)  # as another dtype
        if _KEEPS_DTYPE.match(name) or _BY_SHAPE.match(name):
            return self.dtype(operand)
        if _BINARY.match(name) and len(others) == 1:
            form = self._of_both(operand, others[0], "dtype")
            if name in ("div", "true_divide") and not call.keywords:
                return _real(form)
            return _within("quotient" if "div" in name else "", form)
        if re.fullmatch(_TRUTHS, name) or name == "bool":
            return "torch.bool"
        if name in ("all", "any") and self.dtype(operand) == "torch.bool":
            return "torch.bool"  # of uint8 they are uint8
        if re.fullmatch(rf"{_OF_SOME}|{_CASTS}|{_FLOATING}|{_REDUCTIONS.pattern}", name):
            of = self.dtype(operand)
            if name in ("sum", "nansum", "prod"):  # those of bools are ints anyway
                of = _of_ints(of)
            return _within(name, of, *map(self._unchanged, others))
        return self._unchanged(call)

    def _of_both(self, left: ast.expr, right: ast.expr, asked: str, bools: bool = True) -> str:
        """The form of what is computed of two tensors of one form, or of a tensor and a number.

        `bools` says whether torch takes bools there.
        """
        for tensor, number in ((left, right), (right, left)):
            if self._is_number(number):
                form = self._form(tensor, asked)
                return form if asked == "shape" else self._beside(number, form, bools)
        forms = {self._form(left, asked), self._form(right, asked)}
        if asked == "dtype" and UNSEEN not in forms:
            wider = [
                form for form in forms if all(form in (other, f"number({other})", _real(other)) for other in forms)
            ]
            return wider[0] if wider else UNSEEN  # `x + x * 2` is an int where that is one
        return forms.pop() if len(forms) == 1 else UNSEEN

    def _beside(self, number: ast.expr, dtype: str, bools: bool) -> str:
        """The dtype of what is computed of a tensor and a number: an int makes ints of truths, a float floats."""
        value = self._place.values.value(number)
        if value.real:
            return _real(dtype)
        if value.kind == BOOL or value.scalar == "bool":
            return dtype
        if not value.integral:  # `n ** -1`
            return UNSEEN
        return dtype if not bools or _NO_BOOLS.match(dtype) else _within("number", dtype)

    def _is_tensor(self, node: ast.expr) -> bool:
        return self._place.values.value(node).surely_tensor

    def _is_in_place(self, node: ast.BinOp) -> bool:
        """Whether `x += y` changes a tensor, which keeps its shape and its dtype: read as a sum without a place."""
        return not hasattr(node, "lineno") and self._is_tensor(node.left)

    def _is_sized(self, node: ast.expr) -> bool:
        value = self._place.values.value(node)
        return value.symbolic or value.numbers

    def _is_number(self, node: ast.expr) -> bool:
        value = self._place.values.value(node)
        return value.numbers and (value.kind in (INT, FLOAT, BOOL) or bool(value.scalar))

    def _of_variable(self, read: ast.Name, asked: str) -> str:
        """The form of all that a variable may hold: what it held before the branch, and what it was given since.

        While that is asked, what it is given of itself says nothing more.
        """
        before, at = f"<{read.id}>", getattr(read, "lineno", 0)
        if self._changed or read.id in self._unseen:
            return UNSEEN
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
        if any(isinstance(part, ast.Attribute) and part.attr in self._stored for part in ast.walk(node)):
            return UNSEEN
        same = all(form == f"<{name.id}>" for form, name in zip(held, names, strict=False))
        return ast.unparse(node) if same and len(held) == len(names) else UNSEEN


def of_two_dtypes(dtypes: Set[str]) -> bool:
    """Whether forms of dtypes, all of which are seen, are two, one of which is written."""
    return len(dtypes) > 1 and UNSEEN not in dtypes and any(map(_NAMED.match, dtypes))


def choices(values: Sequence[ast.expr]) -> Iterator[ast.expr]:
    """What expressions may give, each by itself: both sides of a conditional one."""
    for value in values:
        yield from choices((value.body, value.orelse)) if isinstance(value, ast.IfExp) else (value,)


def changed_alone(branch: ast.If, general: bool) -> Iterator[tuple[Sequence[ast.expr], Sequence[ast.expr]]]:
    """What each variable is that the path for sizes in general alone assigns, and what that gives it."""
    taken, special = (branch.body, branch.orelse) if general else (branch.orelse, branch.body)
    if any(path and isinstance(path[-1], EXITS) for path in (taken, special)):
        return
    elsewhere = {part.id for each in special for part in ast.walk(each) if isinstance(part, ast.Name)}
    for statement in taken:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in elsewhere:
                yield [ast.copy_location(ast.Name(name, ast.Load()), branch)], [value]


def _bound_unseen(function: ast.AST) -> set[str]:
    """The names that a function shares with one around it or in it, or binds by other statements than assignments."""
    names: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            names.update(node.names)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)) and node.name:
            names.add(node.name)
    return names


def _changes_a_tensor(node: ast.AST) -> bool:
    """Whether a node may change a tensor itself, where it keeps its name: `x.t_()`, `x.data = y`, `out=x`."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Store) and node.attr == "data"
    name = called(node)
    given = node.keywords if isinstance(node, ast.Call) else ()
    return (name.endswith("_") and of_the_tensor(name)) or any(keyword.arg == "out" for keyword in given)


def _taken_apart(call: ast.Call) -> tuple[str, ast.expr | None, Sequence[ast.expr]]:
    """The name of what is called, the tensor it is called with, and the other arguments by place."""
    passed = operands(call)
    if not passed or not isinstance(call.func, ast.Attribute):
        return "", None, ()  # a function of which nothing is known
    return called(call), passed[0], passed[1:]


def _is_dtype(node: ast.expr) -> bool:
    return re.fullmatch(r"torch\.\w+|[\w.]+\.dtype", ast.unparse(node)) is not None


def _real(dtype: str) -> str:
    """The dtype of a quotient, or of what is computed with a float."""
    return dtype if _FLOATS.match(dtype) else _within("real", _of_ints(dtype))


def _of_ints(dtype: str) -> str:
    """The dtype of which bools are made ints, where ints are made of them or floats of both anyway."""
    return _OF_INTS.sub("", dtype).removesuffix(")") if _OF_INTS.match(dtype) else dtype


def _within(name: str, *forms: str) -> str:
    if not name:
        return forms[0]
    return f"{name}({', '.join(forms)})" if all(forms) else UNSEEN


def _listed(forms: Sequence[str]) -> str:
    return f"({', '.join(forms)})" if all(forms) else UNSEEN
