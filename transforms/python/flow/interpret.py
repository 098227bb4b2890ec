"""An abstract interpretation of one function: the values of its variables and expressions.

It is flow-insensitive: a variable is the join of all its assignments, save that a parameter is what was passed until
the line of its first assignment.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from transforms.python.flow.annotations import names_other_class
from transforms.python.flow.arithmetic import combined, compared, computed, fraction, power, repeats
from transforms.python.flow.asking import coerces
from transforms.python.flow.imported import function_name, torch_name
from transforms.python.flow.nodes import (
    bound_otherwise,
    called,
    dotted,
    is_truth,
    named_parameters,
    operands_traced,
    paths_traced,
    rebound,
)
from transforms.python.flow.parameters import bool_if_given, parameter_values
from transforms.python.flow.returned import Needs, returned
from transforms.python.flow.settled import Settled
from transforms.python.flow.torch_names import (
    ATTRIBUTES,
    GROUPS,
    GUARDS,
    METHODS,
    OTHER_MODULES,
    REDUCTIONS,
    SEQUENCES,
    SIZES,
    TENSOR_ATTRIBUTES,
    TENSOR_MODULES,
    TORCH_MODULES,
    TRUTHS,
    of_operator,
    of_tensor,
)
from transforms.python.flow.truths import Truths
from transforms.python.flow.unpacking import matched, unpacked
from transforms.python.flow.values import (
    A_BOOL,
    A_FLOAT,
    A_NUMBER,
    A_REAL,
    A_SHAPE,
    A_SIZE,
    A_STATIC,
    A_TENSOR,
    BOOL,
    EMPTY,
    FLOAT,
    INT,
    MAYBE_TENSOR,
    NO_VALUE,
    NOTHING,
    OF_NUMPY,
    PARAMETER,
    PLAIN,
    SEQUENCE,
    SHAPE,
    SOME_SHAPE,
    SOME_TENSORS,
    STATIC,
    TENSOR,
    TENSORS,
    TUPLE,
    Value,
    all_dependencies,
    any_of,
    converted,
    element,
    holding,
    item,
    join,
    sequence_of,
    sliced,
    tuple_of,
)

_BINDING = frozenset({ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.comprehension, ast.NamedExpr, ast.Call})
_LITERALS = {bool: A_BOOL, int: A_NUMBER, float: A_REAL, complex: A_REAL}
_SIZED_METHODS = METHODS.keys() | REDUCTIONS


class Interpreter:
    """The values of one function's variables and expressions.

    `nodes` are the function's own; `parameters` overrides what annotations say; `returns` says what a callee, as
    written, returns, `needs` for which of its parameters; `hidden` are the builtins that the file names otherwise.
    `outer` is the enclosing function, whose variables a nested one sees; `telling` are those of `nodes` in `TELLING`.
    `constants` says what a name, or an attribute as written, is that no function binds.
    """

    def __init__(
        self,
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        nodes: Sequence[ast.AST],
        parameters: Mapping[str, Value] | None = None,
        returns: Mapping[str, Value] | None = None,
        outer: Interpreter | None = None,
        telling: Sequence[ast.AST] = (),
        hidden: Collection[str] = (),
        constants: Callable[[str], Value] | None = None,
        needs: Mapping[str, Needs] | None = None,
    ) -> None:
        self.variables: dict[str, Value] = {**(outer.variables if outer else {}), **dict.fromkeys(hidden, NOTHING)}
        self.settled = Settled(function, telling or nodes)
        self.truths = Truths(function)
        self.returns, self.needs = returns, needs or {}
        self.constants: Callable[[str], Value] | None = constants or (outer.constants if outer else None)
        self._values: dict[ast.expr, Value] = {}
        """What was evaluated since a variable changed last."""
        self._changes = 0
        self.variables |= parameter_values(function.args, telling or nodes, parameters)
        rebound_at, unseen = dict(rebound(function.args, nodes, telling or nodes)), set(bound_otherwise(nodes))
        self._passed = {name: (line, self.variables[name]) for name, line in rebound_at.items() if name not in unseen}
        self._arguments, self._bound = function.args, set[str]()
        self._given = {parameter.arg for parameter in named_parameters(function.args)}
        self._straight = set(map(id, function.body))
        binding = [node for node in telling or nodes if type(node) in _BINDING]
        for _ in range(2):
            before = dict(self.variables)
            for node in binding:
                self._bind_statement(node)
            for name in unseen & self.variables.keys():
                self._set(name, join((self.variables[name], NOTHING)))
            if self.variables == before:
                break

    def _bind_statement(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            value = self.value(node.value)
            if value.kind == BOOL and coerces(node.value, self) and not self.truths.keep(node.targets):
                value = NOTHING  # a bool by the time it is stored
            for target in node.targets:
                self._bind(target, matched(target, node.value, value, self.value), id(node) in self._straight)
        elif isinstance(node, ast.AnnAssign) and node.value:
            self._bind(node.target, self.value(node.value))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self._bind(node.target, self.value(ast.BinOp(node.target, node.op, node.value)))
        elif isinstance(node, (ast.For, ast.comprehension)):
            self._bind(node.target, element(self.value(node.iter)))
        elif isinstance(node, ast.NamedExpr):
            self._bind(node.target, self.value(node.value))
        elif isinstance(node, ast.Call):
            name, _, method = dotted(node.func).rpartition(".")
            if method == "append" and len(node.args) == 1:
                self._grow(name, self.value(node.args[0]))
            elif method == "insert" and len(node.args) == 2:
                self._hold(name, self.value(node.args[1]))
            elif method == "extend" and len(node.args) == 1:
                self._grow(name, element(self.value(node.args[0])))

    def forget_truths(self) -> None:
        """Take the truths that only checks ask for bools, which they are where no rule keeps them."""
        for name in self.truths.forget():
            self._set(name, NOTHING)

    def _grow(self, name: str, value: Value) -> None:
        self._hold(name, value)
        if name in self.variables and value.kind in (INT, PARAMETER, TENSOR, TENSORS, SEQUENCE, TUPLE, SHAPE):
            grown, old = sequence_of(value), self.variables[name]
            held = "list" if old.held == "list" or old.kind == EMPTY else ""
            self._set(name, join((old, grown._replace(container=held))))

    def _hold(self, name: str, value: Value) -> None:
        """Note that a sequence gets `value` for one of its elements."""
        if name in self.variables:
            self._set(name, holding(self.variables[name], value))

    def _bind(self, targets: ast.expr, value: Value, always: bool = False) -> None:
        """Note what `targets` are assigned; `always` says that what a parameter was is no longer seen."""
        for target, part in unpacked(targets, value):
            if isinstance(target, ast.Name):
                old = self.variables.get(target.id, NOTHING)
                passed = target.id in self._given and not always and part.kind in (INT, FLOAT, BOOL, PLAIN)
                also = passed or (part.kind == PLAIN and target.id in self._bound)
                self._bound.add(target.id)
                self._set(target.id, join((old, part)) if old.kind != PLAIN or also else part)
            elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                self._hold(target.value.id, element(part) if isinstance(target.slice, ast.Slice) else part)

    def _set(self, name: str, value: Value) -> None:
        if self.variables.get(name) != value:
            self._changes += 1
            self._values.clear()
        self.variables[name] = value

    def surely_tensor(self, node: ast.expr) -> bool:
        """Whether an expression is a Tensor on every path."""
        return self.value(node).surely_tensor

    def value(self, node: ast.expr) -> Value:
        """The value of an expression in this function."""
        kind = type(node)
        if kind is ast.Name:
            return self.settled.narrowed(node, self._Name(node))  # type: ignore[arg-type]
        value = self._values.get(node)
        if value is None:
            method = _EVALUATE.get(kind)
            if method is None:
                return NOTHING
            changes = self._changes
            value = self.settled.narrowed(node, method(self, node))
            if changes == self._changes:  # else to evaluate it again may change variables again
                self._values[node] = value
        return value

    def _Constant(self, node: ast.Constant) -> Value:
        return NO_VALUE if node.value is None else _LITERALS.get(type(node.value), NOTHING)

    def _Name(self, node: ast.Name) -> Value:
        line, passed = self._passed.get(node.id, (0, NOTHING))
        if node.lineno < line:
            return passed
        value = self.variables.get(node.id)
        return value if value is not None else self._constant(node.id)

    def _constant(self, name: str) -> Value:
        return self.constants(name) if self.constants and name else NOTHING

    def _Starred(self, node: ast.Starred | ast.NamedExpr) -> Value:
        return self.value(node.value)

    def _Attribute(self, node: ast.Attribute) -> Value:
        owner = self.value(node.value)
        if torch_name(node) in ("math.inf", "torch.inf", "np.inf", "math.pi", "math.e"):
            return A_REAL
        if node.attr in ATTRIBUTES:
            return ATTRIBUTES[node.attr] if owner.kind != STATIC else A_STATIC
        if node.attr == "saved_tensors" and dotted(node.value) in self._given - {"self", "cls"}:
            return SOME_TENSORS  # of the context of a torch.autograd.Function
        if node.attr in TENSOR_ATTRIBUTES and owner.kind in (TENSOR, STATIC):
            return owner
        return self._constant(dotted(node)) if type(node.value) is ast.Name else NOTHING

    def _Call(self, node: ast.Call) -> Value:
        arguments = [self.value(argument) for argument in node.args]
        first = arguments[0] if arguments else NOTHING
        module, name = function_name(node, self.variables)
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name in GUARDS:
            return A_SIZE if name == "len" and first.surely_tensor else GUARDS[name]
        if owner is not None and (space := TENSOR_MODULES.match(torch_name(owner))):
            return of_tensor(name, A_TENSOR if space["single"] else MAYBE_TENSOR, node)
        if owner is not None and not module and name in _SIZED_METHODS:
            return self._method(owner, name, node)
        if name in TRUTHS or (name in ("all", "any", "bool") and first.symbolic):
            return Value(BOOL, first.dependencies if name not in TRUTHS else frozenset(), whole=first.numeric)
        if name in ("int", "float") and node.args and called(node.args[0]) == "item":
            return A_SIZE if name == "int" else A_FLOAT  # a number read from a Tensor is a symbol too
        if name in ("broadcast_shapes", "_broadcast_shapes"):
            return A_SHAPE if module == "torch" else SOME_SHAPE
        if name in ("cast", "annotate") and len(node.args) == 2:
            return arguments[1]
        if name in SIZES and (owner is None or module in ("math", "torch", "utils", "functools", "operator", "np")):
            return computed(name, module or None, arguments)
        if name in ("sym_float", "float", "sqrt", "sym_sqrt", "log2"):
            return fraction(module, first)
        if name == "divmod" and owner is None and len(arguments) == 2:
            return tuple_of([self._BinOp(ast.BinOp(node.args[0], ast.FloorDiv(), node.args[1]))] * 2)
        if name in SEQUENCES and len(arguments) == 1:
            return converted(name, first)
        if name == "zip":
            return Value(SEQUENCE, items=(tuple_of([element(argument) for argument in arguments]),))
        if name == "enumerate" and arguments:
            return Value(SEQUENCE, items=(tuple_of([A_NUMBER, element(first)]),))
        if name == "copy" and owner is not None and not arguments and (copied := self.value(owner)).held == "list":
            return copied
        if names_other_class(name) or (module or dotted(owner) if owner is not None else "") in OTHER_MODULES:
            return OF_NUMPY if module in ("np", "numpy") else A_STATIC
        if module in TORCH_MODULES:
            return of_tensor(name, A_TENSOR if module in ("torch", "F") else MAYBE_TENSOR, node)
        receiver = self.value(owner) if owner is not None else NOTHING
        return of_tensor(name, receiver, node) if receiver.kind == TENSOR else self._returned(dotted(node.func), node)

    def _method(self, owner: ast.expr, name: str, node: ast.Call) -> Value:
        """What a method returns that asks an object of any kind for its size, or is a Tensor's reduction."""
        value = self.value(owner)
        group = name == "size" and value.kind in (PLAIN, PARAMETER, EMPTY) and GROUPS.search(dotted(owner))
        if group or (value.kind == STATIC and METHODS.get(name) in (A_SIZE, A_SHAPE)):
            return A_STATIC
        if name in METHODS:
            return A_SIZE if name in ("size", "stride") and (node.args or node.keywords) else METHODS[name]
        if value.kind in (STATIC, INT, FLOAT, BOOL, SHAPE, TUPLE, SEQUENCE, TENSORS):
            return NOTHING
        return of_tensor(name, value if value.kind == TENSOR else MAYBE_TENSOR, node)

    def _returned(self, callee: str, node: ast.Call) -> Value:
        if self.returns is None and callee:
            return Value(PARAMETER, frozenset({"()" + callee}))
        return returned((self.returns or {}).get(callee, NOTHING), self.needs.get(callee), node, self.value)

    def _BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if TENSOR in (left.kind, right.kind):
            return of_operator(node.op, left, right)
        if isinstance(node.op, (ast.Add, ast.Mult)) and (
            left.shapelike or right.shapelike or TENSORS in (left.kind, right.kind)
        ):
            if TENSORS in (left.kind, right.kind):
                return join((left, right)) if isinstance(node.op, ast.Add) else SOME_TENSORS._replace(sure=False)
            joins = isinstance(node.op, ast.Add)
            held = (left.held or right.held) if left.held == right.held or not joins else ""
            return combined([v for v in (left, right) if joins or v.shapelike], SHAPE)._replace(container=held)
        if isinstance(node.op, (ast.BitAnd, ast.BitOr)) and (BOOL in (left.kind, right.kind)):
            return combined([left, right], BOOL)
        real = isinstance(node.op, ast.Div) or left.real or right.real
        if PARAMETER in (left.kind, right.kind) and not (left.certain or right.certain):
            return NOTHING if repeats(node, left, right) else combined([left, right], PARAMETER)
        number = combined([left, right], FLOAT if real else INT) if not repeats(node, left, right) else NOTHING
        return power(number, node.right) if isinstance(node.op, ast.Pow) else number

    def _UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not) and value != OF_NUMPY:
            truth = Value(BOOL, all_dependencies(value), whole=value.numeric)
            return truth if value.kind in (INT, FLOAT, BOOL) else A_BOOL
        return value

    def _BoolOp(self, node: ast.BoolOp) -> Value:
        operands = operands_traced(node)
        value = any_of([(self.value(operand), is_truth(operand)) for operand in operands])
        return value._replace(whole=all(map(self._surely_plain, operands))) if value.kind == BOOL else value

    def _surely_plain(self, node: ast.expr) -> bool:
        """Whether a truth is none that numpy or a Tensor may give: it compares no number with what is not known."""
        if isinstance(node, ast.BoolOp):
            return all(map(self._surely_plain, node.values))
        value = self.value(node)
        if isinstance(node, ast.Compare) and value == NOTHING:
            return not any(self.value(side).scalar for side in (node.left, *node.comparators))
        return value.numeric

    def _Compare(self, node: ast.Compare) -> Value:
        operands = [node.left, *node.comparators]
        if any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            return A_BOOL
        if any(isinstance(o, ast.Constant) and not isinstance(o.value, (int, float)) for o in operands):
            return A_BOOL
        return compared(node, [self.value(operand) for operand in operands])

    def _IfExp(self, node: ast.IfExp) -> Value:
        given = bool_if_given(self._arguments, node, self._bound)
        paths = [(A_BOOL if path is given else self.value(path), is_truth(path)) for path in paths_traced(node)]
        return any_of(paths)

    def _Subscript(self, node: ast.Subscript) -> Value:
        value = self.value(node.value)
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            return item(value, node.slice.value)
        if isinstance(node.slice, ast.Slice):
            return sliced(value, node.slice)
        key = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        return element(value) if not key or value.kind != STATIC else NOTHING  # config["weight"] may be a Tensor

    def _Tuple(self, node: ast.Tuple) -> Value:
        values = [self.value(part) for part in node.elts]
        if any(isinstance(part, ast.Starred) for part in node.elts):
            return combined(values, SHAPE)._replace(container="tuple")
        return tuple_of(values)

    def _List(self, node: ast.List) -> Value:
        values = [self.value(part) for part in node.elts]
        if not values:
            return NO_VALUE
        starred = (isinstance(part, ast.Starred) for part in node.elts)
        held = [element(v) if many else v for many, v in zip(starred, values, strict=True)]
        if any(value.kind in (TENSOR, TENSORS) for value in values):
            return sequence_of(join(held))
        if all(value.shapelike for value in held):
            return sequence_of(join(held))._replace(container="list")
        return combined(values, SHAPE)._replace(container="list")

    def _ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Value:
        for generator in node.generators:
            self._bind(generator.target, element(self.value(generator.iter)))
        value = self.value(node.elt)
        held = "list" if isinstance(node, ast.ListComp) else ""
        if value.kind in (TENSOR, TENSORS, TUPLE, SEQUENCE, SHAPE, BOOL):
            return sequence_of(value)._replace(container=held)
        whole = value.kind != INT or value.integral
        return Value(SHAPE, value.dependencies, container=held, whole=whole) if value.symbolic else NOTHING

    _GeneratorExp = _SetComp = _ListComp
    _NamedExpr = _Starred


_EVALUATE: dict[type[ast.AST], Callable[[Interpreter, Any], Value]] = {
    getattr(ast, name[1:]): method for name, method in vars(Interpreter).items() if hasattr(ast, name[1:])
}
