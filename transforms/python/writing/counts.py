"""Which numbers are known to be 0 just where there is nothing: sizes, and what is made of them without taking away.

That any other number is 0, a difference, a remainder or a parity, says that sizes agree, and it may be below 0.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

from transforms.python.flow.imported import torch_name
from transforms.python.flow.nodes import called, dotted, written
from transforms.python.flow.torch_names import SEQUENCES
from transforms.python.flow.unpacking import placed
from transforms.python.flow.values import FIXED_SIZES, SIZE_NAMES
from transforms.python.writing.place import Place

_EXTREMA = frozenset({"max", "min", "sym_max", "sym_min"})
_TOTALS = frozenset({"sum", "sym_sum", "prod"})
_MODULES = re.compile(r"^(?:math|torch|np|numpy|functools|operator|\w*utils)$")
_RANKS = frozenset({"dim", "ndimension", "element_size", "itemsize", "ndim"})
_SHAPE = re.compile(r"\b(?:ShapeType|Size)\b")
_SYMBOLS = re.compile(r"\[(?:.*\W)?(?:SymInt|IntLikeType)\b|\b(?:ShapeType|Size)\b")
_ANY = ast.Name("_", ast.Load())
_Question = Literal[
    "count", "whole count", "no less than 0", "given", "sizes", "given sizes", "fixed", "whole and fixed"
]
_PART_OF: Mapping[_Question, _Question] = {"sizes": "count", "given sizes": "given"}


class _Source(NamedTuple):
    """What a variable is given on a line; None where that is not to be seen."""

    line: int
    value: ast.expr | ast.arg | None


class Counts:
    """What is known of the numbers at a place."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._open: set[tuple[str, str]] = set()

    def is_count(self, node: ast.expr) -> bool:
        """Whether a number is never below 0, and 0 just for nothing."""
        return self._holds("count", node)

    def is_never_negative(self, node: ast.expr) -> bool:
        """Whether a number is known to be no less than 0."""
        return self._holds("no less than 0", node)

    def is_given(self, node: ast.expr) -> bool:
        """Whether a number is a size, or was given in the place of one, so that no symbol in it is below 0."""
        return self._holds("given", node)

    def _holds(self, question: _Question, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return self._of_name(question, node)
        if isinstance(node, ast.IfExp):
            return self._holds(question, node.body) and self._holds(question, node.orelse)
        if isinstance(node, ast.NamedExpr):
            return self._holds(question, node.value)
        match question:
            case "count" | "whole count":
                return self._counts(question, node)
            case "sizes" | "given sizes":
                return self._holds_sizes(question, node)
            case "fixed" | "whole and fixed":
                return self._is_fixed(question, node)
            case "given":
                return self._was_given(node)
        return self._is_not_below(node)

    def _counts(self, question: _Question, node: ast.expr) -> bool:
        """Whether a number is a count; of a whole one, no fraction."""
        count = functools.partial(self._holds, question)
        whole = question == "whole count"
        match node:
            case ast.Constant(value=int(number)):
                return number >= 0
            case ast.Attribute(attr="nbytes"):
                return True
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice):
                return self._holds("sizes", value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return count(left) and count(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                fixed = functools.partial(self._holds, "whole and fixed" if whole else "fixed")
                return any(count(a) and (count(b) or fixed(b)) for a, b in ((left, right), (right, left)))
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return not whole and count(left) and (count(right) or self._holds("fixed", right))
            case ast.BinOp(op=ast.FloorDiv()) | ast.UnaryOp(op=ast.USub()):
                dividend, divisor = _rounded_up(node)
                return count(dividend) and (count(divisor) or self._holds("fixed", divisor))
            case ast.BoolOp(values=values):
                return all(map(count, values))
            case ast.Call():
                return self._calls_for_count(node, count)
        return False

    def _calls_for_count(self, call: ast.Call, count: Callable[[ast.expr], bool]) -> bool:
        name, arguments = called(call), call.args
        owner = torch_name(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        if name == "len" or (name in ("numel", "nelement") and (owner or arguments)):
            return True
        if isinstance(call.func, ast.Attribute):
            if name in ("numel", "nelement", "size"):
                return name != "size" or len(arguments) + len(call.keywords) == 1
            if not _MODULES.match(owner):
                return False
        if not arguments or any(isinstance(argument, ast.Starred) for argument in arguments):
            return False
        if name in _EXTREMA and len(arguments) > 1:
            return all(map(count, arguments))
        if name in _TOTALS | _EXTREMA:
            return self._holds("sizes", arguments[0]) and all(map(count, arguments[1:]))
        if name == "reduce" and len(arguments) > 1:
            joins = dotted(arguments[0]).rpartition(".")[2] in ("mul", "add")
            return joins and self._holds("sizes", arguments[1]) and all(map(count, arguments[2:]))
        if name in ("ceil", "abs"):
            return self.is_count(arguments[0])
        return name in ("int", "sym_int") and self._holds("whole count", arguments[0])

    def _is_not_below(self, node: ast.expr) -> bool:
        """Whether a number is no less than 0, whatever it says that it is 0."""
        match node:
            case ast.BinOp(op=ast.Mod(), right=right):
                return self.is_count(right) or self._holds("fixed", right)
            case ast.Call(args=[_]) if called(node) == "abs":
                return True
            case ast.Call(args=[_, _, *_] as arguments) if called(node) in _EXTREMA:
                several = any if called(node).endswith("max") else all
                return several(map(self.is_never_negative, arguments))
        return self.is_count(node)

    def _was_given(self, node: ast.expr) -> bool:
        match node:
            case ast.Constant(value=int()) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
                return True
            case ast.Subscript(value=value, slice=index) if not isinstance(index, ast.Slice):
                return self._holds("given sizes", value)
        return self.is_count(node)

    def _holds_sizes(self, question: _Question, node: ast.expr) -> bool:
        """Whether a sequence holds nothing but sizes, or what was given in their place."""
        sizes = functools.partial(self._holds, question)
        is_size = self.is_count if question == "sizes" else self.is_given
        match node:
            case ast.Attribute(attr="shape"):
                return True
            case ast.Subscript(value=value, slice=ast.Slice()):
                return sizes(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return sizes(left) and sizes(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return sizes(left) or sizes(right)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return all(sizes(part.value) if isinstance(part, ast.Starred) else is_size(part) for part in parts)
            case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part) | ast.SetComp(elt=part):
                return is_size(part)
            case ast.Call(func=ast.Attribute(value=value), args=[], keywords=[]):
                return called(node) == "size" or (called(node) == "copy" and sizes(value))
            case ast.Call(args=[ast.Subscript(value=ast.Name(id=name) as several, slice=ast.Constant())]) if called(
                node
            ) in SEQUENCES and name == getattr(self._place.function.args.vararg, "arg", ""):
                return sizes(several)  # `tuple(shape[0])` where `*shape` is one sequence
            case ast.Call(args=[value, *_]) if called(node) in SEQUENCES:
                return sizes(value)
        return called(node) in ("broadcast_shapes", "_broadcast_shapes")

    def _is_fixed(self, question: _Question, node: ast.expr) -> bool:
        """Whether a number is known when the code is traced; of a whole one, no fraction."""
        match node:
            case ast.Constant(value=int() | float() as number):
                return isinstance(number, int) or question == "fixed"
            case ast.Attribute(attr=name):
                concrete = dotted(node) != "" and not self._place.values.value(node).symbolic
                return name in _RANKS or (concrete and question == "fixed")
            case ast.Call(func=ast.Attribute(), args=[]):
                return called(node) in _RANKS
        return False

    def _of_name(self, question: _Question, name: ast.Name) -> bool:
        """Whether something holds of all that a variable may have been given up to the place.

        While that is asked it is taken to hold of the variable itself: `n += m` adds to what `n` was.
        """
        fixed = "fixed" in question
        if (question, name.id) in self._open:
            return True
        if fixed and self._place.values.value(name).symbolic:
            return False
        sources = self._sources.get(name.id)
        if sources is None:
            return fixed  # a number of the module
        self._open.add((question, name.id))
        try:
            return all(self._of_source(question, source.value) for source in sources) and (
                "sizes" not in question or all(self._holds(_PART_OF[question], value) for value in self._grown(name.id))
            )
        finally:
            self._open.discard((question, name.id))

    def _of_source(self, question: _Question, value: ast.expr | ast.arg | None) -> bool:
        """Whether something holds of a value that a variable has.

        Of a parameter it does as far as its annotation and its name say: a number that is passed may be a difference,
        a sequence of sizes is called so.
        """
        if isinstance(value, (ast.Tuple, ast.List)) and "sizes" not in question:
            return True  # where the variable is a number it is none of these: `shape = (shape,)`
        if not isinstance(value, ast.arg):
            return value is not None and self._holds(question, value)
        annotation = written(value.annotation) if value.annotation else ""
        if "fixed" in question:
            return question == "fixed" or annotation == "int"
        named = SIZE_NAMES.search(value.arg) is not None and not FIXED_SIZES.search(value.arg)
        if (_SYMBOLS if "given" in question else _SHAPE).search(annotation):
            return True
        return named and (self._place.passed(value).shapelike if "sizes" in question else "SymInt" in annotation)

    @functools.cached_property
    def _sources(self) -> dict[str, list[_Source]]:
        """What each variable may have been given when the place is come to."""
        arguments = self._place.function.args
        found: dict[str, list[_Source]] = {}
        for argument in ast.walk(arguments):
            if isinstance(argument, ast.arg):
                found.setdefault(argument.arg, []).append(_Source(0, argument))
        seen: set[int] = set()
        for node in self._place.nodes:
            for target, value in _bound(node):
                seen.add(id(target))
                found.setdefault(target.id, []).append(_Source(target.lineno, value))
        for node in self._place.nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in seen:
                found.setdefault(node.id, []).append(_Source(node.lineno, None))
        return {name: [s for s in sources if s.line <= self._last] for name, sources in found.items()}

    @functools.cached_property
    def _last(self) -> int:
        """The last line that may run before the place is come to: of its condition, or of the loop around it."""
        loops = (node for node in self._place.nodes if isinstance(node, (ast.For, ast.AsyncFor, ast.While)))
        around = (loop for loop in loops if any(part is self._place.site.node for part in ast.walk(loop)))
        return max(getattr(node, "end_lineno", 0) for node in (self._place.site.expression, *around))

    def _grown(self, name: str) -> Iterator[ast.expr]:
        """What a list gets by `append` and its kin, or by assignment to an element."""
        for node in self._place.nodes:
            if getattr(node, "lineno", 0) > self._last:
                continue
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="append" | "insert"), args=[*_, value]):
                    pass
                case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="extend"), args=[several]):
                    value = ast.Subscript(several, _ANY, ast.Load())
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=owner))], value=value):
                    pass
                case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=owner)) as target, op=op, value=other):
                    value = ast.BinOp(target, op, other)
                case _:
                    continue
            if owner == name:
                yield value


def _rounded_up(node: ast.expr) -> tuple[ast.expr, ast.expr]:
    """What a quotient is that of, rounded up, and by what: of `(n + k - 1) // k` and `-(-n // k)`; None of others."""
    match node:
        case ast.UnaryOp(
            operand=ast.BinOp(left=ast.UnaryOp(op=ast.USub(), operand=dividend), op=ast.FloorDiv(), right=divisor)
        ):
            return dividend, divisor
        case ast.BinOp(left=ast.BinOp(op=ast.Add() | ast.Sub()) as more, op=ast.FloorDiv(), right=divisor):
            by = ast.unparse(divisor)
            less = {f"{by} - 1", f"({by} - 1)"}
            if isinstance(divisor, ast.Constant) and isinstance(divisor.value, int):
                less.add(str(divisor.value - 1))
            match more:
                case ast.BinOp(left=dividend, op=ast.Add(), right=added) if ast.unparse(added) in less:
                    return dividend, divisor
                case ast.BinOp(
                    left=ast.BinOp(left=dividend, op=ast.Add(), right=added), right=ast.Constant(value=1)
                ) if isinstance(more.op, ast.Sub) and ast.unparse(added) == by:
                    return dividend, divisor
    return ast.Constant(None), ast.Constant(None)


def _bound(node: ast.AST) -> Iterator[tuple[ast.Name, ast.expr]]:
    """The variables that a statement assigns, each with what it is given."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _parts(target, value)
        case (
            ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            yield target, value
        case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
            yield target, ast.BinOp(ast.Name(target.id, ast.Load()), op, value)
        case ast.For(target=target, iter=several) | ast.comprehension(target=target, iter=several):
            yield from _parts(target, ast.Subscript(several, _ANY, ast.Load()))


def _parts(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    """The variables of a target, each with its part of a value."""
    if isinstance(target, ast.Name):
        yield target, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part, index in placed(target):
            given = ast.Subscript(value, ast.Slice(), ast.Load()) if index is None else _part(value, index)
            yield from _parts(part, given)


def _part(value: ast.expr, index: int) -> ast.expr:
    match value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) if not any(isinstance(p, ast.Starred) for p in parts):
            return parts[index] if -len(parts) <= index < len(parts) else ast.Constant(None)
        case ast.Subscript(value=ast.Call(args=[several, *_]), slice=slice) if (
            slice is _ANY and called(value.value) == "enumerate"
        ):
            return ast.Subscript(several, _ANY, ast.Load()) if index == 1 else ast.Constant(None)
        case ast.Subscript(value=ast.Call(args=several), slice=slice) if (
            slice is _ANY and called(value.value) == "zip" and -len(several) <= index < len(several)
        ):
            return ast.Subscript(several[index], _ANY, ast.Load())
    return ast.Subscript(value, ast.Constant(index), ast.Load())
