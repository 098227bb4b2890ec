"""Pools: the first result of `max_pool1d_with_indices` is that of `max_pool1d`, and keeps the length symbolic.

    y = F.max_pool1d(x, 3, stride=2)        y = F.max_pool1d_with_indices(x, 3, stride=2)[0]

    self.pool = nn.MaxPool1d(2)             self.pool = nn.MaxPool1d(2, return_indices=True)
    …                                       …
    return self.pool(x)                     return self.pool(x)[0]

Eager computes the indices too, which costs a little on the CPU without gradients; elsewhere it does so anyway.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from codemod.fix.catching import parsed
from codemod.fix.nodes import end_of, holds_line
from codemod.fix.torch_names import full_name, imported_names
from codemod.model.edits import Edit
from codemod.probe.symbolic_forms import POOL

_MODULES = frozenset({"torch", "torch.nn.functional"})
_LAYER = "torch.nn.MaxPool1d"
_FLAG = "return_indices"
_MOST, _MOST_OF_LAYER = 6, 4
"""The arguments before that one."""
_FIRST, _GIVEN = b"[0]", b", return_indices=True"


def pool_at(path: str, source: bytes, line: int) -> tuple[Edit, ...]:
    """The edits of `path` that take the first of two results for what pools on `line`; none where nothing does."""
    tree = parsed(source)
    lines = source.splitlines(keepends=True)
    names = imported_names(tree) if tree is not None else {}
    edits: list[Edit] = []
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and holds_line(node, line) and _pools(node, names):
            edits += [_behind(path, lines, node.func, b"_with_indices"), _behind(path, lines, node, _FIRST)]
        for made, calls in _layers(node, names) if isinstance(node, (ast.ClassDef, ast.Call)) else ():
            if any(holds_line(call, line) for call in calls):
                *_, last = (*made.args, *(each.value for each in made.keywords))
                edits.append(_behind(path, lines, last, _GIVEN))
                edits += [_behind(path, lines, call, _FIRST) for call in calls]
    return tuple(edits)


def _layers(owner: ast.ClassDef | ast.Call, names: Mapping[str, str]) -> Iterator[tuple[ast.Call, list[ast.Call]]]:
    """The pooling layers that a class makes for `self` and does nothing with but call them, with those calls.

    Of a call that one which it calls, `nn.MaxPool1d(2)(x)`.
    """
    if isinstance(owner, ast.Call):
        if isinstance(owner.func, ast.Call) and _is_layer(owner.func, names):
            yield owner.func, [owner]
        return
    nodes = list(ast.walk(owner))
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=ast.Call() as made):
                named = (each for each in nodes if isinstance(each, ast.Attribute) and each.attr == name)
                used = [each for each in named if each is not node.targets[0]]
                calls = [n for n in nodes if isinstance(n, ast.Call) and any(n.func is use for use in used)]
                if _is_layer(made, names) and calls and len(calls) == len(used):
                    yield made, calls


def _is_layer(made: ast.Call, names: Mapping[str, str]) -> bool:
    return full_name(made.func, names) == _LAYER and _gives_one(made, _MOST_OF_LAYER)


def _pools(call: ast.Call, names: Mapping[str, str]) -> bool:
    """Whether a call is one of torch's `max_pool1d` that gives no indices."""
    match call.func:
        case ast.Attribute(value=module, attr=name):
            return name == POOL and full_name(module, names) in _MODULES and _gives_one(call, _MOST)
    return False


def _gives_one(call: ast.Call, most: int) -> bool:
    """Whether a call, of which no argument is unpacked, does not ask for indices."""
    named = all(keyword.arg not in (None, _FLAG) for keyword in call.keywords)
    plain = not any(isinstance(each, ast.Starred) for each in call.args)
    return named and plain and len(call.args) + len(call.keywords) > 0 and len(call.args) <= most


def _behind(path: str, lines: list[bytes], node: ast.expr, text: bytes) -> Edit:
    end = end_of(lines, node)
    return Edit(path, end, end, b"", text)
