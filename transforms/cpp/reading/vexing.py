"""Variables whose initialiser the parser takes for the parameters of a function: `int64_t y(size_of(n));`.

Without knowing what is a type, `T name(a(b), c * d);` reads as a function declaration as well as a variable
(the C++ standard's [dcl.ambig.res]). Inside a function it is nearly always a variable.
"""

from __future__ import annotations

from tree_sitter import Parser

from transforms.cpp.reading.syntax import LANGUAGE
from transforms.cpp.reading.tree import Node, build

_BEFORE = b"x=f"


def as_variable(declarator: Node) -> Node | None:
    """The `init_declarator` that the `function_declarator` is where its parameters read as arguments, else None.

    Its nodes stand at their places in the same source. The caller puts it where `declarator` stood.
    """
    name, parameters = declarator.field("declarator"), declarator.field("parameters")
    if name is None or parameters is None or name.kind != "identifier" or not parameters.children:
        return None
    arguments = _arguments(parameters)
    if arguments is None:
        return None
    variable = Node("init_declarator", declarator.start, declarator.end, declarator.source)
    variable.children = [name, arguments]
    variable.fields = {"declarator": name, "value": arguments}
    variable.parent = declarator.parent
    for node in parameters.walk():  # nothing of it is kept: see flow/outcome.py
        node.parent = None
    name.parent = arguments.parent = variable
    declarator.parent = None
    return variable


def _arguments(parameters: Node) -> Node | None:
    """The argument list that the text of `parameters` is, or None where it can only declare parameters."""
    text = parameters.source[parameters.start : parameters.end]
    tree = Parser(LANGUAGE).parse(_BEFORE + text + b";")
    if tree.root_node.has_error:
        return None
    root = build(tree.root_node, _BEFORE + text + b";")
    offset = parameters.start - len(_BEFORE)
    calls = (node for node in root.walk() if node.kind == "call_expression" and node.start == len(_BEFORE) - 1)
    arguments = next((node.field("arguments") for node in calls), None)
    for node in root.walk():
        node.start += offset
        node.end += offset
        node.source = parameters.source
    for node in root.children:
        node.parent = None
    return arguments
