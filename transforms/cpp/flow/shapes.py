"""A function of C++ as Python's syntax, as far as shapes go: what follows one path by path follows the other.

`x.new_zeros_symint({n, m}, x.options())` is `x.new_zeros([n, m])`, `x.sym_size(0)` is `x.size(0)`, and
`TORCH_CHECK(c, …)` is an `assert`. What has no like in Python is a name of its own, of which nothing is seen.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from transforms.cpp.flow.branches import operands
from transforms.cpp.flow.checks import CHECKS, called, throws
from transforms.cpp.reading.facts import Function, Param
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import UNKNOWN, parse_type
from transforms.python.shapes.leaning import leaning
from transforms.python.shapes.outcomes import Agreement, Branch, agreement
from transforms.python.shapes.sizes import named
from transforms.python.shapes.tensors import FACTORY
from transforms.python.shapes.values import Number, Other, Tensor, Value

_COMPARED: Mapping[str, type[ast.cmpop]] = {
    "==": ast.Eq, "!=": ast.NotEq, "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE,
}  # fmt: skip
_METHODS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_ARITHMETIC: Mapping[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.FloorDiv, "%": ast.Mod,
}  # fmt: skip
_GUARD = re.compile(r"^TORCH_(?:GUARD|STATICALLY)_\w+$")
_TUPLE = re.compile(r"^(?:make_)?(?:tuple|pair)$")
_CAST = re.compile(r"^(?:static_cast|SymInt|int64_t|size_t|int|ArrayRef|IntArrayRef|SymIntArrayRef|DimVector|vector)$")
_KEPT = frozenset({"vec", "toOwned", "guard_int", "expect_size", "value", "maybe_as_int"})
_OTHER_STATEMENTS = frozenset(
    {"using_declaration", "type_definition", "static_assert_declaration", "alias_declaration"}
)
_LOOPS = frozenset({"for_statement", "for_range_loop", "while_statement", "do_statement", "switch_statement"})
_CHECKS = CHECKS | {"TORCH_SYM_CHECK"}
_NESTED = 40


class Unread(Exception):
    """The function holds what is not read: a lambda, code that the preprocessor chooses, a `goto`."""


class Translation(NamedTuple):
    """A function, its branches by where they stand in the source, and the variables that are sizes."""

    function: ast.FunctionDef
    branches: Mapping[int, ast.If]
    sizes: frozenset[str]


def agreement_of(function: Function, root: Node, branch: Node, general: bool) -> Agreement:
    """How the shapes compare that both ways of an `if` give, where it comes to `general` for sizes in general."""
    return _agreement_of(function.params, root, branch, general)


@functools.lru_cache(maxsize=32)  # a function is followed several times
def _agreement_of(params: tuple[Param, ...], root: Node, branch: Node, general: bool) -> Agreement:
    translated = _translated(root)
    node = translated.branches.get(branch.start) if translated is not None else None
    if translated is None or node is None:
        return Agreement(None)
    asks = functools.partial(_asks, translated.sizes)
    parameters = {param.name: _parameter(param) for param in params}
    return agreement(
        translated.function, parameters, Branch(node, general, lambda test: (asks(test), leaning(test, asks)))
    )


def _parameter(param: Param) -> Value:
    kind = parse_type(param.type).kind
    if kind == "tensor":
        return Tensor(param.name)
    if kind == "int":
        return Number(named(param.name))
    return Other(param.name)


def _asks(sizes: frozenset[str], test: ast.expr) -> bool:
    """Whether a condition asks for sizes."""
    return any(
        (isinstance(part, ast.Attribute) and part.attr in ("size", "numel"))
        or (isinstance(part, ast.Name) and part.id in sizes)
        for part in ast.walk(test)
    )


@functools.lru_cache(maxsize=1)
def _translated(root: Node) -> Translation | None:
    """The function, or None where it holds what is not read."""
    body = root.field("body")
    translator = _Translator()
    try:
        statements = translator.block(body) if body is not None else []
    except (Unread, RecursionError):
        return None
    function = ast.FunctionDef("f", _NO_ARGUMENTS, statements, [], lineno=1, col_offset=0)
    return Translation(ast.fix_missing_locations(function), translator.branches, frozenset(translator.sizes))


_NO_ARGUMENTS = ast.arguments([], [], None, [], [], None, [])


class _Translator:
    def __init__(self) -> None:
        self.branches: dict[int, ast.If] = {}
        self.sizes: set[str] = set()
        self._level = 0

    def block(self, node: Node) -> list[ast.stmt]:
        """The statements of a block, or of one statement."""
        children = node.children if node.kind in ("compound_statement", "else_clause") else [node]
        statements: list[ast.stmt] = []
        for child in children:
            if child.kind == "compound_statement":
                statements += self.block(child)
            else:
                statements += self._statement(child)
        return statements or [ast.Pass()]

    def _statement(self, node: Node) -> list[ast.stmt]:
        if node.kind in _OTHER_STATEMENTS:
            return []
        if node.kind == "declaration":
            return self._declaration(node)
        if node.kind in ("throw_statement", "expression_statement") and throws(node):
            return [ast.Raise()]
        if node.kind == "expression_statement":
            return self._acting(node.children[0]) if node.children else []
        if node.kind == "return_statement":
            return [ast.Return(self._value(node.children[0]) if node.children else None)]
        if node.kind == "if_statement":
            return [self._branch(node)]
        if node.kind in _LOOPS:
            body = node.field("body")
            inner = self._loop_variables(node) + (self.block(body) if body is not None else [])
            return [ast.While(_name(f"loop_{node.start}"), inner, [])]
        raise Unread

    def _loop_variables(self, node: Node) -> list[ast.stmt]:
        """What the head of a loop may assign."""
        heads = [node.field("declarator") or node.field("initializer"), node.field("update")]
        names = [part for head in heads if head is not None for part in head.walk() if part.kind == "identifier"]
        return [_assigned(part.text, _name(f"each_{part.start}")) for part in names]

    def _branch(self, node: Node) -> ast.If:
        clause, taken, other = (node.field(name) for name in ("condition", "consequence", "alternative"))
        if clause is None or taken is None or clause.field("initializer") is not None:
            raise Unread
        condition = clause.field("value") or clause.children[-1]
        self._level += 1
        if self._level > _NESTED:
            raise Unread
        branch = ast.If(self._value(condition), self.block(taken), self.block(other) if other is not None else [])
        self._level -= 1
        self.branches[node.start] = branch
        return branch

    def _declaration(self, node: Node) -> list[ast.stmt]:
        type_of, statements = node.field("type"), list[ast.stmt]()
        for child in node.children:
            if child.kind != "init_declarator":
                continue
            target, value = child.fields["declarator"], child.field("value")
            while target.kind in ("reference_declarator", "pointer_declarator") and target.children:
                target = target.children[-1]
            given = self._initial(value) if value is not None else _name(f"value_{child.start}")
            if target.kind == "structured_binding_declarator":
                names: list[ast.expr] = [ast.Name(part.text, ast.Store()) for part in target.children]
                statements.append(ast.Assign([ast.Tuple(names, ast.Store())], given, lineno=1))
                continue
            if target.kind != "identifier":
                raise Unread
            if type_of is not None and parse_type(type_of.text).kind in ("int", UNKNOWN.kind) and self._is_size(given):
                self.sizes.add(target.text)
            statements.append(_assigned(target.text, given))
        return statements

    def _initial(self, value: Node) -> ast.expr:
        """What a variable is made of: `(x.sizes())` and `(x.sizes().begin(), x.sizes().end())` are `x.size()`."""
        if value.kind != "argument_list":
            return self._value(value)
        arguments = [self._value(argument) for argument in value.children]
        if len(arguments) == 1:
            return arguments[0]
        ends = [node.func for node in arguments if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
        if len(arguments) == 2 and [end.attr for end in ends] == ["begin", "end"]:
            first, last = (end.value for end in ends)
            if ast.dump(first) == ast.dump(last):
                return first
        return _name(f"value_{value.start}")

    def _is_size(self, value: ast.expr) -> bool:
        """Whether an integer is made of sizes."""
        if isinstance(value, ast.BinOp):
            return self._is_size(value.left) or self._is_size(value.right)
        if isinstance(value, ast.IfExp):
            return self._is_size(value.body) or self._is_size(value.orelse)
        if isinstance(value, ast.Subscript):
            return self._is_size(value.value)
        if isinstance(value, ast.Call):
            name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
            return name in ("size", "numel") or (name in ("max", "min", "prod") and any(map(self._is_size, value.args)))
        return isinstance(value, ast.Name) and value.id in self.sizes

    def _acting(self, node: Node) -> list[ast.stmt]:
        """What an expression does that stands as a statement."""
        node = node.bare
        if node.kind == "assignment_expression":
            target, value = node.fields["left"].bare, self._value(node.fields["right"])
            operator = _ARITHMETIC.get(node.token[:-1])
            if target.kind in ("subscript_expression", "call_expression"):
                item = self._value(target)
                if not isinstance(item, ast.Subscript):
                    raise Unread
                value = value if operator is None else ast.BinOp(item, operator(), value)
                return [ast.Assign([ast.Subscript(item.value, item.slice, ast.Store())], value, lineno=1)]
            if target.kind != "identifier" or (node.token != "=" and operator is None):
                raise Unread
            if operator is not None:
                return [ast.AugAssign(ast.Name(target.text, ast.Store()), operator(), value)]
            return [_assigned(target.text, value)]
        if node.kind == "update_expression" and node.fields["argument"].kind == "identifier":
            target_name = ast.Name(node.fields["argument"].text, ast.Store())
            return [ast.AugAssign(target_name, ast.Add() if "+" in node.text else ast.Sub(), ast.Constant(1))]
        if node.kind != "call_expression":
            return [ast.Expr(self._value(node))]
        arguments = node.fields["arguments"].children
        if called(node) in _CHECKS and arguments:
            return [ast.Assert(self._value(arguments[called(node) == "TORCH_CHECK_WITH" and len(arguments) > 1]))]
        if node.fields["function"].text == "std::swap" and all(argument.kind == "identifier" for argument in arguments):
            pair = [argument.text for argument in arguments]
            targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in pair]
            swapped = ast.Tuple([_name(name) for name in reversed(pair)], ast.Load())
            return [ast.Assign([ast.Tuple(targets, ast.Store())], swapped, lineno=1)]
        if node.fields["function"].text == "std::reverse":
            ends = [argument.packed.rpartition(".") for argument in arguments]
            if (
                [end[2] for end in ends] == ["begin()", "end()"]
                and ends[0][0] == ends[1][0]
                and ends[0][0].isidentifier()
            ):
                backwards = ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1)))
                return [_assigned(ends[0][0], ast.Subscript(_name(ends[0][0]), backwards, ast.Load()))]
        changed: dict[str, None] = {}
        if node.fields["function"].kind != "field_expression":  # it may take references
            given = (part for argument in arguments for part in argument.walk())
            changed = {part.text: None for part in given if part.kind == "identifier"}
        unseen = [_assigned(name, _name(f"{name}_{node.start}")) for name in changed]
        return [ast.Expr(self._value(node)), *unseen]

    def _value(self, outer: Node) -> ast.expr:
        node = outer.bare
        self._level += 1
        try:
            if self._level > _NESTED or node.kind == "lambda_expression":
                raise Unread
            return self._read(node) or _name(f"value_{node.start}")
        finally:
            self._level -= 1

    def _read(self, node: Node) -> ast.expr | None:
        """An expression; None where it has no like in Python."""
        kind = node.kind
        if kind == "identifier":
            return _name(node.text)
        if kind in ("number_literal", "true", "false", "string_literal"):
            return _constant(node)
        if kind == "binary_expression":
            return self._binary(node)
        if kind == "unary_expression" and node.token in ("!", "-"):
            operator = ast.Not() if node.token == "!" else ast.USub()
            return ast.UnaryOp(operator, self._value(node.fields["argument"]))
        if kind == "pointer_expression":
            return self._value(node.fields["argument"])
        if kind == "conditional_expression":
            parts = [self._value(node.fields[name]) for name in ("condition", "consequence", "alternative")]
            return ast.IfExp(*parts)
        if kind == "initializer_list":
            return ast.List([self._value(child) for child in node.children], ast.Load())
        if kind == "subscript_expression":
            indices = node.field("indices")
            if indices is None or len(indices.children) != 1:
                return None
            return ast.Subscript(self._value(node.fields["argument"]), self._value(indices.children[0]), ast.Load())
        if kind == "call_expression":
            return self._call(node)
        return None

    def _binary(self, node: Node) -> ast.expr | None:
        if node.token in ("&&", "||"):
            parts = [self._value(part) for part in reversed(operands(node))]
            return ast.BoolOp(ast.And() if node.token == "&&" else ast.Or(), parts)
        left, right = self._value(node.fields["left"]), self._value(node.fields["right"])
        if node.token in _COMPARED:
            return ast.Compare(left, [_COMPARED[node.token]()], [right])
        operator = _ARITHMETIC.get(node.token)
        return None if operator is None else ast.BinOp(left, operator(), right)

    def _call(self, node: Node) -> ast.expr | None:
        function, given = node.fields["function"], node.fields["arguments"].children
        if function.kind == "field_expression":
            return self._method(function, given)
        name = re.sub(r"<.*>", "", function.text).rpartition("::")[2].removesuffix("_symint")
        if function.kind == "template_function" and len(given) == 1 and _CAST.match(name):
            return self._value(given[0])
        if (_GUARD.match(name) or _CAST.match(name)) and len(given) == 1:
            return self._value(given[0])
        if name == "Tensor" and not given:
            return ast.Constant(None)
        arguments = [self._value(argument) for argument in given]
        if _TUPLE.match(name):
            return ast.Tuple(arguments, ast.Load())
        if name in ("max", "min") and function.text.startswith("std::"):
            return ast.Call(_name(name), arguments, [])
        if name == "multiply_integers" and len(arguments) == 1:
            return ast.Call(ast.Attribute(_name("math"), "prod", ast.Load()), arguments, [])
        if not re.match(r"^(?:at::)?\w+$", re.sub(r"<.*>", "", function.text)):
            return ast.Call(_name(re.sub(r"\W+", "_", function.text)), arguments, [])
        owner = ast.Attribute(_name("torch"), name, ast.Load()) if function.text.startswith("at::") else _name(name)
        return ast.Call(owner, arguments[:1] if FACTORY.match(name) else arguments, [])

    def _method(self, function: Node, given: Sequence[Node]) -> ast.expr | None:
        receiver, name = function.field("argument"), function.fields["field"].text
        if receiver is None:
            return None
        owner, arguments = self._value(receiver), [self._value(argument) for argument in given]
        name = name.removesuffix("_symint")
        if name.startswith("sym_") and name[4:] in _METHODS and len(arguments) == 1:
            return ast.Compare(owner, [_COMPARED[_METHODS[name[4:]]]()], arguments)
        name = name.removeprefix("sym_")
        if name == "sizes":
            return ast.Call(ast.Attribute(owner, "size", ast.Load()), [], [])
        if name in ("equals", "is_same_size") and len(arguments) == 1:
            pair = [owner, *arguments]
            if name == "is_same_size":
                pair = [ast.Call(ast.Attribute(side, "size", ast.Load()), [], []) for side in pair]
            return ast.Compare(pair[0], [ast.Eq()], pair[1:])
        if name in _KEPT and not arguments:
            return owner
        if name in ("front", "back") and not arguments:
            return ast.Subscript(owner, ast.Constant(0 if name == "front" else -1), ast.Load())
        if name in ("size", "empty") and not arguments:
            length = ast.Call(_name("len"), [owner], [])
            return length if name == "size" else ast.Compare(length, [ast.Eq()], [ast.Constant(0)])
        if name == "slice" and len(arguments) == 1:
            return ast.Subscript(owner, ast.Slice(arguments[0]), ast.Load())
        kept = arguments[:1] if FACTORY.match(name) else arguments
        return ast.Call(ast.Attribute(owner, name, ast.Load()), kept, [])


def _name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value, lineno=1)


def _constant(node: Node) -> ast.expr | None:
    if node.kind == "number_literal":
        digits = re.sub(r"[uUlL]+$|'", "", node.text)
        return ast.Constant(int(digits) if re.fullmatch(r"-?\d+", digits) else 0.5)
    return ast.Constant(node.kind == "true" if node.kind != "string_literal" else node.text)
