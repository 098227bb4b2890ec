"""Finds the data members of structs and classes in the tree of their file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node

_NAMED = ("struct_specifier", "class_specifier")
_SIZE = re.compile(rb"\bsizeof\s*\(?\s*\*?\s*((?:\w+::)*\w+)")
_PLAIN = re.compile(rb"\bis_(?:trivial|trivially_\w+|pod|standard_layout)(?:_v)?\s*<|\batomic<\s*((?:\w+::)*\w+)")
"""What C++ asks to be copied byte by byte (C++ standard, "Properties of classes", "Class template atomic")."""
_SCALARS = frozenset(b"bool char float double int long short unsigned size_t int64_t int32_t uint8_t scalar_t".split())
_HEADERS = (".h", ".hpp", ".hh", ".cuh", ".inl", ".inc")


@dataclass(frozen=True, slots=True)
class Member:
    """A data member: the declaration that it stands in, and the names that this declares."""

    declaration: Node
    spelled: Node
    names: tuple[str, ...]


def copies_bytes(source: bytes) -> bool:
    """Whether a file asks for the size of an object, as memset and memcpy need it, or that its bytes can be copied.

    A SymInt cannot be copied so.
    """
    return any(match[1] not in _SCALARS for asked in (_SIZE, _PLAIN) for match in asked.finditer(source))


def is_header(path: str) -> bool:
    """Whether other files may include a file, and name what it declares."""
    return path.endswith(_HEADERS)


def find_member(root: Node, owner: str, member: str) -> Member | None:
    """The member `member` of the one struct or class that is named `owner`; None where not all that uses it is seen.

    A base, a method that is defined elsewhere or the list of a constructor could give a member a value that its type
    takes and another does not.
    """
    owners = [node for node in _records(root) if _text(node.child_by_field_name("name")) == owner]
    if len(owners) != 1 or owners[0].parent is None or owners[0].parent.type == "template_declaration":
        return None
    body = owners[0].child_by_field_name("body")
    if body is None or any(child.type == "base_class_clause" for child in owners[0].children):
        return None
    sought = None
    for declaration in body.named_children:
        if declaration.type in ("comment", "access_specifier"):
            continue
        if declaration.type == "function_definition" and not declaration.has_error:
            if _initialises(declaration, member):
                return None
            continue
        spelled = declaration.child_by_field_name("type")
        declarators = tuple(declaration.children_by_field_name("declarator"))
        if declaration.type != "field_declaration" or spelled is None or declaration.has_error:
            return None
        if any(declarator.type == "function_declarator" for declarator in declarators):
            return None
        if any(_text(declarator) == member for declarator in declarators):
            values = declaration.child_by_field_name("default_value")
            plain = all(declarator.type == "field_identifier" for declarator in declarators)
            plain &= not any(child.type == "comment" for child in declaration.children)
            sought = Member(declaration, spelled, tuple(map(_text, declarators))) if plain and values is None else None
    return sought


def _initialises(function: Node, member: str) -> bool:
    """Whether a constructor gives a member its value in the list before its body."""
    lists = (child for child in function.named_children if child.type == "field_initializer_list")
    initialisers = (child for listed in lists for child in listed.named_children)
    return any(_text(part) == member for initialiser in initialisers for part in initialiser.named_children[:1])


def _records(root: Node) -> list[Node]:
    records, pending = [], [root]
    while pending:
        node = pending.pop()
        if node.type in _NAMED and node.child_by_field_name("body") is not None:
            records.append(node)
        elif node.type not in ("function_definition", "declaration"):
            pending += node.named_children
    return records


def _text(node: Node | None) -> str:
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""
