"""Whether it may be seen that a branch copies a tensor where eager keeps it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import all_nodes, dotted, own_nodes
from transforms.python.flow.sites import Site
from transforms.python.flow.sources import Function
from transforms.python.writing.held import Held
from transforms.python.writing.memory import COPY, Memory
from transforms.python.writing.neutral import makes_views
from transforms.python.writing.place import Place


def copy_is_seen(place: Place, sites: Collection[ast.AST]) -> bool:
    """Whether it may be seen that `sites`, branches that keep a tensor, copy it instead.

    It may where the copy, or what the tensor was made of, is written in place below, and where it is given away.
    """
    memory = Memory(place, dict.fromkeys(sites, ()))
    if memory.is_written() or memory.is_stored():
        return True
    return place.inlined and memory.is_returned() and not _callers_only_read(place, memory, ())


def is_seen(place: Place, branch: ast.If | ast.IfExp) -> bool:
    """Whether it may be seen that a branch gives a view or a copy of a tensor where eager keeps it.

    A view is another tensor, but what is written in place is the same memory.
    """
    if not makes_views(branch):
        return copy_is_seen(place, [branch])
    return any(write.of_tensor and COPY in write.held for write in Memory(place, {branch: ()}).writes)


def _callers_only_read(place: Place, copied: Memory, above: tuple[str, ...]) -> bool:
    """Whether a function is seen to be called by its own file alone, by code that sees no copy of what it gives."""
    name = place.function.name
    if not place.called_here or name in above:
        return False
    try:
        nodes = all_nodes([ast.parse(place.layout.source)])
    except (SyntaxError, ValueError, RecursionError):
        return False
    named = {id(n) for n in nodes if name in (getattr(n, "id", None), getattr(n, "attr", None))}
    for other in (node for node in nodes if isinstance(node, ast.ClassDef)):
        members = [member for member in other.body if getattr(member, "name", "") == name]
        if members and place.function.lineno not in [
            member.lineno for member in members
        ]:  # its `self.name` is another one
            named -= {id(node) for node in ast.walk(other) if dotted(node) == f"self.{name}"}
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for function in functions:
        own = own_nodes(function)
        for call in [node for node in own if isinstance(node, ast.Call) and id(node.func) in named]:
            named.discard(id(call.func))
            caller = _caller(place, function, own, call)
            memory = Memory(caller, {call: _passed(place.function, call, copied.kept)})
            if memory.is_written() or memory.is_stored():
                return False
            if memory.is_returned() and not _callers_only_read(caller, memory, (*above, name)):
                return False
    return not named


def _passed(function: Function, call: ast.Call, kept: Held) -> list[ast.expr]:
    """The arguments that parameters take which hold what is kept."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"]):
        names = names[1:]
    placed = zip(call.args, [*names, *[""] * len(call.args)], strict=False)
    given = [argument for argument, name in placed if not name or kept.get(name) or isinstance(argument, ast.Starred)]
    return given + [keyword.value for keyword in call.keywords if keyword.arg is None or kept.get(keyword.arg)]


def _caller(place: Place, function: Function, nodes: Sequence[ast.AST], call: ast.Call) -> Place:
    """A call in the same file as a place; of who calls the function around it nothing is known."""
    values = Interpreter(function, nodes)
    return Place(Site("call", call, call, values.value(call)), function, nodes, values, place.layout, place.names)
