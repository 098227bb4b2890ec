"""Functions of the same file: their definitions, and which of them are called where a `catch` takes what is raised."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from tree_sitter import Node as TreeSitterNode

from transforms.cpp.flow.checks import called
from transforms.cpp.reading.literals import without_literals
from transforms.cpp.reading.syntax import parse_span
from transforms.cpp.reading.tree import Node, build

LIBRARY = re.compile(r"(?:::)?(?:at|torch|std|c10)::\w+$")
_TRY = re.compile(rb"try(?<!\wtry)\s*\{")
"""As `_definitions`, a search that begins with a word of its own: Python looks for that before it tries to match."""
_CALL = re.compile(rb"(?<![\w.>])(\w+)\s*(?:<[\w:, ]*>\s*)?\(")
_BEHIND = re.compile(rb"\s*(?:const\s*)?(?:noexcept\s*)?\{")
_HEAD = 500
"""So many bytes the result and the attributes of a function may take."""
_LONGEST = 100_000


def parameters(definition: Node) -> dict[str, str]:
    """The names of a function's parameters, each with its type as written."""
    found: dict[str, str] = {}
    for part in definition.fields["declarator"].walk():
        spelled, declarator = part.field("type"), part.field("declarator")
        if part.kind == "parameter_declaration" and spelled is not None and declarator is not None:
            names = [name.text for name in declarator.walk() if name.kind == "identifier"]
            found.update(dict.fromkeys(names[-1:], spelled.text))
    return found


def own_functions(source: bytes, call: Node) -> Sequence[Node]:
    """The functions of the same file that a call may be of, those with too few parameters left out.

    What is qualified with a namespace of operators alone is an operator.
    """
    function = call.fields["function"]
    qualified = function.kind == "qualified_identifier"
    if function.kind != "identifier" and (not qualified or LIBRARY.match(function.text)):
        return ()
    count = len(call.fields["arguments"].children)
    return [each for each in _definitions(source, called(call).encode()) if len(parameters(each)) >= count]


@functools.lru_cache(maxsize=4)
def _code(source: bytes) -> bytes:
    return without_literals(source)


@functools.lru_cache(maxsize=256)
def _definitions(source: bytes, name: bytes) -> Sequence[Node]:
    """The definitions in a file of the functions of one name."""
    found, code = [], _code(source)
    for match in re.finditer(rb"%b(?<!\w%b)\s*\(" % (re.escape(name), re.escape(name)), code):
        closed = _closing(code, match.end(), b"()")
        opened = _BEHIND.match(code, closed)
        if opened is None:
            continue
        start = max(code.rfind(mark, max(0, match.start() - _HEAD), match.start()) for mark in (b";", b"}", b"{")) + 1
        tree, masked = parse_span(source, start, _closing(code, opened.end(), b"{}"))
        definition = _function(tree.root_node, name)
        if definition is not None:
            found.append(build(definition, masked))
            for node in found[-1].walk():  # a tree whose nodes know their parents is never freed
                node.parent = None
    return found


@functools.lru_cache(maxsize=8)
def called_in_try(source: bytes) -> frozenset[str]:
    """The functions that a file calls in a `try`, and those that these call, as far as the file defines them."""
    if _TRY.search(source) is None:
        return frozenset()
    code = _code(source)
    bodies = [code[match.end() : _closing(code, match.end(), b"{}")] for match in _TRY.finditer(code)]
    found, pending = set[bytes](), [name for body in bodies for name in _CALL.findall(body)]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            bodies = [code[each.start : each.end] for each in _definitions(source, name)]
            pending += (inner for body in bodies for inner in _CALL.findall(body))
    return frozenset(name.decode("utf-8", "replace") for name in found)


def _function(root: TreeSitterNode, name: bytes) -> TreeSitterNode | None:
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "function_definition" and node.child_by_field_name("body") is not None:
            declarator = node.child_by_field_name("declarator")
            return node if declarator is not None and name in (declarator.text or b"") else None
        pending += reversed(node.named_children)
    return None


def _closing(source: bytes, begin: int, pair: bytes) -> int:
    """The offset behind the bracket that closes the one before `begin`."""
    depth = 1
    for bracket in re.compile(rb"[%s]" % re.escape(pair)).finditer(source, begin, begin + _LONGEST):
        depth += 1 if bracket[0] == pair[:1] else -1
        if not depth:
            return bracket.end()
    return begin
