"""Helpers take and return SymInts where their callers have them.

What it does: where a symbolic value is passed to a helper function of the tree that takes `int64_t` or `IntArrayRef`,
and the helper's own body can follow, the parameter becomes `c10::SymInt` (by value) or `c10::SymIntArrayRef`, in the
definition and in every declaration; a returned value likewise. All callers in the tree are checked: one that cannot
give or take the symbolic type keeps the helper as it is.

Why: the chain behind an accessor goes on into the helper; the helper is where it otherwise throws.

Fix safety: review. A signature changes, which code outside the tree may depend on.

References: aten/src/ATen/ExpandUtils.h and aten/src/ATen/functorch/BatchRulesHelper.h went this way.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node, Tree

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.state import Emission
from transforms.cpp.reading.facts import Function
from transforms.cpp.reading.types import symbolic_spelling

NAME = "helper-signature"
MODE = Mode.DIRECT_THROW
LEVEL = Level.REVIEW
EXAMPLES = (
    Example(
        "static Tensor keep(const Tensor& x, int64_t n) { return x.narrow(0, 0, n); }\n"
        "Tensor f(const Tensor& x) { return keep(x, x.size(0)); }",
        "static Tensor keep(const Tensor& x, c10::SymInt n) { return x.narrow_symint(0, 0, n); }\n"
        "Tensor f(const Tensor& x) { return keep(x, x.sym_size(0)); }",
    ),
    Example(
        "static int64_t twice(int64_t n) { for (int64_t i = 0; i < n; i++) {} return 2 * n; }\n"
        "Tensor f(const Tensor& x) { return x.narrow(0, 0, twice(x.size(0))); }",
        None,
        "the helper loops over its argument",
    ),
)

_PARAMETERS = ("parameter_declaration", "optional_parameter_declaration")


def rewrite(tree: Tree, source: bytes, function: Function, slots: frozenset[int]) -> Iterator[Emission] | None:
    """The edits of one definition or declaration; None where its types cannot be found or have no symbolic twin."""
    declarator = _declarator(tree.root_node, function)
    parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
    if declarator is None or parameters is None:
        return None
    listed = [child for child in parameters.named_children if child.type in _PARAMETERS]
    out = []
    for slot in sorted(slots):
        owner = _owner(declarator) if slot < 0 else listed[slot] if slot < len(listed) else None
        spelled = owner.child_by_field_name("type") if owner is not None else None
        if spelled is None:
            return None
        old = source[spelled.start_byte : spelled.end_byte].decode("utf-8", "surrogateescape")
        new = symbolic_spelling(old)
        if new is None:
            return None
        message = f"`{function.name}`: `{old}` → `{new}`"
        out.append(Emission(NAME, spelled.start_byte, spelled.end_byte, new, frozenset({-1 - slot}), message))
    return iter(out)


def rename(tree: Tree, function: Function, name: str) -> Emission | None:
    """The edit that gives a definition or declaration the name `name`; None where its name cannot be found."""
    declarator = _declarator(tree.root_node, function)
    declared = declarator.child_by_field_name("declarator") if declarator is not None else None
    if declared is None:
        return None
    end = declared.end_byte
    message = f"`{function.name}` → `{name}`"
    return Emission(NAME, end - len(function.name.encode()), end, name, frozenset({0}), message)


def _declarator(root: Node, function: Function) -> Node | None:
    """The function_declarator of a definition or declaration."""
    if function.body >= 0:
        node: Node | None = root.descendant_for_byte_range(function.body, function.body + 1)
        while node is not None and not (node.type == "function_definition" and node.start_byte < function.body):
            node = node.parent
        return _inside(node.child_by_field_name("declarator"), function.name) if node is not None else None
    node = root.descendant_for_byte_range(function.start, function.start + 1)
    while node is not None and node.end_byte < function.end - 1:
        node = node.parent
    return _inside(node, function.name) if node is not None else None


def _inside(node: Node | None, name: str) -> Node | None:
    stack = [node] if node is not None else []
    while stack:
        current = stack.pop()
        if current.type == "function_declarator":
            declared = current.child_by_field_name("declarator")
            text = declared.text if declared is not None else None
            if text is not None and text.decode("utf-8", "replace").split("::")[-1] == name:
                return current
        stack.extend(reversed(current.named_children))
    return None


def _owner(declarator: Node) -> Node | None:
    """The definition or declaration that spells the result's type."""
    node: Node | None = declarator.parent
    while node is not None and node.child_by_field_name("type") is None:
        node = node.parent
    return node
