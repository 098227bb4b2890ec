"""Branches that a symbolic tensor never enters."""

from __future__ import annotations

from transforms.cpp.flow.engine import Flow
from transforms.cpp.reading.tree import Node

# Layouts and backends without fake tensors.
_CONCRETE = frozenset({"is_quantized", "is_mkldnn", "is_vulkan", "is_metal"})
# A tensor with symbolic sizes is a FakeTensor or wraps one, so it is always subclass-like
# (aten/src/ATen/TensorSubclassLikeUtils.h).
_SUBCLASS = frozenset({"isTensorSubclassLike", "areAnyTensorSubclassLike", "areAnyOptionalTensorSubclassLike"})


def barred(flow: Flow, condition: Node, taken: bool) -> bool:
    """Whether no symbolic tensor can be at hand where `condition` is true (`taken`) or false (not `taken`)."""
    node = condition
    while node.kind in ("condition_clause", "parenthesized_expression") and node.children:
        node = node.field("value") or node.children[-1]
    if node.kind == "unary_expression" and node.token == "!":
        return barred(flow, node.children[0], not taken)
    if node.kind == "binary_expression" and node.token in ("&&", "||"):
        both = (node.token == "&&") == taken
        return both and any(barred(flow, child, taken) for child in node.children)
    if node.kind == "identifier":
        variable = flow.lookup(node.text)
        return variable is not None and variable.initial is not None and barred(flow, variable.initial, taken)
    if node.kind != "call_expression":
        return False
    name = node.fields["function"].text.replace("->", ".").replace("::", ".").rpartition(".")[2]
    return name in _CONCRETE if taken else name in _SUBCLASS
