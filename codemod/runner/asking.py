"""Who asks torch for a size: functions of its C++, and arguments that a schema declares as plain numbers.

The first are read from the stack at that moment, or from the one that an error's text has: torch adds it where a kernel
asks for concrete sizes (`ErrorAlwaysShowCppStacktrace` of c10/core/TensorImpl.cpp). An argument makes a size a constant
on the way from Python to C++, before any kernel runs. symfix lays this file beside `assumptions.py` in programs.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from itertools import islice
from types import FrameType, ModuleType
from typing import Any

# A kernel, the structured one that works out shapes, or what a derivative computes
# (torch/csrc/autograd/generated/Functions.h).
_NATIVE = re.compile(
    r"\b(?:at::native::(?:\(anonymous namespace\)::)?(\w+)[(<]|at::meta::structured_(\w+)::meta\("
    r"|torch::autograd::generated::(\w+)::apply)"
)
# The call of an operator, whose kernel may have no name that a library shows.
_OPERATOR = re.compile(r"\bat::_ops::(\w+)::(?:call|redispatch)\b")
# Python between a C++ function that asks and the answer: all other Python asks for itself.
_BETWEEN = re.compile(
    r"/torch/(?:__init__|_ops|_compile|_dynamo/eval_frame|_subclasses/fake_tensor|utils/_\w+"
    r"|fx/experimental/(?:symbolic_shapes|sym_node|recording|_\w+))\.py$|/functools\.py$"
)
_CALLS = "/torch/_ops.py"
_NODES = "/torch/_dynamo/utils.py"
_MODE = "__torch_function__"
# `frame #4: FUNCTION + 0x1b (0x7f in LIBRARY)`, or `#9 FUNCTION from LIBRARY:OFFSET` (c10/util/Backtrace.cpp).
_C_FRAME = re.compile(r"^(?:frame )?#\d+: ?(.+?) \+ 0x[0-9a-f]+ \(|^#\d+ (.+?) from \S+:\d+$")
_PYTHON_FRAMES = re.compile(r"^<omitting python frames>|^(?:frame )?#\d+:? _Py\w+ ")
_REFUSED = re.compile(
    r"Expected a value of type '(?P<type>[^']+)' for argument '(?P<argument>\w+)' but instead found type .*?"
    r"Declaration: (?P<operator>[\w:]+)\("
    r"|\b(?P<function>\w+)\(\): argument '(?P<named>\w+)'(?: \(position \d+\))? must be (?P<kind>[^\n]+?),"
    r" not Sym(?:Int|Float|Bool)\b",
    re.S,
)
_CONCRETE = {"IntType": "int", "FloatType": "float", "BoolType": "bool"}
"""Kinds of types that a symbol does not fit, as schemas spell them."""


def askers(stack: Sequence[tuple[str, str]], own: Collection[str] = ()) -> list[str]:
    """The kernels and derivatives of torch's C++, the caller first, that ask; none where Python asks.

    `stack` has the file and the function of each frame of Python and C++, the innermost last; files of `own` are passed
    over.
    """
    functions: list[str] = []
    for path, name in reversed(stack):
        if path.endswith(".py") and path not in own and not _BETWEEN.search(path):
            break
        match = _NATIVE.search(name) or (None if functions else _OPERATOR.search(name))
        function = next(filter(None, match.groups())) if match is not None else ""
        if function and function not in functions[-1:]:
            functions.append(function)
    return functions[::-1]


def askers_in(text: str) -> list[str]:
    """The same of the C++ stack in the text of an error; none where it has no such stack."""
    names: list[str] = []
    for line in text.replace("\\n", "\n").splitlines():
        frame = _C_FRAME.match(line.strip())
        if names and (frame is None or _PYTHON_FRAMES.match(line.strip())):
            break
        if frame is not None:
            names.append(frame[1] or frame[2])
    return askers([("", name) for name in reversed(names)])


def argument_in(text: str) -> str:
    """The argument that an error's text says is no plain number; "" where it names none."""
    match = _REFUSED.search(text.replace("\\n", "\n"))
    if match is None:
        return ""
    if match["function"]:
        return f"argument {match['named']} ({match['kind']}) of {match['function']}"
    kind = re.sub(r"^Optional\[(.+)\]$", r"\1?", re.sub(r"List\[(\w+)\]", r"\1[]", match["type"]))
    return f"argument {match['argument']} ({kind}) of {match['operator']}"


def argument(symbols: Collection[Any], own: Collection[str] = ()) -> str:
    """The schema argument, as "argument dims (int[]) of aten::roll", for which this thread now makes a number.

    `symbols` are those that it is asked about; "" where no operator is called with one of them for a plain number.
    Frames in files of `own` are passed over.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        function = frame.f_code.co_name
        values = frame.f_locals if (path.endswith((_CALLS, _NODES)) or function == _MODE) and "/torch/" in path else {}
        arguments = values.get("args"), values.get("kwargs")
        if isinstance(arguments[0], (tuple, list)) and isinstance(arguments[1], dict):
            schemas = _schemas(function, values)
            if schemas:
                return _concrete(schemas, arguments[0], arguments[1], symbols)
        if path not in own and path != __file__ and not _BETWEEN.search(path):
            return _of_line(frame, symbols)
        frame = frame.f_back
    return ""


def _of_line(frame: FrameType, symbols: Collection[Any]) -> str:
    """The same where a line calls a function of C++ by itself, as those of torch.nn.functional do; "" for any other.

    Which call it is Python says since 3.11. Arguments that are no names are not looked at: to evaluate them may change
    something.
    """
    positions = next(islice(getattr(frame.f_code, "co_positions", tuple)(), frame.f_lasti // 2, None), None)
    if positions is None or None in positions:
        return ""
    first, last, start, end = positions
    lines = [linecache.getline(frame.f_code.co_filename, number).encode() for number in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    try:
        call = ast.parse(f"({b''.join(lines)[start:].decode()})", mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    if not isinstance(call, ast.Call) or any(isinstance(each, ast.Starred) for each in call.args):
        return ""
    called = _held(call.func, frame)
    name = import_module("torch.jit._builtins")._find_builtin(called) if called is not None else None
    if not name or any(keyword.arg is None for keyword in call.keywords):
        return ""
    named = {str(keyword.arg): _held(keyword.value, frame) for keyword in call.keywords}
    schemas = import_module("torch")._C._jit_get_schemas_for_operator(name)
    return _concrete(schemas, [_held(each, frame) for each in call.args], named, symbols)


def _held(expression: ast.expr, frame: FrameType) -> Any:
    """The value of a name, or of a module's attribute; None for what else an expression may be."""
    if isinstance(expression, ast.Name):
        return frame.f_locals.get(expression.id, frame.f_globals.get(expression.id))
    if isinstance(expression, ast.Attribute):
        module = _held(expression.value, frame)
        return getattr(module, expression.attr, None) if isinstance(module, ModuleType) else None
    return None


def _schemas(function: str, values: Mapping[str, Any]) -> Sequence[Any]:
    """The schemas of what a frame calls: an operator (torch/_ops.py), a node (torch/_dynamo/utils.py), in a mode."""
    called: Any = values.get("self") if function == "__call__" else values.get("func") if function == _MODE else None
    node: Any = values.get("node") if function == "run_node" else None
    if hasattr(called, "_schema"):
        return [called._schema]
    if hasattr(called, "overloads"):
        return [getattr(called, name)._schema for name in called.overloads()]
    torch: Any = import_module("torch")
    target = node.target if node is not None and node.op in ("call_function", "call_method") else called
    name = import_module("torch.jit._builtins")._find_builtin(target)
    method = target if isinstance(target, str) else getattr(target, "__name__", "")
    if name is None and method and (target is method or getattr(torch.Tensor, method, None) is target):
        name = f"aten::{method}"
    schemas: Sequence[Any] = torch._C._jit_get_schemas_for_operator(name) if name else []
    return schemas


def _concrete(
    schemas: Sequence[Any], positional: Sequence[Any], named: Mapping[str, Any], symbols: Collection[Any]
) -> str:
    """The first argument with one of `symbols` that is a plain number in each schema that fits; "" for none."""
    found: list[str] = []
    for schema in schemas:
        bound = _bound(schema.arguments, positional, named)
        if bound is None:
            continue
        taking = [argument for argument, value in bound if _holds(value, symbols)]
        concrete = next((each for each in taking if _spelled(each.real_type)), None)
        if concrete is None:
            return ""
        found.append(f"argument {concrete.name} ({_spelled(concrete.real_type)}) of {schema.name}")
    return found[0] if found else ""


def _bound(
    arguments: Sequence[Any], positional: Sequence[Any], named: Mapping[str, Any]
) -> list[tuple[Any, Any]] | None:
    """Each argument that is given with its value; None where the call does not fit.

    More values than arguments are the elements of a last list, as in `x.permute(0, 1)`.
    """
    tensor: Any = import_module("torch").Tensor
    placed = [each for each in arguments if not each.kwarg_only]
    names = {each.name: each for each in arguments}
    if len(positional) > len(placed) and placed and placed[-1].real_type.kind() == "ListType":
        positional = [*positional[: len(placed) - 1], positional[len(placed) - 1 :]]
    if len(positional) > len(placed) or not named.keys() <= names.keys():
        return None
    bound = [*zip(placed, positional, strict=False), *((names[name], value) for name, value in named.items())]
    given = {each.name for each, _ in bound}
    if any(each.name not in given and not each.has_default_value() for each in arguments):
        return None
    telling = ((each, value) for each, value in bound if isinstance(value, tensor) or _is_symbolic(value))
    fits = all(isinstance(value, tensor) is ("Tensor" in str(each.real_type)) for each, value in telling)
    return bound if fits else None


def _holds(value: Any, symbols: Collection[Any]) -> bool:
    """Whether a value, or an element of a list, is a symbolic number about any of `symbols`."""
    if isinstance(value, (list, tuple)):
        return any(_holds(element, symbols) for element in value)
    expression = getattr(getattr(value, "node", None), "expr", None)
    return _is_symbolic(value) and bool(getattr(expression, "free_symbols", set()) & set(symbols))


def _is_symbolic(value: Any) -> bool:
    return type(value).__name__ in ("SymInt", "SymFloat", "SymBool")


def _spelled(kind: Any) -> str:
    """A type that no symbol fits, as schemas spell it: "int", "int[]", "float?"; "" for any other."""
    name = kind.kind()
    if name in ("ListType", "OptionalType"):
        element = _spelled(kind.getElementType())
        return f"{element}{'[]' if name == 'ListType' else '?'}" if element else ""
    return _CONCRETE.get(name, "")
