"""The expressions of a kernel as Python, as far as their sizes, dtypes and devices go."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from transforms.cpp.coverage.aten import Operators
from transforms.cpp.coverage.factories import Factories
from transforms.cpp.coverage.nodes import ENDS
from transforms.cpp.coverage.types import is_integer, keeps_number
from transforms.cpp.coverage.values import CPU, Kind, Options, Underivable, Value, joined
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import SCALAR_TYPES
from transforms.schema.schema import Schema

_CAST = re.compile(r"static_cast<(.+)>$", re.S)
_INTEGER = re.compile(r"(-?\d+)[uUlL]*$")
_CONSTANT = re.compile(r"(?:(?:at|torch(?:::headeronly)?|c10)::)?(?:k|ScalarType::|DeviceType::)(\w+)$")
_FORMAT = re.compile(r"(?:(?:at|torch|c10)::)?MemoryFormat::(Contiguous|ChannelsLast|ChannelsLast3d|Preserve)$")
_FORMATS = {"Contiguous": "contiguous_format", "ChannelsLast": "channels_last",
            "ChannelsLast3d": "channels_last_3d", "Preserve": "preserve_format"}  # fmt: skip
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_VECTOR = re.compile(
    r"std::vector\s*<\s*(?:int64_t|long|at::IntArrayRef::value_type)\s*>$|(?:at::|c10::|torch::)?IntArrayRef$"
    r"|(?:torch::headeronly::)?IntHeaderOnlyArrayRef$"
)
_ENDS = re.compile(r"(.+)\.c?begin\(\), \1\.c?end\(\)$", re.S)
_TUPLE = re.compile(r"std::(?:make_)?tuple\b(?:\s*<.*>)?$|std::make_pair$|std::forward_as_tuple$", re.S)


class Expressions:
    """Translates expressions, given the values of the names in scope."""

    def __init__(
        self, names: Mapping[str, Value | None], unknown: Mapping[str, str], schemas: Mapping[str, Sequence[Schema]]
    ) -> None:
        """`unknown` says why names hold what is not known, `schemas` are those of ATen's operators, by name."""
        self._names = names
        self._unknown = unknown
        self.halved: set[str] = set()
        """What is divided and may be negative for all that was seen: C++ rounds that to 0, and Python down."""
        self._factories = Factories(self.value)
        self._operators = Operators(schemas, self.value)

    def value(self, node: Node) -> Value:
        """The expression in Python. Raises Underivable where it says nothing that a fake can say."""
        made = getattr(self, f"_{node.kind}", None)
        value = made(node) if made is not None else None
        if not isinstance(value, Value):
            raise Underivable(f"`{node.excerpt}`")
        return value

    def result(self, node: Node) -> Value:
        """What a kernel returns: a tensor, or a tuple of such."""
        parts = self._parts(node)
        if parts is None:
            value = self.value(node)
            if value.kind not in ("tensor", "tensors"):
                raise Underivable(f"`{node.excerpt}` is no tensor")
            return value
        values = [self.value(part) for part in parts]
        if any(value.kind != "tensor" for value in values):
            raise Underivable(f"`{node.excerpt}` holds what is no tensor")
        if len(values) == 1 and node.kind == "initializer_list":
            raise Underivable(f"`{node.excerpt}`")
        return Value("other", ", ".join(value.text for value in values), joined(*values), False)

    def derived(self, node: Node | None) -> Value | None:
        """The expression in Python; None where it says nothing that a fake can say."""
        try:
            return self.value(node) if node is not None else None
        except Underivable:
            return None

    def reason(self, node: Node) -> str:
        """Why the expression says nothing that a fake can say: the part that is not read; "" where all is."""
        try:
            self.value(node)
        except Underivable as error:
            return str(error)
        return ""

    def in_place(self, tensor: Value, name: str, arguments: Sequence[Node]) -> Value | None:
        """A call that changes a tensor in place, None where a fake cannot make it."""
        try:
            return self._operators.method(tensor, name, arguments)
        except Underivable:
            return None

    def _parts(self, node: Node) -> Sequence[Node] | None:
        if node.kind == "initializer_list":
            return node.children
        function = node.field("function")
        if node.kind == "call_expression" and function is not None and _TUPLE.match(function.text):
            arguments = node.field("arguments")
            return arguments.children if arguments is not None else None
        if node.kind == "compound_literal_expression" and _TUPLE.match((node.field("type") or node).text):
            inner = node.field("value")
            return inner.children if inner is not None else None
        return None

    def _identifier(self, node: Node) -> Value | None:
        text = node.text
        if text in self._names:
            if self._names[text] is None and text in self._unknown:
                raise Underivable(self._unknown[text])
            return self._names[text]
        return self._constant(text)

    def _qualified_identifier(self, node: Node) -> Value | None:
        return self._constant(node.text)

    def _constant(self, text: str) -> Value | None:
        kept = _FORMAT.match(text)
        if kept is not None:
            return Value("format", f"torch.{_FORMATS[kept[1]]}")
        named = _CONSTANT.match(text)
        if named is not None and named[1] in SCALAR_TYPES:
            return Value("dtype", f"torch.{SCALAR_TYPES[named[1]]}", settled=True)
        if named is not None and named[1] == "CPU":
            return Value("device", CPU, settled=True)
        return None

    def _number_literal(self, node: Node) -> Value | None:
        number = _INTEGER.match(node.text)
        if number is None:
            return None
        natural = not number[1].startswith("-")
        return Value("int", number[1], natural=natural, settled=True, least=int(number[1]) if natural else 0)

    def _true(self, node: Node) -> Value:
        return Value("bool", "True", settled=True)

    def _false(self, node: Node) -> Value:
        return Value("bool", "False", settled=True)

    def _parenthesized_expression(self, node: Node) -> Value:
        return self.value(node.children[0])

    def _condition_clause(self, node: Node) -> Value:
        return self.value(node.children[-1])

    def _pointer_expression(self, node: Node) -> Value | None:
        value = self.value(node.children[0])
        return replace(value, optional=False) if node.token == "*" and value.optional else None

    def _initializer_list(self, node: Node) -> Value | None:
        values = [self.value(child) for child in node.children]
        if values and all(value.kind == "tensor" and not value.optional for value in values):
            return Value("tensors", f"[{', '.join(value.text for value in values)}]", joined(*values))
        if any(value.kind != "int" for value in values):
            return None
        ends = "," if len(values) == 1 else ""
        return Value("ints", f"({', '.join(value.text for value in values)}{ends})", joined(*values))

    def _compound_literal_expression(self, node: Node) -> Value | None:
        kind, inner = node.field("type"), node.field("value")
        return self.value(inner) if kind is not None and inner is not None and _VECTOR.match(kind.text) else None

    def _argument_list(self, node: Node) -> Value | None:
        """What a list is made of: `({n, 2})`, or `(sizes.begin(), sizes.end())`, another list from end to end."""
        ends = _ENDS.match(", ".join(child.text for child in node.children))
        if len(node.children) == 2 and ends is not None:
            begin = node.children[0].field("function")
            made_of = begin.field("argument") if begin is not None else None
        else:
            made_of = node.children[0] if len(node.children) == 1 else None
        value = self.value(made_of) if made_of is not None else None
        if value is None or value.kind != "ints":
            return None
        if value.text.isidentifier():  # what is done to one of two lists is not done to the other
            value = replace(value, text=f"list({value.text})", names=value.names | {"list"})
        return value

    def _unary_expression(self, node: Node) -> Value | None:
        value = self.value(node.children[0])
        if node.token == "-" or node.text.startswith("-"):
            return (
                Value("int", f"-{value.operand}", value.names, settled=value.settled) if value.kind == "int" else None
            )
        if node.text.startswith("!") and value.kind == "bool" and value.settled:
            return Value("bool", f"not {value.operand}", value.names, False, settled=True)
        return None

    def _binary_expression(self, node: Node) -> Value | None:
        left_node, right_node = node.field("left"), node.field("right")
        if left_node is None or right_node is None:
            return None
        left, right = self.value(left_node), self.value(right_node)
        names, token = joined(left, right), node.token
        settled = left.settled and right.settled
        if token in ("&&", "||") and left.kind == right.kind == "bool":
            if not settled and token == "||":
                return None  # `or` asks for the truth of the first
            word = "and" if token == "&&" else "or"
            return Value("bool", f"{left.operand} {word} {right.operand}", names, False, settled=settled)
        if token in _COMPARISONS and left.kind == right.kind and left.kind in ("int", "dtype", "device", "bool"):
            return Value("bool", f"{left.operand} {token} {right.operand}", names, False, settled=settled)
        if token == "==" and left.kind == right.kind == "ints":
            return Value("bool", f"sym_eq({left.text}, {right.text})", names | {"sym_eq"})
        kinds = {left.kind, right.kind}
        if "tensor" in kinds and kinds <= {"tensor", "int", "float"} and token in ("+", "-", "*", "/"):
            if left.optional or right.optional:
                return None
            return Value("tensor", f"{left.operand} {token} {right.operand}", names, False, fresh=True)
        if left.kind == right.kind == "int" and token in ("+", "-", "*"):
            least = left.least + right.least if token == "+" else left.least * right.least
            if token == "-":
                least = left.least - right.least if right.text.isdigit() else -1
            natural = left.natural and right.natural and least >= 0
            text = f"{left.operand} {token} {right.operand}"
            return Value("int", text, names, False, natural, settled, least=max(least, 0))
        if left.kind == right.kind == "int" and token == ">>" and left.natural and right.text.isdigit():
            return Value("int", f"{left.operand} // {1 << int(right.text)}", names, False, True, settled)
        if left.kind == right.kind == "int" and token in ("/", "%") and right.natural:
            if not left.natural:
                self.halved.add(left.text)
            word = "//" if token == "/" else "%"
            return Value("int", f"{left.operand} {word} {right.operand}", names, False, True, settled)
        return None

    def _conditional_expression(self, node: Node) -> Value | None:
        parts = [node.field(name) for name in ("condition", "consequence", "alternative")]
        if any(part is None for part in parts):
            return None
        condition, first, second = (self.value(part) for part in parts if part is not None)
        if not condition.settled or condition.kind != "bool" or first.kind != second.kind or first.kind == "options":
            return None
        text = f"{first.operand} if {condition.text} else {second.operand}"
        return replace(
            first,
            text=text,
            names=joined(condition, first, second),
            atomic=False,
            natural=first.natural and second.natural,
            least=min(first.least, second.least),
            settled=first.settled and second.settled,
            optional=first.optional or second.optional,
            fresh=first.fresh and second.fresh,
        )

    def _subscript_expression(self, node: Node) -> Value | None:
        receiver, indices = node.field("argument"), node.field("indices")
        if receiver is None or indices is None or len(indices.children) != 1:
            return None
        value, index = self.value(receiver), self.value(indices.children[0])
        if index.kind != "int" or value.kind not in ("ints", "tensors", "tensor") or value.optional:
            return None
        kind: Kind = "int" if value.kind == "ints" else "tensor"
        return Value(kind, f"{value.operand}[{index.text}]", joined(value, index), natural=value.natural)

    def _call_expression(self, node: Node) -> Value | None:
        function, arguments = node.field("function"), node.field("arguments")
        if function is None or arguments is None:
            return None
        if function.kind == "field_expression":
            return self._method(node, function, arguments.children)
        name = function.text
        if _VECTOR.match(name):
            return self._argument_list(arguments)
        cast = _CAST.match(name)
        if (cast is not None or is_integer(name)) and len(arguments.children) == 1:
            return self._cast(cast[1] if cast is not None else name, arguments.children[0])
        if re.match(r"std::(?:max|min)\b", name) and len(arguments.children) == 2:
            left, right = (self.value(child) for child in arguments.children)
            if left.kind == right.kind == "int":
                word = "sym_max" if name.startswith("std::max") else "sym_min"
                natural = left.natural and right.natural
                return Value("int", f"torch.{word}({left.text}, {right.text})", joined(left, right), natural=natural)
            return None
        return self._factories.function(name, arguments.children) or self._operators.function(name, arguments.children)

    def _cast_expression(self, node: Node) -> Value | None:
        kind, inner = node.field("type"), node.field("value")
        return self._cast(kind.text, inner) if kind is not None and inner is not None else None

    def _cast(self, kind: str, node: Node) -> Value | None:
        value = self.value(node)
        return value if value.kind == "int" and keeps_number(kind, value) else None

    def _method(self, node: Node, function: Node, arguments: Sequence[Node]) -> Value | None:
        receiver, field = function.field("argument"), function.field("field")
        if receiver is None or field is None:
            return None
        value, name = self.value(receiver), field.text
        if value.optional and function.token != "->":
            if name == "has_value" or (name == "defined" and value.kind == "tensor"):
                return Value("bool", f"{value.operand} is not None", value.names, False, settled=True)
            return replace(value, optional=False) if name == "value" else None
        if value.kind == "tensor":
            return self._of_tensor(value, name, arguments)
        if value.kind in ("ints", "tensors"):
            if name == "vec" and not arguments:
                return value
            if name in ENDS and not arguments and value.kind == "ints":
                return Value("int", f"{value.operand}[{ENDS[name]}]", value.names, natural=value.natural)
            if name == "size" and not arguments:
                return Value("int", f"len({value.text})", value.names | {"len"}, natural=True, settled=True)
        if value.kind == "options":
            return self._factories.with_option(value, name, arguments)
        return None

    def _of_tensor(self, tensor: Value, name: str, arguments: Sequence[Node]) -> Value | None:
        names, text = tensor.names, tensor.operand
        if name == "size" and len(arguments) == 1:
            index = self.value(arguments[0])
            if index.kind != "int":
                return None
            return Value("int", f"{text}.shape[{index.text}]", joined(tensor, index), natural=True)
        if arguments:
            return self._made(tensor, name, arguments)
        match name:
            case "sizes":
                return Value("ints", f"{text}.shape", names, natural=True)
            case "numel":
                return Value("int", f"{text}.numel()", names, natural=True)
            case "dim" | "ndimension":
                return Value("int", f"{text}.dim()", names, natural=True, settled=True)
            case "scalar_type" | "dtype":
                return Value("dtype", f"{text}.dtype", names, settled=True)
            case "device":
                return Value("device", f"{text}.device", names, settled=True)
            case "is_floating_point" | "is_complex":
                return Value("bool", f"{text}.{name}()", names, settled=True)
            case "is_cuda" | "is_cpu":
                return Value("bool", f"{text}.{name}", names, settled=True)
            case "options":
                return Value("options", "", names, options=Options(like=text))
        return self._made(tensor, name, arguments)

    def _made(self, tensor: Value, name: str, arguments: Sequence[Node]) -> Value | None:
        """A tensor that a method makes; what changes the tensor itself is no value here."""
        made = self._factories.method(tensor, name, arguments)
        return made if made is not None or name.endswith("_") else self._operators.method(tensor, name, arguments)
