"""A function's syntax as plain Python objects: several passes over it cost no calls into the parser."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node as TreeSitterNode
from tree_sitter import TreeCursor

_SKIPPED = frozenset({"comment", "preproc_call", "preproc_def", "preproc_function_def", "preproc_include"})
_EXCERPT = 200
_SPACE = re.compile(r"\s+::\s*|::\s+")
_KEPT_TOKENS = frozenset({"&", "&&", "*"})


class Node:
    """One node: its type, byte span, named children and fields. Operators are kept in `token`."""

    __slots__ = ("children", "end", "fields", "kind", "parent", "source", "start", "token")

    def __init__(self, kind: str, start: int, end: int, source: bytes) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.source = source
        self.token = ""
        self.children: list[Node] = []
        self.fields: dict[str, Node] = {}
        self.parent: Node | None = None

    @property
    def text(self) -> str:
        """The source of the node as it stands in the (masked) file; a qualified name without white space at `::`."""
        text = self.source[self.start : self.end].decode("utf-8", "surrogateescape")
        if self.kind == "qualified_identifier" and _SPACE.search(text):
            return _SPACE.sub("::", text)
        return text

    @property
    def packed(self) -> str:
        """The text without white space, however it is laid out."""
        return "".join(self.text.split())

    def beginning(self, length: int) -> str:
        """The first `length` characters of the text."""
        end = min(self.end, self.start + 4 * length)
        return self.source[self.start : end].decode("utf-8", "surrogateescape")[:length]

    @property
    def excerpt(self) -> str:
        """The text as a message has it: in one line, cut off where it is long."""
        text = self.beginning(_EXCERPT + 1)
        return " ".join(text.split()) if len(text) <= _EXCERPT else " ".join(text[: _EXCERPT - 1].split()) + "…"

    def field(self, name: str) -> Node | None:
        """The first child in the field `name`, or None."""
        return self.fields.get(name)

    @property
    def bare(self) -> Node:
        """What stands in the parentheses around it, of however many pairs; itself where there are none."""
        node = self
        while node.kind == "parenthesized_expression" and len(node.children) == 1:
            node = node.children[0]
        return node

    def walk(self) -> Iterator[Node]:
        """The node and everything below it, in source order."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending += reversed(node.children)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.start}-{self.end} {self.text[:40]!r}>"


def build(root: TreeSitterNode, source: bytes) -> Node:
    """The plain copy of `root` and its named descendants; comments are left out."""
    cursor = root.walk()
    top = parent = Node(root.type, root.start_byte, root.end_byte, source)
    more = cursor.goto_first_child()
    while more:
        node = _read(cursor, parent, source)
        if node is not None and cursor.goto_first_child():
            parent = node
            continue
        while not (more := cursor.goto_next_sibling()) and parent.parent is not None:
            cursor.goto_parent()
            parent = parent.parent
    return top


def _read(cursor: TreeCursor, parent: Node, source: bytes) -> Node | None:
    """The node at the cursor, made a child of `parent`; None where only its token is kept, or nothing."""
    raw = cursor.node
    assert raw is not None
    field = cursor.field_name
    kind = raw.type
    if not raw.is_named:
        if field == "operator" or (kind in _KEPT_TOKENS and not parent.token):
            parent.token = kind
        return None
    if kind in _SKIPPED:
        return None
    node = Node(kind, raw.start_byte, raw.end_byte, source)
    node.parent = parent
    parent.children.append(node)
    if field is not None and field not in parent.fields:
        parent.fields[field] = node
    return node
