"""Walks over `ast` trees that stop where another scope begins."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

_BARE = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
_LEAVES = frozenset(
    {type(None), bool, int, float, complex, str, bytes, type(...)}
    | {leaf for kind in _BARE for leaf in (kind, *kind.__subclasses__())}
)
"""The kinds of what a field may hold that is no node, or one that says nothing by itself."""
_NAMES = _LEAVES | {ast.Name, ast.Constant}
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
"""Statements that what stands behind them in their block is not run after."""
SUSPENDING = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
"""Expressions that do more than give a value."""
_UNORDERED = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp)
"""Expressions that do not evaluate their parts in the order in which they are written."""
_NAMING = frozenset(
    {
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.ExceptHandler,
        ast.MatchAs,
        ast.MatchStar,
        ast.MatchMapping,
    }
)
"""What binds a name that is no node of its own."""
_LATER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.FunctionDef, ast.ClassDef)
"""What evaluates its parts later, or as often as there are elements."""
SIZE_READERS = frozenset({"size", "numel", "dim", "len"})
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
# Names of fields that hold no nodes but leaves, whatever the node (Python's abstract grammar, Parser/Python.asdl).
_PLAIN = frozenset({"id", "attr", "ctx", "op", "ops", "asname", "module", "level", "is_async", "simple", "conversion"})
TELLING = frozenset(
    {ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Return}
    | {ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.comprehension, ast.For, ast.AsyncFor, ast.While}
    | {ast.If, ast.IfExp, ast.Assert, ast.Raise, ast.JoinedStr, ast.Call, ast.BoolOp}
    | {ast.Try, getattr(ast, "TryStar", ast.Try), ast.With, ast.AsyncWith}
    | {ast.Set, ast.SetComp, ast.Dict, ast.DictComp}
)
"""The kinds of nodes that a question about a scope may be about, but for names, attributes and operators."""
TELLING_OF_VALUES = TELLING | {ast.BinOp, ast.Subscript}
"""The same where values are followed: a list may be repeated a size times, an index be a size."""
TESTS = frozenset({"isinstance", "issubclass", "hasattr", "callable", "bool", "all", "any"})
"""Builtins that give a bool."""
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
"""The fields of each kind of node that may hold others."""

# torch/jit/_trace.py (is_tracing) and torchvision/__init__.py (_is_tracing) ask torch._C._get_tracing_state.
_TRACING = ("jit.is_tracing", "torchvision._is_tracing", "_C._get_tracing_state")
_COMPILING = re.compile(r"^is_(?:torch)?(?:dynamo)?_?compiling$")


def own_nodes(scope: ast.AST) -> list[ast.AST]:
    """The nodes of a scope in source order, without what functions, lambdas and classes in it hold."""
    nodes: list[ast.AST] = []
    todo = _children(scope, _LEAVES)
    while todo:
        node = todo.pop()
        nodes.append(node)
        kind = type(node)
        if kind is ast.Name or kind is ast.Constant or kind in SCOPES:
            continue
        if kind is ast.Attribute:
            todo.append(node.value)  # type: ignore[attr-defined]
        else:
            todo += _children(node, _LEAVES)
    return nodes


def telling_nodes(scope: ast.AST) -> list[ast.AST]:
    """Those of `own_nodes` that are in `TELLING`."""
    nodes: list[ast.AST] = []
    todo = _children(scope, _NAMES)
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is ast.Attribute:
            while type(node) is ast.Attribute:
                node = node.value
            if type(node) not in _NAMES:
                todo.append(node)
            continue
        if kind in TELLING:
            nodes.append(node)
        if kind not in SCOPES:
            todo += _children(node, _NAMES)
    return nodes


def all_nodes(roots: Sequence[ast.AST]) -> list[ast.AST]:
    """`roots` and every node below them, but for contexts and operators: as of `ast.walk` in a fraction of its time."""
    nodes = list(roots)
    for node in nodes:
        if type(node) not in _NAMES:
            nodes += reversed(_children(node, _LEAVES))
    return nodes


def _children(node: ast.AST, without: frozenset[type]) -> list[ast.AST]:
    """The nodes that one holds, the last first, but for some kinds."""
    kind = type(node)
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = tuple(name for name in reversed(node._fields) if name not in _PLAIN)
    children: list[ast.AST] = []
    for name in fields:
        child = getattr(node, name, None)
        of_child = type(child)
        if of_child is list:
            if child:
                children += [member for member in reversed(child) if type(member) not in without]
        elif of_child not in without:
            children.append(child)  # type: ignore[arg-type]
    return children


def holder(target: ast.AST) -> ast.AST:
    """What an assignment to an item or an attribute changes: `x` of `x.y[0]`; any other target itself."""
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    return target


def dotted(node: ast.AST) -> str:
    """`a.b.c` as written, or "" for anything but names and attributes."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(names))) if isinstance(node, ast.Name) else ""


def written(node: ast.AST) -> str:
    """`ast.unparse(node)`, at once for the names, subscripts and unions that most annotations and decorators are."""
    text = _written(node)
    return ast.unparse(node) if text is None else text


def _written(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant):
        plain = node.value is None or (isinstance(node.value, (bool, str)) and node.kind is None)
        return repr(node.value) if plain else None
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        holder = _written(node.value) if isinstance(node.value, (ast.Name, ast.Attribute, ast.Subscript)) else None
        if holder is None or isinstance(node, ast.Attribute):
            return None if holder is None or isinstance(node, ast.Subscript) else f"{holder}.{node.attr}"
        many = isinstance(node.slice, ast.Tuple) and len(node.slice.elts) > 1
        parts = [_written(part) for part in (node.slice.elts if many else [node.slice])]  # type: ignore[attr-defined]
        return f"{holder}[{', '.join(filter(None, parts))}]" if all(parts) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and not isinstance(node.right, ast.BinOp):
        left, right = _written(node.left), _written(node.right)
        return f"{left} | {right}" if left and right else None
    return None


def outcome_traced(node: ast.expr) -> bool | None:
    """What a condition comes to where Python is traced or compiled, whatever it says of sizes; None where they decide.

    `torch.jit.is_scripting()` and `is_tracing()` are False there, `torch.compiler.is_compiling()` and its kin are True.
    """
    if isinstance(node, ast.Call):
        of_jit = called(node) == "is_scripting" or dotted(node.func).endswith(_TRACING)
        return False if of_jit else True if _COMPILING.match(called(node)) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = outcome_traced(node.operand)
        return None if inner is None else not inner
    if isinstance(node, ast.BoolOp):
        outcomes = set(map(outcome_traced, node.values))
        short = isinstance(node.op, ast.Or)
        return short if short in outcomes else None if None in outcomes else not short
    return None


def operands_traced(node: ast.BoolOp) -> list[ast.expr]:
    """The operands that are evaluated where Python is traced: none behind one that always decides."""
    decisive = (i for i, value in enumerate(node.values) if outcome_traced(value) is isinstance(node.op, ast.Or))
    return node.values[: next(decisive, len(node.values)) + 1]


def paths_traced(node: ast.IfExp) -> list[ast.expr]:
    """The paths of a conditional expression that may be taken where Python is traced."""
    outcome = outcome_traced(node.test)
    return [path for path, taken in ((node.body, True), (node.orelse, False)) if outcome in (None, taken)]


def is_truth(node: ast.expr) -> bool:
    """Whether an expression is a bool by its form: a comparison, a negation, a constant, a test of types."""
    if isinstance(node, ast.BoolOp):
        return all(map(is_truth, node.values))
    negation = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    constant = isinstance(node, ast.Constant) and isinstance(node.value, bool)
    tests = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TESTS
    return negation or constant or tests or isinstance(node, ast.Compare)


def is_sequence(node: ast.expr) -> bool:
    """Whether an expression is a list, a tuple or a text as written."""
    return isinstance(node, (ast.List, ast.Tuple)) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def called(node: ast.AST) -> str:
    """The last name of a callee: `_check` of `torch._check(…)`."""
    function = getattr(node, "func", None)
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def is_read(node: ast.expr, also: Collection[str] = ()) -> bool:
    """Whether an expression may be evaluated again: it calls nothing but what tells sizes, and what `also` names."""
    parts = list(ast.walk(node))
    if any(isinstance(part, SUSPENDING) for part in parts):
        return False
    return {called(part) for part in parts if isinstance(part, ast.Call)} <= {*SIZE_READERS, *also}


def variables_in(node: ast.AST) -> set[str]:
    """The variables that an expression, a target or a function names."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def names_brought(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The names that an import binds, `*` among them."""
    yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)


def holds(whole: ast.AST, part: ast.AST) -> bool:
    """Whether a node is part of another, or that itself."""
    return any(node is part for node in ast.walk(whole))


def computed_with(operand: ast.expr) -> Iterator[ast.expr]:
    """What an expression computes with, or compares by order, which raises where one is None or text."""
    for node in all_nodes([operand]):
        if isinstance(node, ast.BinOp):
            yield from (node.left, node.right)
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            yield node.operand
        elif isinstance(node, ast.Compare) and any(isinstance(op, _ORDERS) for op in node.ops):
            yield from (node.left, *node.comparators)


def called_as(node: ast.AST, variables: Collection[str]) -> str:
    """`called`, or "" for a name that is a variable's, and so is no builtin's."""
    function = getattr(node, "func", None)
    return "" if isinstance(function, ast.Name) and function.id in variables else called(node)


def spoken(condition: ast.expr) -> ast.expr:
    """`a or b` of `sym_or(a, b)` and its like: what a condition says, not how it is asked. Another one as it is.

    Source: torch/fx/experimental/symbolic_shapes.py (sym_and, sym_or, sym_eq), torch/__init__.py (sym_not).
    """
    if not isinstance(condition, ast.Call) or condition.keywords or not condition.args:
        return condition
    if any(isinstance(argument, ast.Starred) for argument in condition.args):
        return condition
    match called(condition), condition.args:
        case "sym_or", operands:
            said: ast.expr = ast.BoolOp(ast.Or(), operands)
        case "sym_and", operands:
            said = ast.BoolOp(ast.And(), operands)
        case "sym_not", [operand]:
            said = ast.UnaryOp(ast.Not(), operand)
        case "sym_eq", [left, right]:
            said = ast.Compare(left, [ast.Eq()], [right])
        case _:
            return condition
    return ast.copy_location(said, condition)


class AsShape(ast.NodeTransformer):
    """`x.size(i)` as `x.shape[i]`, and `x.size()` as `x.shape`, which are the same."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if called(node) != "size" or not isinstance(node.func, ast.Attribute) or node.keywords or len(node.args) > 1:
            return node
        shape = ast.Attribute(node.func.value, "shape", ast.Load())
        return ast.Subscript(shape, node.args[0], ast.Load()) if node.args else shape


def named_parameters(arguments: ast.arguments) -> tuple[ast.arg, ...]:
    """The parameters that hold one value each: all but `*args` and `**kwargs`."""
    return (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)


def rebound(
    arguments: ast.arguments, nodes: Sequence[ast.AST], telling: Sequence[ast.AST]
) -> Iterator[tuple[str, int]]:
    """The parameters that are assigned outside of loops alone, with the line of the first assignment.

    What a comprehension or a conditional expression assigns is written below what reads it: there the line is that on
    which the whole of it begins.
    `telling` are those of a function's own `nodes` that are in `TELLING`, or all.
    """
    parameters = named_parameters(arguments)
    names = {parameter.arg for parameter in parameters}
    stored = [node for node in nodes if type(node) is ast.Name and node.id in names and type(node.ctx) is not ast.Load]
    if not stored:
        return
    loops = [node for node in telling if isinstance(node, (ast.For, ast.AsyncFor, ast.While))]
    repeated = {id(node) for loop in loops for node in ast.walk(loop)}
    unordered = [node for node in nodes if isinstance(node, _UNORDERED)]
    begins = {id(node): whole.lineno for whole in reversed(unordered) for node in ast.walk(whole)}
    for parameter in parameters:
        own = [node for node in stored if node.id == parameter.arg]
        if own and not any(id(node) in repeated for node in own):
            yield parameter.arg, min(begins.get(id(node), node.lineno) for node in own)


def bound_otherwise(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """The names among a function's own `nodes` that something binds of whose value nothing is known.

    That is an import, a definition, `with … as`, `except … as`, a pattern, and `nonlocal` in a function inside.
    """
    for node in nodes:
        kind = type(node)
        if kind is ast.withitem and node.optional_vars is not None:  # type: ignore[attr-defined]
            parts = ast.walk(node.optional_vars)  # type: ignore[attr-defined]
            yield from (part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from names_brought(node)
        elif kind in _NAMING:
            yield getattr(node, "rest" if kind is ast.MatchMapping else "name") or ""
            if isinstance(node, SCOPES):
                inside = (inner for inner in all_nodes([node]) if isinstance(inner, ast.Nonlocal))
                yield from (name for inner in inside for name in inner.names)


def numbers_asked_for(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """The variables that a function gives to `sym_int`: numbers that may be symbols (torch/_refs: arange)."""
    calls = (node for node in nodes if isinstance(node, ast.Call) and called(node) == "sym_int" and len(node.args) == 1)
    return frozenset(node.args[0].id for node in calls if isinstance(node.args[0], ast.Name))


def registered(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether tracing runs a function in place of an operator: it is one's decomposition, or its `py_impl`."""
    calls = (decorator.func for decorator in function.decorator_list if isinstance(decorator, ast.Call))
    return any(dotted(call).rpartition(".")[2] in ("py_impl", "register_decomposition") for call in calls)


def always_evaluated(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions that are evaluated whenever `node` is, itself included."""
    pending = [node]
    while pending:  # long sums nest deeper than Python calls
        node = pending.pop()
        yield node
        children: list[ast.AST]
        if isinstance(node, _LATER):
            children = []
        elif isinstance(node, ast.BoolOp):
            children = [node.values[0]]
        elif isinstance(node, ast.IfExp):
            children = [node.test]
        elif isinstance(node, ast.Compare):
            children = [node.left, node.comparators[0]]
        else:
            children = list(ast.iter_child_nodes(node))
        values = (child.value if isinstance(child, ast.keyword) else child for child in reversed(children))
        pending += (value for value in values if isinstance(value, ast.expr))


def blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of statements that a statement holds."""
    blocks = [getattr(statement, name, None) for name in ("body", "orelse", "finalbody")]
    blocks += [handler.body for handler in getattr(statement, "handlers", ())]
    blocks += [case.body for case in getattr(statement, "cases", ())]
    return [block for block in blocks if isinstance(block, list)]


def run_before(statements: list[ast.stmt], line: int) -> Iterator[ast.stmt]:
    """The statements that have run when a line is reached, of the blocks around it."""
    for statement in statements:
        if statement.lineno >= line:
            return
        if (statement.end_lineno or 0) < line:
            yield statement
            continue
        for block in blocks(statement):
            if block and block[0].lineno <= line <= (block[-1].end_lineno or 0):
                yield from run_before(block, line)
