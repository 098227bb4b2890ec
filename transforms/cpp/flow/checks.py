"""Checks: the macros of c10 that raise, and where in their calls the condition stands."""

from __future__ import annotations

from transforms.cpp.reading.tree import Node

CHECKS = frozenset(
    {"TORCH_CHECK", "TORCH_CHECK_VALUE", "TORCH_CHECK_INDEX", "TORCH_CHECK_TYPE", "TORCH_CHECK_LINALG"}
    | {"TORCH_CHECK_NOT_IMPLEMENTED", "TORCH_INTERNAL_ASSERT", "TORCH_INTERNAL_ASSERT_DEBUG_ONLY", "AT_ASSERT"}
    | {"AT_ASSERTM", "TORCH_CHECK_IF_NOT_ON_CUDA", "TORCH_CHECK_WITH", "CHECK", "assert", "STD_TORCH_CHECK"}
)
"""They raise where their condition, the first argument (of TORCH_CHECK_WITH the second), does not hold."""
COMPARING = {
    f"TORCH_CHECK_{name}": operator
    for name, operator in (("EQ", "=="), ("NE", "!="), ("LT", "<"), ("LE", "<="), ("GT", ">"), ("GE", ">="))
}
"""They raise where the comparison of their two arguments does not hold, and say both (c10/util/Exception.h)."""
_ALONE = ("TORCH_CHECK_VALUE", "TORCH_CHECK_INDEX", "TORCH_CHECK_TYPE", "TORCH_CHECK_LINALG")
DEFERRED = {
    "TORCH_CHECK": "TORCH_SYM_CHECK",
    "TORCH_INTERNAL_ASSERT": "TORCH_SYM_INTERNAL_ASSERT",
    **dict.fromkeys((*_ALONE, "TORCH_CHECK_NOT_IMPLEMENTED"), ""),
}
"""The macros whose condition can be left to the running graph, and the twin that takes a SymBool, where there is one
(c10/core/SymBool.h); where there is none, the SymBool is asked for what is expected."""
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""The operators of comparisons, each with that which says the same of the sides turned round."""
COMPARISONS = frozenset(MIRRORED)
FAILURES = frozenset({"AT_ERROR"})
"""They raise in any case (c10/util/Exception.h)."""


def called(node: Node) -> str:
    """The unqualified name of what a call expression calls, `.name` of a method, with its template arguments."""
    function = node.field("function")
    if function is None:
        return ""
    if function.kind == "field_expression":
        return f".{function.fields['field'].packed}"
    while function.kind == "qualified_identifier" and "name" in function.fields:
        function = function.fields["name"]
    if function.kind in ("identifier", "template_function", "primitive_type", "qualified_identifier"):
        return function.packed
    return function.beginning(100).rpartition("::")[2].strip()


def exits(node: Node) -> bool:
    """Whether a statement or a block ends with leaving the function."""
    last = _last(node)
    return last is not None and (last.kind in _EXITS or _fails(last))


def throws(node: Node) -> bool:
    """Whether a statement or a block ends with an exception."""
    last = _last(node)
    return last is not None and (last.kind == "throw_statement" or _fails(last))


_BLOCKS = frozenset({"compound_statement", "case_statement", "else_clause"})
_EXITS = frozenset({"return_statement", "throw_statement", "co_return_statement"})


def _last(node: Node) -> Node | None:
    while node.kind in _BLOCKS:
        if not node.children:
            return None
        node = node.children[-1]
    return node


def _fails(node: Node) -> bool:
    """Whether a statement is a check that never holds."""
    if node.kind != "expression_statement" or not node.children or node.children[0].kind != "call_expression":
        return False
    name, arguments = called(node.children[0]), node.children[0].fields["arguments"].children
    return name in FAILURES or (name in CHECKS and bool(arguments) and arguments[0].kind == "false")
