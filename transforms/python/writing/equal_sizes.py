"""The sizes that are equal where a branch passes a path by, and calls that give a tensor its own sizes there."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from transforms.python.flow.asking import asks
from transforms.python.flow.imported import torch_name
from transforms.python.flow.nodes import called, run_before, spoken
from transforms.python.flow.torch_names import TORCH_MODULES
from transforms.python.flow.unpacking import placed
from transforms.python.writing.evaluation import Evaluated, evaluated_before
from transforms.python.writing.place import Place
from transforms.python.writing.remainders import held_value

_SIZED = re.compile(r"^(?:(?:expand|reshape|view)(?:_as)?|broadcast_to)$")
"""Operations that are given the sizes of the result."""
OF_TORCH = re.compile(rf"^(?:{'|'.join(sorted(TORCH_MODULES))}|utils)(?:\.|$)")
_ALIKE = re.compile(r"(?:\.(?:bool|clone|contiguous|float|half|double|to|conj|abs|neg)\([\w.]*\))+$")
"""Methods that keep the shape."""


class EqualSizes:
    """What a branch says of sizes that are equal where it does not go the way of `general`."""

    def __init__(self, place: Place, branch: ast.If | ast.IfExp, general: bool) -> None:
        self._place, self._branch, self._general = place, branch, general
        self._pairs = list(self._equal(branch.test, not general))

    def agree(self, call: ast.Call, kept: str) -> bool:
        """Whether each size that a call is given is the tensor's own there, or all together are its shape.

        `kept` is the tensor. Sizes one by one may be those of a tensor with more dimensions, or with fewer: as many as
        it has are to be given.
        """
        if not _SIZED.match(called(call)):
            return True
        sizes = list(call.args) + [keyword.value for keyword in call.keywords]
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if owner is None or OF_TORCH.match(torch_name(owner)):
            sizes = sizes[1:]
        if any(keyword.arg not in ("size", "shape") for keyword in call.keywords):
            return False
        if len(sizes) == 1 and called(call).endswith("_as"):
            sizes = [ast.Attribute(sizes[0], "shape", ast.Load())]
        listed: ast.expr = sizes[0] if len(sizes) == 1 else ast.Tuple(sizes, ast.Load())
        kept = _ALIKE.sub("", kept)
        if any(self._is_shape(own, kept) and _same(listed, other) for own, other in self._pairs):
            return True
        if isinstance(listed, (ast.Tuple, ast.List)):
            sizes = listed.elts
        rank = self._evaluated.exact.get(kept)
        return rank == len(sizes) and all(
            (ast.unparse(size) == "-1" and called(call) == "expand")
            or self.is_own(size, kept, index, rank)
            or any(_same(size, other) and self.is_own(own, kept, index, rank) for own, other in self._pairs)
            for index, size in enumerate(sizes)
        )

    def rank(self, tensor: str) -> int:
        """How many dimensions a tensor is known to have; 0 where that is not known."""
        return self._evaluated.exact.get(tensor, 0)

    def is_own(self, node: ast.expr, tensor: str, index: int, rank: int = 0) -> bool:
        """Whether an expression is the size of one dimension of a tensor, which has `rank` of them if not 0."""
        if isinstance(node, ast.Name) and {(node.id, index), (node.id, index - rank)} & self._unpacked(tensor):
            return True
        node = self._held(node)
        if isinstance(node, ast.Subscript):
            return ast.unparse(node.slice) in (str(index), str(index - rank)) and self._is_shape(node.value, tensor)
        texts = (f"{tensor}.size({index})", f"{tensor}.size({index - rank})", f"len({tensor})" if not index else "")
        return ast.unparse(node) in texts

    def _equal(self, test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, ast.expr]]:
        """The pairs that are equal where a condition `holds` or does not, each both ways round."""
        test = spoken(test)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self._equal(test.operand, not holds)
        elif isinstance(test, ast.BoolOp):
            asking = [value for value in test.values if asks(self._place.values.value(value))]
            if isinstance(test.op, ast.And) is holds or len(asking) == 1:  # the others decide as before
                for value in asking:
                    yield from self._equal(value, holds)
        elif isinstance(test, ast.Compare) and list(map(type, test.ops)) == [ast.Eq if holds else ast.NotEq]:
            yield test.left, test.comparators[0]
            yield test.comparators[0], test.left

    @functools.cached_property
    def _evaluated(self) -> Evaluated:
        evaluated = evaluated_before(self._place.function, self._branch)
        test, operator = self._branch.test, ast.And if self._general else ast.Or
        for value in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, operator) else ():
            evaluated.add_outcome(value, self._general)
        return evaluated

    def _is_shape(self, node: ast.expr, tensor: str) -> bool:
        """Whether an expression is the whole shape of a tensor."""
        node = self._held(node)
        if isinstance(node, ast.Call) and called(node) in ("list", "tuple", "Size") and len(node.args) == 1:
            node = self._held(node.args[0])
        return ast.unparse(node) in (f"{tensor}.shape", f"{tensor}.size()")

    def _held(self, node: ast.expr) -> ast.expr:
        return (held_value(self._place, node, self._evaluated.texts) or node) if isinstance(node, ast.Name) else node

    def _unpacked(self, tensor: str) -> set[tuple[str, int]]:
        """The variables that hold the sizes of a tensor, each with its dimensions: `b, n = x.shape`."""
        line = self._branch.lineno
        stored = [n for n in self._place.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        named = {n.target.id for n in ast.walk(self._branch.test) if isinstance(n, ast.NamedExpr)}
        for node in run_before(self._place.function.body, line) if not self._place.in_loop else ():
            shape = ast.unparse(node.value) if isinstance(node, ast.Assign) else ""
            if not isinstance(node, ast.Assign) or shape not in (f"{tensor}.shape", f"{tensor}.size()"):
                continue
            target = node.targets[0]
            held = list(placed(target)) if isinstance(target, (ast.Tuple, ast.List)) else []
            exact = [(part.id, at) for part, at in held if isinstance(part, ast.Name) and at is not None]
            since = named | {n.id for n in stored if node.lineno < n.lineno < line}
            if tensor in since or any(name in since for name, _ in exact):
                continue
            behind = [] if any(at is None for _, at in held) else [(name, at - len(held)) for name, at in exact]
            return {*exact, *behind}
        return set()


def _same(first: ast.expr, second: ast.expr) -> bool:
    """Whether two expressions are written alike, tuples like lists."""
    if isinstance(first, (ast.Tuple, ast.List)) and isinstance(second, (ast.Tuple, ast.List)):
        return list(map(ast.dump, first.elts)) == list(map(ast.dump, second.elts))
    return ast.unparse(first) == ast.unparse(second)
