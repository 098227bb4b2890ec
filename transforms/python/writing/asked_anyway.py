"""What else asks a compiler for the sizes that a branch asks for, so that a path for every size saves no graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from transforms.python.flow.nodes import all_nodes, called, run_before
from transforms.python.writing.numbers import Arithmetic
from transforms.python.writing.place import Place
from transforms.python.writing.ranks import dimension_of, shape_owner

_MAKERS = re.compile(r"^(?:(?:new_)?(?:zeros|ones|empty|full)|rand|randn|arange|expand|view|reshape)$")
"""Functions and methods that are given the sizes of what they return, in order."""
_LENGTH = re.compile(r"len|long|size|shape|max|num")
_TESTED = (ast.If, ast.IfExp, ast.While)


class Size(NamedTuple):
    """One dimension of a variable's tensor, and the line that reads it.

    `rank` is how many dimensions the tensor has, 0 where that line does not say so.
    """

    tensor: str
    dimension: int
    line: int
    rank: int = 0


def asked_anyway(place: Place, asked: ast.expr) -> str:
    """Why a branch that asks for nothing where it is compiled leaves as many graphs; "" where it may save some.

    Each operand of `asked` has to be asked elsewhere too.
    """
    operands = asked.values if isinstance(asked, ast.BoolOp) else [asked]
    reasons = [_asked_again(place, operand) or _settled(place, operand) for operand in operands]
    return reasons[0] if all(reasons) else ""


def _asked_again(place: Place, operand: ast.expr) -> str:
    """Whether a function inside this one, which a graph holds with it, tests the same."""
    if not isinstance(operand, ast.Name) or len(place.assigned(operand.id)) != 1:
        return ""
    own = set(map(id, place.nodes))
    for node in all_nodes(place.function.body):
        if isinstance(node, _TESTED) and id(node) not in own:
            tested = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
            if ast.dump(operand) in map(ast.dump, tested):
                return f"line {node.lineno} asks for {operand.id} too, so that no graph would be saved"
    return ""


def _settled(place: Place, operand: ast.expr) -> str:
    """Whether what gave a tensor its size leaves nothing to ask of it and of the other size."""
    arithmetic = Arithmetic(place)
    parts = list(parts_of(operand, arithmetic))
    texts = {ast.unparse(part) for part in parts}
    sizes = {ast.unparse(part): size for part in parts if (size := size_of(place, part)) is not None}
    for text, size in sizes.items():
        others = [other for other in sizes.values() if other[:2] != size[:2]]
        made = _given(place, size)
        if made is None:
            continue
        if _cuts(made, size.dimension, texts - {text}):
            return f"the slice at line {made.lineno} asks the same of a size with guards: no graph would be saved"
        by_size = _by_size(made, size.dimension)
        given = filter(None, (size_of(place, argument) for argument in by_size))
        if any(argument[:2] == other[:2] for argument in given for other in others):
            return (
                f"{size.tensor} is made for that size at line {made.lineno}: a compiler asks nothing of equal symbols"
            )
    return ""


def parts_of(node: ast.expr, arithmetic: Arithmetic) -> Iterator[ast.expr]:
    """The expressions that a condition is made of, those of its variables instead of these."""
    pending, seen = [node], set[str]()
    while pending:
        part = pending.pop()
        value = arithmetic.value(part) if isinstance(part, ast.Name) and part.id not in seen else None
        if isinstance(part, ast.Name):
            seen.add(part.id)
        if value is not None:
            pending.append(value)
            continue
        yield part
        if dimension_of(part) is None:
            pending += [child for child in ast.iter_child_nodes(part) if isinstance(child, ast.expr)]


def size_of(place: Place, node: ast.expr) -> Size | None:
    """The size that an expression reads, or that a variable holds of an unpacked shape."""
    read = dimension_of(node)
    if read is not None:
        return Size(*read, node.lineno) if read[0].isidentifier() else None
    if not isinstance(node, ast.Name) or len(place.assigned(node.id)) != 1:
        return None
    for statement in place.nodes:
        targets = getattr(statement.targets[0], "elts", []) if isinstance(statement, ast.Assign) else []
        names = [getattr(target, "id", "") for target in targets]
        if isinstance(statement, ast.Assign) and node.id in names:
            tensor = shape_owner(statement.value)
            starred = any(isinstance(target, ast.Starred) for target in targets)
            known = tensor.isidentifier() and not isinstance(statement.value, ast.Name) and not starred
            return Size(tensor, names.index(node.id), statement.lineno, len(names)) if known else None
    return None


def _given(place: Place, size: Size) -> ast.expr | None:
    """What a tensor was given last before its size is read, on every way to the branch; None where that is not seen."""
    stores = [
        n for n in place.nodes if isinstance(n, ast.Name) and n.id == size.tensor and isinstance(n.ctx, ast.Store)
    ]
    last = max((store.lineno for store in stores if store.lineno < size.line), default=0)
    for statement in run_before(place.function.body, getattr(place.site.node, "lineno", 0)):
        if statement.lineno == last and isinstance(statement, ast.Assign):
            (target, *others) = statement.targets
            if isinstance(target, ast.Name) and target.id == size.tensor and not others:
                return statement.value
    return None


def _cuts(made: ast.expr, dimension: int, bounds: set[str]) -> bool:
    """Whether a value is a slice that ends a dimension at one of `bounds`, or keeps as much from its end."""
    if not isinstance(made, ast.Subscript):
        return False
    slices = made.slice.elts if isinstance(made.slice, ast.Tuple) else [made.slice]
    rests = [isinstance(part, ast.Constant) and part.value is Ellipsis for part in slices]
    plain = all(isinstance(part, ast.Slice) or rest for part, rest in zip(slices, rests, strict=True))
    if dimension < 0 and True in rests:
        slices = slices[rests.index(True) + 1 :]
    elif dimension >= 0 and True in rests:
        slices = slices[: rests.index(True)]
    elif dimension < 0:
        return False  # how many dimensions follow is not known
    if not plain or not -len(slices) <= dimension < len(slices):
        return False
    cut = slices[dimension]
    if not isinstance(cut, ast.Slice) or cut.step is not None:
        return False
    if cut.lower is None:
        return cut.upper is not None and ast.unparse(cut.upper) in bounds
    lower = cut.lower.operand if isinstance(cut.lower, ast.UnaryOp) and isinstance(cut.lower.op, ast.USub) else None
    return cut.upper is None and lower is not None and ast.unparse(lower) in bounds


def _by_size(made: ast.expr, dimension: int) -> list[ast.expr]:
    """What a call is given to make that dimension of its result by.

    Of a function that is not known that is each argument whose name says that it is a length.
    """
    if isinstance(made, ast.Call) and _MAKERS.match(called(made)):
        sizes = made.args[0].elts if made.args and isinstance(made.args[0], (ast.Tuple, ast.List)) else made.args
        return [sizes[dimension]] if -len(sizes) <= dimension < len(sizes) else []
    calls = (node for node in ast.walk(made) if isinstance(node, ast.Call))
    return [k.value for call in calls for k in call.keywords if k.arg is not None and _LENGTH.search(k.arg)]
