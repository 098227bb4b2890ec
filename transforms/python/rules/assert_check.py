"""An assertion on sizes becomes a check that raises AssertionError.

    assert x.shape[0] == n, "…"      torch._check_with(AssertionError, x.shape[0] == n, lambda: "…")
    assert x.shape[0] == n           assert expect_true(x.shape[0] == n)
    torch._assert(x.size(0) == n, "…")   torch._check_with(AssertionError, x.size(0) == n, lambda: "…")

What it does: known sizes raise and guard as before; unknown ones are checked when the code runs.

Why: `assert` needs an answer while tracing.

Fix safety: safe; for review where the condition holds an `or`, whose guard is then one instead of two, where a size is
compared with what is not known for a number (one of numpy's gives truths that no check takes), and where there is no
message to give, or one that may be no string or reads the frame it is made in. Not offered where Dynamo reads the
function: it makes a check of an `assert` of one comparison with a constant message or none. Of all others it asks, and
what to write instead is said, where split-assert does not write it; torch._assert is named, as it is where its message
may be no string, or making it does more than read. Left is what the function or a caller that symbols reach may catch.
Under `python -O`, which drops assertions, the check refuses what the assertion let pass; in a file that asks for
`__debug__` it stays an assertion.

References: torch/__init__.py (_check_with, _assert), torch/fx/experimental/symbolic_shapes.py (expect_true).
"""

from __future__ import annotations

import ast
import re
from contextlib import suppress

import libcst as cst

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.imported import torch_name
from transforms.python.writing.checks import check_text, is_caught
from transforms.python.writing.comments import directives_beside
from transforms.python.writing.logic import Undecided
from transforms.python.writing.messages import check_lazy, is_text, only_reads
from transforms.python.writing.names import Layout
from transforms.python.writing.nodes import code
from transforms.python.writing.place import Change, Place, Rewrite
from transforms.python.writing.traced import asked_of

NAME = "assert-check"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.SAFE
PRECEDENCE = 110
EXAMPLES = (
    Example("def f(x: Tensor):\n    assert x.dim() == 2\n    return x\n", None, "ranks are no symbols"),
    Example(
        "def f(x: Tensor):\n    assert x.size(0) == 2, 'two'\n    return x\n",
        "def f(x: Tensor):\n    torch._check_with(AssertionError, x.size(0) == 2, lambda: 'two')\n    return x\n",
    ),
    Example(
        "if not __debug__:\n    print()\n\n\ndef f(x: Tensor):\n    assert x.size(0) == 2, 'two'\n    return x\n",
        "if not __debug__:\n    print()\n\n\ndef f(x: Tensor):\n"
        "    from torch.fx.experimental.symbolic_shapes import expect_true\n\n"
        "    assert expect_true(x.size(0) == 2), 'two'\n    return x\n",
        "it is dropped under `python -O` as before",
    ),
    Example(
        "def f(x: Tensor):\n    torch._assert(x.size(0) == 2, 'two')\n    return x\n",
        "def f(x: Tensor):\n    torch._check_with(AssertionError, x.size(0) == 2, lambda: 'two')\n    return x\n",
    ),
    Example(
        "def f(x: Tensor):\n    try:\n        assert x.size(0) == 2, 'two'\n    except AssertionError:\n"
        "        return x.sum()\n    return x\n",
        None,
        "what is caught decides",
    ),
)

MESSAGE = "an assertion on sizes is a check"
CAUGHT = "the function or a caller may catch what the assertion raises, so the answer is needed while tracing"
TRACED, ASKING = "Dynamo turns this assertion into a check by itself", "asked-assert"
ASKED = "torch._assert asks for the answer, in Dynamo too: torch._check with the same condition defers it"


def rewrite(place: Place) -> Rewrite | None:
    """The check in place of the assertion, or the assertion of what is expected where it has no message."""
    node = place.site.node
    if place.site.kind == "asserted" and isinstance(node, ast.Call):
        return _of_call(place, node)
    if not isinstance(node, ast.Assert):
        return None
    if place.inlined:
        reason = asked_of(node, place.values) or TRACED
        return Rewrite(Level.MANUAL, MESSAGE, reason=reason, refusal="traced-assert" if reason == TRACED else ASKING)
    if is_caught(place, node):
        raise Undecided(CAUGHT)
    tree = place.tree(node.test)
    if not place.shared and node.msg is not None and _may_be_checked(place, node.msg):
        with suppress(Undecided):  # an operand that may not be moved is asked by itself, below
            condition = place.conditions.symbolic(tree)
            if place.conditions.surely_bool(condition):
                return _check(place, node, node.test, condition, node.msg)
        place.names.used = set()
    return Rewrite(Level.REVIEW, MESSAGE, place.replaced(node.test, place.conditions.expected(tree)))


def _may_be_checked(place: Place, message: ast.expr) -> bool:
    """Whether a check raises what the assertion did: with the same message, and under `python -O` as well."""
    return is_text(place, message) and b"__debug__" not in place.layout.source


def _of_call(place: Place, node: ast.Call) -> Rewrite:
    """The check in place of a call of torch._assert, which is a statement by itself."""
    statement = next((s for s in place.nodes if isinstance(s, ast.Expr) and s.value is node), None)
    plain = torch_name(node.func) == "torch._assert" and len(node.args) == 2 and not node.keywords
    if place.inlined or place.shared or statement is None or not plain:
        return Rewrite(Level.MANUAL, MESSAGE, reason=ASKED, refusal="asserted")
    if is_caught(place, statement):
        raise Undecided(CAUGHT)
    condition = place.conditions.symbolic(place.tree(node.args[0]))
    if not place.conditions.surely_bool(condition) or not (is_text(place, node.args[1]) and only_reads(node.args[1])):
        return Rewrite(Level.MANUAL, MESSAGE, reason=ASKED, refusal="asserted")
    return _check(place, node, node.args[0], condition, node.args[1])


def _check(
    place: Place, node: ast.Assert | ast.Call, test: ast.expr, condition: cst.BaseExpression, message: ast.expr
) -> Rewrite:
    check_lazy(message)
    place.names.builtin("AssertionError")
    layout, start, end = place.layout, place.layout.start(node), place.layout.end(node)
    indent = layout.indent(node) if isinstance(node, ast.Assert) else None
    text = f"{place.names.torch}._check_with(AssertionError, {code(condition)}, lambda: {place.text(message)})"
    if isinstance(node, ast.Assert) and indent is not None and _ends_line(layout, end):
        beside = directives_beside(layout, node, message) if message.lineno > node.lineno else ((), ())
        if any(beside):
            end = layout.line_end(layout.line_of(end))
        text = check_text(place, "_check_with(AssertionError, ", condition, message, indent, beside)
    plain = place.values.value(test).numeric and not re.search(r"\bsym_(?:or|not)\(", code(condition))
    level = Level.SAFE if plain else Level.REVIEW
    return Rewrite(level, MESSAGE, (Change(start, end, text),))


def _ends_line(layout: Layout, end: int) -> bool:
    """Whether no other statement stands on the line behind a statement."""
    return not layout.text(end, layout.line_end(layout.line_of(end))).lstrip().startswith(";")
