"""An assertion that Dynamo asks for becomes several that it makes checks of.

    assert h % 8 == 0 and w % 8 == 0, "…"     →     assert h % 8 == 0, "…"
                                                    assert w % 8 == 0, "…"

What it does: the parts are asserted one by one, in the order in which they were asked: the operands of `and`, the
comparisons of a chain (`0 < n <= m`), `!=` for each of `n not in (2, 3)`, the opposite of what `not` turns, and in a
loop what `all(d % 2 == 0 for d in x.shape)` asks. Of `n == 1 or n == m` one part is made, `n in (1, m)`.

Why: Dynamo makes a check that an unknown size may meet when the code runs of an `assert` of one comparison. For every
operand but the last, every comparison of a chain and every element it needs the answer while it traces.

Fix safety: safe: the same is asserted of the same values, with the same message. Only where the parts are such that
Dynamo asks for none of them, where the message is constant, and where what is evaluated twice only reads.

References: torch/_dynamo/symbolic_convert.py (generic_jump).
"""

from __future__ import annotations

import ast
import re

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.writing.asserting import Part, parts, written
from transforms.python.writing.comments import directive_behind
from transforms.python.writing.place import Change, Place, Rewrite
from transforms.python.writing.traced import asked_of

NAME = "split-assert"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.SAFE
PRECEDENCE = 109
_HEAD = "@torch.compile\ndef f(x: Tensor):\n    n, m = x.shape\n"
EXAMPLES = (
    Example(_HEAD + "    assert n == m\n    return x\n", None, "Dynamo makes a check of it"),
    Example(_HEAD + "    assert n == 4 and m == 6, f'{n}'\n    return x\n", None, "Dynamo computes the message first"),
    Example(_HEAD + "    assert n == 4 or m == 6\n    return x\n", None, "neither is asserted"),
    Example(
        _HEAD + "    assert n % 8 == 0 and m % 8 == 0, 'eights'\n    return x\n",
        _HEAD + "    assert n % 8 == 0, 'eights'\n    assert m % 8 == 0, 'eights'\n    return x\n",
    ),
    Example(
        _HEAD + "    assert 0 < n <= m\n    return x\n",
        _HEAD + "    assert 0 < n\n    assert n <= m\n    return x\n",
    ),
    Example(
        _HEAD + "    assert all(size % 2 == 0 for size in x.shape)\n    return x\n",
        _HEAD + "    for size in x.shape:\n        assert size % 2 == 0\n    return x\n",
    ),
    Example(
        _HEAD + "    assert n == 1 or n == m\n    return x\n",
        _HEAD + "    assert n in (1, m)\n    return x\n",
    ),
)

MESSAGE = "Dynamo makes a check of each part of this assertion by itself"


def rewrite(place: Place) -> Rewrite | None:
    """The parts in place of the assertion; None where Dynamo makes a check of it, or of no parts of it."""
    node, layout = place.site.node, place.layout
    if not place.inlined or not isinstance(node, ast.Assert) or not asked_of(node, place.values):
        return None
    found, indent = parts(place, node), layout.indent(node)
    if not found or indent is None:
        return None
    message = f", {_whole(place.text(node.msg))}" if node.msg is not None else ""
    step = layout.unit(place.function)
    every = [_lines(place, part, message, step) for part in found]
    if directive := directive_behind(layout, node):
        for lines in every[:-1]:
            lines[-1] += f"  {directive}"
    text = f"{layout.newline}{indent}".join(line for lines in every for line in lines)
    return Rewrite(Level.SAFE, MESSAGE, (Change(layout.start(node), layout.end(node), text),))


def _lines(place: Place, part: Part, message: str, step: str) -> list[str]:
    loose = isinstance(part.test, (ast.NamedExpr, ast.Yield, ast.YieldFrom))
    condition = _whole(written(place, part.test), loose)
    asserted = f"assert {condition}{message}"
    if part.loop is None:
        return [asserted]
    target, iterated = (_whole(place.text(node)) for node in (part.loop.target, part.loop.iter))
    return [f"for {target} in {iterated}:", f"{step}{asserted}"]


def _whole(text: str, loose: bool = False) -> str:
    """An expression that stands by itself, in parentheses where it is `loose` or runs over lines; `\\` joins none."""
    joined = re.sub(r"[ \t]*\\\r?\n[ \t]*", " ", text)
    if joined != text and ast.dump(ast.parse(f"({joined})")) == ast.dump(ast.parse(f"({text})")):
        text = joined
    return f"({text})" if loose or "\n" in text else text
