"""What Dynamo makes of an assertion: a check where it is the last thing to be asked and says a constant, else a guard.

From torch/_dynamo/symbolic_convert.py (generic_jump): a check is made at the jump that stands before the assertion's
own `raise`, where nothing is computed for its message. Every other jump asks, and so does a builtin that looks for one
answer among several. Each form is compiled over unknown sizes in tests/corpus/test_asserting.py.
"""

from __future__ import annotations

import ast

from transforms.python.flow.asking import asks
from transforms.python.flow.interpret import Interpreter
from transforms.python.flow.values import SEQUENCE, SHAPE, TUPLE

AND = "Dynamo asks for each operand of `and` but the last: write one assert for each"
OR = "Dynamo asks for each operand of `or` but the last: write `in` a tuple, or sym_or, which ask for none"
CHAIN = "Dynamo asks for the comparisons of a chain: write one assert for each"
NOT = "Dynamo asks for what `not` turns: assert the opposite comparison"
NOT_IN = "Dynamo asks for what `not in` turns: write one assert with `!=` for each"
LOOKED_UP = "Dynamo asks for a size that it looks up in a set, a dict or a range: write `in` a tuple"
MAY_LOOK_UP = "Dynamo asks for the size if that is a set, a dict or a range: write `in` a tuple"
SHAPES = "Dynamo asks whether shapes differ: write `!=` for the sizes, joined by sym_or"
CHOICE = "Dynamo asks for what a choice gives first: write an `if` with an assert on each path"
ALL = "Dynamo asks for each element that all(…) is given: assert each in a loop"
ANY = "Dynamo asks for each element that any(…) is given: join them by sym_or"
MESSAGE = "Dynamo makes a check of an assertion only if its message is a constant: leave out what is computed"

_LISTS = frozenset({"list", "tuple", "sorted"})
_COMPUTED = (ast.Name, ast.Call, ast.FormattedValue, ast.Subscript, ast.Mod)


def asked_of(node: ast.Assert, values: Interpreter) -> str:
    """Why Dynamo asks for what is asserted, and what to write instead; "" where it makes a check."""
    computed = node.msg is not None and any(isinstance(part, _COMPUTED) for part in ast.walk(node.msg))
    return _asked(node.test, values) or (MESSAGE if computed else "")


def _asked(test: ast.expr, values: Interpreter) -> str:
    if not asks(values.value(test)):
        return ""
    match test:
        case ast.BoolOp(op=operator, values=[*before, last]):
            early = AND if isinstance(operator, ast.And) else OR
            return early if any(map(asks, map(values.value, before))) else _asked(last, values)
        case ast.IfExp(body=body, orelse=last):
            return CHOICE if asks(values.value(body)) else _asked(last, values)
        case ast.NamedExpr(value=value):
            return _asked(value, values)
        case ast.UnaryOp(op=ast.Not()):
            return NOT
        case ast.Call(func=ast.Name(id="all")):
            return ALL
        case ast.Call(func=ast.Name(id="any")):
            return ANY
        case ast.Compare(ops=[_, _, *_]):
            return CHAIN
        case ast.Compare(ops=[ast.NotIn()]):
            return NOT_IN
        case ast.Compare(ops=[ast.In()], comparators=[held]) if not _is_list(held, values):
            return MAY_LOOK_UP if isinstance(held, (ast.Name, ast.Attribute, ast.Subscript)) else LOOKED_UP
        case ast.Compare(left=left, ops=[ast.NotEq()]) if values.value(left).shapelike:
            return SHAPES
    return ""


def _is_list(held: ast.expr, values: Interpreter) -> bool:
    """Whether something is a list or a tuple, of which Dynamo compares each element."""
    made = isinstance(held, ast.Call) and isinstance(held.func, ast.Name) and held.func.id in _LISTS
    literal = isinstance(held, (ast.Tuple, ast.List, ast.ListComp, ast.GeneratorExp))
    kind = values.value(held).kind
    return made or literal or kind in (TUPLE, SHAPE) or (kind == SEQUENCE and not isinstance(held, ast.Call))
