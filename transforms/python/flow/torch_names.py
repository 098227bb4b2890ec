"""What Python names of torch's interface stand for: methods and functions that return sizes, truths, or Tensors.

Source: torch.Tensor and torch as documented.
"""

from __future__ import annotations

import ast
import re

from transforms.python.flow.imported import torch_name
from transforms.python.flow.nodes import called
from transforms.python.flow.torch_results import AMBIGUOUS, MIXED, SEVERAL, SINGLE
from transforms.python.flow.values import (
    A_BOOL,
    A_NUMBER,
    A_SHAPE,
    A_SIZE,
    A_STATIC,
    A_TENSOR,
    MAYBE_TENSOR,
    NOTHING,
    ONE_OR_MORE,
    SEQUENCE,
    TENSOR,
    TENSORS,
    TUPLE,
    Value,
)

METHODS = {
    "numel": A_SIZE, "nelement": A_SIZE, "storage_offset": A_SIZE, "size": A_SHAPE, "stride": A_SHAPE,
    "dim": A_NUMBER, "ndimension": A_NUMBER, "item": NOTHING, "format": NOTHING, "join": NOTHING, "get": NOTHING,
    "is_contiguous": A_BOOL, "is_floating_point": A_BOOL, "is_complex": A_BOOL, "element_size": A_NUMBER,
}  # fmt: skip
ATTRIBUTES = {"shape": A_SHAPE, "nbytes": A_SIZE, "ndim": A_NUMBER}
TENSOR_ATTRIBUTES = frozenset({"T", "mT", "H", "mH", "real", "imag", "grad", "data"})
GUARDS = {
    **dict.fromkeys(
        ("guard_or_false", "guard_or_true", "guard_size_oblivious", "statically_known_true", "statically_known_false",
         "definitely_true", "definitely_false", "guard_bool", "isinstance", "hasattr", "has_torch_function",
         "is_concrete_int", "has_free_symbols", "sym_guard_or_false", "sym_guard_or_true", "sym_expect_true",
         "sym_shape_eq_or_false", "sym_shape_eq_or_true", "sym_expect_shape_eq"),
        A_BOOL,
    ),
    **dict.fromkeys(("guard_int", "guard_scalar", "len", "id", "canonicalize_dim"), A_NUMBER),
    "range": Value(SEQUENCE, items=(A_NUMBER,)),
    **dict.fromkeys(("str", "repr", "type", "canonicalize_dims", "free_symbols"), NOTHING),
}  # fmt: skip
"""What functions give that answer about sizes without asking for one, those that symfix puts into a tree among them."""
OF_NUMBERS = frozenset(
    {"isqrt", "gcd", "lcm", "log", "log1p", "log2", "log10", "exp", "exp2", "expm1", "factorial", "comb", "perm", "pow",
     "cbrt", "fabs", "fmod", "remainder", "modf", "frexp", "ldexp", "copysign", "hypot", "isclose", "isfinite", "isinf",
     "isnan"}
)  # fmt: skip
"""Functions of math that take plain numbers alone."""
CHECKS = frozenset({"_check", "_check_value", "_check_index", "_check_type", "_check_not_implemented", "_check_with"})
RESHAPES = re.compile(r"^(?:resize|(?:un)?squeeze|t|transpose|swap|as_strided|set)\w*_$")
"""Methods that change the shape of a tensor in place."""
TRUTHS = frozenset({"sym_and", "sym_or", "sym_not", "sym_eq"})
SIZES = frozenset(
    {"sym_max", "sym_ite", "sym_min", "sym_int", "sym_sum", "prod", "reduce", "ceil", "floor", "max", "min", "abs",
     "sum", "int", "round", "pow"}
)  # fmt: skip
SEQUENCES = frozenset({"list", "tuple", "reversed", "sorted", "Size", "iter", "set"})
TORCH_MODULES = frozenset({"torch", "aten", "prims", "F", "_VF", "refs", "_refs"})
_OF_FUNCTIONS = re.compile(rf"^(?:{'|'.join(sorted(TORCH_MODULES))}|torch\.\w[\w.]*)$")
# Modules of operators; those of `single` return one Tensor each.
TENSOR_MODULES = re.compile(
    r"torch\.(?:ops|linalg|nested|_C|(?P<single>nn\.functional|fft|special|sparse))(?:\.|$)|aten\."
)
# Methods that make one Tensor of many elements; `max(dim)` returns two.
REDUCTIONS = frozenset(
    {"max", "min", "sum", "any", "all", "mean", "prod", "std", "var", "median", "mode", "norm", "amax", "amin",
     "nansum", "nanmean", "nanmedian", "argmax", "argmin", "logsumexp", "count_nonzero", "cumsum", "cumprod"}
)  # fmt: skip
# Constructors that read a list's numbers, by the dtype of what they make (torch/csrc/tensor/python_tensor.cpp).
CONSTRUCTORS = {
    "Tensor": "get_default_dtype()", "LongTensor": "int64", "IntTensor": "int32", "ShortTensor": "int16",
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16",
}  # fmt: skip
# Functions that return as many Tensors as their first number, behind the Tensor, says.
COUNTED = frozenset({"tensor_split", "chunk", "unsafe_chunk"})
# What returns its indices too where the last of its parameters says so, and how many stand before that.
_POOLS, _BEFORE_INDICES = frozenset({"max_pool1d", "max_pool2d", "max_pool3d"}), 6
# Methods that return no Tensor at all; what they do return is no size either.
NUMBERS = frozenset({"tolist", "numpy", "get_device", "dim_order", "backward", "register_hook"})
# Modules whose functions return no Tensors: groups of processes, arrays.
OTHER_MODULES = frozenset({"dist", "torch.distributed", "c10d", "np", "numpy"})
# What counts processes: `self.process_group.size()`.
GROUPS = re.compile(r"(?:^|[._])(?:process_group|pg|group|mesh)$")


def check_of(node: ast.AST) -> str:
    """Which of torch's checks a call surely is, as `_check_value`; "" for others, and for what has such a name here."""
    name = called(node)
    return name if name in CHECKS and torch_name(getattr(node, "func", node)) == f"torch.{name}" else ""


def of_tensor(name: str, tensor: Value, call: ast.Call) -> Value:
    """What a call of a function of torch, or of a method of `tensor`, returns: not surely a Tensor where none knows."""
    if name.startswith(("is_", "_is_")) or name in NUMBERS:
        return A_STATIC if name == "numpy" else A_BOOL if name.startswith("is_") else NOTHING
    if name in SEVERAL or name in MIXED:
        return Value(TENSORS, sure=tensor.sure and name in SEVERAL)
    if name.endswith("_with_indices") or (name in AMBIGUOUS and (call.args or call.keywords)):
        return ONE_OR_MORE
    if name.removesuffix("_") not in SINGLE:
        return tensor._replace(sure=False)
    return ONE_OR_MORE if _returns_more(name, call) else tensor


def operands(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call by place, the object of a method first: of `torch.mul(x, 2)` those of `x.mul(2)`."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return list(call.args) if owner is None or _OF_FUNCTIONS.match(torch_name(owner)) else [owner, *call.args]


def of_operator(operator: ast.operator, left: Value, right: Value) -> Value:
    """What an operator makes of two values of which one may be a Tensor.

    `"…" % x` is text, and a list times a Tensor of one number is a list.
    """
    other = right if left.surely_tensor else left
    repeats = isinstance(operator, ast.Mult) and (other.shapelike or other.kind in (TENSORS, TUPLE, SEQUENCE))
    formats = isinstance(operator, ast.Mod) and not (left.kind == TENSOR or left.numbers or left.integral)
    sure = (left.surely_tensor or right.surely_tensor) and not repeats and not formats
    return A_TENSOR if sure else MAYBE_TENSOR


def _returns_more(name: str, call: ast.Call) -> bool:
    """Whether a call may ask for indices or counts beside what else it gives."""
    if any((keyword.arg or "").startswith("return_") for keyword in call.keywords):
        return True
    unseen = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    return name in _POOLS and (unseen or len(call.args) > _BEFORE_INDICES)
