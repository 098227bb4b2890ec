"""Branches that a symbolic tensor never enters."""

from __future__ import annotations

from transforms.cpp.flow.engine import Flow
from transforms.cpp.reading.tree import Node

# Layouts and backends without fake tensors.
_CONCRETE = frozenset({"is_quantized", "is_mkldnn", "is_vulkan", "is_metal"})
# Nothing traces forward-mode derivatives over symbolic sizes (torch/csrc/autograd/functions/utils.h).
_FORWARD = frozenset({"isFwGradDefined"})
# A tensor with symbolic sizes is a FakeTensor or wraps one, so it is always subclass-like
# (aten/src/ATen/TensorSubclassLikeUtils.h).
_SUBCLASS = frozenset({"isTensorSubclassLike", "areAnyTensorSubclassLike", "areAnyOptionalTensorSubclassLike"})
# How many variables of a condition are followed to what they are initialised with.
_NAMES = 100


def barred(flow: Flow, condition: Node, taken: bool) -> bool:
    """Whether no symbolic tensor arrives where `condition` is true (`taken`) or false (not `taken`).

    It then rests on a call that says so: that the tensor is of a kind without symbolic sizes, or no subclass.
    """
    pending, names = [(condition, taken)], _NAMES
    while pending:
        node, outcome = pending.pop()
        if node.kind in ("condition_clause", "parenthesized_expression") and node.children:
            pending.append((node.field("value") or node.children[-1], outcome))
        elif node.kind == "unary_expression" and node.token == "!" and node.children:
            pending.append((node.children[0], not outcome))
        elif node.kind == "binary_expression" and node.token == ("&&" if outcome else "||"):
            pending += ((child, outcome) for child in node.children)
        elif node.kind == "binary_expression" and node.token in ("&&", "||"):
            if all(barred(flow, operand, outcome) for operand in operands(node)):
                return True
        elif node.kind == "identifier" and names:
            variable = flow.lookup(node.text)
            if variable is not None and variable.initial is not None:
                pending.append((variable.initial, outcome))
                names -= 1
        elif node.kind == "call_expression":
            name = node.fields["function"].text.replace("->", ".").replace("::", ".").rpartition(".")[2]
            if name in (_CONCRETE | _FORWARD if outcome else _SUBCLASS):
                return True
    return False


def operands(node: Node) -> list[Node]:
    """What a chain of one operator combines, from the right."""
    parts, token = [], node.token
    while node.kind == "binary_expression" and node.token == token and len(node.children) == 2:
        parts.append(node.children[1])
        node = node.children[0]
    return [*parts, node]
