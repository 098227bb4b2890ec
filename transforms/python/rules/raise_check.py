"""A branch on sizes that only raises becomes a check.

    if a.shape[0] != b.shape[0]:                 torch._check_value(
        raise ValueError(f"sizes differ: …")         a.shape[0] == b.shape[0], lambda: f"sizes differ: …"
                                                 )

What it does: for sizes that are known the same exception is raised and the same guard is made; for unknown ones the
check is made when the code runs. The exception keeps its type: `_check` raises RuntimeError, `_check_value` ValueError,
`_check_index` IndexError, `_check_type` TypeError, `_check_not_implemented` NotImplementedError, and `_check_with` any.

Why: the branch needs an answer while tracing, and fails where there is none.

Fix safety: safe. Where Dynamo traces the function, its message may not close over sizes (the handler of torch._check in
torch/_dynamo/variables/torch.py), so the branch stays for known sizes and a check is put behind it; that is for review.

References: torch/__init__.py (_check and its kin).
"""

from __future__ import annotations

import ast
import re

import libcst as cst

from codemod.findings import Level, Mode
from codemod.transform import Example, Rule
from transforms.python.branches import is_elif, pinned, raises
from transforms.python.logic import Undecided, code
from transforms.python.place import WIDTH, Change, Place, Rewrite, folded

CHECKS = {
    "RuntimeError": "_check",
    "ValueError": "_check_value",
    "IndexError": "_check_index",
    "TypeError": "_check_type",
    "NotImplementedError": "_check_not_implemented",
}
MESSAGE = "a branch on sizes that only raises is a check"


def rewrite(place: Place) -> Rewrite | None:
    """The check, or None where neither path of the branch ends in an exception."""
    branch = place.site.node
    if place.site.kind != "if" or not isinstance(branch, ast.If):
        return None
    test = place.cst(branch.test)
    if raises(branch.orelse) and not raises(branch.body):
        changes = place.replaced(branch.test, place.conditions.guarded(test, True))
        return Rewrite(Level.REVIEW, MESSAGE, (*changes, pinned(place, branch, test, True)))
    if not raises(branch.body):
        return None
    raised = branch.body[-1]
    function, message = _parts(raised) if isinstance(raised, ast.Raise) else ("", None)
    clean = (
        function
        and len(branch.body) == 1
        and not branch.orelse
        and not is_elif(place, branch)
        and place.layout.indent(branch) is not None
    )
    if clean and not place.scripted and not (place.inlined and _closes_over(place, message)):
        condition = place.conditions.negated(test)
        plain = not re.search(r"\bsym_(?:or|not)\(", code(condition))
        level = Level.SAFE if plain and not place.inlined else Level.REVIEW
        return Rewrite(level, MESSAGE, (_statement(place, branch, function, condition, message),))
    changes = place.replaced(branch.test, place.conditions.guarded(test, False))
    name = function.partition("(")[0] if function and not function.startswith("_check_with") else "_check"
    return Rewrite(Level.REVIEW, MESSAGE, (*changes, pinned(place, branch, test, False, name)))


def _parts(raised: ast.Raise) -> tuple[str, ast.expr | None]:
    """The check that raises the same exception ("" where none does), and the message."""
    exception = raised.exc
    if exception is None:
        return "", None
    arguments = exception.args if isinstance(exception, ast.Call) else []
    kind = exception.func if isinstance(exception, ast.Call) else exception
    if not isinstance(kind, ast.Name) or raised.cause or len(arguments) > 1 or getattr(exception, "keywords", None):
        return "", None
    if arguments and isinstance(arguments[0], ast.Starred):
        return "", None
    if kind.id not in CHECKS and kind.id != "AssertionError":
        return "", None
    return CHECKS.get(kind.id, f"_check_with({kind.id}, "), arguments[0] if arguments else None


def _closes_over(place: Place, message: ast.expr | None) -> bool:
    return message is not None and any(isinstance(node, ast.Name) for node in ast.walk(message))


def _statement(
    place: Place, branch: ast.If, function: str, condition: cst.BaseExpression, message: ast.expr | None
) -> Change:
    layout = place.layout
    indent, newline = layout.indent(branch) or "", layout.newline
    name, _, kind = function.partition("(")
    called = f"{place.names.torch}.{name}("
    first = f"{kind}{code(condition)}".replace(newline, "\n").replace("\n", newline)
    said = '""' if message is None else layout.text(layout.start(message), layout.end(message))
    comments = "".join(f"{comment}{newline}{indent}" for comment in _comments(place, branch, message))
    text = f"{called}{first}, lambda: {said})"
    if "\n" in text or len(indent) + len(text) > WIDTH:
        if "\n" in said:
            said = f"({newline}{indent}        {said}{newline}{indent}    )"
        asked = code(condition)
        if len(indent) + len(asked) > WIDTH - 5:
            asked = folded(condition, "    ", newline + indent)
        pieces = [*([kind.rstrip(", ")] if kind else []), asked, f"lambda: {said}"]
        text = called + "".join(f"{newline}{indent}    {piece}," for piece in pieces) + f"{newline}{indent})"
    end = layout.end(branch)
    tail = layout.text(end, layout.line_end(branch.end_lineno or branch.lineno)).strip()
    if tail and not tail.startswith("#"):
        raise Undecided("another statement stands on the line of the raise")
    return Change(layout.start(branch), layout.line_end(branch.end_lineno or branch.lineno), comments + text)


def _comments(place: Place, branch: ast.If, message: ast.expr | None) -> list[str]:
    """The comments of the branch outside its message, which keep their order above the check."""
    layout = place.layout
    end = layout.line_end(branch.end_lineno or branch.lineno)
    lines = layout.text(layout.start(branch), end)
    module = cst.parse_module(lines if lines.endswith("\n") else lines + "\n")
    inside = layout.text(layout.start(message), layout.end(message)) if message is not None else ""
    test = layout.text(layout.start(branch.test), layout.end(branch.test))
    found: list[str] = []

    class Visitor(cst.CSTVisitor):
        def visit_Comment(self, node: cst.Comment) -> None:
            found.append(node.value)

    module.visit(Visitor())
    return [one for one in found if one not in inside and one not in test]


RULE = Rule(
    "raise-check",
    Mode.PYTHON_BRANCH,
    Level.SAFE,
    __doc__,
    (
        Example(
            "def f(x: Tensor, y: Tensor):\n    if x.ndim != 2:\n        raise ValueError('2D only')\n    return x\n",
            None,
            "ranks are no symbols",
        ),
        Example(
            "def f(x: Tensor, y: Tensor):\n"
            "    if x.numel() != y.numel():\n"
            "        said = f'{x.shape}'\n"
            "        raise ValueError(said)\n"
            "    return x\n",
            "def f(x: Tensor, y: Tensor):\n"
            "    from torch.fx.experimental.symbolic_shapes import guard_or_false\n\n"
            "    if guard_or_false(x.numel() != y.numel()):\n"
            "        said = f'{x.shape}'\n"
            "        raise ValueError(said)\n"
            "    torch._check_value(\n"
            "        x.numel() == y.numel(),\n"
            '        lambda: "expected x.numel() == y.numel(), which was assumed while tracing",\n'
            "    )\n"
            "    return x\n",
            "a message that is made first stays where it is",
        ),
        Example(
            "def f(x: Tensor, y: Tensor):\n"
            "    if x.shape[0] != y.shape[0]:\n"
            "        raise ValueError('sizes differ')\n"
            "    return x\n",
            "def f(x: Tensor, y: Tensor):\n"
            "    torch._check_value(x.shape[0] == y.shape[0], lambda: 'sizes differ')\n"
            "    return x\n",
        ),
        Example(
            "def f(x: Tensor, y: Tensor):\n"
            "    if x.size(0) < 2 or y.size(0) < 2:  # both\n"
            "        # two are needed\n"
            "        raise IndexError(f'too few: {x.shape}')\n"
            "    return x\n",
            "def f(x: Tensor, y: Tensor):\n"
            "    from torch.fx.experimental.symbolic_shapes import sym_and\n\n"
            "    # both\n"
            "    # two are needed\n"
            "    torch._check_index(\n"
            "        sym_and(x.size(0) >= 2, y.size(0) >= 2),\n"
            "        lambda: f'too few: {x.shape}',\n"
            "    )\n"
            "    return x\n",
        ),
        Example(
            "def f(x: Tensor, y: Tensor):\n    if x.numel() == 0:\n        raise AssertionError\n    return x\n",
            "def f(x: Tensor, y: Tensor):\n"
            '    torch._check_with(AssertionError, x.numel() != 0, lambda: "")\n'
            "    return x\n",
        ),
    ),
)
