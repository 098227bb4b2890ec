"""The body of a fake, read from a kernel: what it returns, and the checks that it makes before.

Whatever the kernel computes is passed over, as long as nothing in it may change what the results are made of. A branch
that no size decides (ranks, dtypes, optional arguments, numbers) is one of the fake too. Sizes that stand in another
branch, in a loop, or come from another function are not followed: then there is no fake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from transforms.cpp.coverage.body import Body, Line
from transforms.cpp.coverage.expressions import Expressions
from transforms.cpp.coverage.nodes import (
    conjuncts,
    declared_names,
    element_of,
    in_lambda,
    in_turn,
    keeps_sizes,
    literal_text,
    root_of,
    statement_around,
    statements_of,
    thrown,
)
from transforms.cpp.coverage.scope import Scope
from transforms.cpp.coverage.types import is_constant, takes_one
from transforms.cpp.coverage.uses import Callees, Held, Uses
from transforms.cpp.coverage.values import TYPES, Underivable, Value
from transforms.cpp.reading.definitions import find_definition
from transforms.cpp.reading.facts import Function
from transforms.cpp.reading.syntax import parse, parse_span
from transforms.cpp.reading.tree import Node, build
from transforms.schema.schema import Schema

_CHECKS = re.compile(r"(?:AT|(?:STD_)?TORCH)_CHECK(_VALUE|_TYPE|_INDEX|_NOT_IMPLEMENTED)?$|AT_ASSERTM$")
_CHECKED = {"_VALUE": "_value", "_TYPE": "_type", "_INDEX": "_index", "_NOT_IMPLEMENTED": "_not_implemented"}
_ASSIGNED = ("assignment_expression", "update_expression")
_TENSOR = re.compile(r"(?:(?:at|torch(?:::stable)?)::)?Tensor$")
_FILLED = re.compile(r"\w+\s*\.\s*(\w+_)\s*\([^()]*\)\s*;$")
_IN_PLACE = re.compile(r"\b(\w+)\s*(?:\.|->)\s*(\w+_)\s*\(")


def body_of(
    function: Function,
    source: bytes,
    schema: Schema,
    schemas: Mapping[str, Sequence[Schema]],
    callees: Callees = lambda *_: (),
) -> Body:
    """The body of the fake that says what the kernel does; `schemas` are those of ATen's operators, by name.

    `callees` gives the functions of the tree that a call may mean. Raises Underivable where nothing shows it.
    """
    root = syntax_of(function, source)
    if root is None:
        raise Underivable("its kernel cannot be parsed")
    block = next(
        (node for node in root.walk() if node.kind == "compound_statement" and node.start == function.body), None
    )
    if block is None or len(function.params) != len(schema.arguments):
        raise Underivable("its parameters are not those of the schema")
    return _Reader(function, schema, Uses(block, schemas, callees)).read(block)


def syntax_of(function: Function, source: bytes) -> Node | None:
    """The syntax of a function, None where it cannot be parsed."""
    tree, masked = parse_span(source, function.start, function.end)
    if tree.root_node.has_error:  # in its file more is made of macros
        tree, masked = parse(source)
    definition = find_definition(tree.root_node, function)
    return build(definition, masked) if definition is not None and not definition.has_error else None


class _Reader:
    """Reads the statements of a kernel in turn."""

    def __init__(self, function: Function, schema: Schema, uses: Uses) -> None:
        schemas = uses.schemas
        self._scope = Scope({argument.name for argument in schema.arguments})
        self._names = self._scope.names
        self._schemas = schemas
        self._uses = uses
        self._lost: dict[str, str] = {}
        """Why it is never known what names hold."""
        self._arguments = {argument.name for argument in schema.arguments}
        self._constants = {parameter.name for parameter in function.params if is_constant(parameter.type)}
        self._body = Body(self._scope.statements)
        self._early: list[tuple[str, Sequence[object]]] = []
        """What is returned early for some sizes: where, and its state, which has to be that of all later results."""
        self._expressions = Expressions(self._names, self._scope.unknown, schemas)
        for parameter, argument in zip(function.params, schema.arguments, strict=True):
            self._scope.types[parameter.name] = parameter.type
            kind = argument.plain_type
            value = TYPES.get(kind.removesuffix("?"))
            if value is not None:
                settled = kind in ("int", "bool", "float", "ScalarType", "Device")
                made = Value(value, argument.name, settled=settled, optional=kind.endswith("?"))  # type: ignore[arg-type]
                self._names[parameter.name] = made
            else:
                self._names[parameter.name] = None

    def read(self, block: Node) -> Body:
        """The body that the statements of a function's block give."""
        self._refuse_reshaping(block)
        if not self._block(block.children):
            raise Underivable("it ends without a result")
        if not self._body.returns:
            raise Underivable("it takes nothing: this file is the one for builds without it")
        unknown = self._expressions.halved - (set() if self._early else self._body.sizes())
        if unknown:
            raise Underivable(f"whether `{min(unknown)}` is negative is not known, and C++ rounds that to 0")
        return self._body

    def _block(self, statements: Iterable[Node]) -> bool:
        """Read statements in turn; whether no way leads past them."""
        return any(map(self._statement, statements))

    def _refuse_reshaping(self, block: Node) -> None:
        """Forget tensors that may be given other sizes in place where no statement of the fake does the same."""
        for node in block.walk():
            if node.kind == "call_expression" and not in_turn(node, block):
                for name, method in _IN_PLACE.findall(node.text):
                    if not keeps_sizes(method, self._schemas):
                        self._lost[name] = f"`{name}`, which `{node.excerpt}` may change"
                        self._scope.forget([name])

    def _statement(self, node: Node) -> bool:
        """Read one statement; whether the kernel ends there on every way."""
        match node.kind:
            case "return_statement":
                self._return(node)
                return True
            case "declaration":
                self._declaration(node)
            case "compound_statement":
                return self._scope.block(partial(self._block, node.children))
            case "if_statement":
                return self._branch(node)
            case "throw_statement":
                self._refused(thrown(node), node.walk())
                return True
            case "expression_statement" if node.children:
                return self._expression(node.children[0])
            case "expression_statement" | "using_declaration" | "alias_declaration" | "type_definition" | "comment":
                pass
            case _:
                self._passed_over(node)
        return False

    def _return(self, node: Node) -> None:
        if not node.children:
            raise Underivable("it returns nothing")
        value = self._expressions.result(node.children[0])
        state = self._scope.state(value)
        for place, early in self._early:
            if early != state:
                raise Underivable(f"whether it returns at `{place}` is not for a fake to ask")
        self._scope.add(Line("", f"return {value.text}", value.names))

    def _branch(self, node: Node) -> bool:
        """`if (…) … else …`, where what it asks is no matter of sizes."""
        asked, then, otherwise = (node.field(name) for name in ("condition", "consequence", "alternative"))
        condition = self._expressions.derived(asked) if asked is not None and len(asked.children) == 1 else None
        if condition is not None and condition.kind == "int":
            condition = replace(condition, kind="bool", text=f"{condition.operand} != 0")
        if condition is None or condition.kind != "bool" or not condition.settled:
            if condition is None and asked is not None:
                self._forget_changed(asked)
            if otherwise is not None or not self._returns_early(statements_of(then)):
                self._passed_over(node)
            return False
        return self._scope.branch(condition, *(partial(self._block, statements_of(arm)) for arm in (then, otherwise)))

    def _returns_early(self, statements: Sequence[Node]) -> bool:
        """`if (n == 0) { return out; }`: nothing for the fake where all that is returned later is the same.

        What comes before it may fill tensors in place, and do what concerns none: `AT_CUDA_CHECK(cudaGetLastError());`.
        """
        if not statements or statements[-1].kind != "return_statement" or not statements[-1].children:
            return False
        for statement in statements[:-1]:
            filled = _FILLED.match(statement.text)
            if not (self._is_apart(statement) if filled is None else keeps_sizes(filled[1], self._schemas)):
                return False
        value = self._expressions.result(statements[-1].children[0])
        self._early.append((statements[-1].excerpt, self._scope.state(value)))
        return True

    def _is_apart(self, statement: Node) -> bool:
        """Whether a statement is an expression that names no local and no parameter, and assigns nothing."""
        inner = list(statement.walk())
        named = any(node.kind == "identifier" and node.text in self._names for node in inner)
        return (
            statement.kind == "expression_statement" and not named and all(node.kind not in _ASSIGNED for node in inner)
        )

    def _declaration(self, node: Node) -> None:
        kind = node.field("type")
        spelled, declared = (kind or node).text, list(declared_names(node))
        self._scope.declare(declared, spelled)
        self._scope.forget(declared)
        constant = any(child.kind == "type_qualifier" and "const" in child.text for child in node.children)
        self._constants = self._constants | set(declared) if constant else self._constants - set(declared)
        for declarator in node.children:
            if declarator.kind != "init_declarator":
                self._forget_changed(declarator)
                continue
            target, value = declarator.field("declarator"), declarator.field("value")
            is_reference = target is not None and target.kind == "reference_declarator"
            rebound = is_reference and "const" not in node.beginning(6)
            while target is not None and target.kind in ("reference_declarator", "pointer_declarator"):
                target = target.children[-1]
            if target is None or value is None:
                continue
            if target.kind != "identifier":  # an array, several names at once, a pointer to a function
                self._forget_changed(value)
                continue
            taken = value.kind == "argument_list" or (value.kind == "initializer_list" and takes_one(spelled))
            if taken and len(value.children) == 1:
                value = value.children[0]
            root = root_of(value)
            held = self._names.get(root) if root is not None else None
            self._bind(target.text, value)
            if rebound:  # what is assigned to one is assigned to the other
                for name in filter(None, (target.text, root)):
                    self._lose(name, declarator)
            elif held is not None and root is not None and (is_reference or "ArrayRef" in spelled):
                self._refers(target.text, root, held, declarator)
        for named in node.children:
            if named.kind == "identifier":
                undefined = kind is not None and _TENSOR.match(kind.text) and named.text not in self._lost
                self._names[named.text] = Value("tensor", "None", optional=True, unset=True) if undefined else None

    def _refers(self, name: str, root: str, held: Value, declarator: Node) -> None:
        """`const auto& n = sizes[0];`: what is assigned to `sizes` later shows in `n`."""
        if self._uses.changes_behind(declarator, root, self._held(root, held)):
            self._lose(name, declarator)

    def _bind(self, name: str, node: Node) -> None:
        """Give a local its value; nothing where it cannot be said, and the lambda is asked what it assigns."""
        value, reason = self._expressions.derived(node), self._expressions.reason(node)
        if value is None or name in self._lost or not self._scope.fits(name, value):
            if value is not None:
                self._scope.forget_tensor(value.text)
            self._forget_changed(node)
            self._scope.lose(name, self._lost.get(name, reason), value, own=name not in self._lost)
            return
        self._scope.bind(name, value)

    def _expression(self, node: Node) -> bool:
        """Read an expression that stands alone; whether it always raises."""
        if node.kind == "call_expression":
            function, arguments = node.field("function"), node.field("arguments")
            if function is not None and arguments is not None:
                check = _CHECKS.match(function.text)
                if check is not None and arguments.children:
                    if arguments.children[0].text == "false":
                        self._refused(_CHECKED.get(check[1] or "", ""), arguments.children[1:])
                        return True
                    self._check(_CHECKED.get(check[1] or "", ""), arguments.children)
                    return False
                if function.text == "AT_ERROR":
                    self._refused("", arguments.children)
                    return True
                if function.kind == "field_expression" and (
                    self._list_changed(function, arguments.children) or self._reshapes(function, arguments.children)
                ):
                    return False
        if node.kind == "assignment_expression" and node.token == "=":
            left, right = node.field("left"), node.field("right")
            if left is not None and right is not None and left.kind == "identifier":
                self._bind(left.text, right)
                return False
            if left is not None and right is not None and self._element_set(left, right):
                return False
        self._passed_over(node)
        return False

    def _refused(self, kind: str, message: Iterable[Node]) -> None:
        """What the kernel refuses on every way here."""
        texts = [node for node in message if node.kind in ("string_literal", "concatenated_string")]
        text = json.dumps(literal_text(texts[:1]) or "not supported", ensure_ascii=False)
        self._scope.add(Line("", f"torch._check{kind}(False, lambda: {text})", frozenset()))

    def _reshapes(self, function: Node, arguments: Sequence[Node]) -> bool:
        """`out.squeeze_(0)`, where the fake can say the same."""
        receiver, method = function.field("argument"), function.field("field")
        if receiver is None or method is None or not method.text.endswith("_") or receiver.kind != "identifier":
            return False
        held = self._names.get(receiver.text)
        if keeps_sizes(method.text, self._schemas) or held is None or held.kind != "tensor":
            return False
        view = self._schemas.get(method.text.removesuffix("_"), ())  # none of `resize_`
        value = self._expressions.in_place(held, method.text, arguments) if view else None
        if value is None or not held.fresh or not self._scope.is_local(held):
            self._scope.forget_tensor(held.text)
            for argument in arguments:
                self._forget_changed(argument)
        else:
            self._scope.add(Line(held.text, value.text, value.names | {held.text}, changes=True))
        return True

    def _check(self, kind: str, arguments: Sequence[Node]) -> None:
        """A check of the kernel, where it asks what a fake knows; its message is the text before the first value."""
        text = literal_text(arguments[1:])
        for condition in conjuncts(arguments[0]):
            value = self._expressions.derived(condition)
            if value is None or value.kind != "bool":
                self._body.left += 1
                self._forget_changed(condition)
                continue
            self._note_sign(condition)
            said = f", lambda: {json.dumps(text, ensure_ascii=False)}" if text else ""
            self._scope.add(Line("", f"torch._check{kind}({value.text}{said})", value.names))

    def _note_sign(self, condition: Node) -> None:
        """Behind a check that a number is not negative, `/` and `%` of C++ and Python agree on it."""
        left, right = condition.field("left"), condition.field("right")
        if condition.kind != "binary_expression" or left is None or right is None or left.kind != "identifier":
            return
        held = self._names.get(left.text)
        if held is not None and held.kind == "int" and condition.token in ("==", ">", ">=") and right.text.isdigit():
            least = int(right.text) + (condition.token == ">")
            self._names[left.text] = replace(held, natural=True, least=max(least, held.least))

    def _list_changed(self, function: Node, arguments: Sequence[Node]) -> bool:
        """`sizes.push_back(n)`."""
        receiver, method = function.field("argument"), function.field("field")
        if receiver is None or method is None or method.text != "push_back" or len(arguments) != 1:
            return False
        held = self._names.get(receiver.text)
        if held is None or held.kind != "ints":
            return False
        value = self._expressions.derived(arguments[0])
        if value is None:
            self._names[receiver.text] = None
            self._forget_changed(arguments[0])
            return True
        made = Value("ints", "")
        self._scope.assign(receiver.text, made, f"[*{held.text}, {value.text}]", held.names | value.names)
        return True

    def _element_set(self, left: Node, right: Node) -> bool:
        """`sizes[1] = n`, `sizes.back() = n`."""
        element = element_of(left)
        held = self._names.get(element[0].text) if element is not None else None
        if element is None or held is None or held.kind != "ints":
            return False
        receiver, at = element
        index = Value("int", at) if isinstance(at, str) else self._expressions.derived(at)
        value = self._expressions.derived(right)
        if index is None or value is None:
            self._names[receiver.text] = None
            self._forget_changed(left)
            self._forget_changed(right)
            return True
        names = held.names | index.names | value.names
        local = self._scope.assign(receiver.text, Value("ints", ""), f"list({held.text})", held.names | {"list"})
        self._scope.add(Line(local, f"{local}[{index.text}] = {value.text}", names | {local}, changes=True))
        return True

    def _passed_over(self, node: Node) -> None:
        """A statement that computes: the result may not come from inside it, and what it assigns is no longer known."""
        for inner in node.walk():
            if inner.kind == "return_statement" and not in_lambda(inner, node):
                raise Underivable(f"whether it returns at `{inner.excerpt}` is not for a fake to ask")
        self._forget_changed(node)

    def _forget_changed(self, node: Node) -> None:
        """Forget what may be changed in what is not read in turn; for good where that may happen again later."""
        for inner in node.walk():
            held = self._names.get(inner.text) if inner.kind == "identifier" else None
            if held is not None and held.unset:  # it may be given a value there
                self._scope.forget_tensor(held.text)
        names = {name: self._held(name, value) for name, value in self._names.items() if value is not None}
        for use in self._uses.changing(node, names):
            self._lose(use.text, use, again=in_lambda(use, node) or (use.parent or use).kind not in _ASSIGNED)

    def _held(self, name: str, value: Value) -> Held:
        is_given = value.kind in ("tensor", "tensors") and value.text in self._arguments
        return Held(value.kind, name in self._constants, is_given)

    def _lose(self, name: str, use: Node, *, again: bool = True) -> None:
        """Forget a name that may be changed at a place, for good where that may happen `again`."""
        held = self._names.get(name)
        if held is not None:
            self._scope.forget_tensor(held.text)
        reason = f"`{name}`, which `{' '.join(statement_around(use).excerpt.split())}` may change"
        self._scope.lose(name, reason, None, own=False)
        if again:
            self._lost[name] = reason
