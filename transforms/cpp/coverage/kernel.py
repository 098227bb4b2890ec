"""The body of a fake, read from a kernel: what it returns, and the checks that it makes before.

Whatever the kernel computes is passed over, as long as nothing in it may change what the results are made of. Sizes
that stand in a branch, in a loop, or come from another function are not followed: then there is no fake.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from transforms.cpp.coverage.expressions import Expressions
from transforms.cpp.coverage.values import TYPES, Underivable, Value
from transforms.cpp.reading.facts import Function
from transforms.cpp.reading.syntax import errors, parse_span
from transforms.cpp.reading.tree import Node, build
from transforms.schema.schema import Schema

_CHECKS = re.compile(r"(?:AT|TORCH)_CHECK(_VALUE|_TYPE|_INDEX|_NOT_IMPLEMENTED)?$|AT_ASSERTM$")
_CHECKED = {"_VALUE": "_value", "_TYPE": "_type", "_INDEX": "_index", "_NOT_IMPLEMENTED": "_not_implemented"}
_ASSIGNED = ("assignment_expression", "update_expression")
_READING = ("size", "empty", "begin", "end", "data", "vec", "at", "front", "back", "slice")
"""Methods of a list that leave it as it is."""
_IN_PLACE = re.compile(r"\b(\w+)\s*(?:\.|->)\s*(\w+_)\s*\(")


@dataclass
class Line:
    """One line of a fake: `name = text`, or what is done for its own sake where `name` is empty."""

    name: str
    text: str
    names: frozenset[str]
    atomic: bool = True


@dataclass
class Body:
    """The lines of a fake, its result last."""

    lines: list[Line] = field(default_factory=list)
    left: int = 0
    """How many checks of the kernel are not among them."""

    @property
    def result(self) -> tuple[str, ...]:
        """What is returned, and the locals that it rests on: without the checks."""
        lines = self.lines
        wanted: set[str] = set()
        shown: list[str] = []
        for line in reversed(lines):
            if line.text.startswith("return ") or line.name in wanted:
                wanted |= line.names
                shown.append(f"{line.name} = {line.text}")
        return tuple(shown)

    def needed(self) -> list[Line]:
        """The lines without the locals that nothing rests on, and those that are used once put where they are used."""
        kept: list[Line] = []
        wanted: set[str] = set()
        for line in reversed(self.lines):
            if not line.name or line.name in wanted:
                wanted |= line.names
                kept.insert(0, line)
        result: list[Line] = []
        for index, line in enumerate(kept):
            uses = sum(len(re.findall(rf"\b{line.name}\b", later.text)) for later in kept[index + 1 :])
            written = sum(later.name == line.name for later in kept)
            if line.name and uses == 1 and written == 1 and not any(later.name in line.names for later in kept[index:]):
                for later in kept[index + 1 :]:
                    text = line.text if line.atomic or later.text == line.name else f"({line.text})"
                    later.text = text.join(re.split(rf"\b{line.name}\b", later.text))
                    if line.name in later.names:
                        later.names = (later.names - {line.name}) | line.names
            else:
                result.append(line)
        return result


def body_of(function: Function, source: bytes, schema: Schema, schemas: Mapping[str, Sequence[Schema]]) -> Body:
    """The body of the fake that says what the kernel does; `schemas` are those of ATen's operators, by name.

    Raises Underivable where its source does not show it.
    """
    tree, masked = parse_span(source, function.start, function.end)
    if any(True for _ in errors(tree.root_node)):
        raise Underivable("it cannot be parsed")
    root = build(tree.root_node, masked)
    block = next(
        (node for node in root.walk() if node.kind == "compound_statement" and node.start == function.body), None
    )
    if block is None or len(function.params) != len(schema.arguments):
        raise Underivable("its parameters are not those of the schema")
    return _Reader(function, schema, schemas).read(block)


class _Reader:
    """Reads the statements of a kernel in turn."""

    def __init__(self, function: Function, schema: Schema, schemas: Mapping[str, Sequence[Schema]]) -> None:
        self._names: dict[str, Value | None] = {}
        self._schemas = schemas
        self._reshaped: frozenset[str] = frozenset()
        self._taken = {argument.name for argument in schema.arguments}
        self._body = Body()
        self._expressions = Expressions(self._names)
        for parameter, argument in zip(function.params, schema.arguments, strict=True):
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
        for statement in block.children:
            if statement.kind == "return_statement":
                if not statement.children:
                    raise Underivable("it returns nothing")
                value = self._expressions.result(statement.children[0])
                self._body.lines.append(Line("", f"return {value.text}", value.names))
                return self._body
            self._statement(statement)
        raise Underivable("it ends without a result")

    def _refuse_reshaping(self, block: Node) -> None:
        """Forget tensors that are changed in place by what may give them other sizes."""
        changed = _IN_PLACE.findall(block.text)
        self._reshaped = frozenset(name for name, method in changed if not _keeps_sizes(method, self._schemas))
        self._forget(self._reshaped)

    def _statement(self, node: Node) -> None:
        match node.kind:
            case "declaration":
                self._declaration(node)
            case "expression_statement" if node.children:
                self._expression(node.children[0])
            case "expression_statement" | "using_declaration" | "alias_declaration" | "type_definition":
                pass
            case _:
                self._passed_over(node)

    def _declaration(self, node: Node) -> None:
        for declarator in node.children:
            if declarator.kind != "init_declarator":
                continue
            target, value = declarator.field("declarator"), declarator.field("value")
            while target is not None and target.kind in ("reference_declarator", "pointer_declarator"):
                target = target.children[-1]
            if target is None or value is None:
                continue
            if target.kind == "structured_binding_declarator":
                self._forget(name.text for name in target.children)
                continue
            if value.kind in ("argument_list", "initializer_list") and len(value.children) == 1:
                spelled = (node.field("type") or node).text
                if value.kind == "argument_list" or "Tensor" in spelled:
                    value = value.children[0]
            self._bind(target.text, value)
        for named in node.children:
            if named.kind == "identifier":
                self._names[named.text] = None

    def _bind(self, name: str, node: Node) -> None:
        """Give a local its value; nothing where it cannot be said, and the lambda is asked what it assigns."""
        try:
            value = self._expressions.value(node)
        except Underivable:
            value = None
        if value is None or name in self._reshaped:
            self._forget_assigned(node)
            self._names[name] = None
            return
        if value.kind == "options" or value.text.isidentifier() or value.text.isdigit():
            self._names[name] = value
            return
        local = self._local(name)
        self._body.lines.append(Line(local, f"{value.text}", value.names, value.atomic))
        self._names[name] = Value(value.kind, local, frozenset({local}), True, value.natural, value.settled)

    def _local(self, name: str) -> str:
        while name in self._taken or not name.isidentifier():
            name = f"{name}_"
        return name

    def _expression(self, node: Node) -> None:
        if node.kind == "call_expression":
            function, arguments = node.field("function"), node.field("arguments")
            if function is not None and arguments is not None:
                check = _CHECKS.match(function.text)
                if check is not None and arguments.children:
                    self._check(_CHECKED.get(check[1] or "", ""), arguments.children)
                    return
                if function.kind == "field_expression" and self._list_changed(function, arguments.children):
                    return
        if node.kind == "assignment_expression" and node.token == "=":
            left, right = node.field("left"), node.field("right")
            if left is not None and right is not None and left.kind == "identifier":
                self._bind(left.text, right)
                return
            if left is not None and right is not None and self._element_set(left, right):
                return
        self._passed_over(node)

    def _check(self, kind: str, arguments: Sequence[Node]) -> None:
        """A check of the kernel, where it asks what a fake knows; its message is the text before the first value."""
        message = _message(arguments[1:])
        for condition in _conjuncts(arguments[0]):
            try:
                value = self._expressions.value(condition)
            except Underivable:
                self._body.left += 1
                continue
            if value.kind != "bool":
                self._body.left += 1
                continue
            said = f", lambda: {json.dumps(message, ensure_ascii=False)}" if message else ""
            self._body.lines.append(Line("", f"torch._check{kind}({value.text}{said})", value.names))

    def _list_changed(self, function: Node, arguments: Sequence[Node]) -> bool:
        """`sizes.push_back(n)`."""
        receiver, method = function.field("argument"), function.field("field")
        if receiver is None or method is None or method.text != "push_back" or len(arguments) != 1:
            return False
        return self._list_to(receiver.text, "{} = [*{}, {}]", arguments[0])

    def _element_set(self, left: Node, right: Node) -> bool:
        """`sizes[1] = n`."""
        receiver, indices = left.field("argument"), left.field("indices")
        if left.kind != "subscript_expression" or receiver is None or indices is None or len(indices.children) != 1:
            return False
        held = self._names.get(receiver.text)
        if held is None or held.kind != "ints":
            return False
        try:
            index, value = self._expressions.value(indices.children[0]), self._expressions.value(right)
        except Underivable:
            self._names[receiver.text] = None
            return True
        local = self._local(receiver.text)
        names = held.names | index.names | value.names
        self._body.lines.append(Line(local, f"list({held.text})", held.names))
        self._body.lines.append(Line("", f"{local}[{index.text}] = {value.text}", names | {local}))
        self._names[receiver.text] = Value("ints", local, frozenset({local}))
        return True

    def _list_to(self, name: str, form: str, argument: Node) -> bool:
        held = self._names.get(name)
        if held is None or held.kind != "ints":
            return False
        try:
            value = self._expressions.value(argument)
        except Underivable:
            self._names[name] = None
            return True
        local = self._local(name)
        self._body.lines.append(Line(local, f"[*{held.text}, {value.text}]", held.names | value.names))
        self._names[name] = Value("ints", local, frozenset({local}))
        return True

    def _passed_over(self, node: Node) -> None:
        """A statement that computes: the result may not come from inside it, and what it assigns is no longer known."""
        for inner in node.walk():
            if inner.kind == "return_statement" and not _in_lambda(inner, node):
                raise Underivable(f"it may return at `{inner.excerpt}`")
        self._forget_assigned(node)

    def _forget_assigned(self, node: Node) -> None:
        for inner in node.walk():
            if inner.kind in _ASSIGNED:
                target = inner.field("left") or inner.field("argument")
                while target is not None and target.kind in ("subscript_expression", "parenthesized_expression"):
                    target = target.children[0]
                if target is not None and target.text in self._names:
                    held = self._names[target.text]
                    element = (inner.field("left") or inner).kind == "subscript_expression"
                    if not (element and held is not None and held.kind == "tensor"):
                        self._names[target.text] = None
            elif inner.kind == "field_expression" and _of_list(self._names.get(inner.children[0].text)):
                method = inner.field("field")
                if method is not None and method.text not in _READING:
                    self._names[inner.children[0].text] = None

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._names[name] = None


def _keeps_sizes(method: str, schemas: Mapping[str, Sequence[Schema]]) -> bool:
    """Whether what an operator does in place leaves sizes and strides as they are.

    It does where the operator that is not in place gives a tensor of its own, or where nothing else is given to go by:
    `t_` is like `t`, a view, and `resize_` has no such operator (native_functions.yaml tags both `inplace_view`).
    """
    named = schemas.get(method, ())
    alike = schemas.get(method.removesuffix("_"), ())
    if alike:
        return all(not item.annotation for schema in alike for item in schema.returns)
    return bool(named) and all(len(schema.arguments) == 1 for schema in named)


def _of_list(value: Value | None) -> bool:
    return value is not None and value.kind in ("ints", "tensors")


def _in_lambda(node: Node, top: Node) -> bool:
    parent = node.parent
    while parent is not None and parent is not top:
        if parent.kind == "lambda_expression":
            return True
        parent = parent.parent
    return False


def _conjuncts(node: Node) -> Iterator[Node]:
    """The conditions that all have to hold."""
    while node.kind == "parenthesized_expression":
        node = node.children[0]
    if node.kind == "binary_expression" and node.token == "&&":
        for child in node.children:
            yield from _conjuncts(child)
    else:
        yield node


def _message(arguments: Sequence[Node]) -> str:
    """The literal text that a message begins with; the clause that a value would end is left out where it can be."""
    text = ""
    for argument in arguments:
        pieces = argument.children if argument.kind == "concatenated_string" else [argument]
        if any(piece.kind != "string_literal" for piece in pieces):
            text = text.rpartition(",")[0] or text
            break
        for piece in pieces:
            try:
                text += str(ast.literal_eval(piece.text))
            except (SyntaxError, ValueError):
                return text
    return text.strip().rstrip(":,").strip()
