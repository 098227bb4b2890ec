"""Calls of compiled functions in a program's own files: which they are, and what they give for a parameter."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from codemod.fix.catching import parsed
from codemod.fix.lines import Lines
from codemod.fix.trees import Tree
from codemod.fix.trial import Call
from codemod.probe.answers import Answer

NAME = r"\w+(?:\['\w+'\]|\[\d+\])?"
"""What torch names an argument by: its parameter, or `args[0]` and `kwargs['x']` of those that take all others."""
_ELEMENT = re.compile(r"(?P<name>\w+)\[(?:'(?P<keyword>\w+)'|(?P<place>\d+))\]")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_of(call: Call, answer: Answer) -> bool:
    """Whether a call is of the compiled function that an answer is about."""
    _, line, name = call.function
    return answer.function.startswith(f"{name} (") and answer.function.endswith(f":{line})")


def from_own_trees(calls: Sequence[Call], lines: Lines) -> Iterator[tuple[Tree, str, Call, list[str]]]:
    """The calls from trees of the user's own, as they were before any change, each with its function's parameters."""
    for call in calls:
        path, line, name = call.function
        tree, callee = lines.tree(call.path), lines.tree(path)
        if tree is None or tree.package or callee is None:
            continue
        function = lines.original(callee, path, line)
        parameters = parameters_of(lines.source(callee, function[0]), function[1], name)
        place = lines.original(tree, call.path, call.line)
        column = call.column if lines.unchanged(tree, *place) else -1
        end = place[1] + call.end[0] - call.line, call.end[1]
        yield tree, place[0], Call(call.function, *place, column, end), parameters


def call_at(tree: ast.Module, call: Call) -> ast.Call | None:
    """The node of a call that was recorded; None where it is not to be told from others."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_at(node, call)]
    return calls[0] if len(calls) == 1 else None


def _is_at(node: ast.Call, call: Call) -> bool:
    ends = call.column < 0 or (node.col_offset, node.end_lineno, node.end_col_offset) == (call.column, *call.end)
    return node.lineno == call.line and ends


def parameters_of(source: bytes, line: int, name: str) -> list[str]:
    """The names of a function's positional parameters, that of the instance apart; empty where it is not there.

    The last may be that of `*args`, with its asterisk.
    """
    tree = parsed(source)
    if tree is None:
        return []
    methods = {id(item) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for item in node.body}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            if first <= line <= node.lineno:
                names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
                names += [f"*{node.args.vararg.arg}"] if node.args.vararg is not None else []
                return names[1:] if id(node) in methods else names
    return []


def argument_of(node: ast.Call, parameters: Sequence[str], name: str) -> ast.expr | None:
    """What a call gives for NAME, of one of the positional `parameters` or not; None where that is not seen."""
    rest, behind = rest_of(name)
    taken = rest or keyword_of(name) or name
    index = parameters.index(taken) + behind if taken in parameters else len(node.args)
    if any(isinstance(argument, ast.Starred) for argument in node.args[: index + 1]):
        return None
    named = next((keyword.value for keyword in node.keywords if keyword.arg == taken), None)
    return node.args[index] if index < len(node.args) else named


def keyword_of(name: str) -> str:
    """The name that a call gives an argument by, of `kwargs['x']`; "" of other NAMEs."""
    element = _ELEMENT.fullmatch(name)
    return (element["keyword"] or "") if element is not None else ""


def rest_of(name: str) -> tuple[str, int]:
    """("*args", 0) of `args[0]`: the parameter, and how many stand before; ("", 0) of other NAMEs."""
    element = _ELEMENT.fullmatch(name)
    return (f"*{element['name']}", int(element["place"])) if element is not None and element["place"] else ("", 0)


def calls_beside(tree: ast.Module, inner: ast.AST) -> Iterator[ast.Call]:
    """The calls of the function around a node, or of the module's own statements, without those of functions inside."""
    around = (node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS))
    bodies = [function.body for function in around if any(node is inner for node in ast.walk(function))]
    pending: list[ast.AST] = [*[tree.body, *bodies][-1]]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, _FUNCTIONS):
            pending += ast.iter_child_nodes(node)


def name_of(call: ast.Call) -> str:
    """The last part of the name of what is called, "" where that has none."""
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
