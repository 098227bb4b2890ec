"""The smaller of two sizes, which a lowering of Inductor picks with a guard, stays an expression.

    n = V.graph.sizevars.evaluate_min(height, width)      n = Min(height, width)

What it does: `evaluate_min` and `evaluate_max` become Inductor's own `Min` and `Max`, all that stand in one expression
at once.

Why: the choice is guarded, so that what is compiled serves one order of the sizes, and sizes that are unknown have no
order. Where code asks what the choice came to, the guard stays.

Fix safety: review.

References: torch/_inductor/sizevars.py (evaluate_min), torch/_inductor/ir.py (SliceView.normalize_start_end takes
Min and Max for unknown sizes), torch/utils/_sympy/functions.py (Min, Max).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemod.model.findings import Level, Mode
from codemod.model.transform import Example
from transforms.python.flow.nodes import called
from transforms.python.flow.sites import COERCIONS, is_choice
from transforms.python.writing.bindings import imported_names
from transforms.python.writing.logic import Undecided
from transforms.python.writing.place import Change, Place, Rewrite

NAME = "guarded-extremum"
MODE = Mode.PYTHON_BRANCH
LEVEL = Level.REVIEW
PRECEDENCE = 26
_HEAD = (
    "from torch._inductor.lowering import register_lowering\nfrom torch.utils._sympy.functions import Max, Min\n"
    "@register_lowering(aten.f)\ndef f(x):\n    height, width = x.get_size()\n"
)
EXAMPLES = (
    Example(
        f"{_HEAD}    n = V.graph.sizevars.evaluate_min(height, width)\n    if n == width:\n        return x\n",
        None,
        "a branch asks what was chosen",
    ),
    Example(
        f"{_HEAD}    sizes = [V.graph.sizevars.evaluate_max(height - width, 0)]\n    return view(x, sizes)\n",
        f"{_HEAD}    sizes = [Max(height - width, 0)]\n    return view(x, sizes)\n",
    ),
)

MESSAGE = "a lowering guards on which of two sizes is the smaller"
MODULE = "torch.utils._sympy.functions"
_HOLDERS = (ast.BinOp, ast.UnaryOp, ast.List, ast.Tuple, ast.Starred, ast.keyword)
_ASKED = COERCIONS | {"isinstance", "str", "sorted", "sum", "any", "all", "min", "max", "abs"}


def rewrite(place: Place) -> Rewrite | None:
    """The expression of `Min` and `Max`; a refusal where something asks what was chosen."""
    node = place.site.node
    if place.site.kind != "chosen" or not isinstance(node, ast.Call):
        return None
    holder = place.around(node)
    if not place.names.sympy or (isinstance(holder, ast.Call) and is_choice(holder)):
        return Rewrite(Level.MANUAL, MESSAGE)  # nothing is said of it
    choices = [part for part in ast.walk(node) if isinstance(part, ast.Call) and is_choice(part)]
    needed = {_extremum(choice) for choice in choices}
    if missing := needed - imported_names(place.names.top.body, MODULE):
        raise Undecided(f"write {' and '.join(sorted(missing))} of {MODULE}, which this file does not import")
    for asking in _asking(place, node, set()):
        raise Undecided(f"`{ast.unparse(asking)}` may ask what was chosen")
    return Rewrite(Level.REVIEW, MESSAGE, tuple(_changes(place, node, choices)))


def _extremum(call: ast.Call) -> str:
    return called(call).removeprefix("evaluate_").capitalize()


def _changes(place: Place, node: ast.Call, choices: list[ast.Call]) -> Iterator[Change]:
    """The names of the calls; the whole where it stands on many lines, which it may not need any more."""
    start, end = place.layout.start(node), place.layout.end(node)
    if "\n" in place.layout.text(start, end):
        copied = ast.parse(ast.unparse(node), mode="eval").body
        for part in ast.walk(copied):
            if isinstance(part, ast.Call) and is_choice(part):
                part.func = ast.Name(_extremum(part))
        yield Change(start, end, ast.unparse(copied))
        return
    for choice in choices:
        yield Change(place.layout.start(choice.func), place.layout.end(choice.func), _extremum(choice))


def _asking(place: Place, part: ast.AST, followed: set[str]) -> Iterator[ast.AST]:
    """What asks for a value, or for the variable that holds it: all but arithmetic, arguments, lists and returns."""
    holder = place.around(part)
    while isinstance(holder, _HOLDERS) and not (isinstance(holder, ast.UnaryOp) and isinstance(holder.op, ast.Not)):
        part, holder = holder, place.around(holder)
    if isinstance(holder, ast.Assign) and all(isinstance(target, ast.Name) for target in holder.targets):
        names = {target.id for target in holder.targets if isinstance(target, ast.Name)}
        for use in ast.walk(place.function):
            if isinstance(use, ast.Name) and use.id in names - followed and isinstance(use.ctx, ast.Load):
                yield from _asking(place, use, followed | names)
    elif isinstance(holder, ast.Call):
        if part is holder.func or called(holder) in _ASKED:
            yield holder
    elif not isinstance(holder, ast.Return):
        yield holder or part
