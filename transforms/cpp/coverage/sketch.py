"""The fake that an operator lacks, as far as its schema and its kernel show it."""

from __future__ import annotations

import keyword
import re

from transforms.cpp.coverage.operators import Obstacle
from transforms.cpp.reading.facts import Function
from transforms.cpp.reading.literals import without_literals
from transforms.cpp.reading.signatures import decode
from transforms.cpp.reading.types import template_arguments
from transforms.schema.schema import Argument, Schema

_DEFAULT = re.compile(r"None|True|False|-?\d+(?:\.\d*)?|'[^'\\]*'|\"[^\"\\]*\"")
_MADE = re.compile(
    rb"\b(\w+)\s*=\s*((?:at|torch)::(?:empty|zeros|ones|full|empty_like|zeros_like|ones_like|full_like)\s*\()"
)
_RETURNED = re.compile(rb"\breturn\s+([^;]*);")
_NAME = re.compile(rb"\b[A-Za-z_]\w*\b")
_EXPORTED = re.compile(r"^(?:[A-Z][A-Z0-9_]+\s+)+")
_LONGEST = 120
_QUALIFIED = re.compile(r"\b(?:(?:at|torch|c10|std|autograd)::)+|\bconst\b|&")
_TEMPLATE = re.compile(r"(\w+)<.*>")
# What torch infers of C++ types (aten/src/ATen/core/jit_type.h, getTypePtr).
_PLAIN = {"void": "nothing", "int64_t": "int", "double": "float", "string": "str"}
_PLAIN |= {"variable_list": "Tensor[]", "tensor_list": "Tensor[]", "Variable": "Tensor"}
_LISTS = ("vector", "List", "ArrayRef", "array")


def sketch(obstacle: Obstacle) -> str:
    """`@torch.library.register_fake("lib::op") def _(x, n=1): …  # -> Tensor`, on one line."""
    operator = obstacle.operator
    function = obstacle.root or obstacle.kernel
    if operator.schema is not None:
        parameters = _of_schema(operator.schema)
        returns = ", ".join(item.plain_type for item in operator.schema.returns) or "nothing"
    elif function is not None:
        parameters = [_name(p.name, index) for index, p in enumerate(function.params)]
        returns = _schema_type(_EXPORTED.sub("", function.returns))
    else:
        parameters, returns = ["..."], ""
    namespace, _, name = operator.name.rpartition("::")
    namespace = "…" if re.match(r"[A-Z][A-Z0-9_]*(?:$|_)", namespace) else namespace  # a macro
    result = f"  # -> {returns}" if returns else ""
    return f'@torch.library.register_fake("{namespace}::{name}") def _({", ".join(parameters)}): ...{result}'


def _schema_type(written: str) -> str:
    """A type of C++ as a schema has it, `Tensor, int[]` for `std::tuple<at::Tensor, std::vector<int64_t>>`."""
    name = " ".join(_QUALIFIED.sub("", written).split())
    template = _TEMPLATE.fullmatch(name)
    if template is None:
        return _PLAIN.get(name, name)
    inner = [_schema_type(part) for part in template_arguments(name)]
    if template[1] in _LISTS:
        return f"{inner[0]}[]"
    return f"{inner[0]}?" if template[1] == "optional" else ", ".join(inner) if template[1] == "tuple" else name


def _of_schema(schema: Schema) -> list[str]:
    parameters: list[str] = []
    for index, argument in enumerate(schema.arguments):
        if argument.kwarg_only and "*" not in parameters:
            parameters.append("*")
        parameters.append(_name(argument.name, index) + _default(argument))
    return parameters


def _name(name: str, index: int) -> str:
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"_{index}"


def _default(argument: Argument) -> str:
    """The default as Python has it; what is written otherwise, as `[1, 1]` and `Mean`, is left to the schema."""
    if not argument.default:
        return ""
    return f"={argument.default}" if _DEFAULT.fullmatch(argument.default) else "=..."


def made(kernel: Function, source: bytes) -> str:
    """How a kernel makes the tensors that it returns, ``out = torch::empty({n}, x.options())``; "" where not seen."""
    body = without_literals(source[kernel.body : kernel.end])
    returned = {name[0] for match in _RETURNED.finditer(body) for name in _NAME.finditer(match[1])}
    tensors: dict[str, None] = {}
    for match in _MADE.finditer(body):
        end = _closing(body, match.end() - 1)
        if match[1] in returned and end > 0:
            text = decode(match[1] + b" = " + source[kernel.body + match.start(2) : kernel.body + end + 1])
            if len(text) <= _LONGEST:
                tensors[text] = None
    return "; ".join(tensors)


def _closing(text: bytes, opening: int) -> int:
    """The offset of the `)` for the `(` at `opening`, or -1."""
    depth = 0
    for match in re.compile(rb"[()]").finditer(text, opening):
        depth += 1 if match.group() == b"(" else -1
        if depth == 0:
            return match.start()
    return -1
