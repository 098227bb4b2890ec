"""Calls of methods of classes other than Tensor, as their declarations in the tree and the headers have them."""

from __future__ import annotations

from transforms.cpp.flow.dispatch import evaluate
from transforms.cpp.flow.engine import Flow
from transforms.cpp.flow.events import OffsetOfImpl
from transforms.cpp.flow.helpers import SCALARS, accepts, apply, fits, match_sequences, name_node, note_kernel
from transforms.cpp.flow.operators import Resolved, resolve
from transforms.cpp.flow.overloads import is_among, meant
from transforms.cpp.reading.tree import Node
from transforms.cpp.reading.types import TENSOR, UNKNOWN, Type

# Methods of the public C++ API whose names say what they return (torch/csrc/autograd, ATen/core/ivalue.h).
_PUBLIC = {
    "get_saved_variables": Type("list", "variable_list", (TENSOR,)),
    "toTensor": TENSOR,
    "toTensorVector": Type("list", "vector", (TENSOR,)),
    "toTensorList": Type("list", "List", (TENSOR,)),
}


def method(flow: Flow, node: Node, owner: Type, name: str, arguments: list[Node]) -> Type:
    """A method of a class: its declaration in the tree tells what it takes and returns."""
    values = [evaluate(flow, argument) for argument in arguments]
    operator = _tensor_only(flow, node, owner, name, values)
    if operator is not None:
        return apply(flow, node, name_node(node.fields["function"]), operator, arguments, values)
    parent = owner.name.split("<")[0].split("::")[-1] if owner.kind == "other" else ""
    if parent == "TensorImpl" and name == "set_storage_offset" and _set_with_sizes(flow, node, arguments, values):
        return Type("void")
    candidates = [
        function
        for function in flow.vocabulary.functions.get(name, ())
        if function.parent and (not parent or function.parent == parent) and fits(function, len(arguments))
    ]
    if parent or name not in flow.vocabulary.schemas:  # of an object of unknown type, the methods of this file
        note_kernel(flow, node, name, [f for f in candidates if parent or f.path == flow.function.path])
    symbolic = [value for value in values if value.symbolic and value.kind in SCALARS]
    before = meant(flow, candidates, values)
    among = [f for f in candidates if is_among(flow, f, before, len(values))]
    accepting = [f for f in among if all(accepts(flow, f, i, v) == "ok" for i, v in enumerate(values) if v.symbolic)]
    if symbolic and not (parent and accepting):
        for argument, value in zip(arguments, values, strict=True):
            if value.kind in SCALARS:
                flow.sink(argument, "callee-unknown", f"is an argument of the method `{name}`", value)
    elif symbolic:
        match_sequences(flow, accepting[0], arguments, values)
    if name in _PUBLIC and owner.kind in ("unknown", "other"):
        return _PUBLIC[name]
    if not candidates:
        return UNKNOWN
    if parent or len({f.returns for f in candidates}) == 1:
        return flow.type_of((accepting or candidates)[0].returns)
    return UNKNOWN


def _set_with_sizes(flow: Flow, node: Node, arguments: list[Node], values: list[Type]) -> bool:
    """Whether the next statement can set a symbolic offset with the sizes and strides of the same TensorImpl."""
    statement = node.parent
    block = statement.parent if statement is not None else None
    if statement is None or block is None or len(values) != 1 or not values[0].symbolic:
        return False
    following = next((child for child in block.children if child.start >= statement.end), None)
    setter = following.children[0] if following is not None and following.children else None
    if following is None or setter is None or setter.kind != "call_expression":
        return False
    receiver = node.fields["function"].text.removesuffix("set_storage_offset")
    arguments_set = setter.fields["arguments"].children
    if setter.fields["function"].text != f"{receiver}set_sizes_and_strides" or len(arguments_set) != 2:
        return False
    overloads = flow.vocabulary.functions.get("set_sizes_and_strides", ())
    if not any(len(f.params) == 3 and all("Sym" in p.type for p in f.params) for f in overloads):
        return False
    if arguments[0].kind != "identifier" and flow.lookup("storage_offset") is not None:
        return False
    if not all(evaluate(flow, argument).symbolic for argument in arguments_set):
        return False  # no overload takes concrete sizes, or those of a template's type, beside a SymInt
    flow.announce(OffsetOfImpl(values[0].origins, statement, arguments[0], following, arguments_set[1]))
    return True


def _tensor_only(flow: Flow, node: Node, owner: Type, name: str, values: list[Type]) -> Resolved | None:
    """The operator that a method of a value of unknown type must be: no class of the tree but Tensor has it."""
    if owner.kind != "unknown" or not any(value.symbolic for value in values):
        return None
    others = (f for f in flow.vocabulary.functions.get(name, ()) if f.parent not in ("", "Tensor", "TensorBase"))
    used = node.parent is not None and node.parent.kind != "expression_statement"
    if any(not used or f.returns != "void" for f in others):
        return None
    operator = resolve(flow.vocabulary, name, values, method=True)
    return operator if operator is not None and operator.name != name else None
