"""What a kernel does with a local that a fake rests on, where it is not read in turn: whether it is only read there.

What is known to read is a closed list: anything else may change a number, a list, or the sizes of a tensor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from transforms.cpp.coverage.nodes import keeps_sizes
from transforms.cpp.reading.syntax import LAUNCH
from transforms.cpp.reading.tree import Node
from transforms.schema.schema import Schema

_ATEN = re.compile(r"(?:at|torch)::(?:native::|_ops::|symint::|stable::)?([a-z_]\w*)$")
_CONST = re.compile(r"\bconst\b")
_READ = frozenset({
    "unary_expression", "condition_clause", "expression_statement", "subscript_argument_list", "sizeof_expression",
    "return_statement", "throw_statement", "do_statement", "for_statement", "lambda_capture_specifier", "decltype",
    "type_descriptor", "declaration", "optional_parameter_declaration", "case_statement",
    "reference_declarator", "pointer_declarator", "array_declarator", "template_argument_list",
    "structured_binding_declarator", "alignof_expression",
})  # fmt: skip
"""Where a name is read as a value, or is one that is declared anew."""
_SAME = frozenset({"parenthesized_expression", "comma_expression", "compound_literal_expression"})
_CASTS = re.compile(r"static_cast<[^&*]*>$")
_OF_TENSOR = frozenset({
    "size", "sizes", "sym_size", "sym_sizes", "stride", "strides", "numel", "dim", "ndimension", "scalar_type", "dtype",
    "device", "options", "defined", "layout", "nbytes", "itemsize", "element_size", "storage_offset", "get_device",
    "is_cuda", "is_cpu", "is_contiguous", "is_floating_point", "is_complex", "is_sparse", "is_same", "requires_grad",
    "is_non_overlapping_and_dense", "suggest_memory_format", "type", "toString", "key_set", "has_storage", "data_ptr",
    "const_data_ptr", "mutable_data_ptr", "accessor", "generic_packed_accessor", "packed_accessor",
    "packed_accessor32", "packed_accessor64", "has_value",
})  # fmt: skip
"""Methods of a Tensor, beside the operators, that leave its sizes as they are."""
_OF_LIST = frozenset({"size", "empty", "vec", "slice", "equals", "capacity", "cbegin", "cend"})
_OF_OTHERS = frozenset({
    "dtype", "device", "layout", "requires_grad", "pinned_memory", "memory_format", "has_dtype", "has_device", "type",
    "index", "has_index", "is_cuda", "is_cpu", "str", "name", "itemsize", "value_or",
})  # fmt: skip
"""Methods of options, devices, dtypes and optional numbers that leave them as they are."""
_PUTS = frozenset({"push_back", "emplace_back", "reserve", "resize", "assign", "fill", "count", "find", "at"})
"""Methods of containers that copy the numbers they are given."""
_STANDARD = re.compile(
    r"std::(?:max|min|abs|pow|sqrt|ceil|floor|round|log2?|accumulate|reduce|count|find|equal|distance|next|prev|all_of"
    r"|any_of|none_of|max_element|min_element|is_sorted|inner_product|multiplies|to_string|make_pair|make_tuple|get)$"
)
"""Functions of the standard library that read what they are given."""
_BUILT = re.compile(
    r"(?:const\s+)?(?:dim3|std::(?:vector|array|set|unordered_set|string|optional|pair|tuple)\b.*)$", re.S
)
"""Types that copy what they are made of."""
_OF_TORCH = re.compile(
    r"(?:::)?(?:(?:at|torch|c10)::)?(?:\w+::)*(?:IntArrayRef|ArrayRef|TensorOptions|maybe_wrap_dims?|ceil_div|divup|CeilDiv"
    r"|parallel_for|device_of|TensorArg|TensorGeometryArg|checkAllSame\w+|checkAllDefined|getTensorInfo|elementSize|is\w+Type|toString|toOpMathType|promoteTypes|optional"
    r"|canUse32BitIndexMath|(?:Optional)?(?:CUDA|HIP|Device)Guard|multiply_integers)$"
)
"""Functions and types of torch that are no operators, and read what they are given."""
_MACRO = re.compile(r"(?:[A-Z0-9]+_)*(?:CHECK|ASSERT|ASSERTM|DISPATCH|WARN|LOG|ERROR|UNUSED|ENFORCE)(?:_[A-Z0-9_]+)?$")
"""Macros that check, report, or choose by a dtype."""
_SHARED = ("tensor", "tensors")
"""Kinds of which a copy is the same tensor."""
_ELEMENTS = {"ints": "int", "tensors": "tensor", "iterator": "int"}
_OPERATOR_OUT = re.compile(r"(\w+)_outf?$")


class Callee(NamedTuple):
    """A function that a call may mean: the types and names of its parameters, and its syntax where that is read."""

    types: Sequence[str]
    names: Sequence[str]
    syntax: Node | None


Callees = Callable[[str, int], Sequence[Callee]]
"""The functions of the tree that a call by that name, with so many arguments, may mean."""


class Held(NamedTuple):
    """What a name holds, as far as its uses go."""

    kind: str
    constant: bool
    given: bool
    """Whether it is an argument that the operator does not write to, by its schema."""


@dataclass(frozen=True, slots=True)
class _Use:
    """A place where a value of that kind stands."""

    node: Node
    kind: str
    copy: bool = False
    """Whether it is constant, a copy, or another handle of the tensor: what is assigned to it is not assigned there."""
    given: bool = False
    """Whether it is an argument that the operator does not write to, by its schema."""


class Uses:
    """Asks what statements do with the names of a kernel."""

    def __init__(self, block: Node, schemas: Mapping[str, Sequence[Schema]], callees: Callees) -> None:
        self._block = block
        self.schemas = schemas
        self._callees = callees
        self._asked: set[tuple[int, str, str, bool]] = set()

    def changing(self, node: Node, names: Mapping[str, Held]) -> Iterator[Node]:
        """The places in `node` where one of the names may be changed."""
        for inner in node.walk():
            # `Guard guard(x);` is parsed as a declaration of a function.
            held = names.get(inner.text) if inner.kind in ("identifier", "type_identifier") else None
            if held is None or (held.constant and held.kind not in _SHARED):
                continue
            if not self._reads(_Use(inner, held.kind, held.constant, held.given)):
                yield inner

    def changes_behind(self, node: Node, name: str, held: Held) -> bool:
        """Whether a name may be changed behind a statement of the kernel."""
        return any(inner.start >= node.end for inner in self.changing(self._block, {name: held}))

    def _all_read(self, name: str, scope: Node, use: _Use) -> bool:
        """Whether another name of the same value, in `scope`, is only read as well."""
        asked = id(scope), name, use.kind, use.copy
        if asked in self._asked:
            return True
        self._asked.add(asked)
        try:
            named = [inner for inner in scope.walk() if inner.kind == "identifier" and inner.text == name]
            return all(self._reads(replace(use, node=inner)) for inner in named)
        finally:
            self._asked.discard(asked)

    def _reads(self, use: _Use) -> bool:
        parent = use.node.parent
        if parent is None or parent.kind in _READ:
            return parent is not None
        if parent.kind in _SAME:
            return self._reads(replace(use, node=parent))
        made = getattr(self, f"_in_{parent.kind}", None)
        return made is not None and bool(made(use, parent))

    def _in_binary_expression(self, use: _Use, parent: Node) -> bool:
        if use.kind == "iterator" and parent.token in ("+", "-"):
            return self._reads(replace(use, node=parent))
        return parent.token != ">>"  # of a stream

    def _in_conditional_expression(self, use: _Use, parent: Node) -> bool:
        return parent.field("condition") is use.node or self._reads(replace(use, node=parent))

    def _in_cast_expression(self, use: _Use, parent: Node) -> bool:
        return use.kind != "iterator" and not {"&", "*"} & set((parent.field("type") or parent).text)

    def _in_pointer_expression(self, use: _Use, parent: Node) -> bool:
        return parent.token == "*" and self._reads(
            _element(use, parent) if use.kind == "iterator" else replace(use, node=parent)
        )

    def _in_update_expression(self, use: _Use, _: Node) -> bool:
        return use.kind == "iterator"

    def _in_subscript_expression(self, use: _Use, parent: Node) -> bool:
        return use.kind == "tensor" or (use.kind in _ELEMENTS and self._reads(_element(use, parent)))

    def _in_for_range_loop(self, use: _Use, parent: Node) -> bool:
        if use.kind == "tensor" or parent.field("declarator") is use.node:
            return parent.field("declarator") is use.node
        return use.kind in _ELEMENTS and self._named(_element(use, use.node), parent, parent)

    def _in_init_declarator(self, use: _Use, parent: Node) -> bool:
        return parent.field("declarator") is use.node or self._named(use, parent, parent.parent)

    def _in_lambda_capture_initializer(self, use: _Use, parent: Node) -> bool:
        return parent.field("left") is use.node or (parent.token != "&" and use.kind not in (*_SHARED, "iterator"))

    def _in_initializer_list(self, use: _Use, parent: Node) -> bool:
        declaration = parent.parent.parent if parent.parent is not None else None
        kind = declaration.field("type") if declaration is not None else None
        if (use.given and use.copy) or (kind is not None and _OF_TORCH.match(kind.text)):
            return True
        return use.kind not in (*_SHARED, "iterator") or self._reads(_Use(parent, "tensors", True))

    def _in_assignment_expression(self, use: _Use, parent: Node) -> bool:
        left = parent.field("left")
        if left is use.node:  # `out += x` is done in place
            return use.copy or (use.kind == "tensor" and parent.token != "=")
        if use.kind not in (*_SHARED, "iterator"):
            return True
        if left is not None and left.kind == "subscript_expression" and use.kind == "tensor":
            left = left.field("argument")
            return (
                left is not None
                and left.kind == "identifier"
                and self._all_read(left.text, _top(left), _Use(left, "tensors", True))
            )
        return left is not None and left.kind == "identifier" and self._all_read(left.text, _top(left), _copy(use))

    def _named(self, use: _Use, declarator: Node, declaration: Node | None) -> bool:
        """Whether what a declaration names is only read by that name."""
        target, by_value = declarator.field("declarator"), True
        while target is not None and target.kind in ("reference_declarator", "pointer_declarator"):
            by_value = by_value and target.kind == "pointer_declarator" and use.kind == "iterator"
            target = target.children[-1]
        if target is None or declaration is None or target.kind != "identifier":
            return by_value and use.kind not in (*_SHARED, "iterator")
        head = declaration.source[declaration.start : target.start].decode("utf-8", "surrogateescape")
        copied = by_value or _CONST.search(head) is not None
        if use.kind not in (*_SHARED, "iterator") and copied:
            return True
        return self._all_read(target.text, _top(target), replace(use, copy=use.copy or copied))

    def _in_field_expression(self, use: _Use, field: Node) -> bool:
        call, name = field.parent, _method_name(field)
        if call is None or call.kind != "call_expression" or call.field("function") is not field:
            return False
        if name in ("value", "has_value"):  # of an optional
            return name == "has_value" or self._reads(replace(use, node=call))
        if use.kind == "tensor":
            return name in _OF_TENSOR or self._of_aten(use, call, name)
        if use.kind in ("ints", "tensors"):
            if name in ("at", "back", "front"):
                return self._reads(_element(use, call))
            if name in ("begin", "end", "rbegin", "rend", "data"):
                return use.kind == "ints" and self._reads(_Use(call, "iterator", True))
            return name in _OF_LIST
        return name in _OF_OTHERS

    def _of_aten(self, use: _Use, call: Node, name: str) -> bool:
        """A method that is an operator: what it gives may be the tensor itself."""
        if name.endswith("_"):
            return keeps_sizes(name, self.schemas) and self._reads(_copy(replace(use, node=call)))
        schemas = [schema for schema in self.schemas.get(name, ()) if not schema.outputs]
        if not schemas or any(schema.arguments[0].written for schema in schemas if schema.arguments):
            return False
        is_view = any(result.annotation for schema in schemas for result in schema.returns)
        return not is_view or self._reads(_copy(replace(use, node=call)))

    def _in_argument_list(self, use: _Use, arguments: Node) -> bool:
        call, count = arguments.parent, len(arguments.children)
        if use.given and use.copy:
            return True
        index = next(place for place, child in enumerate(arguments.children) if child is use.node)
        if call is not None and call.kind == "init_declarator":
            declaration = call.parent
            kind = declaration.field("type") if declaration is not None else None
            if kind is not None and (kind.kind == "placeholder_type_specifier" or kind.text.endswith("Tensor")):
                return self._named(use, call, declaration)
            return self._constructed(use, kind, index, count)
        function = call.field("function") if call is not None and call.kind == "call_expression" else None
        if call is None or function is None:
            return False
        match function.kind:
            case "call_expression":  # what a device's kernel is launched with is copied to it
                return function.text.startswith(LAUNCH)
            case "primitive_type" | "sized_type_specifier":
                return True
            case "lambda_expression":
                return self._of_lambda(use, function, index)
            case "field_expression":
                return self._given_to_method(use, _method_name(function), index, count)
        text = function.text
        name = text.partition("<")[0].strip()
        if name == LAUNCH:  # how a device's kernel is launched is copied as well
            return True
        if name == "std::move":
            return self._reads(_copy(replace(use, node=call)))
        if _CASTS.match(text) or _STANDARD.match(name) or _MACRO.match(name) or _OF_TORCH.match(name):
            return True
        lambdas = [
            inner.fields["value"]
            for inner in _top(call).walk()
            if inner.kind == "init_declarator" and inner.fields["declarator"].text == name and "value" in inner.fields
        ]
        if lambdas:
            return all(value.kind == "lambda_expression" and self._of_lambda(use, value, index) for value in lambdas)
        operator = _ATEN.match(name)
        if operator is not None and (read := self._of_operator(operator[1], index)) is not None:
            return read
        return self._of_tree(use, name, index, count) is True

    def _in_parameter_declaration(self, use: _Use, parameter: Node) -> bool:
        """`Guard guard(x);` is parsed as the declaration of a function that takes an `x`."""
        declarator = parameter.parent.parent if parameter.parent is not None else None
        declaration = declarator.parent if declarator is not None else None
        if use.node.kind == "identifier" or parameter.parent is None or declaration is None:
            return use.node.kind == "identifier"
        taken = parameter.parent.children
        return self._constructed(use, declaration.field("type"), taken.index(parameter), len(taken))

    def _constructed(self, use: _Use, kind: Node | None, index: int, count: int) -> bool:
        """`dim3 grid(n)`."""
        if kind is None or (use.given and use.copy):
            return kind is not None
        if use.kind not in _SHARED and (kind.kind == "primitive_type" or _BUILT.match(kind.text)):
            return True
        return _OF_TORCH.match(kind.text) is not None or self._of_tree(use, kind.text, index, count) is True

    def _given_to_method(self, use: _Use, name: str, index: int, count: int) -> bool:
        own = self._of_tree(use, name, index, count)
        if own is not None:
            return own
        return (name in _PUTS and use.kind not in _SHARED) or self._of_operator(name, index + 1) is True

    def _of_operator(self, name: str, index: int) -> bool | None:
        """Whether an operator of ATen leaves the sizes of an argument as they are; None where none is so named."""
        out = _OPERATOR_OUT.match(name)
        if out is not None and out[1] in self.schemas:
            return index >= max((len(schema.outputs) for schema in self.schemas[out[1]]), default=0)
        schemas = [schema for schema in self.schemas.get(name, ()) if not schema.outputs]
        if not schemas:
            return None
        written = any(schema.arguments[index].written for schema in schemas if index < len(schema.arguments))
        return not written or keeps_sizes(name, self.schemas)

    def _of_tree(self, use: _Use, name: str, index: int, count: int) -> bool | None:
        """Whether the functions of the tree that are so named leave an argument as it is; None where there is none."""
        callees = self._callees(name, count)
        return all(self._of_parameter(use, callee, index) for callee in callees) if callees else None

    def _of_lambda(self, use: _Use, function: Node, index: int) -> bool:
        declarator = function.field("declarator")
        parameters = declarator.field("parameters") if declarator is not None else None
        taken = parameters.children if parameters is not None else []
        names = [[inner.text for inner in parameter.walk() if inner.kind == "identifier"] for parameter in taken]
        return self._of_parameter(
            use, Callee([parameter.text for parameter in taken], [(*name, "")[0] for name in names], function), index
        )

    def _of_parameter(self, use: _Use, callee: Callee, index: int) -> bool:
        if index >= len(callee.types) or "..." in callee.types[index]:
            return False
        kind, name = callee.types[index], callee.names[index]
        copied = "&" not in kind or _CONST.search(kind) is not None
        if copied and (use.given or use.kind not in (*_SHARED, "iterator")):
            return "*" not in kind
        return callee.syntax is not None and (
            not name or self._all_read(name, callee.syntax, replace(use, copy=use.copy or copied))
        )


def _copy(use: _Use) -> _Use:
    return replace(use, copy=True)


def _element(use: _Use, node: Node) -> _Use:
    return _Use(node, _ELEMENTS[use.kind])


def _top(node: Node) -> Node:
    """The syntax of the function that a node stands in."""
    while node.parent is not None:
        node = node.parent
    return node


def _method_name(field: Node) -> str:
    return (field.field("field") or field).text.partition("<")[0].strip()
