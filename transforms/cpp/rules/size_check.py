"""Checks of sizes that only the running graph can answer are left to it.

What it does: `TORCH_CHECK(x.sym_size(0) == n, "…")` becomes `TORCH_SYM_CHECK(x.sym_size(0).sym_eq(n), "…")`.
Comparisons joined by `&&` and `||` are joined by `sym_and` and `sym_or`, where the second may be asked whatever the
first says; after a bool of C++ (`!b.defined() || …`) they are asked only where that does not decide, as before.

Why: a comparison of SymInts is turned into a bool by a guard, and where a size is unbacked nothing can be guarded:
the operator throws GuardOnDataDependentSymNode. TORCH_SYM_CHECK records the condition, and the graph checks it when it
runs. For integers, and for sizes that have a hint, it is the check as it was: the same error, the same message.

Fix safety: review. It serves unbacked sizes alone, and reads less plainly than the comparison.

References: c10/core/SymBool.h (TORCH_SYM_CHECK, sym_and, sym_or), c10/core/SymInt.h (sym_eq and its kin).
"""

from __future__ import annotations

from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.cpp.flow.events import Comparison, Junction, Replacement, SizeCheck
from transforms.cpp.reading.tree import Node

NAME = "size-check"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
EVENTS = (SizeCheck,)
EXAMPLES = (
    Example(
        'Tensor f(const Tensor& x) { TORCH_CHECK(x.sym_size(0) >= 2, "too few rows"); return x.sum(); }',
        'Tensor f(const Tensor& x) { TORCH_SYM_CHECK(x.sym_size(0).sym_ge(2), "too few rows"); return x.sum(); }',
    ),
    Example(
        'Tensor f(const Tensor& x, const Tensor& y) { TORCH_CHECK(x.size(0) + 1 == y.size(0), "rows"); return x + y; }',
        "Tensor f(const Tensor& x, const Tensor& y) { "
        'TORCH_SYM_CHECK((x.sym_size(0) + 1).sym_eq(y.sym_size(0)), "rows"); return x + y; }',
    ),
    Example(
        'Tensor f(const Tensor& x) { TORCH_CHECK(x.dim() == 1 || x.sym_size(0) > 1, "rows"); return x.sum(); }',
        "Tensor f(const Tensor& x) { "
        'TORCH_SYM_CHECK(x.dim() == 1 ? c10::SymBool(true) : x.sym_size(0).sym_gt(1), "rows"); return x.sum(); }',
    ),
    Example(
        'Tensor f(const Tensor& x) { TORCH_CHECK(x.sym_size(0) == 1 || x.sym_size(1) == 1, "rows"); return x.sum(); }',
        None,
    ),
)
_METHODS = {"==": "sym_eq", "!=": "sym_ne", "<": "sym_lt", "<=": "sym_le", ">": "sym_gt", ">=": "sym_ge"}
_POSTFIX = frozenset({"identifier", "call_expression", "field_expression", "subscript_expression"})


def rewrite(event: SizeCheck) -> Iterator[Replacement]:
    """Name the twin of the macro, and ask SymInts for the comparisons; what changes stands between their operands."""
    whole = event.condition.node
    message = f"`{whole.excerpt}` is checked when the graph runs"
    yield Replacement(event.macro.start, event.macro.end, event.twin, message)
    end, text = whole.start, ""
    for part in _spelled(event.condition):
        if isinstance(part, str):
            text += part
            continue
        if text:
            yield Replacement(end, part.start, text, message)
        end, text = part.end, ""
    yield Replacement(end, whole.end, text, message)


def _spelled(condition: Comparison | Junction) -> Iterator[str | Node]:
    """The condition as a SymBool, in order: nodes that stay, and the text between them."""
    enclosed = condition.node.kind == "parenthesized_expression"
    yield "(" * enclosed
    yield from _compared(condition) if isinstance(condition, Comparison) else _joined(condition)
    yield ")" * enclosed


def _compared(comparison: Comparison) -> Iterator[str | Node]:
    left, right = comparison.left, comparison.right
    opening = "" if comparison.symbolic_left else "c10::SymInt"
    bare = comparison.symbolic_left and left.kind in (*_POSTFIX, "parenthesized_expression")
    yield "" if bare else f"{opening}("
    yield left
    yield f"{'' if bare else ')'}.{_METHODS[comparison.operator]}("
    yield right
    yield ")"


def _joined(junction: Junction) -> Iterator[str | Node]:
    left, right, either = junction.left, junction.right, junction.operator == "||"
    if isinstance(left, Node):
        yield left
        between = left.source[left.end : right.node.start].decode("utf-8", "replace")
        yield between.replace(junction.operator, "? c10::SymBool(true) :" if either else "?")
        yield from _spelled(right)
        yield "" if either else " : c10::SymBool(false)"
    else:
        yield from _spelled(left)
        yield f".{'sym_or' if either else 'sym_and'}("
        yield from _spelled(right)
        yield ")"
