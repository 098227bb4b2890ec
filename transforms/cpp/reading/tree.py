"""A function's syntax as plain Python objects: several passes over it cost no calls into the parser."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node as TreeSitterNode
from tree_sitter import TreeCursor

_SKIPPED = frozenset({"comment", "preproc_call", "preproc_def", "preproc_function_def", "preproc_include"})
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
        """The source of the node as it stands in the (masked) file."""
        return self.source[self.start : self.end].decode("utf-8", "surrogateescape")

    def field(self, name: str) -> Node | None:
        """The first child in the field `name`, or None."""
        return self.fields.get(name)

    def walk(self) -> Iterator[Node]:
        """The node and everything below it, in source order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def __repr__(self) -> str:
        return f"<{self.kind} {self.start}-{self.end} {self.text[:40]!r}>"


def build(root: TreeSitterNode, source: bytes) -> Node:
    """The plain copy of `root` and its named descendants; comments are left out."""
    cursor = root.walk()
    top = Node(root.type, root.start_byte, root.end_byte, source)
    _fill(cursor, top, source)
    return top


def _fill(cursor: TreeCursor, parent: Node, source: bytes) -> None:
    if not cursor.goto_first_child():
        return
    while True:
        raw = cursor.node
        assert raw is not None
        field = cursor.field_name
        if raw.is_named:
            kind = raw.type
            if kind not in _SKIPPED:
                node = Node(kind, raw.start_byte, raw.end_byte, source)
                node.parent = parent
                parent.children.append(node)
                if field is not None and field not in parent.fields:
                    parent.fields[field] = node
                _fill(cursor, node, source)
        elif field == "operator" or (raw.type in _KEPT_TOKENS and not parent.token):
            parent.token = raw.type
        if not cursor.goto_next_sibling():
            break
    cursor.goto_parent()
