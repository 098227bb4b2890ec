"""Whether it may be seen that a branch copies a tensor where eager keeps it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.nodes import called, dotted, named_parameters, own_nodes
from transforms.python.flow.sites import Site
from transforms.python.flow.sources import Function
from transforms.python.writing.callees import file_nodes
from transforms.python.writing.held import Held
from transforms.python.writing.memory import Memory
from transforms.python.writing.neutral import makes_views
from transforms.python.writing.place import Place
from transforms.python.writing.traces import COPY


def copy_is_seen(place: Place, sites: Collection[ast.AST]) -> bool:
    """Whether it may be seen that `sites`, branches that keep a tensor, copy it instead.

    It may where the copy, or what the tensor was made of, is written in place below, by a function of the file that is
    given it or by a caller in the file, and where it is stored. Callers elsewhere are not asked: in other sizes they
    get a copy from eager too.
    """
    memory = Memory(place, dict.fromkeys(sites, ()))
    if memory.is_written() or memory.is_stored() or _a_callee_writes(place, memory, ()):
        return True
    return place.inlined and memory.is_returned() and _a_caller_writes(place, memory, ())


def is_seen(place: Place, branch: ast.If | ast.IfExp) -> bool:
    """Whether it may be seen that a branch gives a view or a copy of a tensor where eager keeps it.

    A view is another tensor, but what is written in place is the same memory.
    """
    if not makes_views(branch):
        return copy_is_seen(place, [branch])
    return any(write.of_tensor and COPY in write.held for write in Memory(place, {branch: ()}).writes)


def _a_callee_writes(place: Place, memory: Memory, above: tuple[int, ...]) -> bool:
    """Whether a function of the file that is given the copy writes it, or gives it to another one that does."""
    for call, arguments in memory.passed:
        for function in _called(place, memory, call):
            if function.lineno not in above:
                callee = _caller(place, function, own_nodes(function), call)
                inside = Memory(callee, {}, _parameters(function, call, arguments))
                if inside.is_written() or _a_callee_writes(callee, inside, (*above, function.lineno)):
                    return True
    return False


def _called(place: Place, memory: Memory, call: ast.Call) -> list[Function]:
    """The functions and methods of the file that a call may be of."""
    name = called(call)
    if dotted(call.func) == f"self.{name}":
        return memory.layers.methods(name)
    nodes = file_nodes(place.layout.source) if isinstance(call.func, ast.Name) else ()
    return [n for n in nodes if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name == name]


def _parameters(function: Function, call: ast.Call, arguments: Sequence[ast.expr]) -> set[str]:
    """The parameters of a function that a call gives these arguments."""
    names = _positional(function, call)
    rest = function.args.vararg.arg if function.args.vararg is not None else ""
    placed = [(argument, names[index] if index < len(names) else rest) for index, argument in enumerate(call.args)]
    placed += [(keyword.value, keyword.arg or "") for keyword in call.keywords]
    return {name for argument, name in placed if argument in arguments and name}


def _a_caller_writes(place: Place, copied: Memory, above: tuple[str, ...]) -> bool:
    """Whether a caller in the same file writes what the function gives, or another one that it gives it to."""
    name = place.function.name
    if name in above:
        return False
    nodes = file_nodes(place.layout.source)
    if not nodes:
        return True
    names = {name, *_applying(place.function, nodes)}
    named = {id(n) for n in nodes if not names.isdisjoint((getattr(n, "id", None), getattr(n, "attr", None)))}
    for other in (node for node in nodes if isinstance(node, ast.ClassDef)):
        members = [member.lineno for member in other.body if getattr(member, "name", "") == name]
        if members and place.function.lineno not in members:  # its `self.name` is another one
            named -= {id(node) for node in ast.walk(other) if dotted(node) == f"self.{name}"}
    for function in (node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))):
        own = own_nodes(function)
        for call in [node for node in own if isinstance(node, ast.Call) and id(node.func) in named]:
            caller = _caller(place, function, own, call)
            memory = Memory(caller, {call: _passed(place.function, call, copied.kept)})
            if memory.is_written():
                return True
            if memory.is_returned() and _a_caller_writes(caller, memory, (*above, name)):
                return True
    return False


def _applying(function: Function, nodes: Sequence[ast.AST]) -> Iterator[str]:
    """The names by which a file calls `apply` where the function may be `forward` of a torch.autograd.Function."""
    decorators = {dotted(decorator) for decorator in function.decorator_list}
    if function.name == "forward" and not decorators.isdisjoint(("staticmethod", "classmethod")):
        yield "apply"
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and node.value.attr == "apply":
                yield from (dotted(target) for target in node.targets)


def _positional(function: Function, call: ast.Call) -> list[str]:
    """The parameters that a call gives its arguments to, by their places."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"]) else names


def _passed(function: Function, call: ast.Call, kept: Held) -> list[ast.expr]:
    """The arguments that parameters take which hold what is kept; all of `apply`, which gives a context beside them."""
    if called(call) != function.name:
        return [*call.args, *(keyword.value for keyword in call.keywords)]
    names = _positional(function, call)
    rest, named = (each.arg if each is not None else "" for each in (function.args.vararg, function.args.kwarg))
    by_place = any(map(kept.get, [*names, rest]))
    by_name = any(map(kept.get, [*names, *(each.arg for each in function.args.kwonlyargs), named]))
    unpacked = next((i for i, argument in enumerate(call.args) if isinstance(argument, ast.Starred)), len(call.args))
    given = [
        argument
        for index, argument in enumerate(call.args)
        if (by_place if index >= unpacked else kept.get(names[index] if index < len(names) else rest))
    ]
    of_names = {each.arg for each in named_parameters(function.args)}
    for keyword in call.keywords:
        if by_name if keyword.arg is None else kept.get(keyword.arg if keyword.arg in of_names else named):
            given.append(keyword.value)
    return given


def _caller(place: Place, function: Function, nodes: Sequence[ast.AST], call: ast.Call) -> Place:
    """A call in the same file as a place; of who calls the function around it nothing is known."""
    values = Interpreter(function, nodes)
    return Place(Site("call", call, call, values.value(call)), function, nodes, values, place.layout, place.names)
