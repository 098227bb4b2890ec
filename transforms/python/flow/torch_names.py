"""What Python names of torch's interface stand for: methods and functions that return sizes, truths, or Tensors.

Source: torch.Tensor and torch as documented; what returns several Tensors, by the schemas of native_functions.yaml.
"""

from __future__ import annotations

import ast
import re

from transforms.python.flow.nodes import called, dotted
from transforms.python.flow.values import (
    A_BOOL,
    A_NUMBER,
    A_SHAPE,
    A_SIZE,
    A_STATIC,
    NOTHING,
    ONE_OR_MORE,
    SEQUENCE,
    TENSORS,
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
# Modules of operators; those of `single` return one Tensor each.
TENSOR_MODULES = re.compile(
    r"torch\.(?:ops|linalg|nested|_C|(?P<single>nn\.functional|fft|special|sparse))(?:\.|$)|aten\."
)
# Methods that make one Tensor of many elements; `max(dim)` returns two.
REDUCTIONS = frozenset(
    {"max", "min", "sum", "any", "all", "mean", "prod", "std", "var", "median", "mode", "norm", "amax", "amin",
     "nansum", "nanmean", "nanmedian", "argmax", "argmin", "logsumexp", "count_nonzero", "cumsum", "cumprod"}
)  # fmt: skip
# Functions and methods that return a tuple or list of Tensors, whatever they are given.
SEVERAL = frozenset(
    {"split", "split_with_sizes", "unsafe_split", "unsafe_chunk", "chunk", "unbind", "tensor_split", "hsplit", "vsplit",
     "dsplit", "meshgrid", "broadcast_tensors", "align_tensors", "topk", "sort", "kthvalue", "mode", "aminmax",
     "cummax", "cummin", "frexp", "std_mean", "var_mean", "slogdet", "svd", "qr", "geqrf", "lu_unpack",
     "unravel_index", "gradient", "lu", "histogram", "histogramdd", "lstm", "gru", "multi_head_attention_forward"}
)  # fmt: skip
# Those of them whose first number, behind the Tensor, says how many.
COUNTED = frozenset({"tensor_split", "chunk", "unsafe_chunk"})
# Those that return several Tensors, or none, for some arguments.
AMBIGUOUS = frozenset(
    {"max", "min", "median", "nanmedian", "nonzero", "where", "unique", "unique_consecutive", "type", "atleast_1d",
     "atleast_2d", "atleast_3d"}
)  # fmt: skip
# Methods that return no Tensor at all; what they do return is no size either.
NUMBERS = frozenset({"tolist", "numpy", "get_device", "dim_order", "backward", "register_hook"})
# Modules whose functions return no Tensors: groups of processes, arrays.
OTHER_MODULES = frozenset({"dist", "torch.distributed", "c10d", "np", "numpy"})
# What counts processes: `self.process_group.size()`.
GROUPS = re.compile(r"(?:^|[._])(?:process_group|pg|group|mesh)$")


def check_of(node: ast.AST) -> str:
    """Which of torch's checks a call surely is, as `_check_value`; "" for others, and for what has such a name here."""
    name = called(node)
    return name if name in CHECKS and dotted(getattr(node, "func", node)) == f"torch.{name}" else ""


def of_tensor(name: str, tensor: Value, call: ast.Call) -> Value:
    """What a call of a function of torch, or of a method of `tensor`, returns."""
    if name.startswith(("is_", "_is_")) or name in NUMBERS:
        return A_STATIC if name == "numpy" else A_BOOL if name.startswith("is_") else NOTHING
    if name in SEVERAL:
        return Value(TENSORS, sure=tensor.sure)
    returns_more = any((keyword.arg or "").startswith("return_") for keyword in call.keywords)
    ambiguous = bool(call.args or call.keywords) and name in AMBIGUOUS
    return ONE_OR_MORE if ambiguous or returns_more or name.endswith("_with_indices") else tensor
